"""Single fits against the arithmetic and memory of the machine, and against scikit-learn's models."""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.measure import Measurement, Result, Row, Seconds, dgemm_rate, in_turn, measured, timed
from benchmarks.problems import Array, series
from elmbench.datasets.generators import waveform
from elmbench.models import ALDKOSELMRegressor, FBKOSELMRegressor, KELMRegressor, MKELMClassifier, RKELMClassifier
from elmbench.numerics.projection.batch import singular_directions
from elmbench.numerics.projection.stream import StreamedDecomposition
from elmbench.protocol.scaling import scale_columns
from elmbench.specs.protocol import Scale

# Table III of the KOS-ELM paper for Mackey-Glass.
GAMMA, C, BUDGET, DELTA = 4.0, 1012.0, 300, 0.1


def against_products(work: Callable[[], Any], size: int, operations: float) -> tuple[Measurement, str]:
    """Measure some work against its operations at the rate of dgemm; return the rate in words, too."""
    A, B = (np.random.default_rng(i).random((size, size)) for i in (0, 1))
    product = partial(np.dot, A, B, out=np.empty((size, size)))
    product()
    rounds = in_turn(work, product, scale=operations / (2 * size**3))
    rate = 2e-9 * size**3 / min(seconds.cpu for seconds in rounds.theirs)
    return rounds, f"dgemm of {size} rows: {rate:.1f} Gflop/s"


def _kernel_fit(trial: bool) -> Iterator[Result]:
    rows, size = (1500, 1000) if trial else (18_000, 4000)
    X, y = series(rows)
    few = np.random.default_rng(1).permutation(rows)[:200]
    KELMRegressor(C=C, gamma=GAMMA).fit(X[:50], y[:50])

    def fit() -> float:
        """Return the residual of the equations (K + I/C) beta = y for some rows."""
        model = KELMRegressor(C=C, gamma=GAMMA).fit(X, y)
        return float(np.max(np.abs(model.predict(X[few]) + model.beta_[few, 0] / C - y[few])))

    rounds, rate = against_products(fit, size, rows**3 / 3)
    note = f"{rate}; residual of 200 of the equations: {rounds.our_result:.1g}"
    name, against = f"K-ELM fit, {rows:,} rows", "n^3/3 operations at the rate of dgemm"
    yield measured(rounds, name=name, against=against, of_bound=True, target=0.8, note=note)


# Roughly the choice of scikit-learn's default search for waveforms scaled to [-1, 1].
_WAVE_GAMMA, _WAVE_C, _CENTRES = 0.1, 1.0, 400


def _waveforms(trial: bool) -> tuple[Array, NDArray[np.int64], int, int]:
    """Return waveforms of three classes, scaled to [-1, 1], and the numbers of training and test rows."""
    n, m = (800, 400) if trial else (8000, 4000)
    X, y = waveform("benchmark", 0, rows=n + m)
    return scale_columns(X, slice(None), Scale(range=(-1.0, 1.0))), y, n, m


def _rkelm() -> RKELMClassifier:
    return RKELMClassifier(n_landmarks=_CENTRES, C=_WAVE_C, gamma=_WAVE_GAMMA, random_state=0)


def _reduced_fit(trial: bool) -> Iterator[Result]:
    """Kernel values take 2 n L d operations, K'K n L^2, its Cholesky factor L^3 / 3, test rows 2 m L (d + k)."""
    X, y, n, m = _waveforms(trial)
    d, k, L = X.shape[1], 3, _CENTRES

    def work() -> float:
        return float(np.mean(_rkelm().fit(X[:n], y[:n]).predict(X[n:]) != y[n:]))

    work()
    operations = 2 * n * L * d + n * L**2 + L**3 / 3 + 2 * m * L * (d + k)
    rounds, rate = against_products(work, 500 if trial else 2000, operations)
    yield measured(
        rounds,
        name=f"RKELM fit and prediction, {n:,} rows, {m:,} test rows, L = {L}",
        against="its operations, exp left aside, at the rate of dgemm",
        of_bound=True,
        note=f"{rate}; error on the test rows {rounds.our_result:.4f}",
    )


