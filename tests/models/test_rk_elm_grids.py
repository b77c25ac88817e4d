"""The paths of RK-ELM and ELM-RBF against one fit a candidate and fold, whichever way the systems are solved."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from elm_problems import counting, rows, targets
from sklearn.model_selection import KFold

import elmbench.models.base.centres as module
import elmbench.numerics.centres as centres
import elmbench.numerics.ridge_path as ridge_path
import elmbench.numerics.shifted.band_reduction as reduction
from elmbench.models import RKELMClassifier, RKELMRegressor

pytestmark = pytest.mark.exhaustive

EPS = np.finfo(float).eps
WAYS = ("as it comes", "tridiagonal", "band")
SIZE = {"RKELM": "n_landmarks", "ELMRBF": "n_hidden"}


def force(patch: pytest.MonkeyPatch, way: str) -> None:
    if way != "as it comes":
        patch.setattr(ridge_path, "factor_seconds", lambda n, columns: np.inf)
        patch.setattr(reduction, "BLOCKED_FROM", 1 if way == "band" else 10**6)


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
