"""Spaces that solve the systems (K + r I) z = b of all ridges r at once: of Krylov, and widened by
residuals.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv, dptsv, dstebz

from elmbench.numerics.arrays import EPS, Array

STOP = 1e-11
LOOSEST = 1e-6
"""Norms of a residual over that of the right-hand side at which a system counts as solved, for any
condition, and that no solution exceeds: a ridge within round-off of K would allow more than the
right-hand side.
"""

LOOK = 16  # steps between two estimates of the remaining steps
_FIRST = 32  # number of columns that are allocated first


def allowed_residuals(ridges: Array, norm: float, least: float = 0.0) -> Array:
    """Return the norms, over that of b, of residuals of solved systems.

    They are `STOP`, or the machine precision times the condition. `norm` is a lower estimate of the
    largest eigenvalue of K, and `least` an upper one of the smallest.
    """
    return np.clip(EPS * norm / (ridges + least), STOP, LOOSEST)


class KrylovSpace:
    """Orthonormal columns W and a tridiagonal matrix T with K W = W T + beta w e', as Lanczos'
    recurrence yields them.

    The solution for a ridge r is W y with (T + r I) y = |b| e_1, and the norm of its residual is
    beta times the last entry of y: one product with K a step serves all ridges. Every new column is
    orthogonalised against all others. (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
    SIAM 2003, 6.6 and 6.7.)

    `product` writes K v to its second argument, for a symmetric positive semi-definite K with as
    many rows as b. `ridges` ascend. `norm` is a lower estimate of the norm of K.

    Attributes
    ----------
    steps : int
        Columns of W.
    allowed, lengths : ndarrays of shape (n_ridges,)
        Allowed norms of the residuals, and the norms over these; NaN if round-off makes the system
        indefinite.
    least : float
        The smallest eigenvalue of T, an upper estimate of that of K, when it was last computed; 0
        before.
    last_length : float
        beta; 0 without a step.
    logs : list of float
        Logarithm of the largest length after each step, 0 once all systems are solved.
    """

    def __init__(
        self, product: Callable[[Array, Array], None], b: Array, ridges: Array, norm: float
    ) -> None:
        self.product = product
        self.b = b
        self.norm = norm
        self._ridges = ridges
        self._size = length_of(b)
        self.allowed = allowed_residuals(ridges, norm) * (self._size or 1.0)
        self._W = np.empty((len(b), min(len(b), _FIRST) + 1), order="F")
        np.divide(b, self._size or 1.0, out=self._W[:, 0])
        self._image = np.empty(len(b))
        self._alphas: list[float] = []
        self._betas: list[float] = []
        self.logs: list[float] = []
        self.steps = 0
        self.last_length = 0.0
        self.lengths = self._size / self.allowed
        # The elimination of (T + r I) y = |b| e_1 for each ridge needs its last pivot and the last
        # entry of y, without its sign.
        self._pivots = np.full(len(ridges), np.inf)
        self._last = np.full(len(ridges), self._size)
        self.least = 0.0
        self._estimated = 0  # number of steps when `least` was computed

    def solve(self, pays: Callable[["KrylovSpace"], bool], first: int = 0) -> bool:
        """Take steps until the systems of all ridges, or of those from a number on, are solved;
        False if it gives up.

        Every few steps, `pays` decides whether to continue. The smallest eigenvalue is first
        computed when the systems would be solved if it were 0; with few rows, it costs as much as a
        step.
        """
        while True:
            longest = float(self.lengths[first:].max(initial=0.0))
            if longest <= 1:
                if self._estimated == self.steps:
                    return True
                self._estimate_least()
                continue
            looks = self.steps > 0 and self.steps % LOOK == 0
            if not math.isfinite(longest) or (looks and not pays(self)):
                return False
            self._step()

    def _estimate_least(self) -> None:
        """Compute `least` and, from it, the allowed residuals and all that is relative to them."""
        self._estimated = self.steps
        before = self.allowed
        diagonal, beside = self._diagonals
        # The first eigenvalue in ascending order.
        _, values, *_ = dstebz(
            d=diagonal, e=beside, range=2, vl=0.0, vu=0.0, il=1, iu=1, tol=0.0, order="E"
        )
        self.least = max(float(values[0]), 0.0)
        self.allowed = allowed_residuals(self._ridges, self.norm, self.least) * (self._size or 1.0)
        self.lengths = self.last_length * self._last / self.allowed
        shift = math.log((before / self.allowed).max())
        self.logs = [value + shift for value in self.logs]

    def _step(self) -> None:
        """Add a column to W and a row to T, and update the residuals."""
        beta = self.last_length
        alpha, length = self._extend_basis()
        self._alphas.append(alpha)
        self._betas.append(length)
        self.last_length = length
        self._eliminate(alpha, beta)
        self.steps += 1
        self.lengths = length * self._last / self.allowed
        longest = float(self.lengths.max(initial=0.0))
        self.logs.append(math.log(max(1.0, longest)))

    def _extend_basis(self) -> tuple[float, float]:
        """Add the next column to W; return the diagonal entry of T and the one below it."""
        m = self.steps
        if m + 1 == self._W.shape[1]:
            self._widen_memory()
        W = self._W[:, : m + 1]
        v = self._W[:, m]
        w = self._image
        self.product(v, w)
        alpha = float(v @ w)
        round_off = 10 * EPS * length_of(w)
        w -= alpha * v
        if m:
            w -= self.last_length * self._W[:, m - 1]
        length = length_of(w)
        previous = math.inf
        # Orthogonalise until nothing more cancels.
        while round_off < length <= 0.7 * previous:
            previous = length
            w -= W @ (W.T @ w)
            length = length_of(w)
        if length <= round_off or m + 1 == len(w):
            length = 0.0  # only round-off remains outside of the space
        np.divide(w, length or 1.0, out=self._W[:, m + 1])
        return alpha, length

    def _widen_memory(self) -> None:
        """Double the number of columns of W, up to one more than its rows."""
        narrow = self._W
        n, width = narrow.shape
        self._W = np.empty((n, min(n, 2 * (width - 1)) + 1), order="F")
        self._W[:, :width] = narrow

    def _eliminate(self, alpha: float, beta: float) -> None:
        """Continue the elimination for each ridge with the new row of T, `beta` and `alpha`."""
        np.divide(-beta * beta, self._pivots, out=self._pivots)
        self._pivots += self._ridges
        self._pivots += alpha
        if self._pivots[0] <= 0:  # the pivot of the smallest ridge is the smallest one
            self._pivots[self._pivots <= 0] = np.nan
        self._last *= beta if self.steps else 1.0
        self._last /= self._pivots

    @property
    def _diagonals(self) -> tuple[Array, Array]:
        """The diagonal of T and the one beside it, with one entry even for a single row, as
        LAPACK's wrappers want.
        """
        return np.array(self._alphas), np.array(self._betas[: max(1, self.steps - 1)])

    @property
    def basis(self) -> Array:
        """W, of shape (n, steps)."""
        return self._W[:, : self.steps]

    @property
    def next_column(self) -> Array:
        """w, the direction of the residuals of all systems."""
        return self._W[:, self.steps]

    def weights(self, ridges: Array) -> Array:
        """Return (T + r I)^-1 |b| e_1 and (T + r I)^-1 e_m for some ridges, of shape (len(ridges),
        2, m).

        They are NaN if round-off makes the system indefinite.
        """
        m = self.steps
        weights = np.empty((len(ridges), 2, m))
        if m == 0:
            return weights
        (alphas, betas) = self._diagonals
        targets = np.zeros((m, 2), order="F")
        targets[0, 0] = self._size
        targets[-1, 1] = 1.0
        for i, ridge in enumerate(ridges):
            *_, Y, info = dptsv(alphas + ridge, betas, targets)
            weights[i] = Y.T if info == 0 else np.nan
        return weights

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for some ridges, of shape (n, len(ridges))."""
        return (self.weights(ridges)[:, 0] @ self.basis.T).T  # as in `FoldView.product`


