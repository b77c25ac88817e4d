"""Ridge systems with one matrix and many ridges, which share an orthogonal reduction to a band."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr, solve_triangular
from scipy.linalg.blas import dsymm, dsyr2k
from scipy.linalg.lapack import dorgqr, dormqr, dpbsv, dptsv, dsytrd

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.error_bounds import WITHIN_ROUND_OFF
from elmbench.numerics.solve import RidgeSystem

BLOCKED_FROM = 2000
"""Rows from which a reduction to a band is faster than LAPACK's to a tridiagonal matrix, half of
which is products of a matrix with one vector: these wait for memory as soon as the matrix exceeds
the caches.
"""

WIDTH = 96  # diagonals of the band

# Seconds are functions of the sizes alone, never of a clock, so a search uses the same methods on
# every machine. Rates are those of one core of a machine of 2024; only their ratios matter.

#: Bytes a second from memory.
STREAM = 27e9

#: Operations a second of products and triangular solves of matrices.
LEVEL_3 = 48e9

#: Seconds of a call.
CALL = 4e-6

#: Operations a second of a reduction.
_REDUCTION = 30e9

#: Operations a second of a Cholesky factorisation.
_CHOLESKY = 55e9


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return the estimated seconds of one reduction of an n x n matrix that serves all systems.

    `ridges`: the number of ridges. `columns`: the number of right-hand sides.
    """
    solution = 2 * CALL + columns * 8 * n * n / LEVEL_3
    return 4 / 3 * n**3 / _REDUCTION + ridges * solution + 10 * CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return the estimated seconds to set up, factor and solve one kernel system of n rows.

    `columns`: the number of right-hand sides.
    """
    entry = 40 / STREAM + columns * 8 / LEVEL_3
    return n**3 / 3 / _CHOLESKY + n * n * entry + 60 * CALL


Rotation = Callable[[Array, bool], Array]
"""Returns QB, or Q'B if the second argument is True, for an orthogonal Q and B of shape (n, k)."""


def reduced_solutions(A: Array, B: Array, ridges: Array) -> Array:
    """Return (A + r I)^-1 B = Q (T + r I)^-1 Q'B for all ridges r, from a reduction A = Q T Q'.

    B is of shape (n, k), the result of shape (n, p * k) for p ridges, the k columns of the first
    ridge first. A is symmetric, in Fortran order, and overwritten. Solutions are NaN for a ridge
    with which the matrix is not positive definite.

    Q is orthogonal and T a band of width w. T + r I is factored in O(n w^2) steps; the reduction
    takes 4/3 n^3 operations. (Golub, Van Loan, Matrix Computations, 4th ed., 8.3; Bischof, Lang,
    Sun, A framework for symmetric band reduction, ACM TOMS 26(4), 2000.)
    """
    reduce = _tridiagonal if len(A) < BLOCKED_FROM else _block_band
    band, rotate = reduce(A)
    rotated = rotate(B, True)
    n, k = rotated.shape
    n_ridges = len(ridges)
    n_columns = n_ridges * k
    # Z with (T + r I) Z = Q'B for each ridge; the solution is Q Z.
    solutions = np.empty((n, n_columns), order="F")
    for number, ridge in enumerate(ridges.tolist()):
        start = number * k
        stop = start + k
        Z = _band_solution(band, ridge, rotated)
        solutions[:, start:stop] = Z
    return rotate(solutions, False)


def _band_solution(band: Array, ridge: float, B: Array) -> Array | float:
    """Return (T + r I)^-1 B for a band T and a ridge r, or NaN if T + r I is not positive definite.

    `band` holds the diagonals of T from the main one down, of shape (number of diagonals, n); each
    row begins with the first entry of its diagonal. `B` is of shape (n, k).
    """
    n_diagonals, n = band.shape
    if n_diagonals == 2:
        main, below = band
        n_below = max(1, n - 1)
        beside = below[:n_below]
        *_, Z, info = dptsv(main + ridge, beside, B)
    else:
        shifted = band.copy(order="F")
        shifted[0] += ridge
        _, Z, info = dpbsv(shifted, B, lower=1, overwrite_ab=1)
    is_definite = info == 0
    return Z if is_definite else np.nan


