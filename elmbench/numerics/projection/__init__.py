"""Singular value decompositions of centred data, at once and from a stream, and their hidden nodes."""
