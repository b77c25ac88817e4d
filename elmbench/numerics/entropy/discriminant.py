"""The direction that separates two Gaussians, and the decision between them on the line."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dlange, dpotrf, dpotrs

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.entropy.covariance import Moments
from elmbench.numerics.lapack import cholesky_condition
from elmbench.numerics.solve import mirror

LEAST_VARIANCE = EPS
"""Projected variances are at least this, where the projected means are 2 apart, also where no covariance has any."""

LEAST_SPREAD = 1e-70
"""Features that vary by less have products that underflow, and count as constant."""

EQUAL = 1e-12
"""Variances that differ by less than so many times the larger one are equal but for round-off."""


@dataclass(frozen=True)
class Discriminant:
    """Two Gaussians on the line that `beta`, of shape (size,), projects two sets of rows to.

    Means and variances are those of the negative set and of the positive one. The means differ by 2; if those of the
    rows coincide, there is no direction and `beta` is zero. The condition is that of the sum of the covariances.
    """

    beta: Array
    means: tuple[float, float]
    variances: tuple[float, float]
    condition: float

    @property
    def degenerate(self) -> bool:
        """True if the means coincide, so that no direction separates them."""
        return self.means[0] == self.means[1]


def no_direction(size: int) -> Discriminant:
    """Return a discriminant without a direction, for which the two Gaussians are the same."""
    return Discriminant(np.zeros(size), (0.0, 0.0), (1.0, 1.0), 1.0)


def discriminant(negative: Moments, positive: Moments, size: int, dimension: int | None = None) -> Discriminant:
    """Return the direction of eq. (4), beta = 2 (S+ + S-)^-1 (m+ - m-) / ||m+ - m-||^2, in the leading features.

    If m+ = m- up to round-off, or nothing varies, beta is zero. If the sum of the covariances is singular to working
    precision, its least eigenvalues are lifted to h times the machine precision times the largest one. `dimension` is h
    if further features are zero in all rows. (Czarnecki and Tabor, whose Algorithm 1 divides by the norm instead of its
    square, for the same direction.) The variances are at least the round-off of beta'(S+ + S-)beta, so that of two
    classes that are points, neither is the narrower one.
    """
    apart = positive.first[:size] - negative.first[:size]
    difference = apart + (positive.mean[:size] - negative.mean[:size])
    spread = max(np.abs(apart).max(), negative.spread[:size].max(), positive.spread[:size].max())
    round_off = (negative.n_rows + positive.n_rows) * EPS * spread
    if spread < LEAST_SPREAD or np.abs(difference).max() <= round_off:
        return no_direction(size)
    S_negative, S_positive = (side.covariance(size, dimension)[0] for side in (negative, positive))
    solution, condition = _solve(S_negative + S_positive, difference)
    beta = 2.0 / (difference @ solution) * solution
    mean = float(beta @ negative.first[:size] + beta @ negative.mean[:size])
    least = max(LEAST_VARIANCE, sum(_round_off(beta, S) for S in (S_negative, S_positive)))
    variances = tuple(max(float(beta @ S @ beta), least) for S in (S_negative, S_positive))
    return Discriminant(beta, (mean, mean + 2.0), (variances[0], variances[1]), condition)


def _round_off(b: Array, A: Array) -> float:
    """Return the bound h EPS |b|'|A||b| of the round-off of b'Ab, for h rows of A."""
    return float(len(b) * EPS * (np.abs(b) @ np.abs(A) @ np.abs(b)))


def _solve(A: Array, b: Array) -> tuple[Array, float]:
    """Return the solution of A z = b for a positive semi-definite A, which is overwritten, and the condition of A."""
    diagonal = np.einsum("ii->i", A)
    before = diagonal.copy()
    norm = float(dlange("1", A))
    factor, info = dpotrf(A, lower=1, clean=0, overwrite_a=1)
    if info == 0 and factor.diagonal().min() ** 2 > len(A) * EPS * before.max():
        solution, _ = dpotrs(factor, b, lower=1)
        return solution, cholesky_condition(factor, norm)
    # dpotrf has not changed the strict upper triangle, from which the matrix is restored.
    mirror(factor.T)
    np.einsum("ii->i", factor)[:] = before
    values, vectors = eigh(factor, overwrite_a=True, check_finite=False)
    largest = values[-1] if values[-1] > 0 else 1.0
    lifted = np.maximum(values, len(values) * EPS * largest)
    return vectors @ ((vectors.T @ b) / lifted), float(lifted[-1] / lifted[0])


def log_odds(
    projections: Array, means: tuple[float, float], variances: tuple[float, float], log_weight: float = 0.0
) -> Array:
    """Return ln of the density of the positive Gaussian over that of the negative one, plus `log_weight`.

    Projections are points of the line; the mean and variance of the negative Gaussian come first; `log_weight` is ln of
    the prior probability (times the cost) of the positive class over that of the negative one.
    """
    if means[0] == means[1]:
        return np.full(len(projections), log_weight)
    (m_negative, m_positive), (S_negative, S_positive) = means, variances
    quadratic = (projections - m_negative) ** 2 / S_negative - (projections - m_positive) ** 2 / S_positive
    odds: Array = 0.5 * (quadratic + np.log(S_negative / S_positive)) + log_weight
    return odds


def crossing_points(means: tuple[float, float], variances: tuple[float, float], log_weight: float = 0.0) -> Array:
    """Return the points where `log_odds` is zero, in ascending order: the thresholds of the decision.

    With D = S- - S+, means that differ by g and c = ln(S-/S+) + 2 `log_weight`, they are the zeros s = t - m- of D s^2
    - 2 g S- s + g^2 S- - S- S+ c; the one between the classes is computed from the product of the two, so that nothing
    cancels as D goes to zero. There is one point if the variances are equal up to round-off, and none if one class is
    likelier everywhere; otherwise there are two. (Czarnecki and Tabor, section 3, whose formula of t+ and t- has 2 S+
    for 2 S- in one.)
    """
    (m_negative, m_positive), (S_negative, S_positive) = means, variances
    gap = m_positive - m_negative
    D = S_negative - S_positive
    c = np.log(S_negative / S_positive) + 2.0 * log_weight
    if gap == 0.0 or gap**2 + D * c < 0.0:
        return np.empty(0)
    root = np.sqrt(S_negative * S_positive * (gap**2 + D * c))
    half = gap * S_negative + root
    points = [m_negative + S_negative * (gap**2 - S_positive * c) / half]
    if abs(D) > EQUAL * max(S_negative, S_positive):
        points.append(m_negative + half / D)
    return np.sort(points)
