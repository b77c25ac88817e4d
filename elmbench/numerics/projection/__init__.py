"""Singular value decompositions of centred data, at once and from a stream, and the hidden nodes made of them."""
