"""EEM and EEKM against dense computations that follow the text, their decisions, and layers without
a direction.
"""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import problem, rows, sparse_rows
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit
from scipy.stats import norm
from sentences import pattern
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from elmbench.models import EEKMClassifier, EEMClassifier, WELMClassifier

SETTINGS = examples(60)
PROBLEMS = {
    "n": st.integers(12, 80),
    "d": st.integers(1, 8),
    "seed": st.integers(0, 2**31 - 1),
}


LAYERS: dict[str, Any] = {
    "sigmoid": lambda X, weights, biases: expit(X @ weights.T - biases),
    "nsig": lambda X, weights, biases: expit(X @ weights.T / X.shape[1] - biases),
    "rbf": lambda X, weights, biases: np.exp(
        -biases * ((X[:, None] - weights) ** 2).sum(axis=2)
    ),
}


def by_the_text(
    H: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, tuple[float, float], tuple[float, float], float]:
    """Algorithm 1 with eq. (4): the direction, the projected means and variances, and a condition
    number.
    """
    sides = [H[y < 0], H[y > 0]]
    means = [side.mean(axis=0) for side in sides]
    covariances = [ledoit_wolf(side)[0] for side in sides]
    total = sum(covariances)
    m = means[1] - means[0]
    solution = np.linalg.solve(total, m)
    beta = 2 * solution / (m @ solution)
    condition = np.linalg.cond(total)
    return (
        beta,
        tuple(beta @ m for m in means),
        tuple(beta @ S @ beta for S in covariances),
        condition,
    )


def densities_differ(
    t: np.ndarray, means: tuple[float, float], variances: tuple[float, float]
) -> np.ndarray:
    """ln N(m+, S+)[t] - ln N(m-, S-)[t]."""
    return norm.logpdf(t, means[1], variances[1] ** 0.5) - norm.logpdf(
        t, means[0], variances[0] ** 0.5
    )


@SETTINGS
@given(
    **PROBLEMS,
    n_hidden=st.integers(1, 90),
    activation=st.sampled_from(sorted(LAYERS)),
    container=st.sampled_from([None, sp.csr_matrix, sp.coo_array]),
)
def test_eem_equals_the_formulas_of_the_paper(
    n, d, seed, n_hidden, activation, container
):
    """Sparse rows are dense in the reference."""
    X, y = problem(n, d, seed, "binary")
    X = sparse_rows(X, seed) if container else X
    given_as = container or np.asarray
    model = EEMClassifier(
        n_hidden=n_hidden, activation=activation, random_state=seed
    ).fit(given_as(X), y)
    H = LAYERS[activation](X, model.weights_, model.biases_)
    beta, means, variances, condition = by_the_text(H, y)
    assume(condition < 1e8)
    unit = 1e-13 * condition
    # The direction itself may be ill determined where the features are nearly dependent; what it is
    # for is not.
    np.testing.assert_allclose(np.diff(model.means_[0]), 2)
    assert model.variances_[0] == pytest.approx(variances, rel=1e3 * unit)
    probe = rows(30, d, seed + 1)
    expected = LAYERS[activation](probe, model.weights_, model.biases_) @ beta
    scale = np.abs(beta).sum()
    projections = model.project(given_as(probe)) - model.means_[0, 0]
    np.testing.assert_allclose(projections, expected - means[0], atol=10 * unit * scale)
    odds = densities_differ(expected, means, variances)
    clear = np.abs(odds) > 1e-4
    np.testing.assert_array_equal(
        model.predict(given_as(probe))[clear], np.where(odds > 0, 1, -1)[clear]
    )


@SETTINGS
@given(
    **PROBLEMS, n_landmarks=st.integers(1, 100), gamma=st.sampled_from([0.1, 1.0, 10.0])
)
def test_eekm_equals_the_formulas_of_the_paper(n, d, seed, n_landmarks, gamma):
    X, y = problem(n, d, seed, "binary")
    model = EEKMClassifier(n_landmarks=n_landmarks, gamma=gamma, random_state=seed).fit(
        X, y
    )
    landmarks = model.landmarks_
    assert model.n_units_ == len(landmarks) == min(n_landmarks, n)
    assert len({tuple(row) for row in landmarks} & {tuple(row) for row in X}) == len(
        landmarks
    )
    K = rbf_kernel(landmarks, gamma=gamma)
    assume(np.linalg.cond(K) < 1e9)
    values, vectors = np.linalg.eigh(K)
    root = vectors / np.sqrt(values) @ vectors.T  # K^(-1/2)
    beta, means, variances, condition = by_the_text(
        rbf_kernel(X, landmarks, gamma=gamma) @ root, y
    )
    assume(condition < 1e7)
    assert model.variances_[0] == pytest.approx(variances, rel=1e-5)
    np.testing.assert_allclose(model.means_[0], means, rtol=1e-5, atol=1e-5)
    probe = rows(30, d, seed + 1)
    expected = rbf_kernel(probe, landmarks, gamma=gamma) @ root @ beta
    np.testing.assert_allclose(
        model.project(probe), expected, rtol=1e-4, atol=1e-5 * (1 + np.abs(beta).max())
    )
    # Section 6: a network with one hidden layer, with beta^ = K^(-1/2) beta.
    np.testing.assert_allclose(
        model.project(probe),
        rbf_kernel(probe, landmarks, gamma=gamma) @ model.beta_[:, 0],
    )


