"""The shared evaluation of a grid equals one fit for each candidate and fold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from random_examples import examples

from elmbench.models import (
    ALDKOSELMClassifier,
    ALDKOSELMRegressor,
    FBKOSELMClassifier,
    FBKOSELMRegressor,
    KOSELMClassifier,
    KOSELMRegressor,
)
from elmbench.numerics.online.states import DependencyState, InverseState

C = st.sampled_from([2.0**e for e in (-8, -2, 4, 13)])
GAMMA = st.sampled_from([2.0**e for e in (-8, -2, 1, 4)])
GRIDS = {
    (KOSELMClassifier, KOSELMRegressor): {"C": C, "gamma": GAMMA},
    (FBKOSELMClassifier, FBKOSELMRegressor): {
        "C": C,
        "gamma": GAMMA,
        "budget": st.sampled_from([1, 4, 9, 25, 30, 400]),
    },
    (ALDKOSELMClassifier, ALDKOSELMRegressor): {
        "C": C,
        "gamma": GAMMA,
        "delta": st.sampled_from([0.0, 1e-3, 0.05, 0.051, 0.3, 0.9]),
        "threshold": st.sampled_from(["squared", "as-printed"]),
        "max_atoms": st.sampled_from([None, None, 5]),
    },
}


def draw_problem(data):
    """Return rows, targets, folds and the class of problem: two or three classes, one or two targets."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n = data.draw(st.integers(9, 45))
    X = rng.random((n, data.draw(st.integers(1, 4))))
    if data.draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # repeated rows
    kind = data.draw(st.sampled_from(["two classes", "three classes", "one target", "two targets"]))
    score = np.sin(4 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    y = {
        "two classes": np.where(score > np.median(score), 1, -1).astype(np.int8),
        "three classes": np.digitize(score, np.quantile(score, [0.3, 0.7])),
        "one target": score,
        "two targets": np.column_stack([score, X[:, 0]]),
    }[kind]
    order = rng.permutation(n)
    folds = [(np.setdiff1d(order, order[j::3], assume_unique=True), order[j::3]) for j in range(3)]
    return X, y, folds, kind.endswith("classes")


@pytest.mark.hypothesis
@pytest.mark.parametrize("pair", GRIDS, ids=["complete", "fixed budget", "dependency"])
def test_a_grid_equals_one_fit_each(pair):
    grid = GRIDS[pair]

    @examples(80)
    @given(st.data())
    def check(data):
        X, y, folds, classified = draw_problem(data)
        model = pair[0] if classified else pair[1]
        searched = data.draw(st.sets(st.sampled_from(sorted(grid)), min_size=1))
        fixed = {name: data.draw(values) for name, values in grid.items() if name not in searched}
        point = st.fixed_dictionaries({name: grid[name] for name in sorted(searched)})
        candidates = data.draw(st.lists(point, min_size=1, max_size=6))
        found = list(model.evaluate_grid(X, y, folds, candidates, **fixed))
        assert sorted((i, j) for i, j, _, _ in found) == [(i, j) for i in range(len(candidates)) for j in range(3)]
        for i, j, predicted, _ in found:
            train, test = folds[j]
            expected = model(**fixed, **candidates[i]).fit(X[train], y[train]).predict(X[test])
            assert predicted.dtype == expected.dtype
            assert predicted.shape == expected.shape
            if classified:
                assert np.array_equal(predicted, expected)
            else:
                assert_allclose(predicted, expected, rtol=0, atol=1e-8 * max(1.0, np.abs(expected).max()))

    check()


def count_of_models_learnt(monkeypatch, state, model, candidates, **fixed):
    learnt = []
    extend = state.extend
    monkeypatch.setattr(state, "extend", lambda self, *rows: (learnt.append(self), extend(self, *rows)))
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    folds = [(np.arange(40), np.arange(40, 60))]
    assert len(list(model.evaluate_grid(X, X[:, 0], folds, candidates, **fixed))) == len(candidates)
    return len(learnt)


def test_budgets_that_are_not_reached_are_learnt_once(monkeypatch):
    candidates = [{"budget": budget} for budget in (10, 39, 40, 41, 400)]
    assert count_of_models_learnt(monkeypatch, InverseState, FBKOSELMRegressor, candidates) == 3


def test_the_ridge_is_learnt_once_where_there_is_none(monkeypatch):
    candidates = [{"C": C, "delta": delta} for C in (1.0, 2.0, 4.0) for delta in (0.02, 0.02000001)]
    assert count_of_models_learnt(monkeypatch, DependencyState, ALDKOSELMRegressor, candidates) == 1


def test_a_parameter_out_of_range_is_refused_before_anything_is_learnt():
    X = np.zeros((4, 1))
    with pytest.raises(ValueError, match="'gamma' parameter"):
        list(KOSELMRegressor.evaluate_grid(X, X[:, 0], [(np.arange(2), np.arange(2, 4))], [{"gamma": -1.0}]))
