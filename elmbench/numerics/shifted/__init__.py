"""Systems (K + r I) Z = B that share the matrix K: all ridges r at once, an intercept, folds, single precision."""
