"""Kernel systems with a border of ones, which determines an intercept: least-squares support vector machines.

The matrix is A = K + r S^-2 with a kernel K, a ridge r and a diagonal S, so A^-1 = S (S K S + r I)^-1 S: all ridges
share one matrix S K S. What is said of solutions here holds for S^-1 times them.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.shifted.all_ridges import solve_shifted
from elmbench.numerics.solve import RidgeSystem


def bordered(scale: Array, ones: Array, targets: Array) -> tuple[Array, Array]:
    """Return the solution b, of shape (k,), and S^-1 beta, of shape (n, k), of [0 1'; 1 A] [b; beta] = [0; T].

    From solutions with A: b = 1' A^-1 T / 1' A^-1 1 and beta = A^-1 T - b A^-1 1 (Suykens and Vandewalle, 1999).
    `scale` is the diagonal of S, `ones` S^-1 A^-1 1, of shape (n,), and `targets` S^-1 A^-1 T, of shape (n, k).
    """
    intercepts = (scale @ targets) / (scale @ ones)
    return intercepts, targets - np.outer(ones, intercepts)


@dataclass(frozen=True)
class BorderedSystems:
    """The systems of several ridges, for targets T of shape (n, k), and the rows whose outputs are asked for.

    K is S K S and `scale` the diagonal of S; `work`, of the shape of K, is overwritten. The items of `across`, of shape
    (rows, n), are the kernel between the rows whose outputs are asked for, n_test in all, and those of K.
    """

    K: Array
    work: Array
    T: Array
    scale: Array
    ridges: Array
    across: list[Array]


@dataclass(frozen=True)
class SharedOutputs:
    """Outputs for some rows from a solution that was shared with other ridges, and what bounds their errors.

    Attributes
    ----------
    values : ndarray of shape (n_test, k)
    ridge, scale, ones, solution
        r; as `bordered` takes and returns them.
    residuals, round_off : ndarray of shape (1 + k,)
        Norms of S times the residuals, that of A^-1 1 first; what round-off may leave of them in a factorisation.
    across_ones : ndarray of shape (n_test,)
        k(x)' A^-1 1 of the rows.
    """

    values: Array
    ridge: float
    scale: Array
    ones: Array
    solution: Array
    residuals: Array
    round_off: Array
    across_ones: Array

    def errors(self, reach: float | Array) -> Array:
        """Bound how far the outputs are from those that a factorisation gives: `distances` with its residuals too."""
        return self._distances(2 * self.residuals + self.round_off, reach)

    def distances(self, reach: float | Array) -> Array:
        """Bound how far the outputs k(x)'beta + b are from those of the exact solution, for every row and column.

        With the residuals e = T - 1 b - A beta and e0 = -1'beta, the exact solution differs by A^-1 (e - d 1) in beta
        and by d = (1' A^-1 e - e0) / 1' A^-1 1 in b, so an output differs by k' A^-1 e + d (1 - k' A^-1 1). What is
        known of A^-1 1 has a residual too, by which it may be off as |S^-1 A^-1 S^-1| is at most 1 / r; where that is
        too large to tell, the bound is infinite. `reach`, of shape (n_test,) or one for all rows, bounds |S^-1 A^-1
        k(x)|: 1 / sqrt(r) does so wherever k(x, x) = 1.
        """
        return self._distances(self.residuals, reach)

    def _distances(self, residuals: Array, reach: float | Array) -> Array:
        n_test = len(self.across_ones)
        reaches = np.broadcast_to(reach, n_test)
        largest = np.linalg.norm(self.ones) + residuals[0] / self.ridge
        least = self.scale @ self.ones - largest * residuals[0]
        if not least > 0:
            return np.full((n_test, len(residuals) - 1), np.inf)
        d = (largest * residuals[1:] + np.abs(self.scale @ self.solution)) / least
        return np.outer(reaches, residuals[1:]) + np.outer(np.abs(1.0 - self.across_ones) + reaches * residuals[0], d)


def shared_outputs(systems: BorderedSystems, solvers: Counter[str]) -> list[SharedOutputs] | None:
    """Return the outputs by ridge from one Krylov space or one reduction; None where `solve_shifted` shares nothing."""
    K, scale = systems.K, systems.scale
    B = scale[:, np.newaxis] * np.column_stack([np.ones(len(K)), systems.T])
    Z = solve_shifted(K, B, systems.ridges, systems.work, solvers)
    if Z is None:
        return None
    KZ = K @ Z
    tests = np.concatenate([k @ (scale[:, np.newaxis] * Z) for k in systems.across])
    found = []
    for i, ridge in enumerate(systems.ridges):
        columns = slice(i * B.shape[1], (i + 1) * B.shape[1])
        ones, of_ones = Z[:, columns][:, 0], tests[:, columns][:, 0]
        intercepts, solution = bordered(scale, ones, Z[:, columns][:, 1:])
        values = tests[:, columns][:, 1:] + intercepts * (1.0 - of_ones[:, np.newaxis])
        solved = np.column_stack([ones, solution])
        left = B - ridge * solved
        left[:, 1:] -= np.outer(scale, intercepts)
        left[:, 0] -= KZ[:, columns][:, 0]
        left[:, 1:] -= KZ[:, columns][:, 1:] - np.outer(KZ[:, columns][:, 0], intercepts)
        # K has no larger norm than its trace.
        round_off = 2 * EPS * (K.trace() + ridge) * np.linalg.norm(solved, axis=0)
        residuals = np.linalg.norm(left, axis=0)
        found.append(SharedOutputs(values, float(ridge), scale, ones, solution, residuals, round_off, of_ones))
    return found


def reach_of(system: RidgeSystem, scale: Array, across: list[Array]) -> Array:
    """Return a bound of |S^-1 A^-1 k(x)| for the ridge of a factored system and all larger ones, of shape (n_test,).

    The norm falls as the ridge grows. It is tripled, because at the smallest ridges round-off leaves it a single
    correct digit. `system` is S K S + r I; `across` holds k(x) in rows.
    """
    return 3.0 * np.concatenate([np.linalg.norm(system.solve(scale[:, np.newaxis] * k.T), axis=0) for k in across])
