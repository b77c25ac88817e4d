"""Bounds of the errors of paths, which decide whether a path or a fit yields the outputs.

A path solves (K + r I) z = b for many ridges r at once, so its outputs k(x)'z differ from those of
a fit by errors of the solution and by round-off. A label of the path is accepted if errors up to
the bounds cannot change it; otherwise the candidate is fitted. The machine precision is called eps.
"""

import numpy as np

from elmbench.numerics.arrays import EPS, Array

#: Units of round-off of a bound of a matrix's norm up to which a ridge is lost in the matrix.
WITHIN_ROUND_OFF = 16

#: Share of the largest output weight that round-off may change in all output weights.
LOST = 1e-11


def kernel_round_off(X: Array, gamma: float) -> float:
    """Bound the relative difference between two computations of an entry of a Gaussian kernel.

    Let the centred rows have d columns and a length of R at most. A computation that centres the
    rows has squared distances within (d + 4) (2 R)^2 eps / 2; with the mean of a part of the rows,
    within four times that. The kernel exp(-gamma d^2) multiplies this absolute error by gamma.
    `exp` and `kernel_ladder` add 16 eps.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    gamma : float

    Returns
    -------
    bound : float
    """
    centred = X - X.mean(axis=0)
    longest = float(np.einsum("ij,ij->i", centred, centred).max(initial=0.0))
    return EPS * (10 * gamma * (X.shape[1] + 4) * longest + 16)


def least_reducible_ridge(L: Array) -> float:
    """Return the ridge up to which a reduction of L'L is lost in round-off.

    A reduction only solves larger ridges well. The matrix L L' must have no negative entries. None
    of its eigenvalues exceeds its largest row sum; the result is a multiple of that sum.

    Parameters
    ----------
    L : ndarray of shape (n, rank)
        A factor of a kernel matrix, see `kernel_factor`.

    Returns
    -------
    ridge : float
    """
    row_sums = L @ L.sum(axis=0)
    return float((WITHIN_ROUND_OFF * EPS * row_sums).max())


def direct_residuals(Z: Array, ridges: Array, norm: float) -> Array:
    """Return bounds of the norms of the residuals of systems that are solved directly.

    A residual (K + r I) z - b, of one solution z, is within the round-off of the terms that it adds
    up: its norm is at most 10 eps (|K| + r) |z|. It changes the outputs for training rows, and so
    for similar rows, by at most as much.

    Parameters
    ----------
    Z : ndarray of shape (n, p * k)
        Solutions for p ridges side by side, k for each ridge.
    ridges : ndarray of shape (p,)
    norm : float
        Upper bound of |K|.

    Returns
    -------
    bounds : ndarray of shape (p,)
        A bound for each ridge, from the longest of its k solutions.
    """
    sizes = np.abs(Z).reshape(len(Z), len(ridges), -1)
    longest = np.linalg.norm(sizes, axis=0).max(axis=1)
    return np.asarray(10 * EPS * (norm + ridges) * longest)


def iterated_round_off(lengths: Array, ridges: Array, norm: float) -> Array:
    """Return the round-off of the norms of residuals of systems that are solved by iteration.

    The residual of a solution z is known to the round-off of the products that it is made of:
    4 eps (|K| + r) |z|.

    Parameters
    ----------
    lengths : ndarray of shape (p, k)
        Norms of the solutions, k for each ridge.
    ridges : ndarray of shape (p,)
    norm : float
        Upper bound of |K|.

    Returns
    -------
    bounds : ndarray of shape (p, k)
    """
    return np.asarray(4 * EPS * (norm + ridges[:, np.newaxis]) * lengths)


def solution_bounds(
    mass: Array, residuals: Array, ridges: Array, *, n: int, largest_square: float
) -> Array:
    """Return bounds of the changes of outputs by residuals e of the solved systems.

    The output changes by k(x)'(K + r I)^-1 e, which is at most |e| |k(x)| / r. As k(x)'K^-1 k(x) is
    at most k(x, x), it is also at most |e| sqrt(k(x, x) / r). The bound is four times the smaller
    one, for the round-off of the fit, which also decides ties.

    With an intercept, outputs are t + (k(x) - m)'beta. So k(x) - m replaces k(x), and the squared
    distance of x from the centre, which is at most 2, replaces the Gaussian k(x, x) = 1.

    Parameters
    ----------
    mass : ndarray of shape (n_test, 1)
        Sums of |k(x)|, or of the terms of k(x) - m.
    residuals : ndarray of shape (p,)
        |e|, at least the round-off of a fit.
    ridges : ndarray of shape (p,)
    n : int
        Number of training rows.
    largest_square : float
        Bound of k(x, x), or of the squared distance from the centre.

    Returns
    -------
    bounds : ndarray of shape (n_test, p)
    """
    sizes = np.maximum(residuals, 4 * EPS * np.sqrt(n))
    factors = np.minimum((largest_square / ridges) ** 0.5, mass / ridges)
    return np.asarray(4 * sizes * factors)


def product_round_off(
    mass: Array, Z: Array, residuals: Array, round_off: float
) -> Array:
    """Return bounds of the round-off of the outputs k(x)'Z of test rows x.

    Entries of k(x) and sums of n terms have errors relative to |k(x)|'|Z|, which dominate if
    coefficients cancel. The errors of a fit are as large, so a directly solved system, with a
    residual of 0, is rejected only if independent errors would change a label: these add up to
    sqrt(|k(x)|) instead of |k(x)|.

    Parameters
    ----------
    mass : ndarray of shape (n_test, 1)
        Sums of |k(x)| over the training rows, or of the terms of k(x) - m with an intercept.
    Z : ndarray of shape (n, p * k)
        Solutions for p ridges side by side.
    residuals : ndarray of shape (p,)
        Bounds of the residuals of the systems; 0 for one that is solved directly.
    round_off : float
        Relative error of an entry of k(x), see `kernel_round_off`.

    Returns
    -------
    bounds : ndarray of shape (n_test, p)
        A bound for each ridge, over all outputs.
    """
    n = len(Z)
    n_ridges = len(residuals)
    # The largest coefficient for each ridge.
    sizes = np.abs(Z)
    by_ridge = sizes.reshape(n, n_ridges, -1)
    largest = by_ridge.max(axis=(0, 2))
    # Errors that add up.
    worst_error = round_off + n * EPS
    worst = worst_error * mass
    # Independent errors.
    independent_mass = np.minimum(mass, np.sqrt(mass))
    likely = round_off * independent_mass
    is_iterated = residuals > 0
    return np.where(is_iterated, worst * largest, likely * largest)


def network_bounds(node_outputs: Array, beta: Array, n_ridges: int) -> Array:
    """Return bounds of the round-off of the outputs of networks on the same nodes.

    For node outputs h(x), |h(x)'e| is at most |h(x)|_1 max |e|, where the errors e of the output
    weights are at most `LOST` of the largest weight.

    Parameters
    ----------
    node_outputs : ndarray of shape (n, size)
    beta : ndarray of shape (size, n_ridges * n_outputs)
        Output weights; the columns of a ridge stand side by side.
    n_ridges : int

    Returns
    -------
    bounds : ndarray of shape (n, n_ridges)
    """
    sums = np.abs(node_outputs).sum(axis=1)
    by_ridge = np.abs(beta).reshape(len(beta), n_ridges, -1)
    largest = by_ridge.max(axis=(0, 2))
    return np.asarray(LOST * np.outer(sums, largest))