class SharedSpace:
    """A Krylov space with columns W, and further orthonormal columns U, for the system of every
    ridge.

    The solution for a ridge r is the best one of the space, in the norm of K + r I. As K W = W T +
    beta w e', with e the last unit vector, W' K U = beta e c' with c = U'w. So with the images G =
    K U - beta (W e) c', which are orthogonal to W, the weights y of U solve (U'G + r I - t c c') y
    = s c, and the residual is (s + t c'y) w - (G + r U) y, where s and t come from T, see
    `_reduce`: neither needs W. An inexact preconditioner does no harm, because solutions stay the
    best ones, with known residuals. (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
    SIAM 2003, 5.2.)

    `max_steps` is the largest number of columns to be added.
    """

    def __init__(self, start: KrylovSpace, max_steps: int) -> None:
        self._start = start
        self._first = start.steps
        n = len(start.b)
        m = start.steps
        columns = max(0, min(n - m, max_steps))
        self._basis = np.empty((n, m + columns), order="F")
        self._images = np.empty((n, columns), order="F")
        self._basis[:, :m] = start.basis
        self._gram = np.empty((columns, columns), order="F")  # U'G
        self._shares = np.empty(columns)  # c
        self._added = 0

    def solve(self, ridges: Array, inverse: Callable[[Array], Array]) -> list[float]:
        """Widen the space by residuals until the systems of all ridges are solved, or it has all
        its columns.

        The result is the norm of the residual for each ridge, infinite if the system is not solved.

        `inverse` is an approximate inverse of K + s I for one ridge s: times it, the condition of K
        + r I is about r / s or s / r.
        """
        lengths = []
        start = self._start
        bounds = allowed_residuals(ridges, start.norm, start.least) * length_of(start.b)
        for ridge, allowed in zip(ridges, bounds, strict=True):
            rest, loss = self._reduce(ridge)
            residual = self._residual(ridge, rest, loss)
            length = length_of(residual)
            while not length <= allowed:
                if not self.widen(inverse(residual)):
                    length = math.inf  # only round-off remains outside of the space
                    break
                residual = self._residual(ridge, rest, loss)
                length = length_of(residual)
            lengths.append(length)
        return lengths

    def widen(self, v: Array) -> bool:
        """Add the direction of v; return False if it is in the space within round-off, not finite,
        or one too many.
        """
        k = self._added
        m = self._first + self._added
        size = length_of(v)
        if k == self._images.shape[1] or not 0 < size < np.inf:
            return False
        basis = self._basis[:, :m]
        w = v
        length = size
        previous = np.inf
        while length <= 0.7 * previous:  # orthogonalise until nothing more cancels
            previous = length
            w = w - basis @ (basis.T @ w)
            length = length_of(w)
            if length <= 10 * EPS * size:
                return False
        column = self._basis[:, m]
        image = self._images[:, k]
        np.divide(w, length, out=column)
        self._start.product(column, image)
        self._shares[k] = column @ self._start.next_column
        if self._first:
            image -= self._start.last_length * self._shares[k] * self._start.basis[:, -1]
        self._added += 1
        # Only the upper triangle is read.
        self._gram[: k + 1, k] = self._basis[:, self._first : m + 1].T @ image
        return True

    def _weights(self, ridge: float, rest: float, loss: float) -> Array:
        """Return y, or NaN if round-off makes the system indefinite."""
        k = self._added
        if k == 0:
            return np.zeros(0)
        shares = self._shares[:k]
        A = self._gram[:k, :k].copy(order="F")
        A -= np.outer(loss * shares, shares)
        A.ravel("K")[:: k + 1] += ridge
        _, y, info = dposv(A, rest * shares, overwrite_a=1)
        return y if info == 0 else np.full(k, np.nan)

    def _residual(self, ridge: float, rest: float, loss: float) -> Array:
        """Return (s + t c'y) w - (G + r U) y for a ridge r, see `SharedSpace`."""
        y = self._weights(ridge, rest, loss)
        k = self._added
        images = self._images[:, :k]
        columns = self._basis[:, self._first : self._first + k]
        residual = images @ y
        residual += columns @ (ridge * y)
        factor = rest + loss * (self._shares[:k] @ y)
        np.subtract(factor * self._start.next_column, residual, out=residual)
        return residual

    def _reduce(self, ridge: float) -> tuple[float, float]:
        """Return s and t: -beta e'(T + r I)^-1 |b| e_1 and beta^2 e'(T + r I)^-1 e, or |b| and 0
        without W.
        """
        start = self._start
        beta = self._start.last_length
        if self._first == 0:
            return length_of(start.b), 0.0
        from_first, from_last = start.weights(np.array([ridge]))[0, :, -1].tolist()
        return -beta * from_first, beta * beta * from_last

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions for some ridges, of shape (n, len(ridges))."""
        n_krylov = self._first
        n_columns = n_krylov + self._added
        shares = self._shares[: self._added]
        krylov_weights = self._start.weights(ridges)
        weights = np.empty((len(ridges), n_columns))
        for i, ridge in enumerate(ridges.tolist()):
            rest, loss = self._reduce(ridge)
            added_weights = self._weights(ridge, rest, loss)
            from_first, from_last = krylov_weights[i]
            coupling = self._start.last_length * (shares @ added_weights)
            weights[i, :n_krylov] = from_first - coupling * from_last
            weights[i, n_krylov:] = added_weights
        basis = self._basis[:, :n_columns]
        return (weights @ basis.T).T  # as in `FoldView.product`


def steps_left(logs: list[float]) -> float:
    """Return the number of steps until a falling sequence reaches zero on the line through its last
    half.
    """
    last = len(logs) - 1
    half = max(1, last // 2)
    fall = logs[last - half] - logs[last]
    return logs[last] * half / fall if fall > 0 else math.inf


def length_of(v: Array) -> float:
    """Return the norm of a vector; numpy's own function takes several times as long for few
    rows.
    """
    return math.sqrt(v @ v)
