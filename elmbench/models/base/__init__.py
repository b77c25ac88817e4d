"""Base classes that several models share."""
