"""The shared evaluation of a grid equals one fit for each candidate and fold."""

from __future__ import annotations

import numpy as np

from elmbench.models import (
    ALDKOSELMRegressor,
    FBKOSELMRegressor,
)
from elmbench.numerics.online.states import DependencyState, InverseState


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
