"""Lanczos' method against dense solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.lapack import symmetric_product
from elmbench.numerics.shifted.lanczos import Lanczos, steps_left

SETTINGS = examples(100)
RIDGES = 2.0 ** -np.arange(-8.0, 14.0)


def for_ever(steps: int, total: float) -> bool:
    return True


def space_of(A: np.ndarray, b: np.ndarray, affordable=for_ever, tolerance: float = 1e-10) -> Lanczos:
    A = np.asfortranarray(A)
    return Lanczos(symmetric_product(A), b, RIDGES[-1], tolerance * np.linalg.norm(b), affordable)


@SETTINGS
@given(
    n=st.integers(1, 120),
    d=st.integers(1, 6),
    gamma=st.integers(-8, 13).map(lambda e: 2.0**e),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
)
def test_serves_every_ridge(n, d, gamma, seed, repeated):
    random = np.random.RandomState(seed)
    X, b = random.rand(n, d), random.randn(n)
    if repeated:
        X[n // 2 :] = X[: n - n // 2]
    A = kernel_matrix(X, gamma=gamma)
    space = space_of(A, b)
    assert space.converged
    found = space.solve(RIDGES)
    V = space._V[:, : space.steps]
    np.testing.assert_allclose(V.T @ V, np.eye(space.steps), atol=1e-12)
    for z, ridge in zip(found.T, RIDGES, strict=True):
        assert np.linalg.norm(A @ z + ridge * z - b) <= 1e-9 * np.linalg.norm(b)


def test_the_smallest_ridge_is_the_last_to_converge(seed):
    random = np.random.RandomState(seed)
    A = kernel_matrix(random.rand(300, 3), gamma=4.0)
    b = random.randn(300)
    found = space_of(A, b, tolerance=1e-3).solve(RIDGES)
    off = np.linalg.norm(A @ found + found * RIDGES - b[:, np.newaxis], axis=0)
    assert (np.diff(off[off > 1e-10]) > 0).all()
    assert 1e-5 < off[-1] / np.linalg.norm(b) <= 1e-3


@pytest.mark.parametrize(
    ("A", "steps"),
    [
        (np.eye(50), 1),
        (np.zeros((50, 50)), 1),
        (np.ones((50, 50)), 2),
        (np.diag(np.repeat([1.0, 2.0, 3.0], [40, 5, 5])), 3),
    ],
)
def test_an_exhausted_space_is_exact(A, steps):
    b = np.arange(1.0, 51.0)
    space = space_of(A, b, tolerance=1e-300)
    assert space.converged
    assert space.steps == steps
    for z, ridge in zip(space.solve(RIDGES).T, RIDGES, strict=True):
        np.testing.assert_allclose(z, np.linalg.solve(A + ridge * np.eye(50), b), atol=1e-9)


def test_nothing_to_solve():
    space = space_of(np.eye(4), np.zeros(4))
    assert space.converged
    np.testing.assert_array_equal(space.solve(RIDGES), np.zeros((4, len(RIDGES))))


def test_stops_when_it_is_no_longer_affordable(seed):
    random = np.random.RandomState(seed)
    A = kernel_matrix(random.rand(400, 3), gamma=64.0)
    looks = []
    space = space_of(A, random.randn(400), lambda steps, total: looks.append((steps, total)) or steps < 40)
    assert not space.converged
    assert space.steps == 48
    assert [steps for steps, _ in looks] == [16, 32, 48]


def test_steps_are_foreseen(seed):
    random = np.random.RandomState(seed)
    looks = []
    A = kernel_matrix(random.rand(500, 4), gamma=4.0)
    space = space_of(A, random.randn(500), lambda steps, total: looks.append((steps, total)) or True)
    off = [(steps / space.steps, abs(total / space.steps - 1)) for steps, total in looks]
    assert len(off) > 10
    assert max(error for at, error in off if at > 0.5) < 0.5
    assert max(error for at, error in off if at > 0.75) < 0.1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -100.0])
def test_what_is_not_semi_definite_does_not_converge(bad):
    A = np.eye(30)
    A[3, 3] = bad
    assert not space_of(A, np.ones(30)).converged


@pytest.mark.parametrize(
    ("values", "expected"), [([8, 6, 4, 2], 1), ([16, 15, 12, 7], 1), ([4, 4, 4], np.inf), ([1, 2, 3], np.inf)]
)
def test_steps_left(values, expected):
    assert steps_left([float(v) for v in values]) == pytest.approx(expected)
