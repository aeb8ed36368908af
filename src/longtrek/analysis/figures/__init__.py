"""One file a figure of a paper, named after it."""