def _reduced_beside(trial: bool) -> Iterator[Result]:
    X, y, n, m = _waveforms(trial)
    signs = np.where(y[:n, np.newaxis] == np.arange(3), 1.0, -1.0)

    def error(model: Any) -> float:
        return float(np.mean(model.fit(X[:n], y[:n]).predict(X[n:]) != y[n:]))

    def kernel_ridge_error() -> float:
        outputs = KernelRidge(alpha=1 / _WAVE_C, kernel="rbf", gamma=_WAVE_GAMMA).fit(X[:n], signs).predict(X[n:])
        return float(np.mean(np.argmax(outputs, axis=1) != y[n:]))

    def nystroem_error() -> float:
        features = Nystroem(gamma=_WAVE_GAMMA, n_components=_CENTRES, random_state=0)
        return error(make_pipeline(features, RidgeClassifier(alpha=1 / _WAVE_C)))

    others = {
        "Nystroem + RidgeClassifier": nystroem_error,
        "KernelRidge": kernel_ridge_error,
        "SVC": lambda: error(SVC(C=_WAVE_C, gamma=_WAVE_GAMMA)),
        "LinearSVC": lambda: error(LinearSVC(C=_WAVE_C)),
    }
    linear = f"; a linear model of {X.shape[1]} features, without the {n + m:,} x {_CENTRES} values of the kernel"
    remarks = {"LinearSVC": linear}
    for name, theirs in others.items():
        theirs()
        rounds = in_turn(lambda: error(_rkelm()), theirs)
        yield measured(
            rounds,
            name=f"RKELM, {n:,} waveforms, L = {_CENTRES}, fit and {m:,} predictions",
            against=f"scikit-learn's {name}",
            note=f"error {rounds.our_result:.4f} against {rounds.their_result:.4f}" + remarks.get(name, ""),
        )


def budget_bytes(X: Array, y: Array) -> tuple[int, int]:
    """Return the bytes of the inverse that FB-KOS-ELM has to touch, in one pass a row, and its final size.

    A row that joins reads and writes all m^2 entries; any other is multiplied with them.
    """

    def touched(before: Array, after: Array) -> int:
        return (8 if np.array_equal(after, before) else 16) * len(after) ** 2

    return _touched(FBKOSELMRegressor(C=C, gamma=GAMMA, budget=BUDGET), touched, X, y)


def dependency_bytes(X: Array, y: Array) -> tuple[int, int]:
    """Return the bytes that ALD-KOS-ELM has to touch, and its final size.

    Every row takes one solve with a triangle of m^2 / 2 entries. A row that does not join takes a second one, and
    reads and writes the m^2 entries of P.
    """

    def touched(before: Array, after: Array) -> int:
        return (24 if len(after) == len(before) else 4) * len(before) ** 2

    return _touched(ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA), touched, X, y)


def _touched(model: Any, touched: Callable[[Array, Array], int], X: Array, y: Array) -> tuple[int, int]:
    """Return the sum of the bytes of each row, from the dictionaries before and after it, and the final size."""
    total, before = 0, np.empty((0, X.shape[1]))
    for i in range(len(X)):
        after = model.partial_fit(X[i : i + 1], y[i : i + 1]).dictionary_
        total += touched(before, after)
        before = after
    return total, len(before)


