"""Gaussians of classes, the direction that separates them, and their divergence on a line."""
