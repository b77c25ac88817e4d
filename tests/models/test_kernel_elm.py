"""K-ELM against kernel ridge regression, and the scores of its search against one fit each, however
it is solved.
"""

from collections import Counter

import numpy as np
import pytest
from elm_problems import (
    FACTORS,
    SHAPES,
    class_of,
    coded,
    counting,
    is_classification,
    problem,
    real_outputs,
    rows,
    targets,
)
from forced_solvers import WAYS, force
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, StratifiedKFold

from elmbench.evaluation.predictions import metric_value
from elmbench.models import KELMClassifier, KELMRegressor
from elmbench.models.base import kernel_paths as module
from elmbench.tasks.scoring import GridProblem, best


@examples(200)
@given(
    shape=SHAPES,
    C=FACTORS,
    gamma=FACTORS,
    awkward=st.booleans(),
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    weighted=st.booleans(),
)
def test_k_elm_equals_kernel_ridge_of_scikit_learn(
    shape, C, gamma, awkward, kind, weighted
):
    """A classifier is the regression on the signs of its classes; rows may have weights."""
    n, d, seed = shape
    X, y = problem(n, d, seed, kind, awkward)
    weights = np.random.RandomState(seed).uniform(0.1, 3.0, n) if weighted else None
    model = class_of("KELM", kind)(C=C, gamma=gamma).fit(X, y, sample_weight=weights)
    reference = KernelRidge(alpha=1 / C, kernel="rbf", gamma=gamma).fit(
        X, coded(y, kind), sample_weight=weights
    )
    probe = np.vstack([X, rows(12, d, seed + 1)])
    expected = reference.predict(probe)
    np.testing.assert_allclose(
        real_outputs(model, probe).reshape(n + 12, -1), expected, atol=1e-8
    )
    assert model.n_units_ == n
    if is_classification(kind):
        scores = (
            np.hstack([-expected, expected]) if len(model.classes_) == 2 else expected
        )
        # Equal rows of two classes tie them.
        clear = np.ptp(np.sort(scores)[:, -2:], axis=1) > 1e-7
        np.testing.assert_array_equal(
            model.predict(probe)[clear], model.classes_[scores.argmax(axis=1)][clear]
        )


SCORES = {
    "binary": lambda expected, predicted: metric_value(
        "mcc", expected, predicted, [-1, 1]
    ),
    "multi": lambda expected, predicted: np.mean(expected == predicted),
    "regression": lambda expected, predicted: metric_value(
        "nrmse", expected, predicted, None
    ),
}


def scores_of(cls, X, y, folds, grid, kind):
    """Return the scores of the path, and those of one fit each."""
    both = []
    for predictions in (
        cls.evaluate_grid(X, y, folds, grid),
        GridProblem(cls, X, y, folds, grid, {}, None).evaluate_by_fits(),
    ):
        scores = np.full((len(grid), len(folds)), np.nan)
        for i, j, predicted, _ in predictions:
            scores[i, j] = SCORES[kind](y[folds[j][1]], predicted)
        both.append(scores)
    return both


def test_held_out_rows_take_no_memory_in_the_kernel(monkeypatch):
    """A holdout of many test rows needs the kernel of the training rows alone."""
    sizes, ladder = [], module.kernel_ladder
    monkeypatch.setattr(
        module,
        "kernel_ladder",
        lambda X, gammas: sizes.append(len(X)) or ladder(X, gammas),
    )
    X = rows(300, 3, 0, False)
    grid = [{"gamma": 1.0, "C": 2.0**e} for e in range(8)]
    path = KELMRegressor.evaluate_grid(
        X, targets(X, 0, "regression"), [(np.arange(40), np.arange(40, 300))], grid
    )
    assert len(list(path)) == 8
    assert sizes == [40]


