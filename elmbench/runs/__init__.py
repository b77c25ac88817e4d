"""The use cases that the command line and Python share."""
