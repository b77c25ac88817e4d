"""The smallest ball that encloses all rows in the feature space of a kernel."""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dsysv

from elmbench.numerics.arrays import EPS, Array

GAP = 1e-10
"""Accepted difference between the squared radius and its bounds."""

_ROUNDS, _PAIRS_ONLY, _DROPS = 100, 30, 20


class Ball(NamedTuple):
    """The centre sum_i a_i phi(x_i) of a ball, and bounds of the smallest one.

    `squared_radius` is a lower bound; plus `gap` it is the squared radius of the ball about the centre, an upper bound.
    The coefficients a are non-negative, with the sum 1.
    """

    squared_radius: float
    gap: float
    coefficients: Array


def smallest_ball(K: Array) -> Ball:
    """Return the smallest enclosing ball of n rows from their kernel matrix, of shape (n, n).

    The squared radius is the maximum of sum_i a_i K_ii - a' K a over a >= 0 with the sum 1. Coefficients move in pairs,
    from the row with the largest gain to the row farthest from the centre, with n + 100 pairs in a round. After many
    rounds, all positive coefficients also move at once, to equal distances. The search ends when the gap is at most
    `GAP` of the squared radius, or n times the machine precision of the largest K_ii, or when a round gains nothing.
    """
    n, diagonal = len(K), K.diagonal().copy()
    last = best = _about(K, diagonal, np.full(n, 1.0 / n))
    floor = n * EPS * float(diagonal.max())

    def close(ball: Ball) -> bool:
        return ball.gap <= max(GAP * ball.squared_radius, floor)

    for i in range(_ROUNDS):
        if close(best):
            break
        coefficients = last.coefficients.copy()
        _move_pairs(K, diagonal, coefficients)
        result = _about(K, diagonal, coefficients)
        if i >= _PAIRS_ONLY and not close(result):
            _level(K, diagonal, coefficients)
            result = min(result, _about(K, diagonal, coefficients), key=lambda ball: ball.gap)
        if result.gap >= best.gap and result.squared_radius <= last.squared_radius:
            break
        last, best = result, min(best, result, key=lambda ball: ball.gap)
    return best


def _about(K: Array, diagonal: Array, coefficients: Array) -> Ball:
    """Return the ball about a centre."""
    products = K @ coefficients
    distances = diagonal - 2.0 * products + coefficients @ products
    value = float(coefficients @ distances)
    return Ball(max(value, 0.0), float(distances.max()) - value, coefficients.copy())


def _move_pairs(K: Array, diagonal: Array, a: Array) -> None:
    """Take up to n + 100 steps of sequential minimal optimisation of f = a' K a - sum_i a_i K_ii, in place."""
    gradient = 2.0 * (K @ a) - diagonal
    tiny = np.finfo(np.float64).tiny
    for _ in range(len(a) + 100):
        far = int(gradient.argmin())
        excess = gradient - gradient[far]
        apart = diagonal + diagonal[far] - 2.0 * K[far]
        least = EPS * (diagonal + diagonal[far]) + tiny
        steps = np.minimum(excess / (2.0 * np.maximum(apart, least)), a)
        gains = steps * (excess - steps * apart)
        near = int(gains.argmax())
        step = float(steps[near])
        if gains[near] <= 0.0:
            return
        a[far] += step
        a[near] = 0.0 if step == a[near] else a[near] - step
        gradient += 2.0 * step * (K[far] - K[near])


def _level(K: Array, diagonal: Array, a: Array) -> None:
    """Minimise f over the plane of the rows with positive coefficients, in place, as far as these stay positive.

    Rows whose coefficients become zero are left out, up to `_DROPS` times.
    """
    for _ in range(_DROPS):
        support = np.flatnonzero(a > 0.0)
        s = len(support)
        system = np.ones((s + 1, s + 1), order="F")
        system[:s, :s] = 2.0 * K[np.ix_(support, support)]
        system[s, s] = 0.0
        _, _, solution, info = dsysv(system, np.append(diagonal[support], 1.0), overwrite_a=1)
        direction = solution[:s] - a[support]
        if info != 0 or not np.isfinite(direction).all():
            return
        falling = direction < 0.0
        ratios = a[support][falling] / -direction[falling]
        step = float(ratios.min(initial=1.0))
        a[support] = np.maximum(a[support] + step * direction, 0.0)
        a[support[falling][ratios <= step]] = 0.0
        a /= a.sum()
        if step == 1.0:
            return
