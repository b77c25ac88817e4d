"""Data sets by name: from the user's files, from scikit-learn, computed, or fetched from their
public sources.

The package imports nothing: the kinds of source are imported with `datasets.yaml`, before numpy is
needed.
"""
