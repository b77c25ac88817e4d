"""The search of ELM against one fit each, by the score of every candidate."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from elm_problems import FACTORS, class_of, counting, is_classification, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits
from random_examples import examples
from sklearn.model_selection import KFold, StratifiedKFold

import elmbench.numerics.nodes.hidden_layer as nodes
import elmbench.numerics.ridge_path as ridge_path
from elmbench.models import ELMClassifier
from elmbench.protocol.predictions import metric_value
from elmbench.work.scoring import GridProblem, best

SCORES = {
    "binary": lambda expected, predicted: metric_value("mcc", expected, predicted, [-1, 1]),
    "multi": lambda expected, predicted: np.mean(expected == predicted),
    "regression": lambda expected, predicted: metric_value("nrmse", expected, predicted, None),
}


def scores_of(cls, X, y, folds, grid, kind, solvers=None, **fixed):
    """Return the scores of the path, and those of one fit each."""
    both = []
    for predictions in (
        cls.evaluate_grid(X, y, folds, grid, **fixed),
        GridProblem(cls, X, y, folds, grid, fixed, None).clone_and_fit(),
    ):
        scores = np.full((len(grid), len(folds)), np.nan)
        for i, j, predicted in counting(predictions, Counter() if solvers is None else solvers):
            scores[i, j] = SCORES[kind](y[folds[j][1]], predicted)
        both.append(scores)
    return both


@examples(240)
@given(
    n=st.integers(9, 90),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(["binary", "multi", "regression"]),
    awkward=st.booleans(),
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=4, unique=True),
    Cs=st.lists(FACTORS, min_size=1, max_size=4, unique=True),
    activation=st.sampled_from(["sigmoid", "tanh", "relu"]),
    reduce=st.booleans(),
    row_block=st.sampled_from([16, 2048]),
    n_splits=st.integers(2, 4),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_a_random_grid(n, d, seed, kind, awkward, sizes, Cs, activation, reduce, row_block, n_splits, scale):
    """More nodes than rows and fewer, repeated rows, a constant column, by whichever way."""
    X = rows(n, d, seed, awkward)
    y = targets(X, seed, kind)
    if kind == "regression":
        y *= scale
    grid = [{"n_hidden": size, "C": C} for size in sizes for C in {*Cs, 2.0**13}]
    folds = list(KFold(n_splits, shuffle=True, random_state=0).split(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "ROW_BLOCK", row_block)
        if reduce:
            patch.setattr(ridge_path, "factor_seconds", lambda n, columns: np.inf)
        solvers = assert_path_follows_fits(
            class_of("ELM", kind), X, y, folds, grid, random_state=seed % 5, activation=activation
        )
    assert solvers.total() == len(grid) * n_splits


@pytest.mark.parametrize("kind", list(SCORES))
def test_all_scores_of_a_grid_as_in_the_papers(kind, seed):
    """Every C of the papers, few dimensions and twice each row; networks below, at and above the number of rows."""
    X = np.repeat(rows(90, 2, seed + 5), 2, axis=0)
    y = targets(X, seed + 5, kind)
    split = StratifiedKFold if is_classification(kind) else KFold
    folds = list(split(2, shuffle=True, random_state=0).split(X, y))
    grid = [{"n_hidden": size, "C": 2.0**c} for size in (30, 64, 89, 90, 91, 150, 400) for c in range(-8, 14)]
    solvers = Counter()
    found, expected = scores_of(class_of("ELM", kind), X, y, folds, grid, kind, solvers, random_state=1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert best(found) == best(expected)
    assert solvers["leading cholesky"] == 2 * 4 * 22
    assert solvers["reduction"] == 2 * 3 * 22


def test_of_ties_the_first_wins(seed):
    """Of well separated classes most candidates are perfect."""
    random = np.random.RandomState(seed)
    y = np.repeat([-1, 1], 40)
    X = random.rand(80, 2) + 3 * (y[:, np.newaxis] > 0)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    grid = [{"n_hidden": size, "C": 2.0**c} for size in (5, 40, 100) for c in range(-8, 14, 3)]
    found, expected = scores_of(ELMClassifier, X, y, folds, grid, "binary", random_state=0)
    assert (expected == 1.0).all(axis=1).sum() > 10
    np.testing.assert_array_equal(found, expected)
    assert best(found) == best(expected) == int(np.flatnonzero((expected == 1.0).all(axis=1))[0])
