"""Evaluation of one unit of work: splits, scaling, search, fit, metrics."""
