"""One space for all ridges against dense solves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.arrays import EPS
from elmbench.numerics.kernels import kernel_matrix
from elmbench.numerics.shifted.shared_space import STOP, SharedSpace

RIDGES = 2.0 ** np.array([8.0, 0.0, -13.0])


def a_space(n: int, gamma: float, seed: int) -> tuple[SharedSpace, np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    K, b = kernel_matrix(random.rand(n, 3), gamma=gamma), random.randn(n)
    return SharedSpace(lambda v, out: np.dot(K, v, out=out), b, K.sum() / n), K, b


@examples(60)
@given(
    n=st.integers(1, 80),
    e=st.integers(-8, 13),
    seed=st.integers(0, 2**31 - 1),
    noise=st.sampled_from([0.0, 0.1, 10.0]),
)
def test_what_is_left_is_the_residual_whatever_widened_the_space(n, e, seed, noise):
    """As many steps as rows solve any system; before, the residual that is told is that of the solution."""
    space, K, b = a_space(n, 2.0**e, seed)
    random = np.random.RandomState(seed)
    for i, ridge in sorted(enumerate(RIDGES), key=lambda pair: pair[1]):
        while True:
            e, left = space.left(ridge)
            solution = space.solutions(RIDGES)[:, i]
            # Round-off of a product with K, and of n terms.
            off = 4 * n * EPS * (n * np.linalg.norm(solution) + np.linalg.norm(b))
            found = b - K @ solution - ridge * solution
            np.testing.assert_allclose(e, found, atol=off)
            if left <= 1 or not space.widen(e + noise * np.linalg.norm(e) * random.randn(n) / n**0.5):
                break
        allowed = max(STOP, EPS * K.sum() / n / ridge) * np.linalg.norm(b)
        assert np.linalg.norm(found) <= 2 * allowed + 8 * n * EPS * n * np.linalg.norm(solution)


def test_residuals_fall_faster_for_larger_ridges(seed):
    """Krylov's space: the residual of the smallest ridge is the largest of all."""
    space, _, _ = a_space(200, 1.0, seed)
    while space.left(RIDGES[-1])[1] > 1:
        sizes = [float(np.linalg.norm(space.left(ridge)[0])) for ridge in RIDGES]
        assert max(sizes) == sizes[-1]
        assert space.widen(space.left(RIDGES[-1])[0])
    assert space.steps < 150


def test_the_solution_is_the_best_of_the_space(seed):
    """Its residual is orthogonal to all directions so far."""
    space, _, _ = a_space(50, 4.0, seed)
    directions = np.random.RandomState(seed).randn(50, 5)
    for v in directions.T:
        assert space.widen(v)
    e, _ = space.left(0.25)
    np.testing.assert_allclose(directions.T @ e, 0.0, atol=1e-10)


@pytest.mark.parametrize("direction", [np.zeros(20), np.full(20, np.nan), "known"])
def test_what_does_not_widen(direction, seed):
    space, _, b = a_space(20, 1.0, seed)
    assert space.widen(b)
    assert not space.widen(-3 * b if isinstance(direction, str) else direction)
    assert space.steps == 1


def test_no_more_directions_than_rows(seed):
    space, _, _ = a_space(3, 1.0, seed)
    random = np.random.RandomState(seed)
    assert [space.widen(random.randn(3)) for _ in range(5)] == [True] * 3 + [False] * 2
