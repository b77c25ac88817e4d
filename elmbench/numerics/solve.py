"""Ridge systems: symmetric positive definite solves in place, with an estimate of their condition
number.
"""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dlange, dpocon, dpotrf, dpotri, dpotrs, dtrtrs

from elmbench.numerics.arrays import EPS, Array

#: Mask of the upper triangle of a block, which `mirror` writes.
_ABOVE = np.triu(np.ones((128, 128), dtype=bool), 1)


class RidgeSystem:
    """The matrix A + ridge I, factored in the memory of A: the inverses of eqs. (3) and (4) of
    Scardapane et al.

    It is factored by Cholesky. If that breaks down, or leaves a squared pivot below n times the
    machine precision times the largest diagonal entry, eigenvalues take over; those up to n times
    the machine precision times the largest one are left out, so solutions have the least norm. This
    takes two more matrices of the size of A.

    A, of shape (n, n), is symmetric and positive semi-definite; it is overwritten, without a copy
    if it is in Fortran order. `spectrum` returns the ascending eigenvalues of A and its
    eigenvectors, which several ridges may share. If A is not `definite`, it may have negative
    eigenvalues: then the magnitudes of those of A + ridge I decide which are left out. With
    `lifted`, small eigenvalues are not left out, but replaced by that bound. Without
    `needs_condition`, there is no `condition`, which takes a norm.
    """

    def __init__(
        self,
        A: Array,
        ridge: float,
        spectrum: Callable[[], tuple[Array, Array]] | None = None,
        definite: bool = True,
        lifted: bool = False,
        needs_condition: bool = True,
    ) -> None:
        A = np.asfortranarray(A)
        diagonal = np.einsum("ii->i", A)
        original = diagonal.copy()
        diagonal += ridge
        largest = diagonal.max()
        self._norm = float(dlange("1", A)) if needs_condition else np.nan
        self._ridge = ridge
        self._factor: Array | None = A
        _, info = dpotrf(A, lower=1, clean=0, overwrite_a=1)
        if info == 0 and diagonal.min() ** 2 > len(A) * EPS * largest:
            return
        self._factor = None
        if spectrum is None:
            # dpotrf has not changed the strict upper triangle, from which the matrix is restored.
            mirror(A.T)
            diagonal[:] = original
            values, vectors = eigh(A, overwrite_a=True, check_finite=False)
        else:
            values, vectors = spectrum()
        self._use_eigenvalues(values, vectors, definite=definite, lifted=lifted)

    def _use_eigenvalues(
        self, values: Array, vectors: Array, *, definite: bool, lifted: bool
    ) -> None:
        """Set the factors that replace a Cholesky factor, from the eigenvalues of A.

        `values` are of shape (n,); the eigenvectors are the columns of `vectors`, of shape (n, n).
        The (pseudo-)inverse of A + ridge I is `_signed` times the transposed `_half`; `_sizes`
        holds the magnitudes of the eigenvalues. `definite`: True if A has no negative eigenvalues;
        if False, their magnitudes count. `lifted`: True to replace small eigenvalues by the bound,
        False to leave their directions out.
        """
        shifted = values + self._ridge
        sizes = shifted if definite else np.abs(shifted)
        least = len(values) * EPS
        largest = max(sizes.max(), 0.0)
        cutoff = least * largest
        if lifted:
            floor = cutoff or least
            sizes = np.maximum(sizes, floor)
        selected = (sizes > cutoff) | lifted
        # The inverse is H H' with the scaled eigenvectors H, or H D H' with the signs D.
        roots = np.sqrt(sizes[selected])
        half = vectors[:, selected] / roots
        self._sizes = sizes
        self._half = half
        self._signed = half
        if not definite:
            self._signed = half * np.sign(shifted[selected])

    def solve(self, B: Array) -> Array:
        """Return the solution Z of (A + ridge I) Z = B, both of shape (n, k).

        If eigenvalues were left out, it is the least-squares solution of least norm.
        """
        if self._factor is None:
            return self._signed @ (self._half.T @ B)
        solution, _ = dpotrs(self._factor, B, lower=1)
        return solution

    def solve_leading(self, B: Array, sizes: list[int]) -> Array:
        """Return the solutions of the leading systems of some sizes, side by side.

        A leading system consists of the first `size` rows and columns of A + ridge I, and of the
        first `size` rows of `B`, of shape (n, k). The result is of shape (n, len(sizes) * k), the k
        columns of the first size first, zero beyond each size. One forward and one backward
        substitution serve all, as the leading block of the factor is that of the leading block of
        the matrix. Only if `by_cholesky`, which is asserted.
        """
        assert self._factor is not None
        forward, _ = dtrtrs(self._factor, B, lower=1)
        stacked = np.asfortranarray(np.tile(forward, len(sizes)))
        k = B.shape[1]
        stop = 0
        for size in sizes:
            start = stop
            stop += k
            stacked[size:, start:stop] = 0.0
        solutions, _ = dtrtrs(
            self._factor,
            stacked,
            lower=1,
            trans=1,
            overwrite_b=1,
        )
        return np.asarray(solutions)

    def inverse(self) -> Array:
        """Return the (pseudo-)inverse of A + ridge I, exactly symmetric, in Fortran order.

        It overwrites the Cholesky factor, so `solve` and `condition` must not be used afterwards.
        """
        if self._factor is None:
            inverse = self._signed @ self._half.T
            return np.asfortranarray(inverse)
        inverse, _ = dpotri(self._factor, lower=1, overwrite_c=1)
        mirror(inverse)
        return inverse

    @property
    def by_cholesky(self) -> bool:
        """True if A + ridge I is inverted by its Cholesky factor, False if by its eigenvalues."""
        return self._factor is not None

    def is_lost(self, level: float) -> bool:
        """Return True if the Cholesky factorisation broke down and the ridge is small against A.

        It is small if it is at most `level` times the largest eigenvalue of A + ridge I. With the
        machine precision as `level`, the condition of A + ridge I then exceeds its reciprocal.
        """
        return self._factor is None and self._ridge <= level * float(self._sizes.max())

    @property
    def condition(self) -> float:
        """An estimate of the condition number of A + ridge I by `cholesky_condition`.

        If the Cholesky factorisation broke down, it comes from the eigenvalues: infinite if one is
        not positive. The estimate from a factor needs a system with `needs_condition`.
        """
        if self._factor is not None:
            return cholesky_condition(self._factor, self._norm)
        smallest = self._sizes.min()
        largest = self._sizes.max()
        if not smallest > 0:
            return float(np.inf)
        return float(largest / smallest)


