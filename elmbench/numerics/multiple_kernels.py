"""Multiple kernel ELM: lists of base kernels in blocks of their lower triangles, their weights, and
enclosing balls.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from elmbench.numerics.arrays import EPS, Array, Indices
from elmbench.numerics.pairwise import DEFINITE, GEOMETRIES, Kernel
from elmbench.numerics.solve import RidgeSystem, mirror

# Size of a block of rows of all kernels, in bytes (one row is the least).
BLOCK_BYTES = 16 * 2**20
#: Lower triangles up to this size in bytes are kept; larger ones are computed in every pass.
HELD_BYTES = 2**30

KERNELS = (*DEFINITE, "polynomial")
"""Positive semi-definite kernels by name."""


@dataclass(frozen=True)
class BaseKernel(Kernel):
    """One kernel of a list, with a name of `KERNELS`, on all columns or those from `columns[0]` up
    to `columns[1]`.

    If it is precomputed, these columns are its values with every training row.
    """

    columns: tuple[int, int] | None = None


def kernel_values(
    kernels: Sequence[BaseKernel], X: Array, Y: Array, start: int | None = None
) -> Array:
    """Return the values of several kernels between the rows of `X` and of `Y`.

    The result is of shape (number of kernels, len(X), len(Y)). Distances or products on the same
    columns are computed once for all kernels that use them. `start` is given if the rows of `Y`
    from there on are those of `X`: then the distance of a row from itself is exactly zero. With
    None, it may have round-off. A precomputed kernel reads the first len(Y) of its columns of `X`.
    """
    shape = (len(kernels), len(X), len(Y))
    values = np.empty(shape)
    # The numbers of the kernels of each geometry and columns.
    groups: dict[tuple[str, tuple[int, int] | None], list[int]] = {}
    for number, kernel in enumerate(kernels):
        key = (kernel.geometry, kernel.columns)
        groups.setdefault(key, []).append(number)
    for (name, columns), members in groups.items():
        geometry = _geometry(name, X, Y, columns)
        # Rows have no distance from themselves.
        is_distance = name.endswith("distance")
        if start is not None and is_distance:
            # The round-off of a zero distance would show with a large gamma.
            same_rows = geometry[:, start:]
            np.fill_diagonal(same_rows, 0.0)
        for number in members:
            kernel = kernels[number]
            target = values[number]
            np.copyto(target, geometry)
            kernel.evaluate(target)
    return values


def _geometry(name: str, X: Array, Y: Array, columns: tuple[int, int] | None) -> Array:
    """Return a distance or product between the rows of `X` and those of `Y`, of shape (n, m).

    `name`: one of `GEOMETRIES`. An empty name stands for precomputed values: the first m of the
    selected columns of `X`, as a view. `columns`: (start, stop) of the columns that are used; None
    for all.
    """
    selected = slice(None) if columns is None else slice(*columns)
    X_part = X[:, selected]
    # Values of a precomputed kernel.
    if not name:
        n_columns = len(Y)
        return X_part[:, :n_columns]
    Y_part = Y[:, selected]
    geometry = GEOMETRIES[name]
    return geometry(X_part, Y_part)


class KernelBlocks:
    """The kernel matrices of rows `X`, in blocks of their lower triangles: weighted sums and
    quadratic forms.

    Blocks are kept in memory if all take at most `HELD_BYTES`; otherwise they are computed in every
    pass. `shape` is (number of kernels, number of rows).
    """

    def __init__(self, X: Array, kernels: Sequence[BaseKernel]) -> None:
        self._X = X
        self._kernels = kernels
        n_kernels = len(kernels)
        n_rows = len(X)
        self.shape = (n_kernels, n_rows)
        # A lower triangle has n (n + 1) / 2 values of 8 bytes.
        self._cached: list[Array] = []
        triangle_bytes = 4 * n_rows * (n_rows + 1)
        n_bytes = n_kernels * triangle_bytes
        if n_bytes <= HELD_BYTES:
            numbers = np.arange(n_kernels)
            self._cached = [
                self._values_of_rows(rows, numbers) for rows in self._row_slices()
            ]

    def weighted_sum(self, weights: Array, out: Array) -> Array:
        """Write sum_p weights[p] K_p, for the kernel matrices K_p, to `out`, and return it.

        It is exactly symmetric. `weights`: of shape (number of kernels,). `out`: of shape (n, n) in
        C order.
        """
        indices = np.flatnonzero(weights)
        if len(indices) == 0:
            out.fill(0.0)
        for rows, numbers, values in self._blocks(indices):
            stop = rows.stop
            n_kernels = len(numbers)
            by_kernel = values.reshape(n_kernels, -1)
            entries = weights[numbers] @ by_kernel
            out[rows, :stop] = entries.reshape(-1, stop)
        mirror(out)
        return out

    def forms(self, A: Array, numbers: Indices) -> Array:
        """Return tr(A' K_p A) for each kernel p with the matrix K_p, of shape (number of kernels,).

        `A` is of shape (n, k) for n rows. `numbers`: the kernels that are needed. The result is
        zero for others, unless their values are in memory.
        """
        n_kernels, _ = self.shape
        forms = np.zeros(n_kernels)
        for rows, present, values in self._blocks(numbers):
            # tr(A' K A) is the sum of the products of the entries of K and AA'.
            rows_so_far = A[: rows.stop]
            products = A[rows] @ rows_so_far.T
            beside = products[:, : rows.start]
            beside *= 2.0  # for the half that is not there
            n_present = len(present)
            by_kernel = values.reshape(n_present, -1)
            forms[present] += by_kernel @ products.ravel()
        return forms

    def _blocks(self, numbers: Indices) -> Iterator[tuple[slice, Indices, Array]]:
        """Yield blocks of the lower triangles of the kernel matrices, in the order of the rows.

        A block is a slice of rows, the numbers of kernels, and their values between these rows and
        all rows up to the last of them, of shape (number of kernels, length of the slice, its
        stop). The kernels are those of the requested `numbers`, or all if their values are in
        memory. Without `numbers`, there are no blocks.
        """
        if len(numbers) == 0:
            return
        all_numbers = np.arange(self.shape[0])
        for i, rows in enumerate(self._row_slices()):
            if self._cached:
                yield rows, all_numbers, self._cached[i]
            else:
                values = self._values_of_rows(rows, numbers)
                yield rows, numbers, values

    def _values_of_rows(self, rows: slice, numbers: Indices) -> Array:
        """Return the values of some kernels between a slice of rows and all rows up to its stop.

        `numbers`: those of the kernels. The result is of shape (number of kernels, length of the
        slice, its stop): for each kernel, these rows of the lower triangle of its matrix, and the
        upper part of the block on the diagonal.
        """
        kernels = [self._kernels[p] for p in numbers]
        rows_so_far = self._X[: rows.stop]
        return kernel_values(kernels, self._X[rows], rows_so_far, rows.start)

    def _row_slices(self) -> Iterator[slice]:
        """Yield the slices of rows whose values of all kernels take about `BLOCK_BYTES`."""
        m, n = self.shape
        return gen_batches(n, max(1, BLOCK_BYTES // (8 * m * n)))


GAP = 1e-9  # accepted difference between the squared radius and its bounds
ROUNDS = 100  # most rounds of steps to the smallest ball


@dataclass(frozen=True)
class WeightSurface:
    """The weights with sum_p radii[p] weights[p]^q = 1, none negative, for q at least 1.

    `radii`, (m,), are squared radii of enclosing balls, or ones. A kernel with the radius zero has
    the weight zero.
    """

    q: float
    radii: Array

    def start(self) -> Array:
        """Return the point of equal weights on the surface, of shape (m,).

        The weight of a kernel with the radius zero is zero.
        """
        return self._scale_to_norm(np.where(self.radii > 0.0, 1.0, 0.0))

    def best(self, weights: Array, forms: Array) -> Array:
        """Return the kernel weights g that minimise sum_p t_p / g_p on sum_p R_p g_p^q = 1.

        This is the surface, with the squared radii R_p (`radii`) and the power q. Here t_p =
        weights[p]^2 forms[p], with the present `weights` and the values `forms` of the quadratic
        forms, both of shape (m,). The minimiser is g_p = (t_p / R_p)^(1 / (q + 1)) up to a factor:
        for q = 1 and R_p = 1 that of eq. (16). A weight of zero stays zero; negative forms count as
        zero. If all t_p are zero, all points are equally good and `weights` are returned.
        """
        power = 1.0 / (self.q + 1.0)
        is_used = weights > 0.0
        # t_p / R_p = g_p^2 f_p / R_p. Weights are not squared before the root, because small ones
        # would underflow.
        positive_forms = np.maximum(forms[is_used], 0.0)
        ratios = positive_forms / self.radii[is_used]
        roots = weights[is_used] ** (2.0 * power)
        best = np.zeros(len(weights))
        best[is_used] = roots * ratios**power
        if not best.any():
            return weights
        return self._scale_to_norm(best)

    def _scale_to_norm(self, weights: Array) -> Array:
        """Return weights of shape (m,) times the factor that puts them on the surface.

        There, sum_p radii[p] weights[p]^q = 1. One of the weights must be positive for a kernel
        with a positive radius.
        """
        norm = (self.radii @ weights**self.q) ** (1.0 / self.q)
        return np.asarray(weights / norm)


def smallest_ball(K: Array) -> tuple[float, Array]:
    """Return the squared radius and the centre of the smallest ball around n rows.

    `K`: their kernel matrix, of shape (n, n). The centre is sum_i a_i phi(x_i), given by its
    coefficients a >= 0, of shape (n,) with the sum 1, which maximise sum_i a_i K_ii - a' K a. That
    value is the squared radius, and a lower bound of it for any other coefficients. These move in
    pairs, from the row with the largest gain to the row farthest from the centre, with n + 100
    pairs in a round. The search ends when the farthest row is out of the ball by at most `GAP` of
    the squared radius, or n times the machine precision of the largest K_ii, when a round gains
    nothing, or after `ROUNDS` rounds.
    """
    n = len(K)
    diagonal = K.diagonal().copy()
    round_off = n * EPS * diagonal.max()
    squared_radius = -np.inf
    coefficients = np.full(n, 1.0 / n)
    a = coefficients.copy()
    for _ in range(ROUNDS):
        # The squared distances from the centre, K_ii - 2 (K a)_i + a' K a.
        products = K @ a
        distances = diagonal - 2.0 * products + a @ products
        value = float(a @ distances)
        if value <= squared_radius:
            break
        squared_radius = value
        coefficients = a.copy()
        excess = distances.max() - value
        if excess <= max(GAP * value, round_off):
            break
        _move_pairs(K, diagonal, a)
    return max(squared_radius, 0.0), coefficients


def _move_pairs(K: Array, diagonal: Array, a: Array) -> None:
    """Move the centre of the smallest ball of rows by up to n + 100 steps of two coefficients.

    The steps are those of sequential minimal optimisation of f = a' K a - sum_i a_i K_ii. The
    coefficients `a`, of shape (n,), are changed in place. `diagonal` is that of K.
    """
    # 2 K a less the diagonal.
    products = K @ a
    gradient = 2.0 * products - diagonal
    tiny = np.finfo(np.float64).tiny
    for _ in range(len(a) + 100):
        # The far row, and the differences of all rows from it.
        far = int(gradient.argmin())
        far_products = K[far]
        excess = gradient - gradient[far]
        diagonal_sums = diagonal + diagonal[far]
        gaps = diagonal_sums - 2.0 * far_products
        # The best step from each row to it, at most the coefficient of the row, and its gain.
        floor = EPS * diagonal_sums + tiny
        curvatures = 2.0 * np.maximum(gaps, floor)
        best_steps = excess / curvatures
        steps = np.minimum(best_steps, a)
        slopes = excess - steps * gaps
        gains = steps * slopes
        # The near row has the largest gain.
        near = int(gains.argmax())
        if gains[near] <= 0.0:
            return
        step = float(steps[near])
        a[far] += step
        a[near] = 0.0 if step == a[near] else a[near] - step
        # The gradient changes by 2 K times the change of a.
        change = far_products - K[near]
        gradient += 2.0 * step * change


def squared_radii(blocks: KernelBlocks) -> Array:
    """Return the squared radius of the smallest ball around all rows, for each kernel.

    They are of shape (number of kernels,). A radius within round-off is zero. If all radii are
    zero, each becomes one.
    """
    n_kernels, n_rows = blocks.shape
    radii = np.zeros(n_kernels)
    K = np.empty((n_rows, n_rows))
    for number, weights in enumerate(np.eye(n_kernels)):
        blocks.weighted_sum(weights, K)
        radius, _ = smallest_ball(K)
        largest = K.diagonal().max()
        round_off = n_rows * EPS * largest
        if radius > round_off:
            radii[number] = radius
    if not radii.any():
        return np.ones(n_kernels)
    return radii


class WeightPath(NamedTuple):
    """The result of Algorithm 1.

    Attributes
    ----------
    coefficients : ndarray of shape (n, k)
        (K + ridge I)^-1 T for the last weights.
    weights : ndarray of shape (n_iter + 1, m)
        Kernel weights at the start and after each iteration.
    objective : ndarray of shape (n_iter + 1,)
        The objective for these weights.
    converged : bool
    condition : float
        Condition number of the last K + ridge I.
    """

    coefficients: Array
    weights: Array
    objective: Array
    converged: bool
    condition: float


def learn_weights(
    blocks: KernelBlocks,
    T: Array,
    ridge: float,
    surface: WeightSurface,
    max_iter: int,
    tol: float,
    objective_tol: float,
) -> WeightPath:
    """Run Algorithm 1 of Liu et al. for kernel and output weights, from equal kernel weights.

    `blocks`: the base kernels between n rows. `T`: targets, of shape (n, k). The objective, tr(T'
    (K + ridge I)^-1 T) / 2, is that of eq. (6) for the best output weights. It never rises: each
    half of an iteration minimises eq. (9), over output weights or over kernel weights on `surface`.
    The iteration ends if no weight changes by more than `tol`, if the relative change of the
    objective is less than `objective_tol`, or, not converged, after `max_iter` changes of the
    weights.
    """
    n = blocks.shape[1]
    memory = np.empty((n, n))
    path: list[Array] = []
    objective: list[float] = []
    tiny = np.finfo(float).tiny
    weights = surface.start()
    converged = False
    while True:
        K = blocks.weighted_sum(weights, out=memory)
        system = RidgeSystem(K.T, ridge)
        coefficients = system.solve(T)  # eq. (15)
        value = float(np.vdot(T, coefficients)) / 2
        if path:
            previous = objective[-1]
            fall = abs(value - previous) / max(previous, tiny)
            change = np.abs(weights - path[-1]).max()
            converged = bool(change <= tol or fall < objective_tol)
        path.append(weights)
        objective.append(value)
        if converged or len(path) > max_iter:
            return WeightPath(
                coefficients=coefficients,
                weights=np.array(path),
                objective=np.array(objective),
                converged=converged,
                condition=system.condition,
            )
        used = np.flatnonzero(weights)
        forms = blocks.forms(coefficients, used)
        weights = surface.best(weights, forms)  # eqs. (16) and (17)
