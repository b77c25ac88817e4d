"""Weights of rows and classes: repeated rows, scikit-learn, and what a path makes of them."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import class_of, problem, real_outputs, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.class_weight import compute_sample_weight

from elmbench.models import (
    EEKMClassifier,
    EEMClassifier,
    ELMClassifier,
    OSELMClassifier,
    RKELMRegressor,
)
from elmbench.numerics.arrays import EPS

SMALL = {
    "KELM": {"C": 4.0, "gamma": 0.5},
    "LSSVM": {"C": 4.0, "gamma": 0.5},
    "ELM": {"C": 4.0, "n_hidden": 12, "random_state": 0},
    "WELM": {"n_hidden": 5, "activation": "rbf", "random_state": 0},
    "OSELM": {
        "C": 4.0,
        "n_hidden": 12,
        "start": "ridge",
        "initial_batch": 7,
        "batch_size": 5,
        "random_state": 0,
    },
    "EEM": {"n_hidden": 5, "activation": "rbf", "random_state": 0},
}
#: Their classes have `priors` and `costs`, and no `class_weight`.
BY_PRIORS = ("EEM",)
CLASS_WEIGHT = {"a": 3.0, "b": 0.5}


@examples(120)
@given(
    name=st.sampled_from(sorted(SMALL)),
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    n=st.integers(8, 30),
    nodes=st.sampled_from([5, 40]),
    class_weight=st.sampled_from([None, "balanced"]),
    sparse=st.booleans(),
    seed=st.integers(0, 2**31 - 1),
)
def test_whole_weights_are_repeated_rows(
    name, kind, n, nodes, class_weight, sparse, seed
):
    """And no weight is no row, whichever of its two systems an ELM solves."""
    if name in ("WELM", "EEM") and kind not in ("binary", "multi"):
        return
    X, probe = rows(n, 3, seed), rows(9, 3, seed + 1)
    y = targets(X, seed, kind)
    weights = np.random.RandomState(seed).randint(0, 4, n)
    weights[:2] = 1
    params = dict(SMALL[name])
    if kind in ("binary", "multi") and name not in BY_PRIORS:
        params["class_weight"] = class_weight
    if name == "ELM":
        params["n_hidden"] = nodes
    cls = class_of(name, kind)
    container = sp.csr_matrix if sparse and name != "WELM" else np.asarray
    repeated = cls(**params).fit(
        container(np.repeat(X, weights, axis=0)), np.repeat(y, weights, axis=0)
    )
    weighted = cls(**params).fit(container(X), y, sample_weight=weights)
    expected = real_outputs(repeated, container(probe))
    # Of W-ELM the condition is that of the matrix, not of its square.
    size = max(
        1.0,
        np.abs(expected).max(),
        np.abs(y).max() if kind in ("regression", "two-targets") else 1.0,
    )
    within = (
        max(1e-9, 1e3 * n * EPS * max(repeated.condition_, weighted.condition_)) * size
    )
    np.testing.assert_allclose(
        real_outputs(weighted, container(probe)), expected, rtol=0, atol=within
    )


def test_centres_of_weighted_rows(seed):
    """Least squares with weights at the centres that were drawn, from rows that have weight
    only.
    """
    X, y = problem(60, 3, seed, "two-targets")
    weights = np.random.RandomState(seed).randint(0, 3, 60)
    model = RKELMRegressor(n_landmarks=10, C=4.0, gamma=0.5, random_state=seed % 7).fit(
        X, y, sample_weight=weights
    )
    K = pairwise_kernels(X, model.centres_, metric="rbf", gamma=0.5)
    beta = np.linalg.solve(
        K.T @ (weights[:, None] * K) + np.eye(10) / 4.0, K.T @ (weights[:, None] * y)
    )
    np.testing.assert_allclose(model.beta_, beta, atol=1e-8 * np.abs(beta).max())
    alone = RKELMRegressor(n_landmarks=10, C=4.0, gamma=0.5, random_state=seed % 7).fit(
        X[weights > 0], y[weights > 0]
    )
    np.testing.assert_array_equal(model.centres_, alone.centres_)


@pytest.mark.parametrize("name", ["KELM", "LSSVM", "RKELM"])
def test_rows_of_a_kernel_matrix_without_weight_are_left_out(name, seed):
    """Though their columns stay."""
    X, y = problem(40, 3, seed, "multi")
    K = pairwise_kernels(X, metric="laplacian")
    weights = np.random.RandomState(seed).uniform(0.5, 2.0, 40)
    weights[y == np.unique(y)[0]] = 0.0
    kept = np.flatnonzero(weights)
    params = {"n_landmarks": 9, "random_state": 0} if name == "RKELM" else {}
    model = class_of(name, "multi")(
        kernel="precomputed", class_weight="balanced", **params
    )
    alone = class_of(name, "multi")(
        kernel="precomputed", class_weight="balanced", **params
    )
    model.fit(K, y, sample_weight=weights)
    alone.fit(K[np.ix_(kept, kept)], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(model.classes_, alone.classes_)
    np.testing.assert_allclose(
        model.decision_function(K), alone.decision_function(K[:, kept]), atol=1e-9
    )


def test_gaussians_of_weighted_landmark_features(seed):
    """The landmarks of EEKM are rows with weight; the Gaussians of the classes are those of the
    repeated rows.
    """
    X, y = problem(40, 3, seed, "binary")
    weights = np.random.RandomState(seed).randint(0, 4, 40)
    model = EEKMClassifier(n_landmarks=8, gamma=0.5, random_state=0).fit(
        X, y, sample_weight=weights
    )
    assert all(
        any((row == other).all() for other in X[weights > 0])
        for row in model.landmarks_
    )
    projections = np.repeat(model.project(X), weights)
    for label, mean in zip((-1, 1), model.means_[0], strict=True):
        assert projections[np.repeat(y, weights) == label].mean() == pytest.approx(
            mean, abs=1e-7
        )
    ones = EEKMClassifier(n_landmarks=8, gamma=0.5, random_state=0)
    expected = ones.fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        ones.fit(X, y, sample_weight=np.full(40, 1.0)).decision_function(X), expected
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_weights_of_any_size_have_the_direction_of_their_ratios(scale):
    X, y = problem(40, 3, 0, "binary")
    model = EEMClassifier(n_hidden=9, random_state=0).fit(
        X, y, sample_weight=np.full(40, scale)
    )
    assert np.ptp(model.project(X)) > 0.5
    coinciding = np.vstack([X, X[::-1]]), np.repeat([0, 1], 40), np.full(80, scale)
    with pytest.warns(UserWarning, match="the means of the two classes coincide"):
        model.fit(*coinciding)


def test_online_class_weights_are_those_of_fit(seed):
    X, y = problem(40, 3, seed, "binary")
    model = OSELMClassifier(start="ridge", class_weight="balanced", random_state=0)
    expected = (
        ELMClassifier(n_hidden=20, class_weight="balanced", random_state=0)
        .fit(X, y)
        .decision_function(X)
    )
    np.testing.assert_allclose(
        model.fit(X, y).decision_function(X), expected, atol=1e-8
    )
    with pytest.raises(ValueError, match="class_weight: expected None for partial_fit"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("name", "class_weight"),
    [
        *product(["ELM", "KELM", "RKELM", "ELMRBF"], ["balanced", CLASS_WEIGHT]),
        ("LSSVM", CLASS_WEIGHT),  # its "balanced" gives the largest class the weight 1
    ],
)
def test_class_weights_are_weights_of_rows(name, class_weight, seed):
    cls = class_of(name, "multi")
    X, y = problem(60, 3, seed, "multi")
    # The "scale" of gamma heeds the weights of rows, not of classes.
    params = {"random_state": 0} if name not in ("KELM", "LSSVM") else {}
    params |= {"gamma": 1.0} if "gamma" in cls().get_params() else {}
    own = (
        np.random.RandomState(seed).uniform(0.5, 2.0, 60)
        if class_weight != "balanced"
        else None
    )
    by_class = compute_sample_weight(class_weight, y)
    model = cls(class_weight=class_weight, **params).fit(X, y, sample_weight=own)
    expected = cls(**params).fit(
        X, y, sample_weight=by_class if own is None else own * by_class
    )
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("name", sorted(SMALL))
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(12), "zero"),
        (-np.ones(12), "[Nn]egative"),
        (np.ones(11), "shape"),
        (np.full(12, np.nan), "NaN"),
    ],
)
def test_weights_of_rows_that_are_not_valid_are_rejected(name, weights, message):
    X = rows(12, 2, 0)
    with pytest.raises(ValueError, match=message):
        class_of(name, "binary")(**SMALL[name]).fit(
            X, np.arange(12) % 2, sample_weight=weights
        )


@pytest.mark.parametrize(
    ("weight", "error"),
    [("heavy", ValueError), ({0: -1.0}, ValueError), ({0: "1"}, TypeError)],
)
@pytest.mark.parametrize("name", sorted({*SMALL} - {*BY_PRIORS}))
def test_weights_of_classes_that_are_not_valid_are_rejected(name, weight, error):
    with pytest.raises(error, match="class_weight"):
        class_of(name, "binary")(**SMALL[name] | {"class_weight": weight}).fit(
            rows(12, 2, 0), np.arange(12) % 2
        )


@pytest.mark.parametrize(
    "class_weight", [{"A": 5.0}, {0: 5.0, 1: 1.0}, {"a": 2.0, "c": 1.0}]
)
def test_a_class_weight_of_an_unknown_label_is_an_error_as_in_scikit_learn(
    class_weight, seed
):
    """Unless all classes have one: a fold may lack the other."""
    X = rows(20, 3, seed)
    y = np.where(X[:, 0] > np.median(X[:, 0]), "a", "b")
    with pytest.raises(ValueError, match="not in class_weight"):
        compute_sample_weight(class_weight, y)
    for name in ("ELM", "KELM", "WELM", "OSELM"):
        with pytest.raises(
            ValueError,
            match=r"class_weight: expected labels among \['a', 'b'\], got \[",
        ):
            class_of(name, "binary")(class_weight=class_weight).fit(X, y)
    ELMClassifier(class_weight={"a": 1.0, "b": 2.0, "c": 3.0}).fit(X, y)
