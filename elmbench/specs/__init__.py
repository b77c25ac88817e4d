"""Declarations: data sets, experiments, published values, and the registry of models."""
