"""LS-SVM for regression, and for more than two classes, against the bordered system; its grid against single fits."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, problem, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.linalg import solve
from sklearn.metrics.pairwise import rbf_kernel
from test_paths import GAMMAS

from elmbench.models import LSSVMClassifier, LSSVMRegressor
from elmbench.numerics.arrays import EPS

KINDS = st.sampled_from(["regression", "two-targets"])


def dense_outputs(X: np.ndarray, T: np.ndarray, C: float, gamma: float, probe: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the outputs for the rows of `probe` from [0 1'; 1 K + I/C], and what they may be off.

    A backward stable solution leaves a residual of up to n eps |A| |z|, which an output k'z shows as far as |A^-1 k|
    goes. There are two solutions to be compared, this one and the model's, whose border is eliminated.
    """
    n = len(X)
    A = np.ones((n + 1, n + 1))
    A[0, 0] = 0.0
    A[1:, 1:] = rbf_kernel(X, gamma=gamma) + np.eye(n) / C
    z = solve(A, np.vstack([np.zeros(T.shape[1]), T]), assume_a="sym")
    across = np.hstack([np.ones((len(probe), 1)), rbf_kernel(probe, X, gamma=gamma)])
    reach = np.linalg.norm(solve(A, across.T, assume_a="sym"), axis=0).max()
    sizes = np.linalg.norm(A, 2) * np.linalg.norm(z, axis=0).max()
    return across @ z, 4 * (n + 1) * EPS * sizes * (1 + reach)


@examples(120)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=st.one_of(FACTORS, st.integers(3, 9).map(lambda e: 10.0**e)),
    gamma=GAMMAS,
    kind=st.sampled_from(["regression", "two-targets", "multi"]),
    awkward=st.booleans(),
    shift=st.sampled_from([0.0, 1e3]),
)
def test_equals_the_dense_solution(n, d, seed, C, gamma, kind, awkward, shift):
    """Repeated rows, a constant column, systems of a condition up to 1e11, targets far from zero."""
    X, probe = rows(n, d, seed, awkward), rows(15, d, seed + 1)
    y = targets(X, seed, kind)
    if kind == "multi":
        classes = np.unique(y)
        if len(classes) < 3:
            return
        T = np.where(y[:, None] == classes, 1.0, -1.0)
        model = LSSVMClassifier(C=C, gamma=gamma).fit(X, y).decision_function(probe)
    else:
        y += shift
        T = y.reshape(n, -1)
        model = LSSVMRegressor(C=C, gamma=gamma).fit(X, y).predict(probe).reshape(15, -1)
    expected, allowed = dense_outputs(X, T, C, gamma, probe)
    np.testing.assert_allclose(model, expected, rtol=0, atol=allowed)


def test_the_classes_of_the_largest_outputs_are_predicted(seed):
    X, probe = rows(90, 3, seed), rows(40, 3, seed + 1)
    y = np.array(["a", "b", "c"])[np.digitize(X.sum(axis=1), [1.2, 1.8])]
    model = LSSVMClassifier(C=64.0, gamma=2.0).fit(X, y)
    T = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    expected, allowed = dense_outputs(X, T, 64.0, 2.0, probe)
    two = np.sort(expected, axis=1)[:, -2:]
    clear = two[:, 1] - two[:, 0] > 2 * allowed
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(model.predict(probe)[clear], model.classes_[np.argmax(expected, axis=1)][clear])


@pytest.mark.parametrize("kind", ["regression", "two-targets"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_satisfies_its_bordered_system(kind, C, seed):
    X, y = problem(80, 4, seed, kind)
    model = LSSVMRegressor(C=C, gamma=0.3).fit(X, y)
    K = rbf_kernel(X, gamma=0.3)
    left = model.intercept_ + (K + np.eye(80) / C) @ model.beta_
    size = np.abs(model.intercept_).max() + (K.sum(axis=1).max() + 1 / C) * np.abs(model.beta_).max()
    np.testing.assert_allclose(left, y.reshape(80, -1), rtol=0, atol=80 * EPS * size)
    assert (np.abs(model.beta_.sum(axis=0)) <= 80 * EPS * np.abs(model.beta_).sum(axis=0)).all()
    assert 0.1 < model.condition_ / np.linalg.cond(K + np.eye(80) / C, 1) < 1.01
    assert model.n_units_ == 80


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 100.0])
def test_a_constant_is_left_to_the_intercept(gamma, seed):
    """Other than K-ELM, which shrinks to zero: far from all rows the outputs are the mean that is not explained."""
    X = rows(30, 3, seed)
    model = LSSVMRegressor(C=8.0, gamma=gamma).fit(X, np.full(30, 7.5))
    np.testing.assert_allclose(model.predict(rows(10, 3, seed + 1)), 7.5, rtol=1e-9)
    y = targets(X, seed, "regression")
    near, moved = (LSSVMRegressor(C=8.0, gamma=gamma).fit(X, y + shift) for shift in (0.0, 100.0))
    np.testing.assert_allclose(moved.predict(X), near.predict(X) + 100.0, rtol=1e-9)
    np.testing.assert_allclose(near.predict(X + 1e9), near.intercept_[0], rtol=1e-12)


# --- The grid --------------------------------------------------------------------------------------------------------
