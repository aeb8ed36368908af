"""One file a table of a paper, named after it."""
