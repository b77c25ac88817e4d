"""The support vector machine on a budget as an estimator; its loop is tested against `oracles/dense_budgeted.py`."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import problem
from sklearn.base import clone
from sklearn.svm import SVC

from elmbench.models import BSGDClassifier
from elmbench.models.base import stochastic
from elmbench.numerics.online.budgeted_sgd import MAINTENANCE, BudgetedState


def test_lambda_is_that_of_the_support_vector_machine_with_the_same_c():
    """Many passes without a budget come near the minimum of |w|^2 / 2 + C sum of the losses."""
    X, y = problem(60, 2, 0, "binary")
    reference = SVC(C=2.0, gamma=3.0).fit(X, y)

    def objective(vectors, weights, outputs):
        K = np.exp(-3.0 * ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2))
        return weights @ K @ weights / 2 + 2.0 * np.maximum(0, 1 - y * outputs).sum()

    model = BSGDClassifier(budget=60, C=2.0, gamma=3.0, n_epochs=400, random_state=0).fit(X, y)
    value = objective(model.support_vectors_, model.beta_[:, 0], model.decision_function(X))
    outputs = reference.decision_function(X) - reference.intercept_
    least = objective(reference.support_vectors_, reference.dual_coef_[0], outputs)
    assert value < 1.02 * least  # the intercept, which BSGD lacks, makes little of a difference here
    np.testing.assert_array_equal(model.predict(X), np.where(model.decision_function(X) > 0, 1, -1))


@pytest.mark.parametrize("maintenance", sorted(MAINTENANCE))
@pytest.mark.parametrize("kind", ["binary", "multi", "one"])
def test_sparse_rows_stay_sparse_and_entries_that_are_given_twice_are_added_up(maintenance, kind, monkeypatch):
    """In blocks of some rows too."""
    X, y = problem(120, 8, 3, kind)
    full = sp.csr_matrix(np.where(X < 0.6, 0.0, X))
    twice = sp.csr_matrix((np.repeat(full.data / 2, 2), np.repeat(full.indices, 2), 2 * full.indptr), shape=X.shape)
    model = BSGDClassifier(budget=9, C=8.0, gamma=0.5, maintenance=maintenance, n_epochs=2, random_state=1)
    dense = clone(model).fit(full.toarray(), y)
    monkeypatch.setattr(stochastic, "BLOCK_BYTES", 1000)
    for given in (full, twice):
        sparse = clone(model).fit(given, y)
        assert sp.issparse(sparse.support_vectors_)
        np.testing.assert_array_equal(sparse.support_vectors_.toarray(), dense.support_vectors_)
        np.testing.assert_array_equal(sparse.beta_, dense.beta_)


def test_one_pass_in_order_is_partial_fit_and_the_steps_go_on():
    X, y = problem(90, 3, 1, "multi")
    model = BSGDClassifier(budget=15, C=4.0, gamma=1.0, shuffle=False).fit(X, y)
    once = BSGDClassifier(budget=15, C=4.0, gamma=1.0).partial_fit(X, y)
    np.testing.assert_array_equal(once.beta_, model.beta_)
    state = BudgetedState(3, len(model.classes_), 1.0, 15)
    streamed = BSGDClassifier(budget=15, C=4.0, gamma=1.0)
    labels = np.searchsorted(model.classes_, y)
    for start in (0, 30, 60):
        part = slice(start, start + 30)
        streamed.partial_fit(X[part], y[part], classes=model.classes_)
        state.extend(X[part], labels[part], 1 / (4.0 * (start + 30)))
    np.testing.assert_array_equal(streamed.beta_, state.solution(1 / (4.0 * 90)))
    assert streamed.n_steps_ == 90
    assert streamed.n_units_ <= 15


def test_the_order_is_drawn_anew_for_each_pass_unless_told_not_to(monkeypatch):
    seen = []
    monkeypatch.setattr(BudgetedState, "extend", lambda state, X, labels, ridge: seen.append(X[:, 0].tolist()))
    X = np.arange(6.0)[:, np.newaxis]
    BSGDClassifier(n_epochs=2, random_state=0).fit(X, X[:, 0] > 2)
    BSGDClassifier(n_epochs=2, shuffle=False).fit(X, X[:, 0] > 2)
    random = np.random.RandomState(0)
    assert seen == [random.permutation(6).tolist(), random.permutation(6).tolist(), [*range(6)], [*range(6)]]
