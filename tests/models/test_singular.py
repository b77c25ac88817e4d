"""Parameters that cannot work are warned of, and those that people use are not."""

import warnings

import numpy as np
import pytest
from elm_problems import class_of, problem, rows, targets
from scipy.linalg import LinAlgWarning

from elmbench import PathSearchCV
from elmbench.models import (
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    LSSVMRegressor,
    RKELMRegressor,
)

SMALL = {
    "KELM": {},
    "LSSVM": {},
    "RKELM": {"n_landmarks": 12, "random_state": 0},
    "KOSELM": {},
    "FBKOSELM": {"budget": 20},
}
HOPELESS = {"C": 1e300, "gamma": 1e-300}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_a_singular_system_is_warned_of_once(name, kind):
    X = rows(40, 3, 0)
    with pytest.warns(LinAlgWarning) as caught:
        class_of(name, kind)(**SMALL[name], **HOPELESS).fit(X, targets(X, 0, kind))
    (message,) = [str(w.message) for w in caught]
    assert "condition " in message
    assert "C=1e+300, gamma=1e-300, kernel='rbf'" in message
    assert caught[0].filename == __file__


def test_redundant_nodes_cause_a_warning():
    with pytest.warns(LinAlgWarning, match=r"condition .* with C=1e\+300, n_hidden=50"):
        ELMRegressor(n_hidden=50, C=1e300, random_state=0).fit(
            np.ones((60, 2)), np.arange(60.0)
        )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("C", [2.0**30, 1e10])
def test_what_the_papers_search_is_not_warned_of(C, seed):
    """Also with repeated rows and a constant column, and where one kernel value is the same for all
    rows.
    """
    X, y = problem(200, 3, seed, "regression", awkward=True)
    for gamma in (2.0**-30, 1e-10, 1.0, 2.0**13):
        KELMRegressor(C=C, gamma=gamma).fit(X, y)
        LSSVMRegressor(C=C, gamma=gamma).fit(X, y)
        RKELMRegressor(n_landmarks=150, C=C, gamma=gamma, random_state=0).fit(X, y)
    for n_hidden in (150, 400):
        ELMRegressor(n_hidden=n_hidden, C=C, random_state=0).fit(X, y)
    # HH' has twice the digits of H: where its condition is 1e25, that of H leaves some.
    X, y = X[:60], y[:60]
    for n_hidden in (50, 150):
        ELMRegressor(n_hidden=n_hidden, C=1e20, random_state=0).fit(X, y)
    RKELMRegressor(n_landmarks=50, C=1e20, gamma=0.01, random_state=0).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_no_ridge_to_speak_of_is_no_fault_of_a_matrix_of_full_rank(seed):
    X = np.linspace(0, 1, 30)[:, np.newaxis]
    y = targets(X, seed, "regression")
    model = KELMRegressor(C=1e300, gamma=2000.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9 * model.condition_)


def test_a_search_warns_once_and_a_path_never():
    X, y = problem(40, 3, 0, "binary")
    folds = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    grid = [{"C": C} for C in (1e300, 1e299, 1e290)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            len(list(KELMClassifier.evaluate_grid(X, y, folds, grid, gamma=1e-300)))
            == 6
        )
    with pytest.warns(LinAlgWarning) as caught:
        PathSearchCV(
            KELMClassifier(gamma=1e-300), {"C": [1e300, 1e299, 1e290]}, cv=3
        ).fit(X, y)
    assert len(caught) == 1
