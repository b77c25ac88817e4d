"""LS-SVM against its bordered system, for classes and for values."""

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import (
    FACTORS,
    class_of,
    coded,
    is_classification,
    problem,
    real_outputs,
    rows,
    targets,
)
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.preprocessing import normalize
from test_paths import GAMMAS

from elmbench.models import LSSVMClassifier, LSSVMRegressor
from elmbench.numerics.arrays import EPS, Array


def assert_solved(model, X, y, kind):
    """Assert [0 1'; 1 K + Q/C] [b; beta] = [0; T], as the paper has it, within round-off; return Q
    and K.
    """
    sizes = (
        np.array([(y == label).sum() for label in y])
        if is_classification(kind)
        else np.ones(len(X))
    )
    weights = (
        max(sizes) / sizes if getattr(model, "class_weight", None) else np.ones(len(X))
    )
    Q = weights if getattr(model, "weighting", "") == "as-printed" else 1 / weights
    K, T = rbf_kernel(X, gamma=model.gamma), coded(y, kind)
    A = np.block(
        [
            [np.zeros((1, 1)), np.ones((1, len(X)))],
            [np.ones((len(X), 1)), K + np.diag(Q) / model.C],
        ]
    )
    right, solution = (
        np.vstack([0 * T[:1], T]),
        np.vstack([model.intercept_, model.beta_]),
    )
    # With coefficients of up to 1e10 the residual is that of rounding them.
    within = 1e-13 * (A @ np.abs(solution) + np.abs(right))
    # The coefficients are what two solutions of this size differ by, and their sum has n terms.
    within[0] += 4 * (len(X) + 8) * np.finfo(float).eps * model.C * np.abs(T).max()
    assert (np.abs(A @ solution - right) <= within).all()
    return Q, K


@examples(220)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 8),
    seed=st.integers(0, 2**31 - 1),
    C=FACTORS,
    gamma=GAMMAS,
    kind=st.sampled_from(["binary", "multi", "regression", "two-targets"]),
    options=st.fixed_dictionaries(
        {
            "class_weight": st.sampled_from(["balanced", None]),
            "weighting": st.sampled_from(["corrected", "as-printed"]),
        }
    ),
    awkward=st.booleans(),
    shift=st.sampled_from([0.0, 1e3]),
)
def test_satisfies_its_bordered_system(
    n, d, seed, C, gamma, kind, options, awkward, shift
):
    """Repeated rows, a constant column, classes of any sizes, targets far from zero."""
    X, probe = rows(n, d, seed, awkward), rows(15, d, seed + 1)
    y = targets(X, seed, kind)
    if kind == "binary":
        y = np.where(np.random.RandomState(seed).rand(n) > 0.3, 1, -1)
        y[:2] = -1, 1
    y = y if is_classification(kind) else y + shift
    model = class_of("LSSVM", kind)(
        C=C, gamma=gamma, **options if is_classification(kind) else {}
    ).fit(X, y)
    Q, K = assert_solved(model, X, y, kind)
    expected = rbf_kernel(probe, X, gamma=gamma) @ model.beta_ + model.intercept_
    atol = 1e-13 * np.abs(model.beta_).sum() + 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(
        real_outputs(model, probe).reshape(15, -1), expected, rtol=0, atol=atol
    )
    # The kernel between deviations from the weighted centre, and that of the centre, see
    # `KernelSystem`.
    shares = (1 / Q) / (1 / Q).sum()
    products = K @ shares
    centred = K - products - products[:, np.newaxis] + 2 * shares @ products
    weighted = centred / np.sqrt(np.outer(Q, Q)) + np.eye(n) / C
    assert 0.1 < model.condition_ / np.linalg.cond(weighted, 1) < 1.01


@pytest.mark.parametrize("exponent", range(-1, 11))
@pytest.mark.parametrize("gamma", [1e-10, 1e-5, 1.0])
@pytest.mark.parametrize("kind", ["binary", "two-targets"])
def test_satisfies_its_system_over_the_whole_grid_of_the_paper(
    exponent, gamma, kind, seed
):
    X, y = problem(120, 5, seed + 1, kind)
    options = {"class_weight": "balanced"} if kind == "binary" else {}
    model = class_of("LSSVM", kind)(C=10.0**exponent, gamma=gamma, **options).fit(X, y)
    assert_solved(model, X, y, kind)
    assert (
        np.abs(model.beta_.sum(axis=0)) <= 4e-16 * np.abs(model.beta_).sum(axis=0)
    ).all()


