"""PathSearchCV scores candidates as GridSearchCV does, by any scorer."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from elm_problems import class_of
from search_problems import GRID, KERNEL, KERNEL_MODEL, assert_same, both, rows
from sklearn.metrics import (
    accuracy_score,
    make_scorer,
    matthews_corrcoef,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from elmbench import PathSearchCV
from elmbench.models import KELMClassifier, KELMRegressor


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        ("balanced_accuracy", True),
        (make_scorer(matthews_corrcoef), True),
        (["accuracy", "f1"], "accuracy"),
        ({"mine": make_scorer(accuracy_score), "auc": "roc_auc"}, "mine"),
        (
            {
                "mine": make_scorer(accuracy_score),
                "broken": make_scorer(lambda y, predicted: {}["score"]),
            },
            "mine",
        ),
        (make_scorer(accuracy_score, greater_is_better=False), True),
        (
            make_scorer(
                roc_auc_score,
                response_method="decision_function",
                greater_is_better=False,
            ),
            True,
        ),
        (
            make_scorer(
                lambda y, predicted: float((y.iloc[::2] == predicted[::2]).mean())
            ),
            True,
        ),
        (
            lambda estimator, X, y: (
                float((estimator.predict(X) == y).mean()) - X[:, 0].mean() / 1e4
            ),
            True,
        ),
        (
            lambda estimator, X, y: {
                "f1": estimator.score(X, y),
                "size": -estimator[-1].n_units_,
            },
            "f1",
        ),
        (
            lambda estimator, X, y: float(
                estimator.decision_function(X)[y == 1].mean()
            ),
            True,
        ),
        (
            lambda estimator, X, y: float((estimator.predict(X[::2]) == y[::2]).mean()),
            True,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:(Scoring failed|One or more of the test scores)")
def test_path_search_equals_grid_search_with_any_scorer(
    scoring: Any, refit: Any
) -> None:
    X, y = rows("wdbc")
    y = pd.Series(y, index=np.arange(len(y)) + 1000)
    plain, search = both(KERNEL_MODEL, KERNEL, X, y, cv=3, scoring=scoring, refit=refit)
    assert_same(plain, search)
    assert search.score(X, y) == plain.score(X, y)
    assert str(search.scorer_) == str(plain.scorer_)


@pytest.mark.parametrize("labels", [[0, 1], [1, 2], [-3, 1], ["no", "yes"]])
@pytest.mark.parametrize(
    "scoring", ["f1", "precision", "recall", "roc_auc", "average_precision"]
)
def test_scorers_of_two_classes_take_the_positive_class_of_scikit_learn(
    scoring: str, labels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their positive class is 1: of the labels 1 and 2 the first one, so `average_precision` is
    left to the fits.
    """
    X, y = rows("wdbc")
    plain = GridSearchCV(KERNEL_MODEL, KERNEL, cv=3, scoring=scoring).fit(
        X, np.array(labels)[y]
    )
    if (
        scoring == "roc_auc"
        or labels[1] == 1
        or (labels[0] == 1 and scoring != "average_precision")
    ):
        monkeypatch.setattr(GridSearchCV, "fit", None)
    search = PathSearchCV(KERNEL_MODEL, KERNEL, cv=3, scoring=scoring).fit(
        X, np.array(labels)[y]
    )
    assert_same(plain, search)


@pytest.mark.parametrize("scoring", ["recall", "roc_auc"])
def test_scorers_of_a_model_of_one_class(scoring: str) -> None:
    """They reject it or take its class as the negative one, so fits are scored."""
    X, y = rows("wdbc")
    folds = [
        (np.flatnonzero(y == 0)[:40], np.arange(90)),
        (np.arange(100), np.arange(100, 150)),
    ]
    assert_same(*both(KERNEL_MODEL, KERNEL, X, y, cv=folds, scoring=scoring))


def test_rows_far_from_all_others_have_the_label_of_libsvm() -> None:
    """Their decision values are zero between classes of the same size, and `predict` then takes the
    second class.
    """
    X, y = 100.0 * np.arange(25)[:, np.newaxis], np.arange(25) % 2
    folds = [(np.arange(20), np.array([20, 21, 22, 24]))]
    assert_same(
        *both(
            class_of("SVM", "binary")(),
            GRID,
            X,
            y,
            cv=folds,
            scoring=["accuracy", "roc_auc"],
            refit="roc_auc",
        )
    )


def test_ties_of_areas_are_broken_by_the_round_off_of_scikit_learn() -> None:
    random = np.random.RandomState(23)
    X = random.standard_normal((40, 2))
    y = (X[:, 0] + random.standard_normal(40) > 0).astype(int)
    grid = {"C": 2.0 ** np.arange(-6, 6, 2), "gamma": 2.0 ** np.arange(-6, 3, 2)}
    assert_same(*both(KELMClassifier(), grid, X, y, cv=3, scoring="roc_auc"))


def test_scores_of_targets_in_single_precision() -> None:
    X, y = rows("diabetes")
    assert_same(*both(KELMRegressor(), GRID, X, (y + 1000).astype(np.float32), cv=3))


@pytest.mark.parametrize("error_score", [0.25, "raise"])
def test_a_scorer_that_fails_costs_no_fits(
    error_score: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows("iris")
    scorer = make_scorer(lambda y, predicted: {}["score"] if len(y) % 2 else 0.5)
    options = {
        "cv": ShuffleSplit(3, test_size=41),
        "scoring": scorer,
        "error_score": error_score,
        "refit": False,
    }
    monkeypatch.setattr(GridSearchCV, "fit", None)
    search = PathSearchCV(KELMClassifier(), GRID, **options)
    if error_score == "raise":
        with pytest.raises(KeyError, match="score"):
            search.fit(X, y)
        return
    with pytest.warns(UserWarning, match="Scoring failed.* will be set to 0.25"):
        search.fit(X, y)
    assert (search.cv_results_["mean_test_score"] == 0.25).all()
