"""Streamed decompositions against those of all rows."""

import copy
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import in_turn
from benchmarks.problems import Array
from benchmarks.row import Result, Row, measured
from elmbench.numerics.projection.batch import singular_directions
from elmbench.numerics.projection.stream import StreamedDecomposition

CHUNK = 16


def lapack(X: Array) -> Array:
    """Return the singular values of centred rows; their directions are made too, as is what LAPACK makes with them."""
    values: Array = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[1]
    return values


def best_batch(X: Array) -> Array:
    """Return the singular values as PVM finds them, with their directions."""
    return singular_directions(X - X.mean(axis=0))[0]


def by_products(X: Array) -> Array:
    """Return the singular values of few wide rows from their inner products, with directions: half of the digits."""
    C = X - X.mean(axis=0)
    squares, vectors = np.linalg.eigh(C @ C.T)
    values: Array = np.sqrt(np.maximum(squares[:0:-1], 0.0))
    _ = (vectors[:, :0:-1].T @ C) / values[:, np.newaxis]
    return values


def _against(name: str, X: Array, theirs: Callable[[Array], Array], target: float | None, against: str) -> Result:
    """Measure a chunk of rows after the others, directions of all singular values included, against all at once."""
    stream = StreamedDecomposition(X.shape[1])
    stream.update(X[:-CHUNK])

    def update() -> Array:
        own = copy.deepcopy(stream)
        own.update(X[-CHUNK:])
        values, rotation = own.decomposition()
        own.directions(rotation)
        return values

    update()
    found = in_turn(update, lambda: theirs(X))
    least = min(len(found.our_result), len(found.their_result))
    apart = float(np.abs(found.our_result[:least] - found.their_result[:least]).max() / found.our_result[0])
    return measured(found, name=name, against=against, target=target, difference=apart)


def _rows(trial: bool) -> Iterator[Result]:
    random = np.random.default_rng(0)
    n, d = (1000, 50) if trial else (10_000, 200)
    tall = random.standard_normal((n, d))
    name = f"OS-PVM, {CHUNK} rows after {n - CHUNK:,} of {d} features"
    yield _against(name, tall, lapack, 10.0, "LAPACK's SVD of all rows")
    yield _against(name, tall, best_batch, None, "SVD of the triangular factor of all rows")
    n, d = (60, 500) if trial else (400, 10_000)
    wide = random.standard_normal((n, d))
    name = f"OS-PVM, {CHUNK} rows after {n - CHUNK:,} of {d:,} features"
    yield _against(name, wide, lapack, None, "LAPACK's SVD of all rows")
    yield _against(name, wide, by_products, None, "eigenvectors of the inner products of all rows")


ROWS = [Row("streams", _rows)]
