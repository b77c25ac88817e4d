"""ELM against a dense least-squares solution, and the properties of its hidden nodes."""

from __future__ import annotations

import numpy as np
import pytest
from elm_problems import FACTORS, SHAPES, class_of, coded, dense_output_weights, problem, real_outputs, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit

from elmbench.models import ELMClassifier, ELMRegressor

SETTINGS = examples(80)


@SETTINGS
@given(
    shape=SHAPES,
    n_hidden=st.integers(1, 150),
    C=FACTORS,
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    awkward=st.booleans(),
)
def test_equals_dense_least_squares(shape, n_hidden, C, kind, awkward):
    n, d, seed = shape
    X, y = problem(n, d, seed, kind, awkward)
    model = class_of("ELM", kind)(n_hidden=n_hidden, C=C, random_state=seed).fit(X, y)
    H = expit(X @ model.weights_.T + model.biases_)
    beta = dense_output_weights(H, coded(y, kind), C)
    probe = rows(12, d, seed + 1)
    expected = expit(probe @ model.weights_.T + model.biases_) @ beta
    np.testing.assert_allclose(real_outputs(model, probe).reshape(12, -1), expected.reshape(12, -1), atol=1e-6)
    assert model.beta_.shape == beta.shape
    assert model.n_units_ == n_hidden


@pytest.mark.parametrize("n", [30, 4100])
@pytest.mark.parametrize("n_hidden", [63, 64, 65])
def test_row_blocks_and_tiles_leave_no_seam(n, n_hidden, seed):
    X, y = problem(n, 3, seed, "regression")
    model = ELMRegressor(n_hidden=n_hidden, C=2.0, random_state=0).fit(X, y)
    H = expit(X @ model.weights_.T + model.biases_)
    expected = H @ dense_output_weights(H, y[:, None], 2.0)[:, 0]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


def test_nodes_are_uniform_and_prefixes_of_a_larger_network():
    X, y = problem(10, 4, 0, "regression")
    small = ELMRegressor(n_hidden=70, random_state=11).fit(X, y)
    large = ELMRegressor(n_hidden=5000, random_state=11).fit(X, y)
    np.testing.assert_array_equal(large.weights_[:70], small.weights_)
    np.testing.assert_array_equal(large.biases_[:70], small.biases_)
    # Drawn node by node: its weights and then its bias.
    stream = np.random.RandomState(11).uniform(-1, 1, size=5 * 70).reshape(70, 5)
    np.testing.assert_array_equal(small.weights_, stream[:, :4])
    np.testing.assert_array_equal(small.biases_, stream[:, 4])
    for drawn in (large.weights_, large.biases_):
        assert drawn.min() < -0.99
        assert drawn.max() > 0.99
        assert abs(drawn.mean()) < 0.03
        assert abs(drawn.var() - 1 / 3) < 0.02


@pytest.mark.parametrize(("n", "n_hidden"), [(25, 10), (12, 70)])
@pytest.mark.parametrize("slope", [2.0**-4, 3, 16.0])
@pytest.mark.parametrize(
    ("activation", "function"),
    [("sigmoid", expit), ("tanh", np.tanh), ("relu", lambda z: np.maximum(z, 0))],
)
def test_slope_multiplies_what_is_activated(activation, function, slope, n, n_hidden, seed):
    X, y = problem(n, 3, seed + 1, "regression")
    model = ELMRegressor(n_hidden=n_hidden, C=4.0, activation=activation, slope=slope, random_state=0).fit(X, y)
    probe = rows(9, 3, seed + 2)
    of_rows, of_probe = (function(slope * (A @ model.weights_.T + model.biases_)) for A in (X, probe))
    expected = of_probe @ dense_output_weights(of_rows, y[:, None], 4.0)[:, 0]
    np.testing.assert_allclose(model.predict(probe), expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
    plain = ELMRegressor(n_hidden=n_hidden, activation=activation, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.biases_, plain.biases_)


@pytest.mark.filterwarnings("error")
def test_far_inputs_saturate_without_a_warning(seed):
    X = 1e5 * (rows(30, 3, seed + 1) - 0.5)
    y = targets(X, seed + 1, "binary")
    model = ELMClassifier(n_hidden=50, C=1.0, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("n_hidden", [5, 40])
def test_ridge_below_round_off_gives_the_least_norm_solution(n_hidden, seed):
    X, y = problem(20, 3, seed + 2, "regression", awkward=True)
    model = ELMRegressor(n_hidden=n_hidden, C=1e30, random_state=0).fit(X, y)
    H = expit(X @ model.weights_.T + model.biases_)
    # As much of the spectrum of the Gram matrix as double precision holds.
    expected = H @ (np.linalg.pinv(H, rcond=np.sqrt(min(n_hidden, 20) * np.finfo(float).eps)) @ y)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)
    assert np.abs(model.beta_).max() < 1e9
