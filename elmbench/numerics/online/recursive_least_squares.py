"""Recursive least squares in blocks: the inverse P = (H'H)^-1 and the output weights of a growing set of rows."""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from elmbench.numerics.arrays import EPS, Array


def pseudo_inverse_of_gram(H: Array) -> Array:
    """Return pinv(H'H) = pinv(H) pinv(H)', of shape (L, L) and exactly symmetric, for H of shape (n, L).

    It replaces the inverse in eq. (5) of Scardapane et al., which does not exist for fewer rows than nodes. A singular
    value of H counts as zero up to max(n, L) eps times the largest, as in MATLAB's ``pinv(H)``. The same rule for H'H
    would drop more of H, and with it the instability that the paper reports for Calhousing.
    """
    _, values, rows = np.linalg.svd(H, full_matrices=False)
    selected = values > max(H.shape) * EPS * values[0]
    half = np.ascontiguousarray(rows[selected].T / values[selected])
    return half @ half.T


def update_as_printed(P: Array, beta: Array, H: Array, T: Array) -> tuple[Array, Array]:
    """Return P and the output weights after one block, by eqs. (7) and (8) of Scardapane et al. as they are printed.

    P has shape (L, L), beta (L, k); the block's hidden outputs H have shape (b, L), its targets T (b, k). Nothing keeps
    P symmetric or positive definite: if it is ill-conditioned, its asymmetry by round-off grows from block to block and
    the weights diverge until they are not finite, as the paper reports for Calhousing.
    """
    with np.errstate(all="ignore"):
        HP = H @ P
        inner = HP @ H.T
        np.einsum("ii->i", inner)[:] += 1.0
        try:
            gain = np.linalg.solve(inner, HP)
        except np.linalg.LinAlgError:  # singular to the last bit
            gain = np.full_like(HP, np.nan)
        P = P - HP.T @ gain
        return P, beta + P @ (H.T @ (T - H @ beta))


def update_symmetric(P: Array, beta: Array, H: Array, T: Array) -> tuple[Array, Array]:
    """Return P and the output weights after one block, by eqs. (7) and (8) in a form that keeps P symmetric.

    With the Cholesky factor U'U = I + HPH' and W = U'^-1 HP, the new P is P - W'W. If I + HPH' is not positive definite
    within round-off, the step is that of `update_as_printed`.
    """
    HP = H @ P
    inner = HP @ H.T
    np.einsum("ii->i", inner)[:] += 1.0
    try:
        factor = cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return update_as_printed(P, beta, H, T)
    W = solve_triangular(factor, HP, lower=True, overwrite_b=True, check_finite=False)
    P = P - W.T @ W
    return P, beta + P @ (H.T @ (T - H @ beta))
