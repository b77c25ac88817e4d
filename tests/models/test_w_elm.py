"""WELM against the pseudo-inverse of the weighted hidden outputs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from elm_problems import coded, problem, rows, sparse_rows
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from test_eem import LAYERS

from elmbench.models import WELMClassifier

SETTINGS = examples(80)


@SETTINGS
@given(
    n=st.integers(2, 80),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    n_hidden=st.integers(1, 120),
    activation=st.sampled_from(sorted(LAYERS)),
    kind=st.sampled_from(["binary", "multi", "one"]),
    container=st.sampled_from([None, sp.csr_matrix, sp.coo_array]),
)
def test_equals_the_pseudo_inverse(n, d, seed, n_hidden, activation, kind, container):
    """Sparse rows are dense in the reference."""
    X, y = problem(n, d, seed, kind)
    X = sparse_rows(X, seed) if container else X
    assume(np.ptp(X, axis=0).any())
    given_as = container or np.asarray
    model = WELMClassifier(n_hidden=n_hidden, activation=activation, random_state=seed).fit(given_as(X), y)
    H = LAYERS[activation](X, model.weights_, model.biases_)
    T = coded(y, kind)
    B = np.sqrt(1 / np.array([(y == label).sum() for label in y]))[:, None]
    inverse = np.linalg.pinv(B * H, rcond=1e-15)
    condition = np.linalg.norm(B * H, 2) * np.linalg.norm(inverse, 2)
    assume(condition < 1e9)
    expected = inverse @ (B * T)
    assert model.beta_.shape == expected.shape
    np.testing.assert_allclose(model.beta_, expected, atol=1e-13 * condition * (1 + np.abs(expected).max()), rtol=0)
    probe = rows(20, d, seed + 1)
    outputs = LAYERS[activation](probe, model.weights_, model.biases_) @ expected
    atol = 1e-12 * condition * (1 + np.abs(expected).max())
    np.testing.assert_allclose(model.decision_function(given_as(probe)).reshape(20, -1), outputs, atol=atol, rtol=0)
    assert condition / 400 < model.condition_ < condition * 400


def test_every_class_weighs_the_same(seed):
    """Rows of the smaller class repeated until both are as large give the solution of plain least squares."""
    X = rows(40, 4, seed)
    y = np.r_[np.ones(10), -np.ones(30)]
    repeated = np.r_[np.repeat(np.arange(10), 3), np.arange(10, 40)]
    model = WELMClassifier(n_hidden=6, random_state=0).fit(X, y)
    H = LAYERS["sigmoid"](X[repeated], model.weights_, model.biases_)
    np.testing.assert_allclose(model.beta_[:, 0], np.linalg.lstsq(H, y[repeated], rcond=None)[0], rtol=1e-6)


def test_as_many_nodes_as_rows_fit_every_row_and_no_other():
    """The paper's WELM without a ridge."""
    X, y = problem(400, 6, 1, "binary")
    few, many = (WELMClassifier(n_hidden=h, random_state=0).fit(X[:200], y[:200]) for h in (20, 200))
    assert (many.predict(X[:200]) == y[:200]).all()
    assert (many.predict(X[200:]) == y[200:]).mean() < (few.predict(X[200:]) == y[200:]).mean() - 0.1


def test_nodes_are_prefixes_of_a_larger_network():
    X, y = problem(10, 4, 0, "binary")
    small, large = (WELMClassifier(n_hidden=h, random_state=11).fit(X, y) for h in (7, 300))
    stream = np.random.RandomState(11).uniform(0, 1, size=(300, 5))
    np.testing.assert_array_equal(small.weights_, large.weights_[:7])
    np.testing.assert_array_equal(large.weights_, stream[:, :4])
    np.testing.assert_array_equal(large.biases_, stream[:, 4])
