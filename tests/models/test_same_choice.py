"""Every path of the registry chooses the candidate that one fit each chooses, on random problems."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import rows
from hypothesis import given
from hypothesis import strategies as st
from path_rule import allowed, clear_labels
from random_examples import examples
from sklearn.model_selection import KFold, StratifiedKFold

from elmbench.models.protocols import GridPath
from elmbench.registry import parameter_names
from elmbench.registry.built_in import BUILT_IN
from elmbench.work.scoring import best

pytestmark = pytest.mark.exhaustive

PATHS = {
    f"{entry.name}, {task}": (entry.factory(task), entry.grid)
    for entry in BUILT_IN
    for task in ("classification", "regression")
    if getattr(entry, task) is not None and isinstance(entry.factory(task), GridPath)
}


def a_problem(random, classified, awkward):
    """Return rows, targets and two folds: two or three classes of one size, or values."""
    n = int(random.randint(24, 50))
    X = rows(n, int(random.randint(1, 20)), int(random.randint(2**31)), awkward)
    y = np.sin(3 * X.sum(axis=1)) + 0.3 * random.randn(n)
    if classified:
        y = np.argsort(np.argsort(y)) * int(random.choice([2, 3])) // n
    split = StratifiedKFold if classified else KFold
    return X, y, list(split(2, shuffle=True, random_state=random).split(X, y))


def small(value):
    """Return a size that suits few rows in place of one of a default grid: nodes, landmarks, budgets."""
    return value // 10 if isinstance(value, int) else value


def some_candidates(grid, random):
    """Return a few points of a default grid, in any order, one of them perhaps twice."""
    return [
        {name: small(values[random.randint(len(values))]) for name, values in grid.items()}
        for _ in range(random.randint(2, 5))
    ]


def score(expected, predicted, classified):
    return float(np.mean(expected == predicted)) if classified else -float(np.mean(np.abs(expected - predicted)))


def doubt(model, X, y, classified):
    """Return by how much the score may be another for outputs that a path is allowed to yield."""
    if not hasattr(model, "condition_"):
        return 0.0  # a pipeline, whose path fits it as it is
    outputs = model.decision_function(X) if classified else model.predict(X)
    within = allowed(model, outputs, y)
    return float(np.mean(~clear_labels(outputs, within))) if classified else within


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.filterwarnings("ignore::UserWarning")
@examples(100)
@given(number=st.integers(0, 2**31 - 1), awkward=st.booleans())
def test_a_path_chooses_as_single_fits_do(name, number, awkward):
    """The same candidate, unless one is as good as the other within what outputs may differ by."""
    cls, grid = PATHS[name]
    classified = name.endswith("classification")
    random = np.random.RandomState(number)
    X, y, folds = a_problem(random, classified, awkward)
    candidates = some_candidates(grid, random)
    fixed = {"random_state": number % 5} if "random_state" in parameter_names(cls) else {}
    scores, expected = np.full((2, len(candidates), len(folds)), np.nan)
    for i, j, predicted, _ in cls.evaluate_grid(X, y, folds, candidates, **fixed):
        scores[i, j] = score(y[folds[j][1]], predicted, classified)
    models = [[cls(**fixed, **candidate).fit(X[train], y[train]) for train, _ in folds] for candidate in candidates]
    for i, fitted in enumerate(models):
        for j, (_, test) in enumerate(folds):
            expected[i, j] = score(y[test], fitted[j].predict(X[test]), classified)
    choice, expected_choice = best(scores), best(expected)
    if choice != expected_choice:
        unsure = [
            doubt(models[i][j], X[test], y[train], classified)
            for i in (choice, expected_choice)
            for j, (train, test) in enumerate(folds)
        ]
        assert expected[expected_choice].mean() - expected[choice].mean() <= sum(unsure) / len(folds)
        assert sum(unsure) > 0, "a tie is decided by the order of the candidates"