@pytest.mark.parametrize("make", [EEMClassifier, EEKMClassifier])
def test_probabilities_are_bayes_rule(make):
    X, y = make_classification(80, 5, random_state=0)
    labels = np.array(["no", "yes"])[y]
    plain = make(random_state=0).fit(X, labels)
    z = plain.project(X)
    densities = norm.pdf(z[:, None], plain.means_[0], np.sqrt(plain.variances_[0]))
    np.testing.assert_allclose(
        plain.predict_proba(X),
        densities / densities.sum(axis=1, keepdims=True),
        atol=1e-10,
    )

    weighted = densities * [0.7 * 2, 0.3 * 5]
    expected = weighted / weighted.sum(axis=1, keepdims=True)
    for priors, costs in (
        ([0.7, 0.3], [2, 5]),
        ({"yes": 0.3, "no": 0.7}, {"no": 2, "yes": 5}),
        ([7, 3], (4, 10)),
    ):
        model = make(priors=priors, costs=costs, random_state=0).fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-10)
        np.testing.assert_allclose(
            model.decision_function(X),
            np.log(expected[:, 1] / expected[:, 0]),
            atol=1e-8,
        )
        # Section 6: the label of the largest weighted density.
        np.testing.assert_array_equal(
            model.predict(X), model.classes_[weighted.argmax(axis=1)]
        )
        # The direction does not depend on them; the thresholds are where the weighted densities
        # cross.
        np.testing.assert_array_equal(model.beta_, plain.beta_)
        at = norm.pdf(
            model.thresholds_[:, None], model.means_[0], np.sqrt(model.variances_[0])
        ) * [
            1.4,
            1.5,
        ]
        np.testing.assert_allclose(at[:, 0], at[:, 1], rtol=1e-6)


def test_no_threshold_where_one_class_is_the_likelier_everywhere():
    random = np.random.RandomState(0)
    X, y = (
        np.r_[random.randn(50, 1), 0.3 + 0.5 * random.randn(50, 1)],
        np.repeat([0, 1], 50),
    )
    model = EEMClassifier(n_hidden=5, priors=[1.0, 1e-6], random_state=0).fit(X, y)
    assert model.thresholds_.shape == (0,)
    assert set(model.predict(np.linspace(-5, 5, 101)[:, None])) == {0}


@pytest.mark.parametrize("make", [EEMClassifier, EEKMClassifier])
def test_more_classes_are_each_against_the_rest(make):
    X, y = make_classification(
        150, 6, n_informative=5, n_classes=3, n_redundant=0, random_state=0
    )
    model = make(random_state=4).fit(X, y)
    assert model.decision_function(X).shape == model.predict_proba(X).shape == (150, 3)
    assert model.means_.shape == model.variances_.shape == (3, 2)
    assert len(model.thresholds_) == model.beta_.shape[1] == 3
    single = np.empty((150, 3))
    for k in range(3):
        against = make(random_state=4).fit(X, y == k)
        np.testing.assert_allclose(
            model.decision_function(X)[:, k], against.decision_function(X), atol=1e-8
        )
        np.testing.assert_allclose(model.thresholds_[k], against.thresholds_)
        single[:, k] = against.predict_proba(X)[:, 1]
    np.testing.assert_allclose(
        model.predict_proba(X), single / single.sum(axis=1, keepdims=True), atol=1e-9
    )
    # The prior of a class is held against the mean of the others.
    tilted = make(random_state=4, priors=[0.5, 0.3, 0.2]).fit(X, y)
    shift = np.log(np.array([0.5, 0.3, 0.2]) / np.array([0.25, 0.35, 0.4]))
    np.testing.assert_allclose(
        tilted.decision_function(X) - model.decision_function(X),
        np.tile(shift, (150, 1)),
    )
    # A fold may lack a class.
    fold = X[y < 2], y[y < 2]
    by_label = make(random_state=4, priors={0: 1, 1: 2, 2: 3}).fit(*fold)
    in_order = make(random_state=4, priors=[1, 2]).fit(*fold)
    np.testing.assert_array_equal(
        by_label.decision_function(X), in_order.decision_function(X)
    )


