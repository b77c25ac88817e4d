"""OS-ELM against the dense matrices that its recursion stands for."""

import itertools

import numpy as np
import pytest
from elm_problems import FACTORS, SHAPES, class_of, problem, real_outputs, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.linalg import LinAlgWarning
from scipy.special import expit

from elmbench.models import ELMRegressor, OSELMClassifier, OSELMRegressor
from elmbench.numerics.arrays import EPS

SETTINGS = examples(60)


def hidden(model, X):
    return expit(X @ model.weights_.T + model.biases_)


@SETTINGS
@given(
    shape=SHAPES,
    n_hidden=st.integers(1, 80),
    C=FACTORS,
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    initial_batch=st.integers(1, 50),
    batch_size=st.integers(1, 50),
    awkward=st.booleans(),
)
def test_ridge_start_equals_elm_for_any_blocks(
    shape, n_hidden, C, kind, initial_batch, batch_size, awkward
):
    n, d, seed = shape
    X, y = problem(n, d, seed, kind, awkward)
    common = {"n_hidden": n_hidden, "C": C, "random_state": seed}
    online = class_of("OSELM", kind)(
        **common, start="ridge", initial_batch=initial_batch, batch_size=batch_size
    ).fit(X, y)
    batch = class_of("ELM", kind)(**common).fit(X, y)
    probe = rows(12, d, seed + 1)
    np.testing.assert_allclose(
        real_outputs(online, probe), real_outputs(batch, probe), atol=1e-6
    )
    assert online.n_seen_ == n


@SETTINGS
@given(shape=SHAPES, cuts=st.lists(st.integers(1, 39), max_size=5), C=FACTORS)
def test_ridge_start_step_by_step(shape, cuts, C):
    """After every call of partial_fit: P = (H'H + I/C)^-1 and beta = P H'T for all rows so far."""
    n, d, seed = shape
    X, y = problem(n, d, seed, "two-targets")
    model = OSELMRegressor(
        n_hidden=15, C=C, start="ridge", batch_size=4, random_state=seed
    )
    edges = sorted({0, n, *(cut for cut in cuts if cut < n)})
    for start, stop in itertools.pairwise(edges):
        model.partial_fit(X[start:stop], y[start:stop])
        H = hidden(model, X[:stop])
        inverse = np.linalg.inv(H.T @ H + np.eye(15) / C)
        np.testing.assert_allclose(model.P_, inverse, atol=1e-8 * C)
        np.testing.assert_allclose(
            H @ model.beta_, H @ (inverse @ (H.T @ y[:stop])), atol=1e-6
        )
        np.testing.assert_array_equal(model.P_, model.P_.T)


@pytest.mark.filterwarnings("error")
@SETTINGS
@given(
    seed=st.integers(0, 2**31 - 1),
    first=st.integers(12, 30),
    batch_size=st.integers(1, 9),
)
def test_pinv_start_step_by_step(seed, first, batch_size):
    """With enough rows in the first block: recursive least squares without a ridge, for any C."""
    X = 4 * rows(40, 6, seed) - 2
    y = targets(X, seed, "regression")
    params = {
        "n_hidden": 8,
        "initial_batch": first,
        "batch_size": batch_size,
        "random_state": seed,
    }
    model = OSELMRegressor(**params, C=1e-6).fit(X, y)
    H = hidden(model, X)
    expected, _, _, values = np.linalg.lstsq(H, y, rcond=None)
    np.testing.assert_allclose(
        model.beta_[:, 0], expected, atol=1e-10 * (values[0] / values[-1]) ** 2
    )
    stepwise = OSELMRegressor(**params).partial_fit(X[:first], y[:first])
    np.testing.assert_allclose(
        stepwise.beta_[:, 0],
        np.linalg.lstsq(H[:first], y[:first], rcond=None)[0],
        atol=1e-6,
    )
    stepwise.partial_fit(X[first:], y[first:])
    np.testing.assert_array_equal(stepwise.beta_, model.beta_)


def test_pinv_start_with_fewer_rows_than_nodes():
    """The first block is fitted exactly by the weights of least norm, and P has its rank."""
    X = 6 * rows(10, 12, 0) - 3
    y = targets(X, 0, "regression")
    model = OSELMRegressor(n_hidden=50, random_state=0).partial_fit(X, y)
    H = hidden(model, X)
    inverse = np.linalg.pinv(H)
    np.testing.assert_allclose(
        model.P_, inverse @ inverse.T, atol=1e-9 * np.abs(model.P_).max()
    )
    np.testing.assert_allclose(model.beta_[:, 0], inverse @ y, atol=1e-9)
    assert np.linalg.matrix_rank(model.P_) == 10
    assert model.condition_ > 1e12