def _online(key: str, name: str, model: Callable[[], Any], count: Callable[[Array, Array], tuple[int, int]]) -> Row:
    def run(trial: bool) -> Iterator[Result]:
        rows = 1000 if trial else 18_000
        X, y = series(rows)
        touched, size = count(X, y)
        times = max(1, touched // (16 * size**2))
        source, target = np.random.default_rng(0).random((size, size)), np.empty((size, size))

        def copies() -> None:
            for _ in range(times):
                np.copyto(target, source)

        copies()
        rounds = in_turn(lambda: model().fit(X, y).n_units_, copies, scale=touched / (16 * size**2 * times))
        rate = 16e-9 * size**2 * times / min(seconds.cpu for seconds in rounds.theirs)
        note = f"{touched / 1e9:.1f} GB touched; copies of {size}^2 doubles: {rate:.0f} GB/s read and written"
        against = "bytes touched at the bandwidth of copies"
        yield measured(rounds, name=f"{name}, {rows:,} rows", against=against, of_bound=True, target=0.7, note=note)

    return Row(key, run)


BOUND = 60.0
"""Seconds that the weights of 20 kernels on 2,000 rows may take to converge, on two cores."""
KERNELS: list[tuple[str, dict[str, Any]]] = [
    *(("rbf", {"gamma": 2.0**e}) for e in range(-13, 4)),
    *(("polynomial", {"gamma": 0.03125, "degree": degree}) for degree in (1, 2, 3)),
]


def _three_classes(n: int) -> tuple[Array, NDArray[Any]]:
    X, y = make_classification(n, 30, n_informative=10, n_classes=3, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def _kernel_weights(trial: bool) -> Iterator[Result]:
    n = 200 if trial else 2000
    X, y = _three_classes(n)
    for kind, q, radius in (("sparse", 1.0, False), ("l_2", 2.0, False), ("radius", 1.0, True)):
        model = MKELMClassifier(C=16.0, kernels=KERNELS, q=q, radius=radius)
        spent, _ = timed(partial(model.fit, X, y))
        yield Result(
            f"MK-ELM, {kind}, {len(KERNELS)} kernels, {n:,} rows", f"a bound of {BOUND:g} s", [BOUND / spent.cpu],
            spent, Seconds(BOUND, BOUND), target=1.0, note=f"settled after {model.n_iter_} iterations",
            share=model.n_iter_ * (2 * len(KERNELS) * n**2 + n**3 / 3) / dgemm_rate() / spent.cpu,
        )  # fmt: skip


_CHUNK = 16


def _lapack(X: Array) -> Array:
    values: Array = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[1]
    return values


def _triangular(X: Array) -> Array:
    return singular_directions(X - X.mean(axis=0))[0]


def _inner_products(X: Array) -> Array:
    """Return the singular values of few wide rows, with half of the digits; directions are computed, too."""
    centred = X - X.mean(axis=0)
    squares, vectors = np.linalg.eigh(centred @ centred.T)
    values: Array = np.sqrt(np.maximum(squares[:0:-1], 0.0))
    _ = (vectors[:, :0:-1].T @ centred) / values[:, np.newaxis]
    return values


def _streams(trial: bool) -> Iterator[Result]:
    """Measure one more chunk of rows, with all directions, against the decomposition of all rows."""
    tall, wide = ((1000, 50), (60, 500)) if trial else ((10_000, 200), (400, 10_000))
    cases: list[tuple[tuple[int, int], Callable[[Array], Array], str, float | None]] = [
        (tall, _lapack, "LAPACK's SVD of all rows", 10.0),
        (tall, _triangular, "SVD of the triangular factor of all rows", None),
        (wide, _lapack, "LAPACK's SVD of all rows", None),
        (wide, _inner_products, "eigenvectors of the inner products of all rows", None),
    ]
    for (n, d), theirs, against, target in cases:
        X = np.random.default_rng(0).standard_normal((n, d))
        stream = StreamedDecomposition(d)
        stream.update(X[:-_CHUNK])

        def update(stream: StreamedDecomposition = stream, X: Array = X) -> Array:
            updated = copy.deepcopy(stream)
            updated.update(X[-_CHUNK:])
            values, rotation = updated.decomposition()
            updated.directions(rotation)
            return values

        update()
        rounds = in_turn(update, partial(theirs, X))
        least = min(len(rounds.our_result), len(rounds.their_result))
        apart = np.abs(rounds.our_result[:least] - rounds.their_result[:least]).max() / rounds.our_result[0]
        name = f"OS-PVM, {_CHUNK} rows after {n - _CHUNK:,} of {d:,} features"
        yield measured(rounds, name=name, against=against, target=target, difference=float(apart))


ROWS = [
    Row("rk-elm-fit", _reduced_fit),
    Row("rk-elm-beside", _reduced_beside),
    Row("k-elm-fit", _kernel_fit),
    _online(
        "fb-kos-elm", f"FB-KOS-ELM, F = {BUDGET}", lambda: FBKOSELMRegressor(C=C, gamma=GAMMA, budget=BUDGET),
        budget_bytes,
    ),
    _online("ald-kos-elm", "ALD-KOS-ELM", lambda: ALDKOSELMRegressor(gamma=GAMMA, delta=DELTA), dependency_bytes),
    Row("mk-elm", _kernel_weights),
    Row("streams", _streams),
]  # fmt: skip
