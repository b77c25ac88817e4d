"""An orthogonal reduction of a symmetric matrix to a band, which serves the systems of all ridges."""

import numpy as np
from scipy.linalg.lapack import dpbsv, dptsv

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import call, leading_dimension

BLOCKED_FROM = 1500
"""Rows from which a reduction to a band is faster than LAPACK's to a tridiagonal matrix, half of which is products of
a matrix with one vector: these wait for memory as soon as the matrix exceeds the caches."""

WIDTH = 64  # diagonals of the band


class BandReduction:
    """A = Q B Q', with Q orthogonal and B a band, in the memory of A.

    No eigenvalues: (A + r I)^-1 = Q (B + r I)^-1 Q' for every ridge r, and B + r I is factored in O(n w^2) steps for a
    band of width w. The reduction takes 4/3 n^3 operations. A is symmetric, in Fortran order or a part of such a
    matrix; only its lower triangle is read, and overwritten.

    References
    ----------
    Golub, Van Loan, Matrix Computations, 4th ed., 8.3; Bischof, Lang, Sun, A framework for symmetric band reduction,
    ACM TOMS 26(4), 2000.
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
