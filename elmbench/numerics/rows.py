"""Rows that are dense or sparse: inner products and squared distances between them."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from elmbench.numerics.arrays import LARGEST, Array, Rows


def check_size(name: str, values: Rows) -> None:
    """Raise a ValueError if the squares of entries, dense or sparse, may overflow."""
    entries = values.data if sp.issparse(values) else values
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if largest > LARGEST:
        raise ValueError(f"{name}: expected magnitudes up to {LARGEST:g}, got {largest:.1e} instead")


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
    """Return the squared norms of rows. Sparse rows may name an entry more than once."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return np.asarray(row_norms(X, squared=True))


def scaled_rows(A: Array, scale: Array | None) -> Array:
    """Return S A for the diagonal matrix S of some scales, or A itself without scales."""
    return A if scale is None else scale[:, np.newaxis] * A
