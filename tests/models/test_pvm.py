"""PVM against the formulas of its paper, its path against single fits, and what holds for OS-PVM as well."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit
from sklearn.base import clone

from elmbench.models import OSPVMClassifier, PVMClassifier
from elmbench.models.pvm import centred_decomposition

ACTIVATIONS = {"sigmoid": expit, "tanh": np.tanh, "relu": lambda Z: np.maximum(Z, 0.0)}
MODELS = {
    "pvm": PVMClassifier(),
    "exact": OSPVMClassifier(initial_batch=7, batch_size=5),
    "truncate": OSPVMClassifier(mode="truncate", initial_batch=7, batch_size=5),
    "first mean": OSPVMClassifier(update_mean=False, initial_batch=7, batch_size=5),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@examples(80)
@given(
    n=st.integers(2, 80),
    d=st.integers(1, 100),
    n_hidden=st.none() | st.integers(1, 120),
    theta=st.sampled_from([0.3, 0.96, 1.0]),
    ratio=st.sampled_from(["linear", "squared"]),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    kind=st.sampled_from(["binary", "multi", "one"]),
    seed=st.integers(0, 2**31 - 1),
)
def test_equals_the_formulas(n, d, n_hidden, theta, ratio, activation, kind, seed):
    """Eqs. (6) to (10) and (27), with the row of ones in the matrix that is decomposed."""
    X = np.random.RandomState(seed).randn(n, d)
    y = targets(X, seed, kind)
    model = PVMClassifier(n_hidden=n_hidden, theta=theta, ratio=ratio, activation=activation).fit(X, y)
    extended = np.vstack([(X - X.mean(axis=0)).T, np.ones(n)])
    U, S, _ = np.linalg.svd(extended, full_matrices=False)
    rank = int((S / S[0] > 1e-10).sum())
    U, S = U[:, :rank], S[:rank]
    sums = np.cumsum(S ** {"linear": 1, "squared": 2}[ratio])
    size = len(S) if theta == 1.0 else int(np.argmax(sums >= theta * sums[-1])) + 1
    size = size if n_hidden is None else min(n_hidden, len(S))
    np.testing.assert_allclose(model.singular_values_, S, atol=1e-11 * S[0])
    assert model.n_units_ == size
    H = ACTIVATIONS[activation](extended.T @ _with_signs(U[:, :size]))
    classes = np.unique(y)
    T = np.where(y[:, None] == classes, 1.0, -1.0) if len(classes) > 2 else np.where(y == classes[-1], 1.0, -1.0)
    beta, _, _, singular = np.linalg.lstsq(H, T, rcond=n * 2.2e-16)
    gap = np.abs(np.diff(np.append(S, 0.0)[: size + 1])).min()
    condition = singular[0] / singular[-1]
    if condition < 1e6 and gap > 1e-4 * S[0]:
        atol = 1e-9 * condition * (S[0] / gap) * (1 + np.abs(beta).max())
        np.testing.assert_allclose(model.decision_function(X), H @ beta, rtol=0, atol=atol)


def _with_signs(U):
    return U * np.where(U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0)


def test_one_node_is_constant_and_no_other_has_a_bias():
    X = rows(50, 6, 0) * 3
    model = PVMClassifier(theta=1.0).fit(X, targets(X, 0, "binary"))
    assert model.n_units_ == 7
    biased = np.flatnonzero(model.biases_)
    np.testing.assert_array_equal(model.biases_[biased], [1.0])
    np.testing.assert_array_equal(model.weights_[biased], np.zeros((1, 6)))
    assert model.singular_values_[biased] == np.sqrt(50)
    assert (np.diff(model.singular_values_) <= 0).all()


def test_a_node_count_beyond_the_rank_is_the_rank():
    X = rows(40, 3, 0) @ rows(3, 30, 1)
    y = targets(X, 0, "binary")
    assert PVMClassifier(n_hidden=100).fit(X, y).n_units_ == 4
    assert OSPVMClassifier(n_hidden=100, initial_batch=3).fit(X, y).n_units_ == 4


@each_model
@pytest.mark.parametrize("n", [1, 2, 30])
def test_constant_data(model, n):
    """Nothing but the node that is constant: the class of most rows."""
    X, y = np.full((n, 5), 1.1), np.array([2, 1, 1] * 10)[:n]
    fitted = clone(model).fit(X, y)
    assert fitted.n_units_ == 1
    assert np.isfinite(fitted.decision_function(X)).all()
    if n == 30:
        assert set(fitted.predict(X)) == {1}


def peak_of(work):
    """Return the most memory that is held at a time, what is returned included."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_sparse_rows_are_never_dense_all_at_once():
    tall = sp.random(6000, 400, density=0.02, random_state=0, format="csr")
    assert peak_of(lambda: centred_decomposition(tall)) < 8 * 6000 * 400 / 2
    X, y = sp.random(3000, 2000, density=0.02, random_state=0, format="csr"), np.arange(3000) % 3
    model = OSPVMClassifier(n_hidden=20, mode="truncate").fit(X[:50], y[:50])
    assert peak_of(lambda: model.fit(X, y)) < 8 * 3000 * 2000 / 3
