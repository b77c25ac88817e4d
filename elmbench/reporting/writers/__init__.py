"""The output formats of a table of results."""
