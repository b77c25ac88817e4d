"""Any kernel: by name, as a function, as a matrix, of dense rows and of sparse ones."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import FACTORS, SHAPES, class_of, problem, real_outputs, rows, targets
from hypothesis import assume, given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits, random_folds
from random_examples import examples
from sentences import pattern
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from elmbench import PathSearchCV
from elmbench.models import (
    EEKMClassifier,
    FBKOSELMRegressor,
    KELMRegressor,
    KOSELMRegressor,
)
from elmbench.numerics.arrays import EPS
from elmbench.numerics.online import states

SMALL = {
    "KELM": {},
    "LSSVM": {},
    "RKELM": {"n_landmarks": 12, "random_state": 0},
    "KOSELM": {},
    "FBKOSELM": {"budget": 15},
    "ALDKOSELM": {"delta": 0.01},
    "EEKM": {"n_landmarks": 12, "random_state": 0},
}
PATHS = [name for name in SMALL if name != "EEKM"]
CASES = [
    (name, kind)
    for name in SMALL
    for kind in ("binary", "multi", "regression")
    if (name, kind[0]) != ("EEKM", "r")
]
CHUNKS = {
    "check_fit_score_takes_y": "partial_fit takes no further rows of a kernel matrix"
}
INDEFINITE = dict.fromkeys(
    ["check_estimators_dtypes", "check_positive_only_tag_during_fit"],
    "gives a matrix with negative eigenvalues",
)
FAILING = {
    **dict.fromkeys(("KOSELM", "FBKOSELM"), CHUNKS | INDEFINITE),
    "ALDKOSELM": CHUNKS,
    "EEKM": {"check_decision_proba_consistency": "gives rows, not a kernel matrix"},
}


@parametrize_with_checks(
    [
        class_of(name, kind)(kernel="precomputed")
        for name, kind in CASES
        if kind != "multi"
    ],
    expected_failed_checks=lambda model: FAILING.get(
        re.split("Class|Regr", type(model).__name__)[0], {}
    ),
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore:there is one row only")
def test_scikit_learn_contract_of_a_kernel_matrix(estimator, check):
    check(estimator)


def product_of(a, b, power=1):
    return float(a @ b) ** power


@examples(120)
@given(
    shape=SHAPES,
    kernel=st.sampled_from(sorted(KERNEL_PARAMS)),
    gamma=st.sampled_from([0.25, 1.0, 4.0]),
    degree=st.sampled_from([1, 2, 3]),
    coef0=st.sampled_from([0.0, 0.5, -0.5]),
    C=FACTORS,
    two=st.booleans(),
)
def test_each_kernel_of_scikit_learn_gives_its_kernel_ridge(
    shape, kernel, gamma, degree, coef0, C, two
):
    n, d, seed = shape
    X, probe = rows(n, d, seed), rows(9, d, seed + 1)
    y = targets(X, seed, "two-targets" if two else "regression")
    params = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    model = KELMRegressor(C=C, **params).fit(X, y)
    assume(model.condition_ < 1e9)
    reference = KernelRidge(alpha=1 / C, **params).fit(X, y).predict(probe)
    # What is solved is of the size of the weights times the kernel, of both programs.
    K = pairwise_kernels(
        probe,
        X,
        metric=kernel,
        filter_params=True,
        gamma=gamma,
        degree=degree,
        coef0=coef0,
    )
    within = (
        100
        * n
        * EPS
        * model.condition_
        * max(1.0, np.abs(K).max())
        * max(1.0, np.abs(model.beta_).sum())
    )
    np.testing.assert_allclose(model.predict(probe), reference, rtol=0, atol=within)


@pytest.mark.parametrize(
    ("kernel", "params"),
    [(product_of, {"power": 2}), (product_of, None), (RBF(0.7), None)],
)
def test_a_function_is_a_kernel(kernel, params):
    X, probe = rows(30, 3, 0), rows(8, 3, 1)
    y = targets(X, 0, "regression")
    model = KELMRegressor(C=4.0, kernel=kernel, kernel_params=params).fit(X, y)
    reference = KernelRidge(alpha=0.25, kernel=kernel, kernel_params=params).fit(X, y)
    np.testing.assert_allclose(
        model.predict(probe), reference.predict(probe), atol=1e-10
    )


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_kernel_matrix_gives_what_its_rows_do(name, kind, seed):
    X, probe = rows(50, 3, seed), rows(9, 3, seed + 1)
    y = targets(X, seed, kind)
    within, across = (
        pairwise_kernels(Y, X, metric="laplacian", gamma=0.5) for Y in (X, probe)
    )
    by_rows = class_of(name, kind)(**SMALL[name], kernel="laplacian", gamma=0.5).fit(
        X, y
    )
    given = clone(by_rows).set_params(kernel="precomputed").fit(within, y)
    np.testing.assert_allclose(
        real_outputs(given, across), real_outputs(by_rows, probe), rtol=0, atol=1e-9
    )
    attribute = {"RKELM": "centres_", "EEKM": "landmarks_"}.get(name, "dictionary_")
    np.testing.assert_array_equal(
        X[getattr(given, attribute)], getattr(by_rows, attribute)
    )
    assert get_tags(given).input_tags.pairwise
    assert not get_tags(given).input_tags.sparse
    assert get_tags(by_rows).input_tags.sparse
    with pytest.raises(ValueError, match="square matrix"):
        clone(given).fit(across, y[:9])


@pytest.mark.parametrize("name", ["KOSELM", "FBKOSELM", "ALDKOSELM"])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_may_come_in_any_chunks(name, sparse, monkeypatch, seed):
    """Also where a chunk is learnt in several pieces, or is given in another form than the first
    one.
    """
    monkeypatch.setattr(states, "PIECE", 7)
    X, y = problem(70, 3, seed, "regression")
    kernel = "rbf" if sparse else "laplacian"
    model = class_of(name, "regression")(**SMALL[name], kernel=kernel, gamma=2.0)
    expected = clone(model).fit(X, y)
    model.partial_fit(sp.csr_matrix(X[:11]) if sparse else X[:11], y[:11])
    model.partial_fit(X[11:12], y[11:12])
    model.partial_fit(sp.csr_array(X[12:]), y[12:])
    assert sp.issparse(model.dictionary_) == sparse
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=0, atol=1e-8)
    dictionary = model.dictionary_.toarray() if sparse else model.dictionary_
    np.testing.assert_array_equal(dictionary, expected.dictionary_)
    dense = (
        clone(model)
        .partial_fit(X[:20], y[:20])
        .partial_fit(sp.csr_matrix(X[20:]), y[20:])
    )
    np.testing.assert_allclose(dense.predict(X), expected.predict(X), rtol=0, atol=1e-8)


def test_the_complete_model_is_kernel_ridge_regression_with_any_kernel(seed):
    X, y = problem(40, 3, seed, "regression")
    for kernel in ("polynomial", "linear", "chi2"):
        model = KOSELMRegressor(C=8.0, kernel=kernel, gamma=0.5).fit(X, y)
        reference = KernelRidge(alpha=1 / 8.0, kernel=kernel, gamma=0.5).fit(X, y)
        np.testing.assert_allclose(
            model.predict(X), reference.predict(X), rtol=0, atol=1e-8
        )
        K = pairwise_kernels(
            X, metric=kernel, filter_params=True, gamma=0.5, degree=3, coef0=1.0
        )
        assert model.condition_ == pytest.approx(
            np.linalg.cond(K + np.eye(40) / 8.0, 1), rel=1e-4
        )


@pytest.mark.parametrize("kind", ["regression", "two-targets"])
def test_a_budget_holds_with_any_kernel(kind, seed):
    """The model is always the kernel ridge regression of the rows that it keeps."""
    X, y = problem(60, 3, seed, kind)
    model = FBKOSELMRegressor(C=8.0, kernel="polynomial", gamma=0.5, budget=10).fit(
        X, y
    )
    chosen = [
        int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.dictionary_
    ]
    reference = KernelRidge(alpha=1 / 8.0, kernel="polynomial", gamma=0.5).fit(
        X[chosen], y[chosen]
    )
    assert len(set(chosen)) == 10
    np.testing.assert_allclose(
        model.predict(X), reference.predict(X), rtol=0, atol=1e-8
    )


def test_a_kernel_matrix_comes_at_once():
    K = pairwise_kernels(rows(20, 3, 0), metric="laplacian")
    y = np.arange(20.0)
    model = KOSELMRegressor(kernel="precomputed").partial_fit(K, y)
    with pytest.raises(
        ValueError, match=pattern("models.kernels.precomputed-in-one-call")
    ):
        model.partial_fit(K, y)


@pytest.mark.parametrize("name", ["KOSELM", "FBKOSELM", "ALDKOSELM"])
@pytest.mark.parametrize("C", [4.0, 1e6])
def test_an_indefinite_kernel_is_refused_where_rows_come_one_by_one(name, C):
    X, y = problem(30, 3, 0, "binary")
    K = np.random.RandomState(0).randn(30, 30)
    for kernel, given_as in (("additive_chi2", X), ("precomputed", K + K.T)):
        with pytest.raises(
            ValueError, match="expected one that is positive semi-definite"
        ):
            class_of(name, "binary")(**SMALL[name], kernel=kernel, C=C).fit(given_as, y)


@pytest.mark.parametrize("name", SMALL)
def test_values_of_a_kernel_are_finite(name):
    """A negative number has no third root, and a function may return anything."""
    X, y = problem(30, 3, 0, "binary")
    for kernel, factor in (
        ({"kernel": lambda a, b: np.nan}, 1),
        ({"kernel": "polynomial", "degree": 3}, 1e140),
    ):
        with pytest.raises(
            ValueError, match=pattern("models.kernels.values-not-finite")
        ):
            class_of(name, "binary")(**SMALL[name] | kernel, gamma=1.0).fit(
                factor * X, y
            )
    if name != "RKELM":
        with pytest.raises(ValueError, match=r"NaN from 'poly' with .*'degree': 0.5"):
            class_of(name, "binary")(
                **SMALL[name], kernel="poly", degree=0.5, gamma=9.0
            ).fit(X - 0.5, y)


def test_landmarks_need_positive_values_with_themselves():
    with pytest.raises(
        ValueError,
        match=pattern("models.kernels.values-on-diagonal-not-positive"),
    ):
        EEKMClassifier(kernel="additive_chi2").fit(*problem(30, 3, 0, "binary"))


def test_landmarks_do_not_hang_on_the_size_of_the_kernel(seed):
    """A thousand times the kernel gives features that are longer, and the same decision."""
    X, y = problem(60, 3, seed, "binary")
    K = pairwise_kernels(X, metric="laplacian")
    model = EEKMClassifier(n_landmarks=20, kernel="precomputed", random_state=0)
    expected, outputs = (
        clone(model).fit(s * K, y).decision_function(s * K) for s in (1.0, 1024.0)
    )
    np.testing.assert_allclose(outputs, expected, atol=1e-8 * np.abs(expected).max())


@examples(40)
@given(
    name=st.sampled_from(PATHS),
    kind=st.sampled_from(["binary", "multi", "regression"]),
    kernels=st.lists(
        st.sampled_from(["linear", "laplacian", "chi2", "rbf", "sigmoid"]),
        min_size=1,
        max_size=3,
    ),
    Cs=st.lists(st.sampled_from([0.25, 1.0, 16.0]), min_size=1, max_size=3),
    n=st.integers(9, 40),
    sparse=st.booleans(),
    seed=st.integers(0, 2**31 - 1),
)
def test_paths_over_kernels_equal_single_fits(name, kind, kernels, Cs, n, sparse, seed):
    X, y = problem(n, 3, seed, kind)
    folds = random_folds(n, 2, np.random.RandomState(seed))
    kernels = [
        "cosine" if sparse and kernel == "chi2" else kernel for kernel in kernels
    ]
    # Where rows come one by one, "sigmoid" is refused.
    kernels = [
        "cosine" if "KOS" in name and kernel == "sigmoid" else kernel
        for kernel in kernels
    ]
    grid = [
        {"C": C, "kernel": kernel, "gamma": g}
        for C in Cs
        for kernel in kernels
        for g in (0.25, 1.0)
    ]
    assert_path_follows_fits(
        class_of(name, kind),
        sp.csr_matrix(X) if sparse else X,
        y,
        folds,
        grid,
        **SMALL[name],
    )


def cubed(a, b):
    return float(a @ b) ** 3


@pytest.mark.parametrize(
    "kernels", [["linear", "rbf", cubed, RBF(0.5)], ["precomputed"]]
)
@pytest.mark.parametrize("name", PATHS)
def test_a_search_gives_what_scikit_learn_does(name, kernels):
    X, y = problem(45, 3, 0, "binary")
    X = pairwise_kernels(X, metric="laplacian") if kernels == ["precomputed"] else X
    model, grid = (
        class_of(name, "binary")(**SMALL[name], kernel=kernels[0]),
        {"C": [1.0, 8.0], "kernel": kernels},
    )
    own, reference = (
        search(model, grid, cv=3).fit(X, y) for search in (PathSearchCV, GridSearchCV)
    )
    scores = [search.cv_results_["mean_test_score"] for search in (own, reference)]
    np.testing.assert_array_equal(*scores)
    assert own.best_index_ == reference.best_index_
    np.testing.assert_array_equal(own.predict(X), reference.predict(X))


@pytest.mark.parametrize("kernel", [RBF(), "chi2", "additive_chi2"])
@pytest.mark.parametrize("name", SMALL)
def test_kernels_of_dense_rows_have_no_tag_for_sparse_ones(name, kernel):
    X, y = problem(30, 3, 0, "binary")
    model = class_of(name, "binary")(**SMALL[name], kernel=kernel)
    assert not get_tags(model).input_tags.sparse
    with pytest.raises(
        TypeError, match=pattern("models.kernels.sparse-rows-for-a-dense-kernel")
    ):
        model.fit(sp.csr_array(X), y)


def with_long_indices(X):
    """Return sparse rows with indices of 64 bits."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize(
    "kernel", ["laplacian", "rbf", "linear", "cosine", "polynomial"]
)
@pytest.mark.parametrize("name", SMALL)
def test_sparse_rows_may_have_long_indices(name, kernel):
    X, y = problem(40, 3, 0, "binary")
    X[X < 0.4] = 0.0
    model = class_of(name, "binary")(**SMALL[name], kernel=kernel, gamma=0.5)
    expected = clone(model).fit(sp.csr_array(X), y).decision_function(sp.csr_array(X))
    outputs = model.fit(with_long_indices(X), y).decision_function(with_long_indices(X))
    np.testing.assert_array_equal(outputs, expected)
