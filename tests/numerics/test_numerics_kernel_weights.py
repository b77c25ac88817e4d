"""Lists of kernels, the update of their weights and the point it ends in, and smallest enclosing
balls.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.optimize import minimize
from sklearn.metrics.pairwise import pairwise_kernels

from elmbench.numerics import multiple_kernels
from elmbench.numerics.multiple_kernels import (
    KERNELS,
    BaseKernel,
    KernelBlocks,
    WeightSurface,
    kernel_values,
    learn_weights,
    smallest_ball,
    squared_radii,
)

SEEDS = st.integers(0, 2**31 - 1)
NORMS = st.sampled_from([1.0, 1.25, 2.0, 4.0, 32.0])


def given_blocks(matrices: np.ndarray) -> KernelBlocks:
    """Return the blocks of kernels that are given as matrices."""
    n = len(matrices[0])
    kernels = [
        BaseKernel("precomputed", columns=(p * n, (p + 1) * n))
        for p in range(len(matrices))
    ]
    return KernelBlocks(np.hstack(list(matrices)), kernels)


def some_kernels(m: int, n: int, seed: int) -> np.ndarray:
    """Return m kernel matrices of n rows, of different ranks and sizes."""
    random = np.random.RandomState(seed)
    features = [
        random.randn(n, 1 + p % n) * 2.0 ** random.uniform(-2, 2) for p in range(m)
    ]
    return np.array([F @ F.T for F in features])


@examples(100)
@given(m=st.integers(1, 6), seed=SEEDS)
def test_sparse_update_is_equation_16(m, seed):
    random = np.random.RandomState(seed)
    weights, forms = (
        random.dirichlet(np.ones(m)),
        random.rand(m) * 10.0 ** random.uniform(-3, 3, m),
    )
    norms = weights * np.sqrt(forms)  # eq. (17)
    surface = WeightSurface(1.0, np.ones(m)).best(weights, forms)
    np.testing.assert_allclose(surface, norms / norms.sum(), rtol=1e-12)


@examples(100)
@given(m=st.integers(1, 6), q=NORMS, seed=SEEDS)
def test_update_is_the_best_point_of_the_surface(m, q, seed):
    random = np.random.RandomState(seed)
    radii, weights, forms = 0.1 + random.rand(m), random.rand(m) + 0.01, random.rand(m)
    surface = WeightSurface(q, radii)
    terms = weights**2 * forms
    best = surface.best(weights, forms)
    printed = terms ** (1 / (q + 1)) / radii ** (1 / (q + 1))
    printed /= np.sum(radii ** (1 / (q + 1)) * terms ** (q / (q + 1))) ** (1 / q)
    np.testing.assert_allclose(best, printed, rtol=1e-11)
    others = best * np.exp(0.5 * random.randn(50, m))
    others /= ((others**q) @ radii)[:, None] ** (1 / q)
    assert np.sum(terms / best) <= np.min((terms / others).sum(axis=1)) * (1 + 1e-12)


def test_nothing_to_choose_by():
    weights = np.array([0.25, 0.75])
    np.testing.assert_array_equal(
        WeightSurface(1.0, np.ones(2)).best(weights, np.zeros(2)), weights
    )


@examples(30)
@given(
    m=st.integers(2, 4),
    n=st.integers(3, 8),
    q=NORMS,
    radius=st.booleans(),
    e=st.integers(-3, 5),
    seed=SEEDS,
)
def test_ends_where_direct_minimisation_does(m, n, q, radius, e, seed):
    full = some_kernels(m, n, seed)
    T = np.random.RandomState(seed + 1 if seed < 2**31 - 1 else 0).randn(n, 2)
    C = 2.0**e
    blocks = given_blocks(full)
    radii = squared_radii(blocks) if radius else np.ones(m)

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        alpha = np.linalg.solve(
            np.tensordot(np.maximum(weights, 0.0), full, 1) + np.eye(n) / C, T
        )
        return np.vdot(T, alpha) / 2, -np.einsum("ik,pij,jk->p", alpha, full, alpha) / 2

    # On the scale u_p = R_p^(1/q) gamma_p the surface is sum_p u_p^q = 1; the objective falls in
    # every u_p, so the points within it may be allowed.
    scale = radii ** (-1 / q)
    start = np.full(m, m ** (-1 / q))
    best = min(
        (
            minimize(
                lambda u: (objective(u * scale)[0], objective(u * scale)[1] * scale),
                first,
                jac=True,
                bounds=[(0, 1)] * m,
                constraints={
                    "type": "ineq",
                    "fun": lambda u: 1 - np.sum(u**q),
                    "jac": lambda u: -q * u ** (q - 1),
                },
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 1000},
            )
            for first in (start, 0.9 * start)
        ),
        key=lambda minimum: minimum.fun + 1e6 * max(0, np.sum(minimum.x**q) - 1 - 1e-8),
    )
    learnt = learn_weights(blocks, T, 1 / C, WeightSurface(q, radii), 20000, 1e-9, 0.0)
    assert learnt.objective[-1] == pytest.approx(
        objective(learnt.weights[-1])[0], rel=1e-9
    )
    # The objective is convex, so its slope bounds what lies between it and its minimum, exactly.
    slope = -objective(learnt.weights[-1])[1] * scale
    dual = slope.max() if q == 1 else np.sum(slope ** (q / (q - 1))) ** ((q - 1) / q)
    reached = learnt.objective[-1] - (dual - slope @ (learnt.weights[-1] / scale))
    assert reached <= best.fun * (1 + 1e-7)
    assert learnt.objective[-1] <= best.fun * (1 + 1e-4)
    assert learnt.objective[-1] >= best.fun * (1 - 1e-6)


@examples(30)
@given(m=st.integers(1, 4), n=st.integers(2, 8), seed=SEEDS)
def test_radii_scale_with_the_kernels(m, n, seed):
    """A kernel times 4 has a quarter of the weight for q = 1, and nothing else changes."""
    full = some_kernels(m, n, seed)
    T = np.random.RandomState(0).randn(n, 1)
    factors = 4.0 ** np.arange(m)
    blocks, scaled = given_blocks(full), given_blocks(full * factors[:, None, None])
    radii, scaled_radii = squared_radii(blocks), squared_radii(scaled)
    np.testing.assert_allclose(scaled_radii, radii * factors, rtol=1e-6)
    surface, other = WeightSurface(1.0, radii), WeightSurface(1.0, scaled_radii)
    weights = surface.best(surface.start(), blocks.forms(T, np.arange(m)))
    scaled_weights = other.best(
        surface.start() / factors, scaled.forms(T, np.arange(m))
    )
    np.testing.assert_allclose(scaled_weights * factors, weights, rtol=1e-5)


def test_kernels_in_which_rows_coincide_have_no_radius():
    ones, eye = np.ones((5, 5)), np.eye(5)
    some = squared_radii(given_blocks([eye, ones, 0 * eye]))
    np.testing.assert_allclose(some, [0.8, 0.0, 0.0])
    np.testing.assert_array_equal(squared_radii(given_blocks([ones, 0 * eye])), 1.0)


def gaussian(X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@examples(150)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 5),
    e=st.integers(-12, 12),
    linear=st.booleans(),
    seed=SEEDS,
)
def test_the_bounds_are_near_each_other_and_true(n, d, e, linear, seed):
    """No ball is smaller than the value of the dual problem, and the one about the centre encloses
    all rows.
    """
    X = np.random.RandomState(seed).rand(n, d)
    K = X @ X.T if linear else gaussian(X, 2.0**e)
    squared_radius, a = smallest_ball(K)
    assert a.min() >= 0
    assert abs(a.sum() - 1) < 1e-12
    distances = K.diagonal() - 2 * K @ a + a @ K @ a
    np.testing.assert_allclose(squared_radius, a @ K.diagonal() - a @ K @ a, atol=1e-12)
    # The gain, (excess / n)^2 / 16, is lost.
    excess = 4 * n * np.sqrt(n * np.finfo(float).eps * K.diagonal().max())
    assert distances.max() <= (1 + 1e-8) * squared_radius + excess


LIST = [
    BaseKernel("rbf", 0.5),
    BaseKernel("rbf", 8.0, columns=(1, 3)),
    BaseKernel("inverse-multiquadric", 2.0),
    BaseKernel("rational-quadratic", 2.0),
    BaseKernel("laplacian", 0.3),
    BaseKernel("laplacian", 3.0),
    BaseKernel("chi2", 0.7),
    BaseKernel("polynomial", 0.5, degree=2, coef0=0.25),
    BaseKernel("polynomial", 0.5, degree=3, coef0=0.0, columns=(0, 1)),
    BaseKernel("linear", columns=(0, 3)),
    BaseKernel("cosine"),
]


def reference(kernel: BaseKernel, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    if kernel.columns is not None:
        X, Y = X[:, slice(*kernel.columns)], Y[:, slice(*kernel.columns)]
    squares = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    if kernel.name == "inverse-multiquadric":
        return (1 + kernel.gamma * squares) ** -0.5
    if kernel.name == "rational-quadratic":
        return 1 - squares / (squares + 1 / kernel.gamma)
    return pairwise_kernels(X, Y, metric=kernel.name, **kernel.named_params)


def test_the_list_of_this_test_is_complete():
    assert {kernel.name for kernel in LIST} == set(KERNELS)


@examples(30)
@given(
    n=st.integers(1, 20),
    seed=st.integers(0, 2**31 - 1),
    which=st.permutations(range(len(LIST))),
)
def test_kernel_values_equal_scikit_learn(n, seed, which):
    random = np.random.RandomState(seed)
    X, Y = random.rand(n, 4), random.rand(9, 4)
    some = [LIST[p] for p in which[:6]]
    expected = np.array([reference(kernel, Y, X) for kernel in some])
    np.testing.assert_allclose(
        kernel_values(some, Y, X), expected, rtol=1e-12, atol=1e-14
    )
    rows = X[n // 2 :]
    expected = np.array([reference(kernel, rows, X) for kernel in some])
    np.testing.assert_allclose(
        kernel_values(some, rows, X, n // 2), expected, rtol=1e-12, atol=1e-14
    )


def test_a_row_and_itself_are_at_no_distance():
    """Round-off of the distances is not to show, however large gamma is."""
    X = 1e3 + np.random.RandomState(0).rand(30, 4)
    for block in kernel_values(
        [BaseKernel("rbf", 2.0**40), BaseKernel("laplacian", 2.0**40)], X[10:], X, 10
    ):
        np.testing.assert_array_equal(block[:, 10:].diagonal(), 1.0)


@pytest.mark.parametrize("held", [0, 2**30])
@pytest.mark.parametrize("block", [1, 8 * 11 * 40 * 7, 2**24])
def test_weighted_sums_and_quadratic_forms_equal_dense_ones(
    monkeypatch, seed, held, block
):
    monkeypatch.setattr(multiple_kernels, "HELD_BYTES", held)
    monkeypatch.setattr(multiple_kernels, "BLOCK_BYTES", block)
    random = np.random.RandomState(seed)
    X, A, weights = random.rand(40, 4), random.randn(40, 3), random.rand(len(LIST))
    weights[[2, 5]] = 0.0
    full = np.array([reference(kernel, X, X) for kernel in LIST])
    computed = KernelBlocks(X, LIST)
    K = computed.weighted_sum(weights, np.full((40, 40), np.nan))
    np.testing.assert_allclose(
        K, np.tensordot(weights, full, 1), rtol=1e-12, atol=1e-13
    )
    np.testing.assert_array_equal(K, K.T)
    used = np.flatnonzero(weights)
    forms = computed.forms(A, used)
    expected = np.einsum("ik,pij,jk->p", A, full, A)
    np.testing.assert_allclose(forms[used], expected[used], rtol=1e-10, atol=1e-10)
    given_ones = given_blocks(full)
    assert given_ones.shape == computed.shape
    np.testing.assert_allclose(
        given_ones.weighted_sum(weights, np.empty((40, 40))), K, rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(
        given_ones.forms(A, used)[used], expected[used], rtol=1e-10, atol=1e-10
    )
    np.testing.assert_array_equal(
        computed.weighted_sum(np.zeros(len(LIST)), np.full((40, 40), np.nan)), 0.0
    )
