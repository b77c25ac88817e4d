"""Single fits against the arithmetic and memory bandwidth of the machine, and against
scikit-learn's models.
"""

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.measure import (
    MOST_ROUNDS,
    Array,
    Record,
    Rounds,
    Run,
    in_turn,
    make_record,
    time_call,
)
from benchmarks.problems import series
from elmbench.datasets.generators import waveform
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.models import (
    ALDKOSELMRegressor,
    FBKOSELMRegressor,
    KELMRegressor,
    MKELMClassifier,
    RKELMClassifier,
)
from elmbench.numerics.projection import StreamedDecomposition
from elmbench.specs.scaling import Scale

# Table III of the KOS-ELM paper for Mackey-Glass.
GAMMA, C, BUDGET, DELTA = 4.0, 1012.0, 300, 0.1


def _kernel_fit(trial: bool) -> Iterator[Record]:
    """Measure a fit against products of two matrices with as many operations as its Cholesky
    factor.
    """
    rows, size = (1500, 1000) if trial else (18_000, 4000)
    X, y = series(rows)
    sample = np.random.default_rng(1).permutation(rows)[:200]
    KELMRegressor(C=C, gamma=GAMMA).fit(X[:50], y[:50])

    def fit() -> float:
        """Return the residual of the equations (K + I/C) beta = y for some rows."""
        model = KELMRegressor(C=C, gamma=GAMMA).fit(X, y)
        return float(
            np.max(
                np.abs(
                    model.predict(X[sample]) + model.beta_[sample, 0] / C - y[sample]
                )
            )
        )

    A, B = (np.random.default_rng(i).random((size, size)) for i in (0, 1))
    operations = rows**3 / 3
    rounds = in_turn(fit, lambda: A @ B, scale=operations / (2 * size**3))
    rate = f"dgemm of {size} rows: {1e-9 * operations / min(rounds.theirs):.1f} Gflop/s"
    note = f"{rate}; residual of 200 of the equations: {rounds.our_result:.1g}"
    name, against = f"K-ELM fit, {rows:,} rows", "n^3/3 operations at the rate of dgemm"
    yield make_record(name, against, rounds, target=0.8, note=note)


# Roughly the choice of scikit-learn's default search for waveforms scaled to [-1, 1].
_WAVE_GAMMA, _WAVE_C, _CENTRES = 0.1, 1.0, 400


def _error(model: Any, X: Array, y: NDArray[np.int64], n: int) -> float:
    """Fit a model to the first n rows; return its error on the others."""
    return float(np.mean(model.fit(X[:n], y[:n]).predict(X[n:]) != y[n:]))


def _reduced_beside(trial: bool) -> Iterator[Record]:
    """Measure RKELM beside models of scikit-learn on waveforms of three classes, scaled to [-1,
    1].
    """
    n, m = (800, 400) if trial else (8000, 4000)
    X, y = waveform("benchmark", 0, rows=n + m)
    X = prepared_inputs(X, slice(None), Scale(range=(-1.0, 1.0)))
    ours = partial(
        RKELMClassifier,
        n_landmarks=_CENTRES,
        C=_WAVE_C,
        gamma=_WAVE_GAMMA,
        random_state=0,
    )
    nystroem = Nystroem(gamma=_WAVE_GAMMA, n_components=_CENTRES, random_state=0)
    others = {
        "Nystroem + RidgeClassifier": make_pipeline(
            nystroem, RidgeClassifier(alpha=1 / _WAVE_C)
        ),
        "SVC": SVC(C=_WAVE_C, gamma=_WAVE_GAMMA),
        "LinearSVC": LinearSVC(C=_WAVE_C),
    }
    linear = (
        f"; a linear model of {X.shape[1]} features, without the {n + m:,} x {_CENTRES} values of "
        "the kernel"
    )
    for name, model in others.items():
        theirs = partial(_error, model, X, y, n)
        theirs()
        rounds = in_turn(lambda: _error(ours(), X, y, n), theirs)
        note = (
            f"error {rounds.our_result:.4f} against {rounds.their_result:.4f}"
            + linear * (name == "LinearSVC")
        )
        title = f"RKELM, {n:,} waveforms, L = {_CENTRES}, fit and {m:,} predictions"
        yield make_record(title, f"scikit-learn's {name}", rounds, note=note)


def budget_bytes(previous: Array, current: Array) -> int:
    """Return the bytes of a whole inverse that FB-KOS-ELM touches for a row, from the dictionaries
    before and after.

    A row that joins reads and writes all m^2 entries; any other is multiplied with them. elmbench
    touches half of them.
    """
    return (8 if np.array_equal(current, previous) else 16) * len(current) ** 2


def dependency_bytes(previous: Array, current: Array) -> int:
    """Return the bytes that ALD-KOS-ELM touches for a row, from the dictionaries before and after
    it.

    Every row takes one solve with a triangle of m^2 / 2 entries. A row that does not join takes a
    second one, and reads and writes the m^2 entries of P, of which elmbench touches half.
    """
    return (24 if len(current) == len(previous) else 4) * len(previous) ** 2


Touched = Callable[[Array, Array], int]
FB = partial(FBKOSELMRegressor, C=C, gamma=GAMMA, budget=BUDGET)
ALD = partial(ALDKOSELMRegressor, gamma=GAMMA, delta=DELTA)


