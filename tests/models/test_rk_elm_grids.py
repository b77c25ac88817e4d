"""The paths of RK-ELM and ELM-RBF against one fit a candidate and fold, whichever way the systems are solved."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import class_of, counting, is_classification, real_outputs, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import random_folds
from random_examples import examples
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.model_selection import KFold

import elmbench.models.base.centres as module
import elmbench.numerics.centres as centres
import elmbench.numerics.ridge_path as ridge_path
import elmbench.numerics.shifted.band_reduction as reduction
from elmbench.models import RKELMClassifier, RKELMRegressor
from elmbench.models.protocols import GridPath
from elmbench.numerics.centres import KERNELS, OF_DISTANCES

pytestmark = pytest.mark.exhaustive

EPS = np.finfo(float).eps
WAYS = ("as it comes", "tridiagonal", "band")
SIZE = {"RKELM": "n_landmarks", "ELMRBF": "n_hidden"}


def force(patch: pytest.MonkeyPatch, way: str) -> None:
    if way != "as it comes":
        patch.setattr(ridge_path, "factor_seconds", lambda n, columns: np.inf)
        patch.setattr(reduction, "BLOCKED_FROM", 1 if way == "band" else 10**6)


def some_folds(n, n_folds, seed):
    return random_folds(n, n_folds, np.random.RandomState(seed))


def spread(model, X) -> float:
    """Return by how much two computations of real outputs may differ, by the rule of the paths."""
    outputs = real_outputs(model, X)
    return min(max(1e-10, 10 * model.condition_ * EPS), 1e9) * np.abs(outputs).max()


def assert_path_equals_fits(cls, X, y, folds, candidates, **fixed):
    """Values to the rule; labels wherever they do not hang on less. Return the scores of both."""
    scores = np.full((2, len(candidates), len(folds)), np.nan)
    unsure = np.zeros(len(candidates))
    measure = accuracy_score if hasattr(cls, "decision_function") else lambda t, p: -mean_squared_error(t, p)
    for i, j, predicted in counting(cls.evaluate_grid(X, y, folds, candidates, **fixed), Counter()):
        train, test = folds[j]
        model = cls(**fixed, **candidates[i]).fit(X[train], y[train])
        expected = model.predict(X[test])
        assert np.isnan(scores[0, i, j])
        assert predicted.shape == expected.shape
        assert predicted.dtype == expected.dtype
        allowed = spread(model, X[test])
        if hasattr(model, "decision_function"):
            outputs = real_outputs(model, X[test])
            ordered = np.sort(outputs, axis=-1)
            clear = np.abs(outputs) > allowed if outputs.ndim == 1 else ordered[:, -1] - ordered[:, -2] > 2 * allowed
            clear |= len(model.classes_) == 1
            np.testing.assert_array_equal(predicted[clear], expected[clear])
            unsure[i] += np.mean(~clear)
        else:
            np.testing.assert_allclose(predicted, expected, rtol=0, atol=allowed)
            unsure[i] += 2 * allowed * np.abs(expected - y[test]).max() + allowed**2
        scores[0, i, j], scores[1, i, j] = measure(y[test], predicted), measure(y[test], expected)
    assert np.isfinite(scores).all()
    found, fitted = scores.mean(axis=2)
    # The same candidate is chosen unless another one is as good within what round-off may change.
    winner, chosen = int(np.argmax(fitted)), int(np.argmax(found))
    near = fitted[winner] - fitted[chosen] <= (unsure[winner] + unsure[chosen]) / len(folds) + 1e-12
    assert winner == chosen or near
    return scores


EXPONENTS = st.integers(-4, 4).map(lambda e: 2.0**e)
CANDIDATES = st.lists(
    st.tuples(
        st.integers(1, 70),
        st.integers(-5, 30).map(lambda e: 2.0**e),
        EXPONENTS,
        st.sampled_from(KERNELS),
        st.sampled_from(["equal", "random"]),
        st.integers(1, 2),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=8,
)
NAMES = ("size", "C", "gamma", "kernel", "widths", "degree", "random_state")


@examples(300)
@given(
    n=st.integers(6, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(["binary", "multi", "one", "regression", "two-targets"]),
    awkward=st.booleans(),
    n_folds=st.integers(1, 3),
    sparse=st.booleans(),
    name=st.sampled_from(sorted(SIZE)),
    drawn=CANDIDATES,
    searched=st.sets(st.sampled_from(NAMES)),
    way=st.sampled_from(WAYS),
    block=st.integers(1, 70),
)
def test_equals_one_fit_a_candidate(n, d, seed, kind, awkward, n_folds, sparse, name, drawn, searched, way, block):
    """All kernels and widths, repeated rows, more centres than rows, sparse rows, any blocks, parameters in any mix."""
    X = rows(n, d, seed, awkward)
    y = targets(X, seed, kind)
    candidates = []
    for values in drawn:
        # What is not searched is that of the first candidate.
        full = {k: v if k in searched else first for k, v, first in zip(NAMES, values, drawn[0], strict=True)}
        if full["kernel"] not in OF_DISTANCES:
            full["widths"] = "equal"
        if name == "ELMRBF":
            full = {k: full[k] for k in ("size", "C", "gamma", "random_state")}
        full[SIZE[name]] = full.pop("size")
        candidates.append(full)
    with pytest.MonkeyPatch.context() as patch:
        force(patch, way)
        patch.setattr(centres, "BLOCK_BYTES", 8 * 70 * block)
        assert_path_equals_fits(
            class_of(name, kind), sp.csr_matrix(X) if sparse else X, y, some_folds(n, n_folds, seed), candidates
        )


@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
@pytest.mark.parametrize("name", sorted(SIZE))
def test_ridges_down_to_round_off_on_ill_conditioned_rows(name, kind, seed):
    """2^5 to 2^-30, and to 2^-58, on few dimensions and repeated rows: ridges down to and below round-off of K'K."""
    X = np.repeat(rows(60, 2, seed + 5), 2, axis=0)
    y = targets(X, seed + 5, kind)
    folds = list(KFold(2, shuffle=True, random_state=0).split(X))
    grid = [{SIZE[name]: L, "C": 2.0**-e} for L in (5, 20, 80) for e in range(-58, 6)]
    solvers = Counter()
    list(counting(class_of(name, kind).evaluate_grid(X, y, folds, grid, gamma=0.25, random_state=seed), solvers))
    assert min(solvers["reduction"], solvers["cholesky"], solvers["eigenvalues"]) > 0
    assert solvers.total() == 2 * 3 * 64
    assert_path_equals_fits(class_of(name, kind), X, y, folds, grid, gamma=0.25, random_state=seed)


