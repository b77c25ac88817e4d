"""Rows that are dense or sparse: inner products and squared distances between them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from elmbench.numerics.arrays import Array

Rows = Any
"""An ndarray of shape (n, d), or a CSR matrix of that shape."""


def inner_products(X: Rows, centres: Rows) -> Array:
    """Return the inner products of the rows of `X` and of `centres`, dense of shape (n, L); sparse rows stay sparse."""
    if sp.issparse(X):
        if sp.issparse(centres):
            return np.asarray((X @ centres.T).toarray(order="C"))
        return np.asarray(X @ np.ascontiguousarray(centres.T))
    return np.ascontiguousarray((centres @ X.T).T if sp.issparse(centres) else X @ centres.T)


def sparse_distances(X: Rows, centres: Rows) -> Array:
    """Return the squared distances between sparse rows, none negative; centring would make the rows dense."""
    distances = inner_products(X, centres)
    distances *= -2.0
    distances += squared_norms(X)[:, np.newaxis]
    distances += squared_norms(centres)
    return np.maximum(distances, 0.0, out=distances)


def squared_norms(X: Rows) -> Array:
    """Return the squared norms of rows; a ValueError is raised if one is infinite.

    Sparse rows may name an entry more than once.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    norms: Array = row_norms(X, squared=True)
    if not np.isfinite(norms).all():
        largest = float(abs(X).max())
        raise ValueError(
            f"X: expected squared distances below 1e308, got entries up to {largest:.1e}, centred, instead"
        )
    return norms


def scaled_rows(A: Array, scale: Array | None) -> Array:
    """Return S A for the diagonal matrix S of some scales, or A itself without scales."""
    return A if scale is None else scale[:, np.newaxis] * A
