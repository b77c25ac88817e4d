"""The static site of the results: its content is gathered, rendered as pages and written as a whole."""
