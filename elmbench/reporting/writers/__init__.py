"""A table of results in each format that it is written in."""
