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
    """Return the residual norms up to which the system of each ridge counts as solved.

    They are relative to the norm of b, of the shape of `ridges`: the machine precision times the
    condition, but at least `STOP` and at most `LOOSEST`. `norm` is a lower estimate of the largest
    eigenvalue of K, and `least` an upper one of the smallest.
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
        self,
        product: Callable[[Array, Array], None],
        b: Array,
        ridges: Array,
        norm: float,
    ) -> None:
        n = len(b)
        self.product = product
        self.b = b
        self.norm = norm
        self._ridges = ridges
        self._size = length_of(b)
        unit = self._size or 1.0
        self.allowed = allowed_residuals(ridges, norm) * unit
        # The columns of W and the next one; the first is b / |b|.
        width = min(n, _FIRST) + 1
        self._W = np.empty((n, width), order="F")
        np.divide(b, unit, out=self._W[:, 0])
        self._image = np.empty(n)
        # The diagonals of T.
        self._alphas: list[float] = []
        self._betas: list[float] = []
        self.logs: list[float] = []
        self.steps = 0
        self.last_length = 0.0
        self.lengths = self._size / self.allowed
        # The elimination of (T + r I) y = |b| e_1 for each ridge needs its last pivot and the last
        # entry of y, without its sign.
        n_ridges = len(ridges)
        self._pivots = np.full(n_ridges, np.inf)
        self._last = np.full(n_ridges, self._size)
        # The least eigenvalue, and the number of steps when it was computed.
        self.least = 0.0
        self._estimated = 0

    def solve(self, pays: Callable[["KrylovSpace"], bool], first: int = 0) -> bool:
        """Take steps until the systems of the ridges are solved; return False if it gives up.

        `first`: the number of the first ridge that must be solved, from 0; ridges ascend. The space
        gives up if `pays`, called with it every `LOOK` steps, returns False, or if round-off makes
        a system indefinite. The smallest eigenvalue is first computed when the systems would be
        solved if it were 0; with few rows, it costs as much as a step.
        """
        while True:
            lengths = self.lengths[first:]
            longest = float(lengths.max(initial=0.0))
            if longest <= 1:
                if self._estimated == self.steps:
                    return True
                self._estimate_least_eigenvalue()
                continue
            if not math.isfinite(longest):
                return False
            looks = self.steps > 0 and self.steps % LOOK == 0
            if looks and not pays(self):
                return False
            self._step()

    def _estimate_least_eigenvalue(self) -> None:
        """Set `least`, the smallest eigenvalue of T = W'KW, and `allowed`, which depends on it.

        A negative eigenvalue counts as 0. The values relative to `allowed`, `lengths` and `logs`,
        change with it.
        """
        self._estimated = self.steps
        before = self.allowed
        diagonal, beside = self._diagonals
        # The first eigenvalue in ascending order.
        _, values, *_ = dstebz(
            d=diagonal,
            e=beside,
            range=2,
            vl=0.0,
            vu=0.0,
            il=1,
            iu=1,
            tol=0.0,
            order="E",
        )
        self.least = max(float(values[0]), 0.0)
        relative = allowed_residuals(self._ridges, self.norm, self.least)
        self.allowed = relative * (self._size or 1.0)
        self.lengths = self.last_length * self._last / self.allowed
        largest_ratio = (before / self.allowed).max()
        shift = math.log(largest_ratio)
        self.logs = [value + shift for value in self.logs]

    def _step(self) -> None:
        """Take a step: add a column to the basis W and a row to T, and update the lengths.

        T is the tridiagonal matrix W'KW. The lengths are those of the residuals over the allowed
        ones. A step costs one product with K, and appends to `logs`.
        """
        beta = self.last_length
        alpha, length = self._extend_basis()
        self._alphas.append(alpha)
        self._betas.append(length)
        self.last_length = length
        self._eliminate(alpha, beta)
        self.steps += 1
        # The residual of a ridge is beta times the last entry of y.
        self.lengths = length * self._last / self.allowed
        longest = float(self.lengths.max(initial=0.0))
        excess = max(1.0, longest)
        self.logs.append(math.log(excess))

    def _extend_basis(self) -> tuple[float, float]:
        """Add the next column to the basis W by a product with K; return the next entries of T.

        These are the diagonal entry of the tridiagonal T = W'KW, and the one below it. The latter
        is zero if only round-off remains outside of the space; then the new column is zero too.
        """
        m = self.steps
        if m + 1 == self._W.shape[1]:
            self._widen_memory()
        columns = self._W[:, : m + 1]
        v = self._W[:, m]
        following = self._W[:, m + 1]
        # Lanczos' recurrence: w = K v_m - alpha v_m - beta v_(m-1).
        w = self._image
        self.product(v, w)
        alpha = float(v @ w)
        round_off = 10 * EPS * length_of(w)
        w -= alpha * v
        if m:
            before = self._W[:, m - 1]
            w -= self.last_length * before
        length = length_of(w)
        previous = math.inf
        # Orthogonalise until nothing more cancels.
        while round_off < length <= 0.7 * previous:
            previous = length
            components = columns.T @ w
            w -= columns @ components
            length = length_of(w)
        is_complete = m + 1 == len(w)
        if length <= round_off or is_complete:
            length = 0.0  # only round-off remains outside of the space
        np.divide(w, length or 1.0, out=following)
        return alpha, length

    def _widen_memory(self) -> None:
        """Allocate about twice as many columns for the basis W, and copy those so far.

        There are at most n + 1 columns for n rows.
        """
        narrow = self._W
        n, width = narrow.shape
        doubled = 2 * (width - 1)
        n_columns = min(n, doubled) + 1
        wide = np.empty((n, n_columns), order="F")
        wide[:, :width] = narrow
        self._W = wide

    def _eliminate(self, alpha: float, beta: float) -> None:
        """Continue the elimination of (T + r I) y = |b| e_1 for every ridge r by the new row of T.

        T is the tridiagonal matrix of the space, e_1 the first unit vector. `alpha`: the diagonal
        entry of the new row. `beta`: the entry beside it, 0 in the first row. Updates the last
        pivots and the last entries of y, both of shape (n_ridges,), in place; NaN for a ridge whose
        system is indefinite.
        """
        # The pivots are p = alpha + r - beta^2 / p of the row before.
        pivots = self._pivots
        np.divide(-beta * beta, pivots, out=pivots)
        pivots += self._ridges
        pivots += alpha
        if pivots[0] <= 0:  # the pivot of the smallest ridge is the smallest one
            pivots[pivots <= 0] = np.nan
        # The last entries are y = beta y / p, and |b| / p in the first row.
        self._last *= beta if self.steps else 1.0
        self._last /= pivots

    @property
    def _diagonals(self) -> tuple[Array, Array]:
        """The diagonal of T and the one beside it, as arrays.

        The second one has one entry even for a single row, as LAPACK's wrappers want.
        """
        return np.array(self._alphas), np.array(self._betas[: max(1, self.steps - 1)])

    @property
    def basis(self) -> Array:
        """The orthonormal columns W of the space, of shape (n, steps)."""
        return self._W[:, : self.steps]

    @property
    def next_column(self) -> Array:
        """w, the direction of the residuals of all systems, of shape (n,)."""
        return self._W[:, self.steps]

    def weights(self, ridges: Array) -> Array:
        """Return two vectors of weights of the columns of the space for each of some ridges r.

        These are (T + r I)^-1 |b| e_1, which gives the solution, and (T + r I)^-1 e_m, with the
        first and the last unit vector for m steps: an array of shape (len(ridges), 2, m). T is the
        tridiagonal matrix of the space. The weights are NaN if round-off makes the system
        indefinite.
        """
        m = self.steps
        weights = np.empty((len(ridges), 2, m))
        if m == 0:
            return weights
        alphas, betas = self._diagonals
        # |b| e_1 and e_m.
        targets = np.zeros((m, 2), order="F")
        targets[0, 0] = self._size
        targets[-1, 1] = 1.0
        for i, ridge in enumerate(ridges):
            shifted = alphas + ridge
            *_, Y, info = dptsv(shifted, betas, targets)
            is_definite = info == 0
            weights[i] = Y.T if is_definite else np.nan
        return weights

    def solutions(self, ridges: Array) -> Array:
        """Return the solutions of (K + r I) z = b in the space, of shape (n, len(ridges)).

        A solution is zero before the first step, and NaN if round-off makes its system indefinite.
        """
        weights = self.weights(ridges)
        from_first = weights[:, 0]
        return (from_first @ self.basis.T).T  # as in `FoldView.product`


class SharedSpace:
    """A Krylov space with columns W, and further orthonormal columns U, for the system of every
    ridge.

    The solution for a ridge r is the best one of the space, in the norm of K + r I. As K W = W T +
    beta w e', with e the last unit vector, W' K U = beta e c' with c = U'w. So with the images G =
    K U - beta (W e) c', which are orthogonal to W, the weights y of U solve (U'G + r I - t c c') y
    = s c, and the residual is (s + t c'y) w - (G + r U) y, where s and t come from T, see
    `_krylov_terms`: neither needs W. An inexact preconditioner does no harm, because solutions stay
    the best ones, with known residuals. (Saad, Iterative Methods for Sparse Linear Systems, 2nd
    ed., SIAM 2003, 5.2.)

    `start` is the Krylov space W, and `max_steps` the largest number of columns of U.
    """

    def __init__(self, start: KrylovSpace, max_steps: int) -> None:
        self._start = start
        self._first = start.steps
        n = len(start.b)
        m = start.steps
        room = min(n - m, max_steps)
        columns = max(0, room)
        # W and U.
        self._basis = np.empty((n, m + columns), order="F")
        self._basis[:, :m] = start.basis
        # G, U'G and c.
        self._images = np.empty((n, columns), order="F")
        self._gram = np.empty((columns, columns), order="F")
        self._shares = np.empty(columns)
        self._added = 0

    def solve(self, ridges: Array, inverse: Callable[[Array], Array]) -> list[float]:
        """Widen the space until the systems of all ridges are solved; return the residual norms.

        The list has a norm for each ridge, infinite if its system is not solved when `widen` cannot
        add a column. `solutions` then returns the solutions.

        `inverse` multiplies a vector by an approximate inverse of K + s I for one ridge s: times
        it, the condition of K + r I is about r / s or s / r.
        """
        start = self._start
        size = length_of(start.b)
        bounds = allowed_residuals(ridges, start.norm, start.least) * size
        lengths = []
        for ridge, allowed in zip(ridges, bounds, strict=True):
            rest, loss = self._krylov_terms(ridge)
            residual = self._residual(ridge, rest, loss)
            length = length_of(residual)
            while not length <= allowed:
                direction = inverse(residual)
                if not self.widen(direction):
                    length = math.inf  # only round-off remains outside of the space
                    break
                residual = self._residual(ridge, rest, loss)
                length = length_of(residual)
            lengths.append(length)
        return lengths

    def widen(self, v: Array) -> bool:
        """Add the direction of a vector v, of shape (n,), to the space; return True if it is new.

        Return False, without a change, if v is in the space within round-off, zero or not finite,
        or if the space has all its columns.
        """
        k = self._added
        first = self._first
        m = first + k
        size = length_of(v)
        is_full = k == self._images.shape[1]
        if is_full or not 0 < size < np.inf:
            return False
        basis = self._basis[:, :m]
        w = v
        length = size
        previous = np.inf
        while length <= 0.7 * previous:  # orthogonalise until nothing more cancels
            previous = length
            components = basis.T @ w
            w = w - basis @ components
            length = length_of(w)
            if length <= 10 * EPS * size:
                return False
        # The column u of U and its share u'w.
        column = self._basis[:, m]
        np.divide(w, length, out=column)
        share = column @ self._start.next_column
        self._shares[k] = share
        # Its image K u - beta (W e) u'w.
        image = self._images[:, k]
        self._start.product(column, image)
        if first:
            last_column = self._start.basis[:, -1]
            image -= self._start.last_length * share * last_column
        self._added += 1
        # Only the upper triangle of U'G is read.
        columns = self._basis[:, first : m + 1]
        self._gram[: k + 1, k] = columns.T @ image
        return True

    def _weights(self, ridge: float, rest: float, loss: float) -> Array:
        """Return the weights y of the columns U for a ridge r, of shape (number of columns,).

        U are the columns outside of the Krylov space, G their images, and c their products with the
        next Krylov column. The weights solve (U'G + r I - t c c') y = s c, see `SharedSpace`.
        `rest` and `loss` are s and t, from `_krylov_terms`. The weights are NaN if round-off makes
        the system indefinite.
        """
        k = self._added
        if k == 0:
            return np.zeros(0)
        c = self._shares[:k]
        # (U'G + r I - t c c') y = s c.
        gram = self._gram[:k, :k]
        A = gram.copy(order="F")
        A -= np.outer(loss * c, c)
        entries = A.ravel("K")
        diagonal = entries[:: k + 1]
        diagonal += ridge
        right_hand_side = rest * c
        _, y, info = dposv(A, right_hand_side, overwrite_a=1)
        is_definite = info == 0
        return y if is_definite else np.full(k, np.nan)

    def _residual(self, ridge: float, rest: float, loss: float) -> Array:
        """Return the residual of the best solution in the space for a ridge r, of shape (n,).

        It is (s + t c'y) w - (G + r U) y with the next Krylov column w and the weights y of the
        columns U, see `SharedSpace`. `rest` and `loss` are s and t, from `_krylov_terms`.
        """
        y = self._weights(ridge, rest, loss)
        k = self._added
        first = self._first
        stop = first + k
        c = self._shares[:k]
        # (G + r U) y.
        images = self._images[:, :k]
        columns = self._basis[:, first:stop]
        residual = images @ y
        residual += columns @ (ridge * y)
        # (s + t c'y) w.
        factor = rest + loss * (c @ y)
        along = factor * self._start.next_column
        np.subtract(along, residual, out=residual)
        return residual

    def _krylov_terms(self, ridge: float) -> tuple[float, float]:
        """Return two numbers s and t of a ridge r, by which the Krylov space enters its system.

        The residual of the solution in the Krylov space alone is s w, with the next column w of the
        space. The columns U outside of it have the matrix U'G + r I - t c c', see `SharedSpace`.
        The numbers are -beta e'(T + r I)^-1 |b| e_1 and beta^2 e'(T + r I)^-1 e, or |b| and 0 if
        the Krylov space is empty.
        """
        start = self._start
        if self._first == 0:
            return length_of(start.b), 0.0
        beta = start.last_length
        ridges = np.array([ridge])
        weights = start.weights(ridges)
        # The last entries of (T + r I)^-1 |b| e_1 and of (T + r I)^-1 e_m.
        last_entries = weights[0, :, -1]
        from_first, from_last = last_entries.tolist()
        rest = -beta * from_first
        loss = beta * beta * from_last
        return rest, loss

    def solutions(self, ridges: Array) -> Array:
        """Return the best solutions of (K + r I) z = b in the space, of shape (n, len(ridges)).

        A solution is NaN if round-off makes its system indefinite.
        """
        start = self._start
        beta = start.last_length
        n_krylov = self._first
        n_columns = n_krylov + self._added
        n_ridges = len(ridges)
        c = self._shares[: self._added]
        krylov_weights = start.weights(ridges)
        # A row of weights for each ridge, those of W first.
        weights = np.empty((n_ridges, n_columns))
        for i, ridge in enumerate(ridges.tolist()):
            rest, loss = self._krylov_terms(ridge)
            # The weights of U.
            y = self._weights(ridge, rest, loss)
            weights[i, n_krylov:] = y
            # The weights of W: (T + r I)^-1 (|b| e_1 - beta c'y e_m).
            from_first, from_last = krylov_weights[i]
            coupling = beta * (c @ y)
            weights[i, :n_krylov] = from_first - coupling * from_last
        basis = self._basis[:, :n_columns]
        products = weights @ basis.T  # as in `FoldView.product`
        return products.T


def steps_left(logs: list[float]) -> float:
    """Return the number of further steps until a falling sequence reaches zero.

    `logs`: the sequence, with a value for each step so far. It continues on the line through the
    ends of its last half; the result is infinite if it does not fall there.
    """
    last = len(logs) - 1
    half = max(1, last // 2)
    before = logs[last - half]
    now = logs[last]
    fall = before - now
    if not fall > 0:
        return math.inf
    # The line falls by `fall` in `half` steps.
    return now * half / fall


def length_of(v: Array) -> float:
    """Return the norm of a vector.

    numpy's own function takes several times as long for few rows.
    """
    return math.sqrt(v @ v)