def test_as_printed_the_smaller_class_is_lost():
    X = rows(300, 4, 3)
    y = np.where(X[:, 0] + 0.3 * np.random.RandomState(0).randn(300) > 1.0, 1, -1)
    recalls = [
        (
            LSSVMClassifier(class_weight="balanced", weighting=weighting)
            .fit(X, y)
            .predict(X)[y == 1]
            == 1
        ).mean()
        for weighting in ("corrected", "as-printed")
    ]
    assert recalls[0] > 0.8
    assert recalls[1] < 0.1


@pytest.mark.parametrize("kind", ["binary", "one"])
def test_gamma_so_small_that_k_has_rank_one(kind, seed):
    X = rows(30, 3, seed)
    model = LSSVMClassifier(C=1e10, gamma=1e-30, class_weight="balanced").fit(
        X, targets(X, seed, kind)
    )
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 100.0])
def test_a_constant_is_left_to_the_intercept(gamma, seed):
    """Other than K-ELM, which shrinks to zero: far from all rows the outputs are the mean that is
    not explained.
    """
    X = rows(30, 3, seed)
    model = LSSVMRegressor(C=8.0, gamma=gamma).fit(X, np.full(30, 7.5))
    np.testing.assert_allclose(model.predict(rows(10, 3, seed + 1)), 7.5, rtol=1e-9)
    y = targets(X, seed, "regression")
    near, moved = (
        LSSVMRegressor(C=8.0, gamma=gamma).fit(X, y + shift) for shift in (0.0, 100.0)
    )
    np.testing.assert_allclose(moved.predict(X), near.predict(X) + 100.0, rtol=1e-9)
    np.testing.assert_allclose(near.predict(X + 1e9), near.intercept_[0], rtol=1e-12)


#: Linear kernels, whose span lacks the constants, and the features whose products they are.
LINEAR = {
    "linear": lambda X: X,
    "cosine": normalize,
    "precomputed": lambda X: X,
}


def linear_problem(weighted: bool) -> tuple[Array, Array, Array, Array | None]:
    """Return rows far from the origin, rows to be predicted, values, and weights of the rows."""
    random = np.random.RandomState(0)
    X = random.randn(80, 3) + np.array([1.0, -2.0, 0.5])
    y = 3 + X @ [1, -2, 0.5] + 0.1 * random.randn(80)
    return X[:50], X[50:], y[:50], random.randint(0, 4, 50) * 1.0 if weighted else None


def as_rows(kernel: str, X: Array, train: Array) -> Array:
    """Return what a model with this kernel takes as rows."""
    return linear_kernel(X, train) if kernel == "precomputed" else X


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3, 1e6, 1e9, 1e14, 1e17])
@pytest.mark.parametrize("kernel", LINEAR)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:the system to be solved is singular")
def test_a_linear_kernel_gives_ridge_regression_for_every_ridge(
    C: float, kernel: str, weighted: bool
) -> None:
    """A ridge within the round-off of the kernel gives least squares."""
    X, probe, y, weights = linear_problem(weighted)
    model = LSSVMRegressor(kernel=kernel, C=C).fit(
        as_rows(kernel, X, X), y, sample_weight=weights
    )
    features = LINEAR[kernel]
    ridge = Ridge(alpha=1 / C, solver="svd").fit(features(X), y, sample_weight=weights)
    # Round-off in the system counts as often as its condition, until the ridge is within it.
    condition = model.condition_ if C < 1e12 else 1e4
    within = 100 * EPS * condition * np.abs(y).max()
    predicted = model.predict(as_rows(kernel, probe, X))
    np.testing.assert_allclose(
        predicted, ridge.predict(features(probe)), rtol=0, atol=within
    )
    if kernel != "precomputed":
        at_origin = model.predict(np.zeros((1, 3)))
        np.testing.assert_allclose(at_origin, [ridge.intercept_], rtol=0, atol=within)
    np.testing.assert_allclose(
        model.intercept_, [ridge.intercept_], rtol=0, atol=within
    )
    assert abs(model.beta_.sum()) <= 100 * EPS * np.abs(model.beta_).sum()


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_a_search_with_a_linear_kernel_gives_ridge_regression_for_every_ridge(
    kernel: str,
) -> None:
    X, probe, y, _ = linear_problem(False)
    features = LINEAR[kernel]
    candidates = [{"C": C} for C in (1e-2, 1.0, 1e3, 1e14, 1e17)]
    folds = [(np.arange(50), np.arange(50, 80))]
    every_row, values = np.vstack([X, probe]), np.concatenate([y, np.zeros(30)])
    for i, _, predicted, _ in LSSVMRegressor.evaluate_grid(
        every_row, values, folds, candidates, kernel=kernel
    ):
        ridge = Ridge(alpha=1 / candidates[i]["C"], solver="svd").fit(features(X), y)
        np.testing.assert_allclose(
            predicted, ridge.predict(features(probe)), rtol=0, atol=1e-8
        )