def like_isolet(n: int = 60, d: int = 617) -> tuple[np.ndarray, np.ndarray]:
    """As many features in [0, 1] as ISOLET has: <w, x> is about 150 for every row and node."""
    X = rows(n, d, 0)
    return X, np.where(X[:, 0] > 0.5, 1, -1)


def test_all_ones_layer_predicts_one_class_with_a_warning():
    X, y = like_isolet()
    model = EEMClassifier(n_hidden=50, random_state=0)
    with pytest.warns(
        UserWarning,
        match="the hidden layer yields the same values for every training row.*'nsig'",
    ):
        model.fit(X, y)
    assert len(set(model.predict(X))) == 1
    np.testing.assert_array_equal(model.beta_, 0)
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)
    assert len(model.thresholds_) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            len(
                set(
                    EEMClassifier(n_hidden=50, activation="nsig", random_state=0)
                    .fit(X, y)
                    .predict(X)
                )
            )
            == 2
        )


@pytest.mark.parametrize(
    "model",
    [
        *(
            WELMClassifier(n_hidden=20, activation=activation, random_state=3)
            for activation in LAYERS
        ),
        *(
            EEMClassifier(n_hidden=20, activation=activation, random_state=3)
            for activation in LAYERS
        ),
        EEKMClassifier(n_landmarks=12, gamma=0.5, random_state=3),
    ],
)
@pytest.mark.parametrize("d", [1, 4])
def test_constant_features_predict_one_class_with_a_warning(model, d):
    X, y = np.full((20, d), 0.7), np.repeat([1, 2], [12, 8])
    with pytest.warns(UserWarning, match="one class is predicted"):
        model.fit(X, y)
    assert len(set(model.predict(X))) == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_the_heavier_class_where_there_is_no_direction():
    X, y = like_isolet()
    for priors, expected in (([1, 2], 1), ([2, 1], -1)):
        with pytest.warns(UserWarning, match="one class is predicted"):
            model = EEMClassifier(priors=priors, random_state=0).fit(X, y)
        assert set(model.predict(X)) == {expected}
        np.testing.assert_allclose(model.predict_proba(X)[0], np.array(priors) / 3)


def test_classes_whose_means_coincide_predict_one_class(seed):
    side = rows(30, 3, seed)
    X, y = np.vstack([side, side[::-1]]), np.repeat([0, 1], 30)
    for model in (
        EEMClassifier(random_state=0),
        EEKMClassifier(n_landmarks=20, random_state=0),
    ):
        with pytest.warns(UserWarning, match="the means of the two classes coincide"):
            model.fit(X, y)
        assert set(model.predict(X)) == {0}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gamma", [1e-14, 1e-10, 1e-6])
def test_gamma_so_small_that_hardly_a_digit_is_left(gamma):
    """K is all ones but for its last digits; what they hold is the distances, scaled."""
    X, y = make_classification(120, 4, class_sep=2.0, random_state=0)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    model = EEKMClassifier(n_landmarks=100, gamma=gamma, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert gamma < 1e-12 or (model.predict(X) == y).mean() > 0.85


def test_gamma_so_small_that_k_has_rank_one():
    X, y = make_classification(60, 4, random_state=0)
    model = EEKMClassifier(n_landmarks=50, gamma=1e-30, random_state=0)
    with pytest.warns(UserWarning, match="expected a larger gamma"):
        model.fit(X, y)
    assert set(model.predict(X)) == {0}
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)


def test_a_class_of_one_row_is_a_point(seed):
    X = rows(30, 3, seed + 8)
    y = np.r_[np.zeros(29), 1]
    with pytest.warns(UserWarning, match=pattern("models.eem.one-row-of-a-class")):
        model = EEMClassifier(n_hidden=10, random_state=0).fit(X, y)
    assert set(np.flatnonzero(model.predict(X))) == {29}
    # Of a line on which the means are 2 apart; round-off in the other class's variance is all the
    # width that there is.
    assert np.ptp(model.thresholds_) < 1e-4


@pytest.mark.parametrize("number", range(12))
def test_of_two_classes_that_are_points_neither_is_the_narrower(number):
    """Two rows of each and many nodes: what differs in the variances is round-off, and decides
    nothing.
    """
    random = np.random.RandomState(number)
    model = EEMClassifier(n_hidden=20, random_state=number).fit(
        random.rand(4, 2), [0, 0, 1, 1]
    )
    assert np.ptp(model.variances_) == 0
    assert len(model.thresholds_) == 1
    X = random.rand(200, 2)
    nearer = np.abs(model.project(X)[:, None] - model.means_[0]).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearer)


def test_landmarks_of_a_smaller_machine_are_among_those_of_a_larger_one(seed):
    X, y = problem(50, 3, seed, "binary")
    small, large = (
        EEKMClassifier(n_landmarks=n, random_state=7).fit(X, y).landmarks_
        for n in (5, 30)
    )
    np.testing.assert_array_equal(small, large[:5])