@pytest.mark.parametrize(
    ("way", "kind"),
    [*((way, "regression") for way in WAYS), (WAYS[0], "binary"), (WAYS[0], "multi")],
)
def test_all_scores_of_the_papers_grid(monkeypatch, way, kind, seed):
    """All 22 x 22 pairs, on few dimensions and twice each row: as ill-conditioned as they come."""
    force(monkeypatch, way)
    X = np.repeat(rows(75, 2, seed + 5), 2, axis=0)
    y = targets(X, seed + 5, kind)
    split = StratifiedKFold if is_classification(kind) else KFold
    folds = list(split(2, shuffle=True, random_state=0).split(X, y))
    grid = [
        {"C": 2.0**c, "gamma": 2.0**g} for c in range(-8, 14) for g in range(-8, 14)
    ]
    scores, expected = scores_of(class_of("KELM", kind), X, y, folds, grid, kind)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-8)
    assert best(scores) == best(expected)


@pytest.mark.parametrize("kind", ["regression", "binary"])
def test_a_system_that_no_iteration_solves_is_factored(monkeypatch, kind, seed):
    original = module.fold_solutions

    def give_up(*given, **options):
        Z, errors = original(*given, **options)
        Z[:, 3], errors[3] = np.nan, np.inf
        return Z, errors

    monkeypatch.setattr(module, "fold_solutions", give_up)
    X, y = problem(60, 3, seed, kind)
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    grid = [{"C": 2.0**-c} for c in (4, 2, 0, 5, 1, 3)]
    solvers, cls = Counter(), class_of("KELM", kind)
    for i, j, predicted in counting(
        cls.evaluate_grid(X, y, folds, grid, gamma=2.0), solvers
    ):
        train, test = folds[j]
        expected = cls(**grid[i], gamma=2.0).fit(X[train], y[train]).predict(X[test])
        np.testing.assert_allclose(predicted, expected, atol=1e-10)
    assert solvers["bound failed"] == 2


def test_outputs_that_tie_are_left_to_the_fit(seed):
    """Two equal rows of different classes: what becomes of the label is round-off, and that of the
    fit counts.
    """
    random = np.random.RandomState(seed)
    X = np.repeat(random.rand(40, 3), 2, axis=0)
    y = np.tile(["a", "b"], 40)
    y[::8] = "c"
    folds = [(np.arange(0, 60), np.arange(60, 80)), (np.arange(20, 80), np.arange(20))]
    grid = [
        {"C": 2.0**c, "gamma": 2.0**g} for c in (-8, 0, 13) for g in range(-8, 14, 3)
    ]
    solvers = Counter()
    for i, j, predicted in counting(
        KELMClassifier.evaluate_grid(X, y, folds, grid), solvers
    ):
        train, test = folds[j]
        np.testing.assert_array_equal(
            predicted,
            KELMClassifier(**grid[i]).fit(X[train], y[train]).predict(X[test]),
            str(grid[i]),
        )
    assert 0 < solvers["fit"] < 48


@pytest.mark.parametrize("gamma", [10.0, 1000.0])
def test_a_ridge_within_round_off_is_that_of_a_fit(gamma, seed):
    X = rows(1200, 3, seed)
    y = np.sin(5 * X.sum(axis=1))
    folds, grid = list(KFold(3).split(X)), [{"C": 1e18, "gamma": gamma}]
    scores, expected = scores_of(KELMRegressor, X, y, folds, grid, "regression")
    np.testing.assert_allclose(scores, expected, rtol=1e-3)


@pytest.mark.parametrize("way", WAYS)
def test_outputs_that_cancel_are_left_to_the_fit(monkeypatch, way):
    """Rows that see two equal ones of either class, 1e-46 of each: what is left of that is
    round-off.
    """
    force(monkeypatch, way)
    X, y = problem(63, 4, 434, "binary", awkward=True)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    grid = [{"gamma": 2048.0, "C": C} for C in (2.0, 2.0**13)]
    scores, expected = scores_of(KELMClassifier, X, y, folds, grid, "binary")
    np.testing.assert_array_equal(scores, expected)
