"""Gaussians of classes, the direction that keeps them apart, and how far apart they are on a line."""