def _tridiagonal(A: Array) -> tuple[Array, Rotation]:
    """Reduce a symmetric A = Q T Q' to a tridiagonal T; return its diagonals and the rotation Q.

    The diagonals are of shape (2, n): the main one, and the one below it. The rotation is a
    function of B and a flag that returns QB, or Q'B if the flag is True. A is in Fortran order, and
    overwritten by Q: it must not be changed while the rotation is used.
    """
    n = len(A)
    band = np.zeros((2, n))
    # Panels of 16 columns: a tenth faster than LAPACK's choice of 32 at this size.
    A, band[0], band[1, : n - 1], tau, _ = dsytrd(
        A, lower=1, lwork=16 * n, overwrite_a=1
    )
    # The reflectors begin below the diagonal: they are the columns of a matrix that starts one
    # entry later in memory. Its last row, the first one of A, is zero.
    A[0] = 0.0
    reflectors = A.ravel("K")[1 : n * (n - 1) + 1].reshape((n, n - 1), order="F")

    def rotate(B: Array, transposed: bool) -> Array:
        """Return QB, or Q'B if transposed."""
        if n == 1:
            return B
        moved = np.asfortranarray(np.roll(B, -1, axis=0))
        moved, *_ = dormqr(
            side="L",
            trans="T" if transposed else "N",
            a=reflectors,
            tau=tau,
            c=moved,
            lwork=32 * B.shape[1],
            overwrite_c=1,
        )
        return np.roll(moved, 1, axis=0)

    return band, rotate


def _block_band(A: Array) -> tuple[Array, Rotation]:
    """Reduce a symmetric A = Q T Q' to a band T; return the diagonals of T and the rotation Q.

    The diagonals are of shape (`WIDTH` + 1, n), the main one first, then those below it. The
    rotation is a function of B and a flag that returns QB, or Q'B if the flag is True. A is
    overwritten.

    A block of columns at a time, the part below the band is eliminated by I - Y V' from a QR
    factorisation. The part below and to the right of the block becomes (I - V Y') A (I - Y V') = A
    - V W' - W V' with W = A Y - V Y' A Y / 2.
    """
    rest = A
    reflections = []
    for start in range(WIDTH, len(A) - 1, WIDTH):
        below = rest[WIDTH:, :WIDTH]
        (factor, tau), triangle = qr(below, mode="raw", check_finite=False)
        size = len(tau)
        # The columns of the block have their final entries.
        columns = slice(start - WIDTH, start)
        rows = slice(start, start + size)
        A[columns, columns] = rest[:WIDTH, :WIDTH]
        A[rows, columns] = triangle[:size]
        # The routines below would copy a part of A twice.
        rest = np.array(rest[WIDTH:, WIDTH:], order="F")
        reflectors = factor[:, :size]
        V, Y = _reflection(reflectors, tau)
        # W = A Y - V Y' A Y / 2.
        AY = dsymm(1.0, rest, Y, lower=1)
        inner = 0.5 * (Y.T @ AY)
        W = AY - V @ inner
        # A - V W' - W V'.
        rest = dsyr2k(-1.0, V, W, beta=1.0, c=rest, lower=1, overwrite_c=1)
        reflections.append((slice(start, None), V, Y))
    last = len(A) - len(rest)
    A[last:, last:] = rest

    def rotate(B: Array, transposed: bool) -> Array:
        """Return QB, or Q'B if transposed."""
        B = B.copy()
        if transposed:
            for rows, V, Y in reflections:
                components = Y.T @ B[rows]
                B[rows] -= V @ components
        else:
            for rows, V, Y in reversed(reflections):
                components = V.T @ B[rows]
                B[rows] -= Y @ components
        return B

    return _diagonals_of(A), rotate


def _reflection(factor: Array, tau: Array) -> tuple[Array, Array]:
    """Return V and Y, of shape (n, size), of the orthogonal matrix I - Y V' of a QR factorisation.

    `factor`, of the same shape, and `tau`, of shape (size,), are in LAPACK's form.
    """
    n, size = factor.shape
    identity = np.eye(n, size)
    V = np.tril(factor, -1) + identity
    # The leading columns Q of the matrix satisfy Y V_1' = I - Q, with V_1 the leading rows of V.
    Q, *_ = dorgqr(factor, tau)
    transposed = solve_triangular(
        V[:size], (identity - Q).T, lower=True, unit_diagonal=True, check_finite=False
    )
    return V, transposed.T


