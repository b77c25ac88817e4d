"""Functions on arrays: kernels, hidden nodes, regularised solves and incremental updates."""
