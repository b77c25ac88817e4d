"""Smooth support vector machines: squared losses whose corners are rounded, minimised by Newton's method.

The objective is sum_i loss_i(a_i'z) + ridge |z|^2 / 2, minimised over z, for the rows a_i of a matrix A without
negative entries. It is that of two papers divided by C, with ridge 1/C: Lee and Mangasarian, SSVM: A smooth support
vector machine for classification, Computational Optimization and Applications 20, 2001; Lee, Hsieh and Huang,
epsilon-SSVR: A smooth support vector machine for epsilon-insensitive regression, IEEE TKDE 17(5), 2005.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.kernels import row_blocks
from elmbench.numerics.solve import RidgeSystem, normal_equations

ARMIJO = 1e-4  # share of the decrease that the slope promises which a step must keep
LEAST_STEP = 2.0**-40  # shortest share of a Newton step that is tried

Loss = Callable[[Array], tuple[Array, Array, Array]]
"""From the outputs of all rows, of shape (n,), their losses and the first and second derivatives of these."""


def smooth_plus(x: Array, smoothing: float) -> tuple[Array, Array, Array]:
    """Return p(x)^2 / 2 and its first two derivatives, where p(x) = x + log(1 + exp(-alpha x)) / alpha.

    p rounds the corner of max(x, 0); it is log(2) / alpha above it at 0 and less elsewhere. `smoothing` is alpha.
    """
    scaled = smoothing * x
    plus, slope = np.logaddexp(0.0, scaled) / smoothing, expit(scaled)
    return plus**2 / 2, plus * slope, slope**2 + plus * (smoothing * slope * expit(-scaled))


def smooth_hinge(targets: Array, smoothing: float) -> Loss:
    """Return the loss p(1 - t f)^2 / 2 of outputs f for targets t, -1 or +1 (Lee & Mangasarian, eq. (9))."""

    def loss(outputs: Array) -> tuple[Array, Array, Array]:
        values, slopes, curvatures = smooth_plus(1.0 - targets * outputs, smoothing)
        return values, -targets * slopes, curvatures

    return loss


def smooth_insensitive(targets: Array, epsilon: float, smoothing: float) -> Loss:
    """Return the loss (p(t - f - epsilon)^2 + p(f - t - epsilon)^2) / 2 of outputs f for targets t (Lee et al.)."""

    def loss(outputs: Array) -> tuple[Array, Array, Array]:
        errors = outputs - targets
        above, below = smooth_plus(errors - epsilon, smoothing), smooth_plus(-errors - epsilon, smoothing)
        return above[0] + below[0], above[1] - below[1], above[2] + below[2]

    return loss


class Minimum(NamedTuple):
    """The last point of Newton's method; `converged` is True if the gradient is zero there, within the tolerance."""

    solution: Array
    n_iter: int
    converged: bool


def minimise(A: Array, loss: Loss, ridge: float, tol: float, max_iter: int) -> Minimum:
    """Minimise the losses of the outputs A z plus ridge |z|^2 / 2, from z = 0, by Newton's method with Armijo's rule.

    It ends when the gradient ridge z + A's, with s the slopes of the losses, is shorter than `tol` times its terms,
    ridge |z| + |A'|s||, or than a bound of its round-off; or when the predicted decrease of a step is below the
    round-off of the objective and the gradient is not halved; or after `max_iter` steps.
    """
    current = _Point(A, loss, ridge, np.zeros(A.shape[1]))
    for n_iter in range(max_iter + 1):
        if current.length <= max(tol * current.scale, current.gradient_error):
            return Minimum(current.z, n_iter, True)
        if n_iter == max_iter:
            break
        system = RidgeSystem(weighted_gram(A, current.curvatures), ridge)
        direction = -system.solve(current.gradient[:, np.newaxis])[:, 0]
        decrease = float(-current.gradient @ direction)
        is_noise = decrease <= current.value_error
        step = 1.0
        trial = _Point(A, loss, ridge, current.z + direction)
        while not is_noise and trial.value > current.value - ARMIJO * step * decrease and step > LEAST_STEP:
            step /= 2
            trial = _Point(A, loss, ridge, current.z + step * direction)
        if trial.length > current.length / 2 if is_noise else trial.value > current.value:
            return Minimum(current.z, n_iter, is_noise and system.by_cholesky)
        current = trial
    return Minimum(current.z, max_iter, False)


def weighted_gram(A: Array, weights: Array) -> Array:
    """Return A' diag(weights) A, exactly symmetric and in Fortran order, for weights that are not negative."""
    blocks = ((rows, 0, A[rows].copy()) for rows in row_blocks(*A.shape))
    return normal_equations(blocks, 1, A.shape[1], np.empty((len(A), 0)), np.sqrt(weights))[0][0]


class _Point:
    """The objective of `minimise` at z, its derivatives, and bounds of the round-off in them."""

    def __init__(self, A: Array, loss: Loss, ridge: float, z: Array) -> None:
        n, m = A.shape
        outputs, sizes = (A @ np.column_stack([z, np.abs(z)])).T
        losses, slopes, self.curvatures = loss(outputs)
        blur = m * EPS * sizes  # a sum of m products is so far off at most
        # In one pass over A: the sums of the slopes, of their sizes, and of their changes by round-off of the outputs.
        sums = A.T @ np.column_stack([slopes, np.abs(slopes), self.curvatures * blur])
        terms = np.linalg.norm(sums[:, 1])
        self.z, self.gradient = z, ridge * z + sums[:, 0]
        self.length = float(np.linalg.norm(self.gradient))
        self.scale = float(ridge * np.linalg.norm(z) + terms)
        self.gradient_error = float(n * EPS * terms + np.linalg.norm(sums[:, 2]))
        self.value = float(losses.sum() + ridge / 2 * (z @ z))
        self.value_error = float(8 * EPS * losses.sum() + np.abs(slopes) @ blur)
