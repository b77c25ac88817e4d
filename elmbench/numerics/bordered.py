"""Kernel systems with a border of ones, which determines an intercept: least-squares support vector machines.

The matrix is A = K + r S^-2 with a kernel K, a ridge r and a diagonal S, so A^-1 = S (S K S + r I)^-1 S: all ridges
share one matrix S K S. What is said of solutions here holds for S^-1 times them.
"""

from __future__ import annotations

import numpy as np

from elmbench.numerics.solve import Array


def bordered(scale: Array, ones: Array, targets: Array) -> tuple[Array, Array]:
    """Return the solution of [0 1'; 1 A] [b; beta] = [0; T] from those of A.

    b = 1' A^-1 T / 1' A^-1 1 and beta = A^-1 T - b A^-1 1.

    Parameters
    ----------
    scale : ndarray of shape (n,)
        The diagonal of S.
    ones : ndarray of shape (n,)
        S^-1 A^-1 1.
    targets : ndarray of shape (n, k)
        S^-1 A^-1 T.

    Returns
    -------
    intercepts : ndarray of shape (k,)
    solution : ndarray of shape (n, k)
        S^-1 beta.

    References
    ----------
    Suykens and Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters 9, 1999.
    """
    intercepts = (scale @ targets) / (scale @ ones)
    return intercepts, targets - np.outer(ones, intercepts)


def output_errors(
    ridge: float, scale: Array, ones: Array, solution: Array, residuals: Array, across_ones: Array
) -> Array:
    """Bound how far the outputs k(x)'beta + b are from those of the exact solution.

    With the residuals e = T - 1 b - A beta and e0 = -1'beta, the exact solution differs by A^-1 (e - d 1) in beta and
    by d = (1' A^-1 e - e0) / 1' A^-1 1 in b, so an output differs by k' A^-1 e + d (1 - k' A^-1 1). For a kernel with
    k(x, x) = 1, |k' A^-1 e| is at most |S e| / sqrt(r).

    Parameters
    ----------
    ridge : float
        r.
    scale, ones, solution
        As `bordered` takes and returns them.
    residuals : ndarray of shape (k,)
        Norms of S e.
    across_ones : ndarray of shape (n_test,)
        k(x)' A^-1 1 of the rows whose outputs are asked for.

    Returns
    -------
    ndarray of shape (n_test, k)
    """
    d = (np.linalg.norm(ones) * residuals + np.abs(scale @ solution)) / (scale @ ones)
    return residuals / np.sqrt(ridge) + np.outer(np.abs(1.0 - across_ones), d)
