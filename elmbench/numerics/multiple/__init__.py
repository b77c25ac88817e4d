"""Several kernels on the same rows: matrices in blocks, enclosing balls, and the weights of their sum."""