def test_pinv_start_drops_what_is_zero_within_round_off():
    """Repeated rows give singular values of the order of the machine precision, which must not be
    inverted.
    """
    X = np.repeat(6 * rows(5, 12, 0) - 3, 4, axis=0)
    y = np.arange(20.0)
    model = OSELMRegressor(n_hidden=50, random_state=0).partial_fit(X, y)
    assert np.linalg.matrix_rank(model.P_) == 5
    np.testing.assert_allclose(
        model.predict(X), np.repeat(y.reshape(5, 4).mean(axis=1), 4), atol=1e-8
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["binary", "multi", "regression"])
def test_divergence_warns_once(name):
    """Two inputs cannot feed 200 smooth nodes: the start without a ridge diverges, as on
    Calhousing.
    """
    X, y = problem(4000, 2, 0, name)
    with pytest.warns(
        LinAlgWarning, match="n_hidden=200 nodes .* expected start='ridge'"
    ) as caught:
        model = class_of("OSELM", name)(n_hidden=200, random_state=0).fit(X, y)
    assert len(caught) == 1
    outputs = real_outputs(model, X)
    assert not np.isfinite(outputs).all() or np.abs(outputs).max() > 1e6
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    if name != "regression":
        assert set(predicted) <= set(y)
    assert not model.condition_ < 1e12
    regular = class_of("OSELM", name)(
        n_hidden=200, start="ridge", C=100.0, random_state=0
    ).fit(X, y)
    assert np.abs(real_outputs(regular, X)).max() < 10


def test_partial_fit_after_fit_goes_on():
    X, y = problem(60, 4, 0, "regression")
    params = {"n_hidden": 12, "C": 5.0, "random_state": 0}
    model = (
        OSELMRegressor(**params, start="ridge")
        .fit(X[:35], y[:35])
        .partial_fit(X[35:], y[35:])
    )
    np.testing.assert_allclose(
        model.predict(X), ELMRegressor(**params).fit(X, y).predict(X), atol=1e-9
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chunk", [1, 2, 7, 20, 50])
@pytest.mark.parametrize("kind", ["binary", "multi", "regression"])
def test_a_stream_of_small_chunks_gives_the_network_of_fit(chunk, kind, seed):
    """The first call may have fewer rows than nodes: the first block grows until it has
    `initial_batch` rows.
    """
    X = 4 * rows(200, 6, seed) - 2
    y = targets(X, seed, kind)
    params = {"n_hidden": 12, "initial_batch": 50, "random_state": 0}
    expected = class_of("OSELM", kind)(**params).fit(X, y)
    model = class_of("OSELM", kind)(**params)
    first_call = {} if kind == "regression" else {"classes": np.unique(y)}
    for start in range(0, 200, chunk):
        part = slice(start, start + chunk)
        model.partial_fit(X[part], y[part], **(first_call if start == 0 else {}))
        assert np.isfinite(real_outputs(model, X)).all()
    assert model.n_seen_ == 200
    H = hidden(expected, X)
    # P is updated without a factorisation, so its error grows with the condition of H'H.
    within = (
        1e3
        * EPS
        * np.linalg.cond(H) ** 2
        * max(1.0, np.abs(real_outputs(expected, X)).max())
    )
    np.testing.assert_allclose(
        real_outputs(model, X), real_outputs(expected, X), rtol=0, atol=within
    )


@pytest.mark.parametrize("chunk", [1, 3, 10])
def test_rows_one_by_one_are_classified_as_after_fit(chunk):
    X = np.random.RandomState(0).randn(400, 3)
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    model = OSELMClassifier(random_state=0)
    for start in range(0, 400, chunk):
        part = slice(start, start + chunk)
        model.partial_fit(X[part], y[part], classes=[0, 1, 2, 3])
    accuracy = OSELMClassifier(random_state=0).fit(X, y).score(X, y)
    assert model.score(X, y) >= accuracy - 0.01


@pytest.mark.parametrize(("start", "rank"), [("toolbox", 2), ("pinv", 3)])
def test_cutoff_of_the_start(start, rank):
    """A singular value of 1e-9 is above the cutoff of H, and its square below that of H'H."""
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.normal(size=(5, 3)))
    V, _ = np.linalg.qr(rng.normal(size=(8, 3)))
    values = np.array([1, 0.5, 1e-9])
    model = OSELMRegressor(initial_batch=5, start=start)
    model._first_block = np.zeros((0, 8)), np.zeros((0, 1))
    model._extend_first_block((U * values) @ V.T, np.ones((5, 1)))
    expected = (V[:, :rank] / values[:rank] ** 2) @ V[:, :rank].T
    np.testing.assert_allclose(model.P_, expected, atol=1e-6 * np.abs(expected).max())
