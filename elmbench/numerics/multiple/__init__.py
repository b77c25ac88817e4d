"""Several kernels on the same rows: their matrices in blocks, their enclosing balls, the weights of their sum."""
