"""RK-ELM and ELM-RBF against dense least squares, the theorems of the paper, sparse rows,
memory.
"""

from collections import Counter, deque

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import (
    SHAPES,
    class_of,
    counting,
    dense_output_weights,
    peak_of,
    problem,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from sklearn.model_selection import KFold

import elmbench.models.rk_elm as module
import elmbench.numerics.pairwise as pairwise
from elmbench.models import ELMRBFRegressor, RKELMClassifier, RKELMRegressor
from elmbench.numerics.error_bounds import kernel_round_off
from elmbench.numerics.pairwise import OF_DISTANCES, Kernel

EPS = np.finfo(float).eps
SIZE = {"RKELM": "n_landmarks", "ELMRBF": "n_hidden"}


def condition(K: np.ndarray, ridge: float) -> float:
    """Return the condition number of K'K + r I, however small the ridge."""
    values = np.zeros(K.shape[1])
    singular = np.linalg.svd(K, compute_uv=False)
    values[: len(singular)] = singular**2
    return float((values.max() + ridge) / (values.min() + ridge))


@examples(100)
@given(
    shape=SHAPES,
    size=st.integers(1, 60),
    name=st.sampled_from(sorted(SIZE)),
    kernel=st.sampled_from((*OF_DISTANCES, "polynomial", "sigmoid")),
    widths=st.sampled_from(["equal", "random"]),
    C=st.integers(-5, 30).map(lambda e: 2.0**e),
    gamma=st.integers(-5, 5).map(lambda e: 2.0**e),
    awkward=st.booleans(),
    sparse=st.booleans(),
    block=st.integers(1, 50),
)
def test_equals_least_squares_on_the_dense_kernel(
    shape, size, name, kernel, widths, C, gamma, awkward, sparse, block
):
    """Repeated rows, constant columns, more centres than rows, sparse rows, any blocks.

    The normal equations square the condition of K: outputs for the training rows are off by
    condition times round-off, relative to the targets.
    """
    n, d, seed = shape
    X, y = problem(n, d, seed, "two-targets", awkward)
    given_rows = sp.csr_matrix(X) if sparse else X
    of_kernel = {
        "kernel": kernel,
        "widths": widths if kernel in OF_DISTANCES else "equal",
        "degree": 2,
    }
    params = {SIZE[name]: size, "C": C, "gamma": gamma, "random_state": seed} | (
        of_kernel if name == "RKELM" else {}
    )
    model = class_of(name, "regression")(**params)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "BLOCK_BYTES", 8 * size * block)
        outputs = model.fit(given_rows, y).predict(given_rows)
    at = model.centres_.toarray() if sp.issparse(model.centres_) else model.centres_
    assert len(at) == model.n_units_ == (min(size, n) if name == "RKELM" else size)
    K = Kernel("rbf" if name == "ELMRBF" else kernel, model.gammas_, 2).evaluate(
        X @ at.T
        if kernel not in OF_DISTANCES and name == "RKELM"
        else cdist(X, at, "sqeuclidean")
    )
    entries = kernel_round_off(np.vstack([X, at, 0 * X]), 1.5 * gamma + 1)
    tolerance = (20 * n * EPS + 4 * entries) * condition(K, 1 / C)
    assume(tolerance < 1e-2)
    expected = K @ dense_output_weights(K, y, C)
    np.testing.assert_allclose(
        outputs, expected, rtol=0, atol=tolerance * np.linalg.norm(y)
    )


@pytest.mark.parametrize("widths", ["equal", "random"])
def test_centres_are_rows_without_replacement_and_fewer_are_the_first_of_more(
    widths, seed
):
    X, y = problem(40, 3, seed, "regression")

    def fitted(L):
        return RKELMRegressor(
            n_landmarks=L, gamma=2.0, widths=widths, random_state=seed
        ).fit(X, y)

    all_of_them = fitted(100)
    assert sorted(map(tuple, all_of_them.centres_)) == sorted(map(tuple, X))
    assert all_of_them.n_units_ == 40
    for L in (1, 7, 40):
        np.testing.assert_array_equal(fitted(L).centres_, all_of_them.centres_[:L])
        np.testing.assert_array_equal(fitted(L).gammas_, all_of_them.gammas_[:L])
    other = RKELMRegressor(n_landmarks=40, random_state=seed + 1).fit(X, y)
    assert not np.array_equal(other.centres_, all_of_them.centres_)
    if widths == "equal":
        np.testing.assert_array_equal(all_of_them.gammas_, 2.0)
    else:
        factors = 2.0 / all_of_them.gammas_  # u in sigma = u / gamma
        assert 0.5 <= factors.min() < 0.7
        assert 1.3 < factors.max() <= 1.5


