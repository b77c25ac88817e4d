"""ELM against dense least squares, W-ELM against the weighted pseudo-inverse, and the properties of
their nodes.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import (  # fmt: skip
    FACTORS,
    SHAPES,
    class_of,
    coded,
    dense_output_weights,
    problem,
    real_outputs,
    rows,
    sparse_rows,
    targets,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit
from test_eem import LAYERS

from elmbench.models import ELMClassifier, ELMRegressor, WELMClassifier

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
    np.testing.assert_allclose(
        real_outputs(model, probe).reshape(12, -1), expected.reshape(12, -1), atol=1e-6
    )
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


@pytest.mark.parametrize(("cls", "low"), [(ELMClassifier, -1), (WELMClassifier, 0)])
def test_nodes_are_uniform_and_prefixes_of_a_larger_network(cls, low):
    X, y = problem(10, 4, 0, "binary")
    small, large = (
        cls(n_hidden=n_hidden, random_state=11).fit(X, y) for n_hidden in (70, 5000)
    )
    np.testing.assert_array_equal(large.weights_[:70], small.weights_)
    np.testing.assert_array_equal(large.biases_[:70], small.biases_)
    # Drawn node by node: its weights and then its bias.
    stream = np.random.RandomState(11).uniform(low, 1, size=(5000, 5))
    np.testing.assert_array_equal(large.weights_, stream[:, :4])
    np.testing.assert_array_equal(large.biases_, stream[:, 4])


@pytest.mark.parametrize(("n", "n_hidden"), [(25, 10), (12, 70)])
@pytest.mark.parametrize("slope", [2.0**-4, 3, 16.0])
@pytest.mark.parametrize(
    ("activation", "function"),
    [("sigmoid", expit), ("tanh", np.tanh), ("relu", lambda z: np.maximum(z, 0))],
)
def test_slope_multiplies_what_is_activated(
    activation, function, slope, n, n_hidden, seed
):
    X, y = problem(n, 3, seed + 1, "regression")
    model = ELMRegressor(
        n_hidden=n_hidden, C=4.0, activation=activation, slope=slope, random_state=0
    ).fit(X, y)
    probe = rows(9, 3, seed + 2)
    of_rows, of_probe = (
        function(slope * (A @ model.weights_.T + model.biases_)) for A in (X, probe)
    )
    expected = of_probe @ dense_output_weights(of_rows, y[:, None], 4.0)[:, 0]
    np.testing.assert_allclose(
        model.predict(probe), expected, atol=1e-8 * max(1.0, np.abs(expected).max())
    )
    plain = ELMRegressor(n_hidden=n_hidden, activation=activation, random_state=0).fit(
        X, y
    )
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
    expected = H @ (
        np.linalg.pinv(H, rcond=np.sqrt(min(n_hidden, 20) * np.finfo(float).eps)) @ y
    )
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-3)
    assert np.abs(model.beta_).max() < 1e9


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
def test_w_elm_equals_the_pseudo_inverse(
    n, d, seed, n_hidden, activation, kind, container
):
    """Sparse rows are dense in the reference."""
    X, y = problem(n, d, seed, kind)
    X = sparse_rows(X, seed) if container else X
    assume(np.ptp(X, axis=0).any())
    given_as = container or np.asarray
    model = WELMClassifier(
        n_hidden=n_hidden, activation=activation, random_state=seed
    ).fit(given_as(X), y)
    H = LAYERS[activation](X, model.weights_, model.biases_)
    T = coded(y, kind)
    B = np.sqrt(1 / np.array([(y == label).sum() for label in y]))[:, None]
    inverse = np.linalg.pinv(B * H, rcond=1e-15)
    condition = np.linalg.norm(B * H, 2) * np.linalg.norm(inverse, 2)
    assume(condition < 1e9)
    expected = inverse @ (B * T)
    assert model.beta_.shape == expected.shape
    np.testing.assert_allclose(
        model.beta_,
        expected,
        atol=1e-13 * condition * (1 + np.abs(expected).max()),
        rtol=0,
    )
    probe = rows(20, d, seed + 1)
    outputs = LAYERS[activation](probe, model.weights_, model.biases_) @ expected
    atol = 1e-12 * condition * (1 + np.abs(expected).max())
    np.testing.assert_allclose(
        model.decision_function(given_as(probe)).reshape(20, -1),
        outputs,
        atol=atol,
        rtol=0,
    )
    assert condition / 400 < model.condition_ < condition * 400
