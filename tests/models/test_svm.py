"""The support vector machine against scikit-learn's own."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import problem, rows
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from elmbench.models import SVMClassifier

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 3.0}])
@pytest.mark.parametrize("kind", ["binary", "multi"])
def test_is_scikit_learn_s_own(kind, class_weight):
    X, y = problem(60, 4, 0, kind)
    class_weight = {"a": 3.0} if kind == "multi" and class_weight == {1: 3.0} else class_weight
    model = SVMClassifier(C=8.0, gamma=0.7, class_weight=class_weight).fit(X, y)
    expected = SVC(C=8.0, gamma=0.7, class_weight=class_weight).fit(X, y)
    probe = rows(25, 4, 1)
    np.testing.assert_array_equal(model.decision_function(probe), expected.decision_function(probe))
    np.testing.assert_array_equal(model.predict(probe), expected.predict(probe))
    assert model.n_units_ == len(expected.support_)
    assert model.capped_ == 0


# --- Fits that are stopped -------------------------------------------------------------------------------------------


def test_a_fit_that_is_stopped_says_so_and_is_counted():
    X, y = problem(200, 2, 0, "binary")
    with pytest.warns(ConvergenceWarning, match="max_iter=50"):
        model = SVMClassifier(C=1e10, gamma=1.0, max_iter=50).fit(X, y)
    assert (model.capped_, model.solvers_) == (1.0, {"capped": 1})
    model = SVMClassifier(C=1.0, gamma=1e-3, max_iter=100_000).fit(X, y)
    assert (model.capped_, model.solvers_) == (0.0, {})


@quiet
def test_the_share_of_the_problems_that_were_stopped():
    X, y = problem(200, 3, 2, "multi")
    steps = SVC(C=10.0, gamma=1.0).fit(X, y).n_iter_
    limit = int(np.sort(steps)[-2])
    model = SVMClassifier(C=10.0, gamma=1.0, max_iter=limit).fit(X, y)
    assert model.capped_ == (steps >= limit).mean() == 1 / 3
    assert model.solvers_ == {"capped": 1}