@examples(60)
@given(
    n=st.integers(4, 60),
    seed=st.integers(0, 2**31 - 1),
    size=st.sampled_from([1e-4, 1.0, 300.0, 1e4]),
    offset=st.sampled_from([0.0, 5.0, 100.0]),
    C=st.sampled_from([1e-2, 1e4, 1e7, 1e10, 1e13]),
    is_weighted=st.booleans(),
    is_sparse=st.booleans(),
)
def test_a_linear_kernel_is_exact_for_features_of_any_size(
    n, seed, size, offset, C, is_weighted, is_sparse
):
    """A fit and a search against least squares with the ridge as rows of the matrix.

    The centred rows lose the round-off of their offset, and weights that of their condition.
    """
    random = np.random.RandomState(seed)
    X = size * (random.randn(n, 3) + offset)
    y = X @ random.randn(3) / size + 3 + 0.1 * random.randn(n)
    weights = random.uniform(0.1, 5.0, n) if is_weighted else np.ones(n)
    mean, target = (
        np.average(X, axis=0, weights=weights),
        np.average(y, weights=weights),
    )
    scale = np.sqrt(weights)[:, np.newaxis]
    A = scale * (X - mean)
    stacked = np.vstack([A, np.eye(3) / np.sqrt(C)])
    values = np.concatenate([scale[:, 0] * (y - target), np.zeros(3)])
    expected = (X - mean) @ np.linalg.lstsq(stacked, values)[0] + target

    given = sp.csr_matrix(X) if is_sparse else X
    model = LSSVMRegressor(kernel="linear", C=C).fit(given, y, sample_weight=weights)
    condition = np.linalg.cond(A)
    within = 1e3 * n * EPS * condition * (1 + offset) * (1 + np.abs(y).max())
    np.testing.assert_allclose(model.predict(given), expected, rtol=0, atol=within)
    if not is_weighted:
        folds = [(np.arange(n), np.arange(n))]
        path = LSSVMRegressor.evaluate_grid(
            given, y, folds, [{"C": C}], kernel="linear"
        )
        np.testing.assert_allclose(next(iter(path))[2], expected, rtol=0, atol=within)


@examples(60)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 2**31 - 1),
    C=FACTORS,
    kind=st.sampled_from(["regression", "two-targets"]),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    kernel=st.sampled_from(["rbf", "linear", "laplacian"]),
)
def test_weights_of_rows_enter_its_bordered_system(n, seed, C, kind, spread, kernel):
    """[0 1'; 1 K + (C W)^-1] [b; beta] = [0; T] in extended precision, with weights W of any
    ratios.
    """
    X = rows(n, 3, seed)
    y = targets(X, seed, kind)
    weights = 10 ** (spread * np.random.RandomState(seed).rand(n))
    model = LSSVMRegressor(C=C, gamma=0.5, kernel=kernel).fit(
        X, y, sample_weight=weights
    )
    K = model._make_kernel().matrix(X).astype(np.longdouble)
    T, beta = coded(y, kind).astype(np.longdouble), model.beta_.astype(np.longdouble)
    ridges = 1 / (C * weights.astype(np.longdouble))
    residual = K @ beta + ridges[:, np.newaxis] * beta + model.intercept_ - T
    # Every entry has lost the mean products of the kernel, the largest of which bounds them.
    size = np.abs(beta).sum(axis=0) * (2 * np.abs(K).max()) + np.abs(T).max() * 2
    size = size + np.abs(ridges[:, np.newaxis] * beta).max(axis=0)
    # The scale of a row multiplies its equation.
    within = 20 * n * EPS * size * np.sqrt(weights.max() / weights)[:, np.newaxis]
    assert (np.abs(residual) <= within).all()
    assert (np.abs(beta.sum(axis=0)) <= 4 * n * EPS * np.abs(beta).sum(axis=0)).all()
