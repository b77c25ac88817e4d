"""Ridge systems with one matrix and many ridges, by an orthogonal reduction to a band that serves all of them."""

import ctypes
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np
from scipy.linalg import cython_blas, cython_lapack, eigh
from scipy.linalg.lapack import dpbsv, dptsv

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.solve import RidgeSystem

WITHIN_ROUND_OFF = 16
"""Up to how many units of round-off of the trace a ridge is left to a factorisation of its own."""

BLOCKED_FROM = 1500
"""Rows from which a reduction to a band is faster than LAPACK's to a tridiagonal matrix, half of which is products of
a matrix with one vector: these wait for memory as soon as the matrix exceeds the caches."""

WIDTH = 64  # diagonals of the band

# Seconds are functions of the sizes alone, never of a clock, so a search uses the same methods on every machine. Rates
# are those of one core of a machine of 2024; only their ratios matter.
STREAM, LEVEL_3, CALL = 27e9, 48e9, 4e-6  # bytes a second from memory; operations a second; seconds of a call
_LEVEL_2, _CHOLESKY = 30e9, 55e9  # operations a second of dsytrd and of factors


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return the time of one reduction of n rows with the solutions of all ridges and columns."""
    rate = _LEVEL_2 if n < BLOCKED_FROM else LEVEL_3
    return 4 / 3 * n**3 / rate + ridges * (2 * CALL + columns * 8 * n * n / LEVEL_3) + 10 * CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return the time of one kernel system of n rows: set up, factored and solved for all columns."""
    return n**3 / 3 / _CHOLESKY + n * n * (40 / STREAM + columns * 8 / LEVEL_3) + 60 * CALL


class BandReduction:
    """A = Q B Q', with Q orthogonal and B a band, in the memory of A.

    No eigenvalues: (A + r I)^-1 = Q (B + r I)^-1 Q' for every ridge r, and B + r I is factored in O(n w^2) steps for a
    band of width w. The reduction takes 4/3 n^3 operations. A is symmetric, in Fortran order; only its lower triangle
    is read, and overwritten. (Golub, Van Loan, Matrix Computations, 4th ed., 8.3; Bischof, Lang, Sun, A framework for
    symmetric band reduction, ACM TOMS 26(4), 2000.)
    """

    def __init__(self, A: Array) -> None:
        self._A = A
        self._blocks: list[tuple[int, Array, Array]] = []
        if len(A) < BLOCKED_FROM:
            self.width = 1
            self.band = self._tridiagonal()
        else:
            self.width = WIDTH
            self._eliminate()
            # The diagonals from the main one down, as the rows of LAPACK's band storage.
            self.band = np.zeros((WIDTH + 1, len(A)), order="F")
            for i in range(min(WIDTH + 1, len(A))):
                self.band[i, : len(A) - i] = np.diagonal(A, -i)

    def _tridiagonal(self) -> Array:
        n = len(self._A)
        band = np.zeros((2, n))
        self._tau = np.empty(n)
        work = np.empty(16 * n)  # panels of 16 columns: a tenth faster than LAPACK's choice of 32 at this size
        stride = leading_dimension(self._A)
        call("dsytrd", "L", n, self._A, stride, band[0], band[1], self._tau, work, len(work))
        return band

    def _eliminate(self) -> None:
        """Eliminate the part below the band, a block of columns at a time, by Q = I - V T V' from a QR factorisation.

        The part below and to the right of the block becomes Q'AQ = A - V W' - W V' with X = A V T and W = X - V T' V' X
        / 2.
        """
        A, width = self._A, self.width
        stride = leading_dimension(A)
        for start in range(0, len(A) - width - 1, width):
            block, rest = A[start + width :, start : start + width], A[start + width :, start + width :]
            rows = len(rest)
            size = min(rows, width)
            T = np.zeros((size, size), order="F")
            call("dgeqrt", rows, width, size, block, stride, T, size, np.empty(size * width))
            V = np.array(block[:, :size], order="F")
            V[:size] = np.tril(V[:size], -1)
            np.einsum("ii->i", V[:size])[:] = 1.0
            X = np.empty((rows, size), order="F")
            call("dsymm", "L", "L", rows, size, 1.0, rest, stride, V, rows, 0.0, X, rows)
            call("dtrmm", "R", "U", "N", "N", rows, size, 1.0, T, size, X, rows)
            X -= (V @ (0.5 * (T.T @ (V.T @ X)))).reshape(X.shape)
            call("dsyr2k", "L", "N", rows, size, -1.0, V, rows, X, rows, 1.0, rest, stride)
            self._blocks.append((start + width, V, T))

    def _apply(self, B: Array, transposed: bool) -> Array:
        """Return Q'B or QB, for B of shape (n, k)."""
        B = np.array(B, order="F")
        n, k = B.shape
        if self.width == 1:
            work = np.empty(max(1, 32 * k))
            side = "T" if transposed else "N"
            stride = leading_dimension(self._A)
            call("dormtr", "L", "L", side, n, k, self._A, stride, self._tau, B, n, work, len(work))
            return B
        for start, V, T in self._blocks if transposed else reversed(self._blocks):
            below = B[start:]
            rows, size = V.shape
            W = np.asfortranarray((T.T if transposed else T) @ (V.T @ below))
            call("dgemm", "N", "N", rows, k, size, -1.0, V, rows, W, size, 1.0, below, n)
        return B

    def solve(self, ridges: Array, B: Array) -> Array:
        """Return the solutions of (A + r I) Z = B for all ridges r, in the form of `ridge_solutions`.

        They are NaN for a ridge with which the matrix is not positive definite.
        """
        rotated = self._apply(B, transposed=True)
        n, k = rotated.shape
        solutions = np.empty((n, len(ridges) * k), order="F")
        for i, ridge in enumerate(ridges):
            if self.width == 1:
                *_, Z, info = dptsv(self.band[0] + ridge, self.band[1, : max(1, n - 1)], rotated)
            else:
                band = self.band.copy(order="F")
                band[0] += ridge
                _, Z, info = dpbsv(band, rotated, lower=1, overwrite_ab=1)
            solutions[:, i * k : (i + 1) * k] = Z if info == 0 else np.nan
        return self._apply(solutions, transposed=False)


