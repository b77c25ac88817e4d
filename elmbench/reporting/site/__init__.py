"""One static site from the results: it is gathered, made into pages and written as a whole."""
