"""Smallest enclosing balls against closed forms and a search through all possible supports."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.kernel_weights import GAP, smallest_ball

SETTINGS = examples(100)
SEEDS = st.integers(0, 2**31 - 1)


def gaussian(X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def by_all_supports(points: np.ndarray) -> float:
    """Return the squared radius: the largest one of the smallest balls with some points on their surface.

    Such a ball has its centre in the hull of these points; the smallest enclosing ball is one of them, and none of the
    balls that have to enclose fewer points is larger.
    """
    largest = 0.0
    for size in range(2, len(points) + 1):
        for chosen in itertools.combinations(range(len(points)), size):
            some = points[list(chosen)]
            edges = some[1:] - some[0]
            # The point in their plane that is as far from all: 2 (p_i - p_0)'(c - p_0) = |p_i - p_0|^2.
            shares = np.linalg.lstsq(2 * edges @ edges.T, (edges**2).sum(axis=1), rcond=None)[0]
            offset = shares @ edges
            distances = ((some - some[0] - offset) ** 2).sum(axis=1)
            inside = shares.min() >= -1e-9 and shares.sum() <= 1 + 1e-9
            if inside and np.ptp(distances) <= 1e-9 * (1 + distances.max()):
                largest = max(largest, distances[0])
    return largest


@SETTINGS
@given(n=st.integers(2, 6), d=st.integers(1, 4), seed=SEEDS)
def test_equals_the_best_of_all_supports(n, d, seed):
    points = np.random.RandomState(seed).randn(n, d)
    ball = smallest_ball(points @ points.T)
    expected = by_all_supports(points)
    np.testing.assert_allclose(ball.squared_radius, expected, rtol=1e-8)
    distances = ((points - ball.coefficients @ points) ** 2).sum(axis=1)
    assert distances.max() <= expected * (1 + 1e-8)


@SETTINGS
@given(n=st.integers(1, 60), d=st.integers(1, 5), e=st.integers(-12, 12), seed=SEEDS)
def test_the_bounds_are_near_each_other_and_true(n, d, e, seed):
    X = np.random.RandomState(seed).rand(n, d)
    K = gaussian(X, 2.0**e)
    ball = smallest_ball(K)
    a = ball.coefficients
    assert a.min() >= 0
    assert abs(a.sum() - 1) < 1e-12
    distances = 1 - 2 * K @ a + a @ K @ a
    np.testing.assert_allclose(ball.squared_radius + ball.gap, distances.max(), atol=1e-12)
    np.testing.assert_allclose(ball.squared_radius, 1 - a @ K @ a, atol=1e-12)
    assert ball.gap <= 1e-8 * ball.squared_radius + 1e-12


def test_two_points_and_an_equilateral_triangle():
    two = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert smallest_ball(two @ two.T).squared_radius == pytest.approx(6.25, rel=1e-12)
    three = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)], [0.5, 0.3]])
    assert smallest_ball(three @ three.T).squared_radius == pytest.approx(1 / 3, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_rows_at_right_angles(n):
    """All n unit vectors carry the centre alike: 1 - 1/n."""
    ball = smallest_ball(np.eye(n))
    assert ball.squared_radius == pytest.approx(1 - 1 / n, rel=1e-12)
    np.testing.assert_allclose(ball.coefficients, 1 / n)


@pytest.mark.parametrize("K", [np.zeros((5, 5)), np.ones((5, 5)), np.full((4, 4), 1e12)])
def test_rows_that_coincide(K):
    assert smallest_ball(K).squared_radius <= 1e-14 * K.max()


def test_a_ball_that_many_rows_nearly_carry(seed):
    """Moving pairs alone takes tens of thousands of steps here."""
    K = gaussian(np.random.RandomState(seed).rand(300, 2), 64.0)
    ball = smallest_ball(K)
    assert ball.gap <= GAP * ball.squared_radius
    assert (ball.coefficients > 0).sum() > 50
