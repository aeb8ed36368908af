"""Analysis: statistics, and one file for every figure and table of the papers."""