def test_shared_work_is_shared(monkeypatch, seed):
    """One draw and one pass over the rows a fold for all gamma, L and C; a reduction for each gamma and L."""
    draws, passes, solved = [], [], []
    draw, equations, solutions = RKELMRegressor._draw, module.normal_equations, module.ridge_solutions
    monkeypatch.setattr(
        RKELMRegressor, "_draw", lambda self, *given: draws.append(self.n_landmarks) or draw(self, *given)
    )
    monkeypatch.setattr(module, "normal_equations", lambda *given: passes.append(len(given[1])) or equations(*given))
    monkeypatch.setattr(module, "ridge_solutions", lambda *given: solved.append(given[0].shape) or solutions(*given))
    X = rows(60, 3, seed)
    y = targets(X, seed, "regression")
    folds = list(KFold(3).split(X))
    grid = [{"n_landmarks": L, "gamma": g, "C": c} for L in (5, 20, 50, 90) for g in (0.5, 2.0) for c in (1.0, 8.0)]
    seen = [(i, j) for i, j, _ in counting(RKELMRegressor.evaluate_grid(X, y, folds, grid, random_state=0), Counter())]
    assert sorted(seen) == [(i, j) for i in range(len(grid)) for j in range(3)]
    assert draws == [90] * 3
    assert passes == [2] * 3
    # 50 and 90 centres are both all of the 40 rows.
    assert solved == [(5, 5), (20, 20), (40, 40)] * 2 * 3


def test_ways_are_counted(monkeypatch, seed):
    X = rows(90, 3, seed)
    y = targets(X, seed, "multi")
    folds = list(KFold(2).split(X))
    grid = [{"n_landmarks": L, "C": 2.0**e} for L in (4, 40) for e in range(6)]
    solvers = Counter()
    with monkeypatch.context() as patch:
        force(patch, "band")
        list(counting(RKELMClassifier.evaluate_grid(X, y, folds, grid, random_state=0), solvers))
    assert solvers == {"reduction": 24}
    monkeypatch.setattr(ridge_path, "reduction_seconds", lambda *sizes: np.inf)
    solvers.clear()
    list(counting(RKELMClassifier.evaluate_grid(X, y, folds, grid, random_state=0), solvers))
    assert solvers == {"cholesky": 24}


def test_memory_of_a_path_does_not_grow_with_rows_times_centres(seed):
    """All kernel values would take 160 MB for each gamma."""
    X = rows(200_000, 3, seed)
    y = targets(X, seed, "binary")
    folds = [(np.arange(150_000), np.arange(150_000, 200_000))]
    grid = [{"n_landmarks": L, "gamma": g} for L in (10, 100) for g in (0.5, 1.0)]
    tracemalloc.start()
    for _ in RKELMClassifier.evaluate_grid(X, y, folds, grid, random_state=0):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * centres.BLOCK_BYTES + 8 * (150_000 * 8 + 50_000 * len(grid))


@pytest.mark.parametrize("name", sorted(SIZE))
@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_the_classes_offer_the_path(name, kind):
    cls = class_of(name, kind)
    assert isinstance(cls, GridPath)
    assert is_classification(kind) == hasattr(cls, "decision_function")
