"""Single fits against what the machine's arithmetic and memory allow."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import in_turn
from benchmarks.problems import Array, series
from benchmarks.row import Result, Row, measured
from elmbench.models import ALDKOSELMRegressor, FBKOSELMRegressor, KELMRegressor

# Table III of the KOS-ELM paper for Mackey-Glass.
GAMMA, C, BUDGET, DELTA = 4.0, 1012.0, 300, 0.1


def matrix_product(n: int) -> Callable[[], Array]:
    """Return a product of two matrices of n rows, 2 n^3 operations, into memory that is there."""
    A, B = (np.random.default_rng(i).random((n, n)) for i in (0, 1))
    return partial(np.dot, A, B, out=np.empty((n, n)))


def copies(n: int, times: int) -> Callable[[], None]:
    """Return so many copies of n^2 doubles, each of which reads 8 n^2 bytes and writes as many."""
    source, target = np.random.default_rng(0).random((n, n)), np.empty((n, n))

    def work() -> None:
        for _ in range(times):
            np.copyto(target, source)

    return work


def _kernel_fit(trial: bool) -> Iterator[Result]:
    """K-ELM: n^3 / 3 operations of a Cholesky factorisation."""
    rows, size = (1500, 1000) if trial else (18_000, 4000)
    X, y = series(rows)
    few = np.random.default_rng(1).permutation(rows)[:200]
    KELMRegressor(C=C, gamma=GAMMA).fit(X[:50], y[:50])
    product = matrix_product(size)
    product()

    def fit() -> float:
        model = KELMRegressor(C=C, gamma=GAMMA).fit(X, y)
        # What is left of the equations (K + I/C) beta = y of some rows.
        return float(np.max(np.abs(model.predict(X[few]) + model.beta_[few, 0] / C - y[few])))

    found = in_turn(fit, product, scale=(rows**3 / 3) / (2 * size**3))
    rate = 2e-9 * size**3 / min(seconds.cpu for seconds in found.theirs)
    yield measured(
        found,
        name=f"K-ELM fit, {rows:,} rows",
        against="n^3/3 operations at the rate of dgemm",
        target=0.8,
        note=f"dgemm of {size} rows: {rate:.1f} Gflop/s; residual of 200 of the equations: {found.our_result:.1g}",
    )


def budget_bytes(X: Array, y: Array) -> tuple[int, int]:
    """Return the bytes of the inverse that FB-KOS-ELM has to touch, in one pass a row, and its final size.

    A row that joins changes all m^2 entries: each is read and written. One that does not is multiplied with them.
    """

    def touched(before: Array, after: Array) -> int:
        return (8 if np.array_equal(after, before) else 16) * len(after) ** 2

    return _learnt(FBKOSELMRegressor(C=C, gamma=GAMMA, budget=BUDGET), touched, X, y)


def dependency_bytes(X: Array, y: Array) -> tuple[int, int]:
    """Return the bytes that ALD-KOS-ELM has to touch, and its final size.

    Every row takes one solve with a triangle of m^2 / 2 entries. One that does not join takes the other solve too, and
    reads and writes the m^2 entries of P.
    """

    def touched(before: Array, after: Array) -> int:
        return (24 if len(after) == len(before) else 4) * len(before) ** 2

    return _learnt(ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA), touched, X, y)


def _learnt(model: Any, touched: Callable[[Array, Array], int], X: Array, y: Array) -> tuple[int, int]:
    """Return the sum of what the rows touch, by the dictionaries before and after each, and the final size."""
    total, before = 0, np.empty((0, X.shape[1]))
    for i in range(len(X)):
        after = model.partial_fit(X[i : i + 1], y[i : i + 1]).dictionary_
        total += touched(before, after)
        before = after
    return total, len(before)


def _online(
    name: str,
    model: Callable[[], FBKOSELMRegressor | ALDKOSELMRegressor],
    count: Callable[[Array, Array], tuple[int, int]],
) -> Callable[[bool], Iterator[Result]]:
    def run(trial: bool) -> Iterator[Result]:
        rows = 1000 if trial else 18_000
        X, y = series(rows)
        touched, size = count(X, y)
        times = max(1, touched // (16 * size**2))
        copy = copies(size, times)
        copy()
        found = in_turn(lambda: model().fit(X, y).n_units_, copy, scale=touched / (16 * size**2 * times))
        rate = 16e-9 * size**2 * times / min(seconds.cpu for seconds in found.theirs)
        yield measured(
            found,
            name=f"{name}, {rows:,} rows",
            against="bytes touched at the bandwidth of copies",
            target=0.5,
            note=f"{touched / 1e9:.1f} GB touched; copies of {size}^2 doubles: {rate:.0f} GB/s read and written",
        )

    return run


ROWS = [
    Row("k-elm-fit", _kernel_fit),
    Row(
        "fb-kos-elm",
        _online(f"FB-KOS-ELM, F = {BUDGET}", lambda: FBKOSELMRegressor(C=C, gamma=GAMMA, budget=BUDGET), budget_bytes),
    ),
    Row("ald-kos-elm", _online("ALD-KOS-ELM", lambda: ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA), dependency_bytes)),
]
