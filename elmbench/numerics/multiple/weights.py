"""Multiple kernel ELM: alternating updates of kernel weights and output weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.multiple.blocks import KernelBlocks
from elmbench.numerics.multiple.enclosing_ball import smallest_ball
from elmbench.numerics.solve import RidgeSystem


@dataclass(frozen=True)
class Surface:
    """The weights with sum_p radii[p] weights[p]^q = 1, none negative, for q at least 1.

    `radii`, (m,), are squared radii of enclosing balls, or ones. A kernel with the radius zero has the weight zero.
    """

    q: float
    radii: Array

    def start(self) -> Array:
        """Return the point of equal weights."""
        return self._scale_to_norm(np.where(self.radii > 0.0, 1.0, 0.0))

    def best(self, weights: Array, forms: Array) -> Array:
        """Return the minimiser of sum_p t_p / g_p over the surface, with t_p = weights[p]^2 forms[p].

        It is g_p = (t_p / R_p)^(1 / (q + 1)) up to a factor: for q = 1 and R_p = 1 that of eq. (16). If all t_p are
        zero, all points are equally good and the weights stay.
        """
        power = 1.0 / (self.q + 1.0)
        used = weights > 0.0
        result = np.zeros(len(weights))
        # Weights are not squared before the root, because small ones would underflow.
        result[used] = weights[used] ** (2.0 * power) * (np.maximum(forms[used], 0.0) / self.radii[used]) ** power
        return self._scale_to_norm(result) if result.any() else weights

    def _scale_to_norm(self, weights: Array) -> Array:
        scaled: Array = weights / (self.radii @ weights**self.q) ** (1.0 / self.q)
        return scaled


def squared_radii(blocks: KernelBlocks) -> Array:
    """Return the squared radius of the smallest ball around the rows in each kernel, zero for round-off.

    If all rows coincide in all kernels, ones are returned.
    """
    m, n = blocks.shape
    radii, K = np.empty(m), np.empty((n, n))
    for p in range(m):
        blocks.weighted_sum(np.eye(m)[p], K)
        radius = smallest_ball(K).squared_radius
        radii[p] = radius if radius > n * EPS * K.diagonal().max() else 0.0
    return radii if radii.any() else np.ones(m)


class Learnt(NamedTuple):
    """The learnt weights and their path.

    `coefficients`, (n, k), are (K + ridge I)^-1 T with the last weights; `weights`, (n_iter + 1, m), and `objective`
    hold the values at the start and after each iteration; `condition` is an estimate for K + ridge I.
    """

    coefficients: Array
    weights: Array
    objective: Array
    converged: bool
    condition: float


def learn_weights(
    blocks: KernelBlocks,
    T: Array,
    ridge: float,
    surface: Surface,
    max_iter: int,
    settled: Callable[[float, float], bool],
) -> Learnt:
    """Run Algorithm 1 of Liu et al. from equal weights on a surface.

    The objective is that of eq. (6) for the best output weights, tr(T' (K + ridge I)^-1 T) / 2. It never rises: each
    half of an iteration minimises eq. (9), over output weights or over kernel weights. `settled` ends the iteration,
    from the largest change of a weight and the relative change of the objective. With `max_iter` 0, only the output
    weights of equal kernel weights are computed.
    """
    n = blocks.shape[1]
    room = np.empty((n, n))
    weights = surface.start()
    system = RidgeSystem(blocks.weighted_sum(weights, room).T, ridge)
    coefficients = system.solve(T)
    path, objective = [weights], [float(np.vdot(T, coefficients)) / 2]
    converged = False
    while not converged and len(path) <= max_iter:
        weights = surface.best(weights, blocks.forms(coefficients, np.flatnonzero(weights)))  # eqs. (16) and (17)
        system = RidgeSystem(blocks.weighted_sum(weights, room).T, ridge)
        coefficients = system.solve(T)  # eq. (15)
        objective.append(float(np.vdot(T, coefficients)) / 2)
        change = abs(objective[-1] - objective[-2])
        converged = settled(float(np.abs(weights - path[-1]).max()), change / max(objective[-2], np.finfo(float).tiny))
        path.append(weights)
    return Learnt(coefficients, np.array(path), np.array(objective), converged, system.condition)
