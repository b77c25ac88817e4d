"""Parts of a kernel matrix, and solutions of all ridges on the training rows of a fold, against
dense algebra.
"""

from collections import Counter

import numpy as np
import pytest
from forced_solvers import force
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.model_selection import LeaveOneOut, StratifiedKFold

from elmbench.numerics import fold_solutions as module
from elmbench.numerics.arrays import EPS
from elmbench.numerics.fold_solutions import fold_solutions, fold_views
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.krylov import STOP, KrylovSpace

RIDGES = 2.0 ** -np.arange(-8.0, 14.0)


@examples(150)
@given(
    n=st.integers(2, 40),
    n_folds=st.integers(1, 5),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
)
def test_fold_solutions_equal_single_solutions_for_any_folds(
    n, n_folds, seed, repeated
):
    """Also such as name a row twice, in both parts, or in none."""
    random = np.random.RandomState(seed)
    folds = []
    for _ in range(n_folds):
        train = random.permutation(n)[: random.randint(1, n + 1)]
        if repeated:
            train = train[random.randint(0, len(train), size=len(train))]
        folds.append((train, random.randint(0, n, size=random.randint(0, 2 * n))))
    A = random.rand(n, n)
    A += A.T
    order, parts = fold_views(folds)
    assert len(set(order)) == len(order)
    K = np.asfortranarray(A[np.ix_(order, order)])
    for part, (train, test) in zip(parts, folds, strict=True):
        assert sorted(part.rows) == sorted(train)
        m = len(train)
        square = A[np.ix_(part.rows, part.rows)]
        for most_runs in (0, n):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "MOST_STRETCHES", most_runs)
                copy = np.full((m, m), np.nan, order="F")
                part.copy(K, copy)
            np.testing.assert_array_equal(copy, square)
        if part.test is not None:
            Z = random.rand(m, 3)
            np.testing.assert_allclose(
                part.product(K, Z), A[np.ix_(test, part.rows)] @ Z, rtol=1e-12
            )
        else:
            assert len(set(train)) < m or not set(test) <= set(order)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40])
def test_the_symmetric_product_reads_one_half_of_the_matrix(monkeypatch, n, seed):
    """One half of the matrix is read, compiled or not, and the result overwrites anything."""
    A = np.random.RandomState(seed).rand(n, n)
    half, v = (
        np.asfortranarray(np.tril(A) + np.triu(np.full((n, n), np.nan), 1)),
        A[0] - 0.5,
    )
    for compiled_from in (0, n + 1):
        monkeypatch.setattr(module, "COMPILED_FROM", compiled_from)
        w = np.full(n, np.nan)
        module.symmetric_product(half)(v, w)
        np.testing.assert_allclose(w, np.tril(A) @ v + np.tril(A, -1).T @ v, atol=1e-13)


def test_folds_of_a_cross_validation_have_few_gaps():
    y = np.arange(60) % 2
    for cv in (StratifiedKFold(10, shuffle=True, random_state=0), LeaveOneOut()):
        for part in fold_views(list(cv.split(y, y)))[1]:
            assert np.count_nonzero(np.diff(part.positions) > 1) <= 1


def awkward_rows(n: int, seed: int, kind: str) -> np.ndarray:
    X = np.random.RandomState(seed).rand(n, 3)
    if kind == "repeated":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "constant":
        X[:, 1:] = 0.5
    elif kind == "far":
        X[::5] += 1e3 * (1 + np.arange(len(X[::5])))[:, np.newaxis]
    return X


