"""Comparisons of models on a user's own data: everything behind `elmbench compare`."""
