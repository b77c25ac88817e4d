"""Kernels at centres against their formulas, dense and sparse, in any blocks."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.spatial.distance import cdist

import elmbench.numerics.pairwise as pairwise
from elmbench.numerics.pairwise import (
    OF_DISTANCES,
    Kernel,
    kernel_blocks,
    kernel_row_blocks,
)

SETTINGS = examples(100)
SEEDS = st.integers(0, 2**31 - 1)
SIZES = st.integers(1, 40)
EPS = np.finfo(float).eps


def rows(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows on [-1, 1] with half of the entries zero."""
    random = np.random.RandomState(seed)
    return random.uniform(-1, 1, (n, d)) * (random.rand(n, d) < 0.5)


def expected(X, C, kernel, gamma, degree=3, coef0=1.0):
    squares, products = gamma * cdist(X, C, "sqeuclidean"), gamma * (X @ C.T)
    return {
        "rbf": np.exp(-squares),
        "inverse-multiquadric": 1 / np.sqrt(1 + squares),
        "rational-quadratic": 1 - squares / (squares + 1),
        "polynomial": (products + coef0) ** degree,
        "sigmoid": np.tanh(products + coef0),
    }[kernel]


def as_kinds(X):
    """Return the same rows in every form: dense, sparse, and sparse with entries in parts and out
    of order.
    """
    sparse = sp.csr_matrix(X)
    entries = [slice(*sparse.indptr[i : i + 2]) for i in range(len(X))]
    data = [np.r_[0.25 * sparse.data[row], 0.75 * sparse.data[row]] for row in entries]
    indices = [np.tile(sparse.indices[row], 2) for row in entries]
    parts = sp.csr_matrix(
        (np.concatenate(data), np.concatenate(indices), 2 * sparse.indptr),
        shape=X.shape,
    )
    return {"dense": X, "sparse": sparse, "in parts": parts}


@SETTINGS
@given(
    n=SIZES,
    L=SIZES,
    d=st.integers(1, 6),
    seed=SEEDS,
    kernel=st.sampled_from((*OF_DISTANCES, "polynomial", "sigmoid")),
    gamma=st.sampled_from([0.05, 1.0, 8.0]),
    own=st.booleans(),
    degree=st.integers(1, 5),
    coef0=st.sampled_from([-0.5, 0.0, 1.0]),
    kinds=st.tuples(*[st.sampled_from(["dense", "sparse", "in parts"])] * 2),
    block=st.integers(1, 50),
)
def test_equals_the_formula_in_any_form_and_blocks(
    n, L, d, seed, kernel, gamma, own, degree, coef0, kinds, block
):
    X, C = rows(n, d, seed), rows(L, d, seed + 1)
    C[0] = X[0]
    gammas = (
        gamma * np.random.RandomState(seed).uniform(0.5, 1.5, L)
        if own and kernel in OF_DISTANCES
        else gamma
    )
    one, at = Kernel(kernel, gammas, degree, coef0), as_kinds(C)[kinds[1]]
    given_rows = as_kinds(X)[kinds[0]]
    reference = expected(X, C, kernel, gammas, degree, coef0)
    # The argument is off by a few units of round-off of its terms; those of a distance are 4d at
    # most.
    size = 1.5 * gamma * 4 * d + abs(coef0) + 1
    slope = degree * size ** (degree - 1) if kernel == "polynomial" else 1.0
    tolerance = 4 * (d + 8) * EPS * size * max(slope, 1.0)
    Z = np.random.RandomState(seed).randn(L, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "BLOCK_BYTES", 8 * L * block)
        each = list(kernel_blocks(one, given_rows, at, [gammas, 2 * gammas, gammas]))
        assert [rows for rows, i, _ in each if i == 0] == list(
            kernel_row_blocks(given_rows, L)
        )
        product = one.product(given_rows, at, Z)
    blocks = {
        i: np.vstack([values for _, j, values in each if j == i]) for i in range(3)
    }
    np.testing.assert_allclose(blocks[0], reference, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(blocks[2], blocks[0])
    doubled = expected(X, C, kernel, 2 * gammas, degree, coef0)
    np.testing.assert_allclose(blocks[1], doubled, rtol=0, atol=2**degree * tolerance)
    reach = np.abs(reference) @ np.abs(Z)
    assert (
        np.abs(product - reference @ Z)
        <= tolerance * np.abs(Z).sum(axis=0) + 2 * L * EPS * reach
    ).all()


@pytest.mark.parametrize(
    ("X", "n_centres", "sizes"),
    [
        (np.zeros((500, 3)), 10, [100] * 5),
        (np.zeros((50, 200)), 10, [5] * 10),
        (sp.csr_matrix(np.zeros((50, 200))), 10, [50]),
        (sp.csr_matrix(np.ones((50, 200))), 10, [3] * 16 + [2]),
        (np.zeros((500, 3)), 5000, [1] * 500),  # more centres than fit
    ],
)
def test_blocks_take_what_was_allowed(monkeypatch, X, n_centres, sizes):
    monkeypatch.setattr(pairwise, "BLOCK_BYTES", 8 * 1000)
    assert [rows.stop - rows.start for rows in kernel_row_blocks(X, n_centres)] == sizes


def test_sparse_rows_are_never_made_dense():
    """Dense, these rows would take 1.6 GB and the centres 80 MB."""
    X = sp.random_array(
        (2000, 100_000), density=5e-4, format="csr", rng=np.random.default_rng(0)
    )
    tracemalloc.start()
    Kernel("rbf", 0.5).product(X, X[:100], np.ones((100, 2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6