def cholesky_condition(factor: Array, norm: float) -> float:
    """Return an estimate of the condition number of a matrix LL' in the 1-norm.

    `factor`: L, in the lower triangle. `norm`: the 1-norm of LL'. The estimate is the larger one of
    LAPACK's pocon, from a few vectors, and of norm / min L_ii^2, which is never too large: pocon
    may miss two equal rows that only a small ridge separates.
    """
    estimate, _ = dpocon(factor, norm, uplo="L")
    smallest_pivot = float(factor.diagonal().min())
    reciprocal = min(float(estimate), smallest_pivot**2 / norm)
    return 1.0 / reciprocal if reciprocal > 0 else float(np.inf)


def scaled_rows(A: Array, scale: Array | None) -> Array:
    """Return S A for the diagonal matrix S of `scale`, of shape (n,), or A itself without scale."""
    return A if scale is None else scale[:, np.newaxis] * A


def mirror(A: Array) -> None:
    """Copy the lower triangle of a square matrix onto its upper one, in place."""
    n = len(A)
    step = len(_ABOVE)
    for start in range(0, n, step):
        stop = min(start + step, n)
        size = stop - start
        # The square block on the diagonal.
        rows = slice(start, stop)
        block = A[rows, rows]
        is_above = _ABOVE[:size, :size]
        transposed = block.T.copy()
        np.copyto(block, transposed, where=is_above)
        # The rest of these rows: the block below, transposed.
        below = A[stop:, rows]
        beside = A[rows, stop:]
        beside[:] = below.T


def add_gram(gram: Array, A: Array) -> None:
    """Add A'A to the lower triangle of `gram`, of shape (w, w) in Fortran order, in place.

    `A` is of shape (n, w), best contiguous in either order.
    """
    by_columns = A.flags.f_contiguous
    dsyrk(
        1.0,
        A if by_columns else A.T,
        beta=1.0,
        c=gram,
        trans=int(by_columns),
        lower=1,
        overwrite_c=1,
    )


def normal_equations(
    blocks: Iterable[tuple[slice, int, Array]],
    n_matrices: int,
    width: int,
    T: Array,
    scale: Array | None = None,
) -> list[tuple[Array, Array]]:
    """Return the pairs A'A and A'T of `n_matrices` matrices A, from blocks of their rows.

    A block is a slice of rows, the number of its matrix, and the rows, of shape (length of the
    slice, `width`), which may be overwritten. `T`: targets, of shape (n, k). A'A is in Fortran
    order. The leading parts of A'A and A'T are those of the first columns alone. `scale` multiplies
    the rows of A and T: the square roots of their weights, of shape (n,); None if all are 1.
    """
    sums = [
        (np.zeros((width, width), order="F"), np.zeros((width, T.shape[1])))
        for _ in range(n_matrices)
    ]
    T = scaled_rows(T, scale)
    for rows, i, values in blocks:
        gram, moments = sums[i]
        if scale is not None:
            values *= scale[rows, np.newaxis]
        add_gram(gram, values)
        moments += values.T @ T[rows]
    for gram, _ in sums:
        mirror(gram)
    return sums