def ridge_solutions(
    A: Array, B: Array, ridges: Array, solvers: Counter[str], definite: bool = True, overwrite: bool = False
) -> Array:
    """Return the solutions of (A + r I) Z = B for all ridges r, each of them `RidgeSystem`'s within round-off.

    Ridges that are large compared with the round-off of A share one orthogonal reduction if there are enough of them;
    its backward error is that of a factorisation. The others have separate factorisations; if one breaks down, one set
    of eigenvectors serves all.

    A, of shape (n, n), is symmetric and positive semi-definite, in Fortran order or a view of such a matrix; if it is
    not `definite`, each ridge has its own factorisation. With `overwrite`, A is reduced in place. The p ridges are
    positive. `solvers` counts the method of each ridge: "reduction", "cholesky" or "eigenvalues". B is of shape (n, k),
    the result of shape (n, p * k), the k columns of the first ridge first.
    """
    n, k = B.shape
    solutions = np.empty((n, len(ridges) * k), order="F")
    shared = ridges > WITHIN_ROUND_OFF * EPS * A.trace()
    count = int(shared.sum())
    if definite and count * factor_seconds(n, k) > reduction_seconds(n, count, k):
        solvers["reduction"] += count
        reduced = A if overwrite and shared.all() else np.array(A, order="F")
        solutions[:, np.repeat(shared, k)] = BandReduction(reduced).solve(ridges[shared], B)
    else:
        shared[:] = False

    @cache
    def spectrum() -> tuple[Array, Array]:
        values, vectors = eigh(A, check_finite=False)
        return values, vectors

    for i in np.flatnonzero(~shared):
        system = RidgeSystem(np.array(A, order="F"), float(ridges[i]), spectrum, definite, needs_condition=False)
        solvers["cholesky" if system.by_cholesky else "eigenvalues"] += 1
        solutions[:, i * k : (i + 1) * k] = system.solve(B)
    return solutions


# --- Routines of BLAS and LAPACK in place, by the pointers that SciPy publishes for Cython: its wrappers copy views

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_signature_of = ctypes.pythonapi.PyCapsule_GetName
_signature_of.restype, _signature_of.argtypes = ctypes.c_char_p, [ctypes.py_object]


def address(A: Array) -> int:
    """Return the address of the first entry; a ValueError is raised unless the entries of a column are adjacent."""
    if A.dtype.char != "d" or (A.shape[0] > 1 and A.strides[0] != A.itemsize):
        raise ValueError(f"expected columns of doubles, got {A.dtype} at strides {A.strides} instead")
    return int(A.__array_interface__["data"][0])


def leading_dimension(A: Array) -> int:
    """Return the distance between two columns of `A`, in entries: what BLAS calls LDA."""
    return max(A.strides[1] // A.itemsize, A.shape[0], 1)


@cache
def routine(name: str) -> Callable[..., None]:
    """Return a routine as a foreign function of addresses, one for each argument of its Fortran declaration."""
    module = cython_lapack if name in cython_lapack.__pyx_capi__ else cython_blas
    capsule = module.__pyx_capi__[name]
    signature = _signature_of(capsule)
    arguments = [ctypes.c_void_p] * (signature.count(b",") + 1)
    foreign: Callable[..., None] = ctypes.CFUNCTYPE(None, *arguments)(_pointer_of(capsule, signature))
    return foreign


def call(name: str, *arguments: str | int | float | Array) -> None:
    """Call a routine of BLAS or LAPACK by its name, such as "dsyrk".

    The arguments are those of the Fortran declaration, without the final INFO of LAPACK. Arrays are passed by the
    address of their first entry, so leading dimensions are needed.
    """
    function = routine(name)
    converted = [address(a) if isinstance(a, np.ndarray) else _scalar(a) for a in arguments]
    info = [ctypes.byref(ctypes.c_int(0))] * (len(function.argtypes) - len(converted))  # type: ignore[attr-defined]
    function(*converted, *info)


@lru_cache(maxsize=4096, typed=True)
def _scalar(value: str | int | float) -> Any:
    """Return a reference to a scalar, which the routines only read."""
    if isinstance(value, str):
        return ctypes.c_char_p(value.encode())
    return ctypes.byref(ctypes.c_int(value) if isinstance(value, int) else ctypes.c_double(value))