def _diagonals_of(A: Array) -> Array:
    """Return the main diagonal of A and the `WIDTH` below it, of shape (`WIDTH` + 1, n).

    Each row begins with the first entry of its diagonal, and ends with zeros.
    """
    n = len(A)
    n_diagonals = WIDTH + 1
    band = np.zeros((n_diagonals, n), order="F")
    for i in range(min(n_diagonals, n)):
        diagonal = np.diagonal(A, -i)
        length = n - i
        band[i, :length] = diagonal
    return band


def ridge_solutions(
    A: Array,
    B: Array,
    ridges: Array,
    solvers: Counter[str],
    definite: bool = True,
    overwrite: bool = False,
) -> Array:
    """Solve (A + r I) Z = B for all ridges r by the fastest methods that are accurate.

    A, of shape (n, n), is symmetric and positive semi-definite, in Fortran order or a view of such
    a matrix; if it is not `definite`, each ridge has its own factorisation. With `overwrite`, A may
    be overwritten. The p ridges are positive. B is of shape (n, k), the result of shape (n, p * k),
    the k columns of the first ridge first. `solvers`, changed in place, counts the method of each
    ridge: "reduction", "cholesky" or "eigenvalues".

    Ridges that are large compared with the round-off of A share one orthogonal reduction if there
    are enough of them; its backward error is that of a factorisation. The others have separate
    factorisations; one set of eigenvectors serves all that break down. Each solution equals that of
    `RidgeSystem` within round-off.
    """
    n, k = B.shape
    n_ridges = len(ridges)
    shared = np.zeros(n_ridges, dtype=bool)
    if definite:
        shared = _choose_reduced(A, ridges, k)
    separate = ~shared
    solutions = np.empty((n, n_ridges * k), order="F")
    # The large ridges share one reduction.
    if shared.any():
        may_overwrite = overwrite and shared.all()
        reduced = A if may_overwrite else np.array(A, order="F")
        columns = np.repeat(shared, k)
        solutions[:, columns] = reduced_solutions(reduced, B, ridges[shared])
        solvers["reduction"] += int(shared.sum())
    # The others have a factorisation each.
    if separate.any():
        columns = np.repeat(separate, k)
        solutions[:, columns] = _factored_solutions(
            A, B, ridges[separate], solvers, definite=definite
        )
    return solutions


def _choose_reduced(A: Array, ridges: Array, n_columns: int) -> NDArray[np.bool_]:
    """Return a mask of the ridges, of shape (p,), that share one orthogonal reduction of A.

    These are all ridges above the round-off of A, or none if separate factorisations are faster.
    `n_columns`: the number of right-hand sides.
    """
    n = len(A)
    trace = A.trace()
    round_off = WITHIN_ROUND_OFF * EPS * trace
    is_large: NDArray[np.bool_] = ridges > round_off
    n_large = int(is_large.sum())
    # They share a reduction if that is faster.
    separately = n_large * factor_seconds(n, n_columns)
    together = reduction_seconds(n, n_large, n_columns)
    if separately > together:
        return is_large
    return np.zeros(len(ridges), dtype=bool)


def _factored_solutions(
    A: Array, B: Array, ridges: Array, solvers: Counter[str], *, definite: bool
) -> Array:
    """Return the solutions of (A + r I) Z = B for all ridges r, each from its own factorisation.

    B is of shape (n, k), the result of shape (n, p * k) for p ridges, the k columns of the first
    ridge first. A stays as it is. The first factorisation that breaks down computes eigenvectors of
    A, which serve all that do. `definite` is False if A may have negative eigenvalues. `solvers`,
    changed in place, counts "cholesky" or "eigenvalues" for each ridge.
    """

    @cache
    def spectrum() -> tuple[Array, Array]:
        """Return the ascending eigenvalues of A and its eigenvectors, computed once."""
        values, vectors = eigh(A, check_finite=False)
        return values, vectors

    n, k = B.shape
    n_columns = len(ridges) * k
    solutions = np.empty((n, n_columns), order="F")
    for i, ridge in enumerate(ridges.tolist()):
        matrix = np.array(A, order="F")
        system = RidgeSystem(
            matrix, ridge, spectrum=spectrum, definite=definite, needs_condition=False
        )
        method = "cholesky" if system.by_cholesky else "eigenvalues"
        solvers[method] += 1
        columns = slice(i * k, (i + 1) * k)
        solutions[:, columns] = system.solve(B)
    return solutions