def test_nodes_of_elm_rbf_hang_on_no_row_and_fewer_are_the_first_of_more(seed):
    X, y = problem(40, 3, seed, "regression")
    many = ELMRBFRegressor(n_hidden=300, gamma=2.0, random_state=seed).fit(X, y)
    few = ELMRBFRegressor(n_hidden=9, gamma=2.0, random_state=seed).fit(
        100 * X[:5], y[:5]
    )
    np.testing.assert_array_equal(few.centres_, many.centres_[:9])
    np.testing.assert_array_equal(few.gammas_, many.gammas_[:9])
    assert few.n_units_ == 9
    assert (many.centres_ >= -1).all()
    assert (many.centres_ <= 1).all()
    np.testing.assert_allclose(many.centres_.mean(axis=0), 0, atol=0.2)
    factors = many.gammas_ / 2.0
    assert 0 <= factors.min() < 0.1
    assert 0.9 < factors.max() <= 1
    assert len(set(factors)) == 300


def test_theorem_1_needs_the_ridge_to_vanish(seed):
    X, y = problem(30, 2, seed, "regression")
    model = RKELMRegressor(n_landmarks=30, C=1.0, gamma=64.0, random_state=seed).fit(
        X, y
    )
    assert np.linalg.norm(model.predict(X) - y) > 0.01 * np.linalg.norm(y)


def test_theorem_2_is_false_where_widths_differ():
    """Three distinct rows on a line and unequal widths for which the kernel matrix is singular."""
    X = np.array([[0.0], [1.0], [3.0]])

    def matrix(sigma):
        return Kernel("rbf", 1 / np.array([40.0, sigma, 20.0])).evaluate(
            cdist(X, X, "sqeuclidean")
        )

    assert np.linalg.det(matrix(1.0)) > 0.1
    assert np.linalg.det(matrix(150.0)) < -0.01
    sigma = brentq(lambda sigma: np.linalg.det(matrix(sigma)), 1.0, 150.0, xtol=1e-14)
    assert 1.5 < sigma < 149
    assert np.linalg.svd(matrix(sigma), compute_uv=False)[-1] < 1e-14
    equal = Kernel("rbf", 1 / 3.0).matrix(X)
    assert np.linalg.svd(equal, compute_uv=False)[-1] > 0.05


def test_shared_work_is_shared(monkeypatch, seed):
    """One draw and one pass over the rows a fold for all gamma, L and C; a reduction for each gamma
    and L.
    """
    draws, passes, solved = [], [], []
    draw, equations, solutions = (
        RKELMRegressor._draw,
        module.normal_equations,
        module.ridge_solutions,
    )
    monkeypatch.setattr(
        RKELMRegressor,
        "_draw",
        lambda self, *given: draws.append(self.n_landmarks) or draw(self, *given),
    )
    monkeypatch.setattr(
        module,
        "normal_equations",
        lambda *given: passes.append(given[1]) or equations(*given),
    )
    monkeypatch.setattr(
        module,
        "ridge_solutions",
        lambda *given: solved.append(given[0].shape) or solutions(*given),
    )
    X, y = problem(60, 3, seed, "regression")
    folds = list(KFold(3).split(X))
    grid = [
        {"n_landmarks": L, "gamma": g, "C": c}
        for L in (5, 20, 50, 90)
        for g in (0.5, 2.0)
        for c in (1.0, 8.0)
    ]
    seen = [
        (i, j)
        for i, j, _ in counting(
            RKELMRegressor.evaluate_grid(X, y, folds, grid, random_state=0), Counter()
        )
    ]
    assert sorted(seen) == [(i, j) for i in range(len(grid)) for j in range(3)]
    assert draws == [90] * 3
    assert passes == [2] * 3
    # 50 and 90 centres are both all of the 40 rows.
    assert sorted(solved) == sorted([(5, 5), (20, 20), (40, 40)] * 2 * 3)


@pytest.mark.exhaustive
def test_memory_of_a_path_does_not_grow_with_rows_times_centres(seed):
    """All kernel values would take 160 MB for each gamma."""
    X, y = problem(200_000, 3, seed, "binary")
    folds = [(np.arange(150_000), np.arange(150_000, 200_000))]
    grid = [{"n_landmarks": L, "gamma": g} for L in (10, 100) for g in (0.5, 1.0)]
    peak = peak_of(
        lambda: deque(
            RKELMClassifier.evaluate_grid(X, y, folds, grid, random_state=0), maxlen=0
        )
    )
    assert peak < 5 * pairwise.BLOCK_BYTES + 8 * (150_000 * 8 + 50_000 * len(grid))
