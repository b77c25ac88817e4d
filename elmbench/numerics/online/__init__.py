"""Models that learn row by row or block by block, in loops that numba compiles."""