@examples(120)
@given(
    n=st.integers(4, 90),
    k=st.integers(1, 3),
    p=st.integers(1, 22),
    e=st.integers(-8, 13),
    seed=st.integers(0, 2**31 - 1),
    way=st.sampled_from(["krylov", "inverse", "reduction", "cholesky"]),
    kind=st.sampled_from(["random", "repeated", "constant", "far"]),
)
def test_every_method_solves_every_system(n, k, p, e, seed, way, kind):
    X = awkward_rows(n, seed, kind)
    random = np.random.RandomState(seed)
    ridges = np.sort(random.permutation(RIDGES)[:p])
    third = np.arange(n) % 3
    folds = [(np.flatnonzero(third != i), np.flatnonzero(third == i)) for i in range(3)]
    order, parts = fold_views([*folds, (np.arange(n), np.arange(0))])
    K = kernel_matrix(X[order], gamma=2.0**e, out=np.empty((n, n), order="F"))
    for part in parts:
        m = len(part.rows)
        B = random.randn(m, k)
        B[:, 0] *= seed % 2
        solvers = Counter()
        with pytest.MonkeyPatch.context() as patch:
            force(patch, way)
            square = np.empty((m, m), order="F")
            part.copy(K, square)
            Z, errors = fold_solutions(square, B, ridges, solvers)
        assert solvers.pop("krylov given up", 0) <= (way == "inverse")
        assert set(solvers) <= {way, "krylov" if way == "inverse" else "eigenvalues"}
        assert solvers.total() == p
        assert Z.shape == (m, p * k)
        square = K[np.ix_(part.positions, part.positions)]
        for i, ridge in enumerate(ridges):
            solution = Z[:, i * k : (i + 1) * k]
            left = np.linalg.norm(B - square @ solution - ridge * solution, axis=0)
            off = 50 * m * EPS * (m + ridge) * np.linalg.norm(solution, axis=0)
            assert (left <= 1e-11 * np.linalg.norm(B, axis=0) + off).all()
            assert left.max() <= errors[i] * (1 + 1e-6) + off.max()


def test_an_inverse_beyond_single_precision(monkeypatch, seed):
    """Something is added to the diagonal of the inverse, and the solutions stay exact."""
    force(monkeypatch, "inverse")
    X = awkward_rows(80, seed, "repeated")
    K = np.asfortranarray(kernel_matrix(X, gamma=0.1))
    B, ridges = np.random.RandomState(seed).randn(80, 1), np.array([1e-6, 1e-5])
    Z, _ = fold_solutions(K.copy(order="F"), B, ridges, Counter())
    left = np.linalg.norm(B - K @ Z - Z * ridges, axis=0)
    assert (left <= 80 * 80 * 8 * EPS * np.linalg.norm(Z, axis=0)).all()


@pytest.mark.parametrize("way", ["krylov", "inverse"])
def test_a_system_that_is_not_solved_has_an_infinite_error(monkeypatch, way, seed):
    """Coefficients are so large that round-off exceeds the right-hand side; or the iteration leaves
    it to a factor.
    """
    force(monkeypatch, way)
    monkeypatch.setattr(module, "SMALLEST", 0.0)
    K = np.asfortranarray(kernel_matrix(awkward_rows(80, seed, "repeated"), gamma=4.0))
    B, ridges, solvers = (
        np.random.RandomState(seed).randn(80, 1),
        np.array([1e-15]),
        Counter(),
    )
    _, errors = fold_solutions(K, B, ridges, solvers)
    assert errors == (np.inf if solvers[way] else 0.0)


@pytest.mark.parametrize("n", [1, 2, 60])
@pytest.mark.parametrize("kind", ["random", "repeated", "zero"])
def test_a_krylov_space_knows_its_residuals_and_images(n, kind, seed):
    X, b = (
        awkward_rows(n, seed, kind),
        np.random.RandomState(seed).randn(n) * (kind != "zero"),
    )
    K, ridges = kernel_matrix(X, gamma=4.0), np.array([2.0**-13, 0.1, 8.0])
    space = KrylovSpace(lambda v, out: np.dot(K, v, out=out), b, ridges, K.sum() / n)
    np.testing.assert_allclose(
        space.allowed,
        np.maximum(STOP, EPS * K.sum() / n / ridges) * (np.linalg.norm(b) or 1),
    )

    def residuals_are_known(space):
        Z = space.solutions(ridges)
        true = np.linalg.norm(b[:, np.newaxis] - K @ Z - Z * ridges, axis=0)
        np.testing.assert_allclose(
            space.lengths * space.allowed,
            true,
            rtol=1e-6,
            atol=100 * n * EPS * np.linalg.norm(Z),
        )
        return True

    assert space.solve(residuals_are_known)
    assert residuals_are_known(space)
    W, images = space.basis, K @ space.basis
    np.testing.assert_allclose(W.T @ W, np.eye(space.steps), atol=1e-12)
    images[:, -1:] -= space.last_length * space.next_column[:, np.newaxis]
    np.testing.assert_allclose(images, W @ (W.T @ images), atol=1e-11)
    assert space.steps <= (0 if kind == "zero" else n)