def touched_bytes(model: Any, touched: Touched, X: Array, y: Array) -> tuple[int, int]:
    """Return the bytes that a model touches for all rows, one after the other, and its final
    size.
    """
    total, previous = 0, np.empty((0, X.shape[1]))
    for i in range(len(X)):
        current = model.partial_fit(X[i : i + 1], y[i : i + 1]).dictionary_
        total += touched(previous, current)
        previous = current
    return total, len(previous)


def _online(
    name: str, model: Callable[[], Any], touched: Touched, trial: bool
) -> Iterator[Record]:
    """Measure an online fit against copies of a matrix of its final size that touch as many
    bytes.
    """
    rows = 1000 if trial else 18_000
    X, y = series(rows)
    total, size = touched_bytes(model(), touched, X, y)
    times = max(1, total // (16 * size**2))
    source, target = (
        np.random.default_rng(0).random((size, size)),
        np.empty((size, size)),
    )

    def copies() -> None:
        for _ in range(times):
            np.copyto(target, source)

    copies()
    rounds = in_turn(
        lambda: model().fit(X, y).n_units_, copies, scale=total / (16 * size**2 * times)
    )
    rate = 1e-9 * total / min(rounds.theirs)
    note = (
        f"{total / 1e9:.1f} GB touched; copies of {size}^2 doubles: {rate:.0f} GB/s read and "
        "written"
    )
    against = "bytes touched at the bandwidth of copies"
    yield make_record(f"{name}, {rows:,} rows", against, rounds, target=0.7, note=note)


#: Seconds that the weights of 20 kernels on 2,000 rows may take to converge, on two cores.
BOUND = 60.0
KERNELS: list[tuple[str, dict[str, Any]]] = [
    *(("rbf", {"gamma": 2.0**e}) for e in range(-13, 4)),
    *(("polynomial", {"gamma": 0.03125, "degree": degree}) for degree in (1, 2, 3)),
]


def _kernel_weights(trial: bool) -> Iterator[Record]:
    n = 200 if trial else 2000
    X, y = make_classification(n, 30, n_informative=10, n_classes=3, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for kind, q, radius in (
        ("sparse", 1.0, False),
        ("l_2", 2.0, False),
        ("radius", 1.0, True),
    ):
        model = MKELMClassifier(C=16.0, kernels=KERNELS, q=q, radius=radius)
        seconds, _ = time_call(partial(model.fit, X, y))
        name = f"MK-ELM, {kind}, {len(KERNELS)} kernels, {n:,} rows"
        note = f"settled after {model.n_iter_} iterations"
        operations = model.n_iter_ * (2 * len(KERNELS) * n**2 + n**3 / 3)
        rounds = Rounds([seconds], [BOUND])
        yield make_record(
            name,
            f"a bound of {BOUND:g} s",
            rounds,
            operations=operations,
            target=1.0,
            note=note,
        )


_CHUNK = 16


def _values_of_inner_products(X: Array) -> Array:
    """Return the singular values of few wide rows, with half of the digits, after their
    directions.
    """
    squares, vectors = np.linalg.eigh(X @ X.T)
    values = np.sqrt(np.maximum(squares[:0:-1], 0.0))
    np.divide(vectors[:, :0:-1].T @ X, values[:, np.newaxis])
    return values


def _streams(trial: bool) -> Iterator[Record]:
    """Measure one more chunk of rows, with all directions, against the decomposition of all
    rows.
    """
    tall, wide = ((1000, 50), (60, 500)) if trial else ((10_000, 200), (400, 10_000))
    lapack: tuple[str, Callable[[Array], Array]] = (
        "LAPACK's SVD of all rows", lambda X: np.linalg.svd(X, full_matrices=False)[1]
    )  # fmt: skip
    inner = "eigenvectors of the inner products of all rows", _values_of_inner_products
    for (n, d), (against, values_of), target in (
        (tall, lapack, 10.0),
        (wide, lapack, None),
        (wide, inner, None),
    ):
        X = np.random.default_rng(0).standard_normal((n, d))
        stream = StreamedDecomposition(d)
        stream.update(X[:-_CHUNK])
        streams = [copy.deepcopy(stream) for _ in range(1 + MOST_ROUNDS)]

        def update(
            streams: list[StreamedDecomposition] = streams, X: Array = X
        ) -> Array:
            stream = streams.pop()
            stream.update(X[-_CHUNK:])
            values, rotation = stream.decomposition()
            stream.fix_signs(rotation)
            return values

        update()
        rounds = in_turn(
            update,
            partial(lambda X, values_of: values_of(X - X.mean(axis=0)), X, values_of),
        )
        size = min(len(rounds.our_result), len(rounds.their_result))
        difference = (
            np.abs(rounds.our_result[:size] - rounds.their_result[:size]).max()
            / rounds.our_result[0]
        )
        name = f"OS-PVM, {_CHUNK} rows after {n - _CHUNK:,} of {d:,} features"
        yield make_record(
            name, against, rounds, target=target, largest_difference=float(difference)
        )


ROWS: dict[str, Run] = {
    "rk-elm-beside": _reduced_beside,
    "k-elm-fit": _kernel_fit,
    "fb-kos-elm": partial(_online, f"FB-KOS-ELM, F = {BUDGET}", FB, budget_bytes),
    "ald-kos-elm": partial(_online, "ALD-KOS-ELM", ALD, dependency_bytes),
    "mk-elm": _kernel_weights,
    "streams": _streams,
}
