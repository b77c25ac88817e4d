"""Folds that share one kernel matrix, and solutions of (K + r I) Z = B for all ridges r with the
part of a fold.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, strsv
from scipy.linalg.lapack import spotrf

from elmbench.numerics.arrays import EPS, Array, Indices
from elmbench.numerics.compiled import run_compiled
from elmbench.numerics.error_bounds import iterated_round_off
from elmbench.numerics.krylov import LOOK, LOOSEST, KrylovSpace, SharedSpace, steps_left
from elmbench.numerics.ridge_path import (
    CALL,
    STREAM,
    factor_seconds,
    reduction_seconds,
    ridge_solutions,
)
from elmbench.numerics.symmetric_product import multiply

_WIDEST = 2.0**9
"""Ratio to the smallest ridge up to which one inverse helps to solve a system; larger ridges are
well-conditioned.
"""

# stretches of adjacent rows up to which a fold is copied by slices; numbered entries take ten times
# as long
MOST_STRETCHES = 8

COMPILED_FROM = 2500
"""Rows from which the compiled product is faster than BLAS's, and a search takes longer than to
import the compiler.
"""

SMALLEST = 1e7 * EPS
"""Ridges below this, over a lower estimate of the norm of K, are solved directly: iterations would
be too inexact.
"""

_MOST = 100  # the most steps with the inverse for each ridge

_SINGLE = 95e9  # operations a second in single precision
_CACHED = 75e9  # bytes a second from caches
_CACHE = 24e6  # bytes of caches


class FoldView(NamedTuple):
    """One fold of a matrix whose rows have the order of `fold_views`.

    `rows` are the original numbers of the training rows, and `positions` those in the matrix, which
    ascend. `test` are the positions of the test rows, in the fold's order, or None if the matrix
    lacks some or the fold repeats rows.
    """

    rows: Indices
    positions: Indices
    test: Indices | None

    def copy(self, K: Array, out: Array) -> None:
        """Write the block of K between the training rows of the fold to `out`, (n_train, n_train).

        K is symmetric, with rows in the order of `fold_views`. Both are in Fortran order.
        """
        # A stretch of adjacent rows ends at a gap between positions.
        positions = self.positions
        is_gap = np.diff(positions) != 1
        starts = np.flatnonzero(is_gap) + 1
        edges = [0, *starts, len(positions)]
        n_stretches = len(edges) - 1
        if n_stretches > MOST_STRETCHES:
            for column, position in enumerate(positions):
                entries = K[:, position]
                target = out[:, column]
                np.take(entries, positions, out=target, mode="clip")
            return
        # Each stretch of adjacent rows: its slice of `out` and its slice of K.
        stretches = []
        for start, stop in itertools.pairwise(edges):
            first = positions[start]
            length = stop - start
            rows = slice(start, stop)
            K_rows = slice(first, first + length)
            stretches.append((rows, K_rows))
        for rows, K_rows in stretches:
            for columns, K_columns in stretches:
                out[rows, columns] = K[K_rows, K_columns]

    def product(self, K: Array, Z: Array) -> Array:
        """Return the block of K between the test and the training rows times Z.

        K is symmetric, with rows in the order of `fold_views`. Z is of shape (n_train, m), its rows
        in the order of `positions`; the result is of shape (n_test, m). Only if `test` is not None,
        which is asserted.
        """
        assert self.test is not None
        # Z with a row for each row of K.
        n = len(K)
        n_columns = Z.shape[1]
        weights = np.zeros((n, n_columns))
        weights[self.positions] = Z
        # Only the columns of K from the first test row to the last one.
        start = self.test.min(initial=n)
        stop = self.test.max(initial=start) + 1
        columns = K[:, start:stop]
        products = weights.T @ columns  # half of the time of K Z
        tests = self.test - start
        return products[:, tests].T


def fold_views(folds: list[tuple[Indices, Indices]]) -> tuple[Indices, list[FoldView]]:
    """Order the training rows of all folds so that the rows of each fold are in few runs.

    `folds`: the numbers of the training and of the test rows of each fold. Return the numbers of
    all training rows, each once, in the new order, and for each fold its `FoldView` of a matrix
    with rows in this order. Rows with the same roles in all folds, pairs of training and test rows,
    are adjacent. In a k-fold cross-validation, the training part of the first and the last fold is
    contiguous, and that of the others has two parts.
    """
    parts = itertools.chain(*folds)
    last_row = max(int(part.max(initial=-1)) for part in parts)
    n_rows = last_row + 1
    # The role of a row in a fold: 1 for a test row, 2 for a training row, more if it is repeated.
    roles = np.zeros((len(folds), n_rows), dtype=np.int8)
    for role, (train, test) in zip(roles, folds, strict=True):
        role[test] += 1
        role[train] += 2
    is_trained: NDArray[np.bool_] = np.any(roles >= 2, axis=0)
    # Rows with the same roles are adjacent; the first fold sorts first.
    rows = np.flatnonzero(is_trained)
    sort_keys = roles[::-1, rows]
    order = rows[np.lexsort(sort_keys)]
    position = np.empty(n_rows, dtype=np.intp)
    position[order] = np.arange(len(order))
    views = []
    for train, test in folds:
        positions = np.sort(position[train])
        # The matrix has all test rows, and the fold repeats no training row.
        has_tests = is_trained[test].all()
        steps = np.diff(positions)
        is_complete = has_tests and (steps > 0).all()
        test_positions = position[test] if is_complete else None
        view = FoldView(
            rows=order[positions],
            positions=positions,
            test=test_positions,
        )
        views.append(view)
    return order, views


def krylov_seconds(n: int, steps: float) -> float:
    """Return the estimated seconds of the first `steps` steps in a `KrylovSpace` of n rows.

    Each step passes twice over all columns.
    """
    # A step reads half of K, and the basis twice.
    half = 4.0 * n * n
    basis = 8.0 * n * steps
    n_bytes = half + basis
    rate = _CACHED if n_bytes < _CACHE else STREAM
    reading = n_bytes / rate
    step = 8 * CALL + reading
    return steps * step


def inverse_seconds(n: int, ridges: int) -> float:
    """Return the estimated seconds to solve n equations for some ridges by one inverse.

    `ridges`: the number of ridges. They are those of `_solve_by_inverse` for one right-hand side:
    of one factor in single precision and of the steps that apply it.
    """
    steps = 10 + 8 * ridges
    # One factorisation in single precision, with passes over the matrix before it.
    operations = n**3 / 3 / _SINGLE
    passes = 20 * n * n / STREAM
    factor = operations + passes + 20 * CALL
    # A step reads the factor twice, which is half of a matrix in single precision.
    reading = 4.0 * n * n / STREAM
    step = reading + 10 * CALL
    # It also extends the space by one product with K.
    products = krylov_seconds(n, steps)
    return factor + products + steps * step


def fold_solutions(
    K: Array, B: Array, ridges: Array, solvers: Counter[str], norm: float | None = None
) -> tuple[Array, Array]:
    """Return the solutions of (K + r I) Z = B for all ridges r, and bounds of their errors.

    K is the kernel matrix of the n training rows of a fold: symmetric and positive semi-definite,
    in Fortran order; it may be overwritten. B is of shape (n, k); the p ridges are positive and
    ascend. `norm` is an upper bound of the norm of K, by default the largest sum of a row of K
    without negative entries, and the mean of these sums a lower one. `solvers`, changed in place,
    counts the method of each ridge, "krylov", "inverse" or those of `ridge_solutions`, and "krylov
    given up" once if a space gives up.

    The solutions are of shape (n, p * k), the k columns of the first ridge first. The errors are of
    shape (p,). The error of a ridge bounds the norms of the residuals of its columns, round-off
    included; it is infinite if a system is not solved, and 0 if it is solved as by `RidgeSystem`,
    with the round-off of a fit.

    A Krylov space for each column of B serves all ridges. If its steps for the smallest ridges cost
    more than the cheaper one of two other methods, these are left to that one: residuals times the
    inverse of K + s I for one ridge s, factored in single precision; or `ridge_solutions`, which
    also solves those below `SMALLEST`.
    """
    n, k = B.shape
    n_ridges = len(ridges)
    product = symmetric_product(K)
    row_sums = np.empty(n)
    product(np.ones(n), row_sums)
    least_norm = float(row_sums.mean())
    largest_norm = float(row_sums.max()) if norm is None else norm
    plan = _choose_solvers(n, k, ridges, least_norm)
    spaces = [KrylovSpace(product, b, ridges, least_norm) for b in B.T]
    n_small = _grow_spaces(spaces, plan, solvers)
    small = ridges[:n_small]
    large = ridges[n_small:]

    # The spaces solve the systems of the large ridges. The lengths of their residuals are in units
    # of the allowed ones.
    solutions = np.empty((n_ridges, k, n))
    errors = np.empty((n_ridges, k))
    for column, space in enumerate(spaces):
        space.solve(_always, n_small)
        large_solutions = space.solutions(large)
        solutions[n_small:, column] = large_solutions.T
        errors[:, column] = space.lengths * space.allowed
    if len(large):
        solvers["krylov"] += len(large)

    # The other method solves those of the small ones.
    if n_small and plan.inverts:
        by_inverse, residuals = _solve_by_inverse(K, spaces, small)
        solutions[:n_small] = by_inverse
        errors[:n_small] = residuals
        solvers["inverse"] += n_small
    elif n_small:
        direct = ridge_solutions(K, B, small, solvers, overwrite=True)
        solutions[:n_small] = direct.T.reshape(n_small, k, n)

    # The round-off of the residuals counts, except for a direct solution.
    lengths = np.linalg.norm(solutions, axis=2)
    errors += iterated_round_off(lengths, ridges, largest_norm)
    target_lengths = np.linalg.norm(B, axis=0)
    is_solved = errors <= 2 * LOOSEST * target_lengths
    errors[~is_solved] = np.inf
    if not plan.inverts:
        errors[:n_small] = 0.0
    side_by_side = solutions.reshape(-1, n).T
    return side_by_side, errors.max(axis=1)


class _SolverPlan(NamedTuple):
    """The solvers of ascending ridges, chosen by their estimated times.

    Attributes
    ----------
    n_small : int
        Number of the smallest ridges that the other method solves, however fast the Krylov spaces
        converge.
    n_direct : int
        Number of those among them that are too small for any iteration.
    n_near : int
        Number of the smallest ridges that one inverse would serve.
    inverts : bool
        True if the other method is an inverse in single precision, False if it is direct.
    seconds : float
        Estimated time of the other method for each column of the right-hand sides.
    """

    n_small: int
    n_direct: int
    n_near: int
    inverts: bool
    seconds: float

    def continues(self, space: KrylovSpace) -> bool:
        """Return True if the further steps of a Krylov space take less time than the other method.

        The other method is an inverse or a direct solution, see `inverts`. The number of steps is
        estimated from the residuals so far, by `steps_left`.
        """
        n = len(space.b)
        n_left = steps_left(space.logs)
        total = space.steps + n_left
        total_seconds = krylov_seconds(n, total)
        past_seconds = krylov_seconds(n, space.steps)
        remaining = total_seconds - past_seconds
        return remaining < self.seconds


def _choose_solvers(n: int, k: int, ridges: Array, least_norm: float) -> _SolverPlan:
    """Choose solvers of n equations with k right-hand sides for all ridges, by estimated times.

    `ridges`: ascending, of shape (p,). `least_norm` is a lower estimate of the norm of K.
    """
    n_ridges = len(ridges)
    is_tiny = ridges < SMALLEST * least_norm
    is_near = ridges <= _WIDEST * ridges[0]
    n_direct = int(is_tiny.sum())
    n_near = int(is_near.sum())
    by_inverse = math.inf if n_direct else k * inverse_seconds(n, n_near)
    by_reduction = reduction_seconds(n, n_ridges, k)
    by_factor = factor_seconds(n, k)
    directly = min(by_reduction, n_ridges * by_factor)
    inverts = by_inverse <= directly
    seconds = min(by_inverse, directly) / k
    # One reduction serves all ridges, so none is left to an iteration if the few direct ones pay
    # for it.
    tries_krylov = inverts or krylov_seconds(n, LOOK) < seconds
    is_paid = n_direct > 0 and n_direct * by_factor >= by_reduction
    iterates = tries_krylov and not is_paid
    return _SolverPlan(
        n_small=n_direct if iterates else n_ridges,
        n_direct=n_direct,
        n_near=n_near,
        inverts=inverts,
        seconds=seconds,
    )


def _grow_spaces(
    spaces: list[KrylovSpace], plan: _SolverPlan, solvers: Counter[str]
) -> int:
    """Take steps in Krylov spaces as far as a plan allows; return the number of ridges left over.

    These are the smallest ridges, whose systems the other method of the plan solves. The `spaces`,
    one for each right-hand side, are changed in place. `solvers` counts "krylov given up" once if a
    space stops before its systems are solved.
    """
    n_small = plan.n_small
    for space in spaces:
        if plan.inverts:
            space.solve(_always, plan.n_near)
        tries_all = n_small == plan.n_direct
        if tries_all and not space.solve(plan.continues, plan.n_direct):
            solvers["krylov given up"] += 1
            is_solved = space.lengths <= 1
            n_unsolved = int((~is_solved).sum())
            n_small = max(plan.n_direct, n_unsolved)
    return n_small


def _always(space: KrylovSpace) -> bool:
    """Return True: a space grows until its systems are solved."""
    return True


def _solve_by_inverse(
    K: Array, spaces: list[KrylovSpace], ridges: Array
) -> tuple[Array, Array]:
    """Solve the systems (K + r I) z = b of ascending ridges r by one inverse in single precision.

    `spaces`: the Krylov space of each of the k right-hand sides b; it is not changed. Each step
    widens a copy of the space by a residual times the inverse of K + s I. The ridge s is a weighted
    geometric mean, because larger ridges need fewer steps. Return the solutions, of shape
    (n_ridges, k, n), and the norms of their residuals, of shape (n_ridges, k), infinite if a system
    is not solved.
    """
    n = len(K)
    n_ridges = len(ridges)
    n_columns = len(spaces)
    smallest = ridges[0]
    largest = ridges[-1]
    shared_ridge = smallest**0.6 * largest**0.4
    inverse = _single_inverse(K, shared_ridge)
    solutions = np.empty((n_ridges, n_columns, n))
    errors = np.empty((n_ridges, n_columns))
    max_steps = _MOST * n_ridges
    for column, space in enumerate(spaces):
        # Each column of the right-hand sides has a space.
        shared = SharedSpace(space, max_steps)
        lengths = shared.solve(ridges, inverse)
        column_solutions = shared.solutions(ridges)
        errors[:, column] = lengths
        solutions[:, column] = column_solutions.T
    return solutions, errors


def _single_inverse(K: Array, ridge: float) -> Callable[[Array], Array]:
    """Return a function that multiplies a vector by an approximate inverse of K + ridge I.

    The matrix is factored in single precision. If it is not positive definite in that precision, n
    times the machine precision is added to its diagonal, and ten times more until it is: the factor
    is only a preconditioner.
    """
    added = ridge
    jitter = len(K) * float(np.finfo(np.float32).eps)
    info = 1
    while info:
        square = K.astype(np.float32)
        np.fill_diagonal(square, K.diagonal() + added)
        factor, info = spotrf(square, lower=1, clean=0, overwrite_a=1)
        added = ridge + jitter
        jitter = 10 * jitter

    def product(b: Array) -> Array:
        """Return (K + ridge I)^-1 b in double precision, with the error of the single one."""
        scale = math.sqrt(b @ b) or 1.0
        # Two triangular solves with a vector run at the bandwidth of memory, unlike LAPACK's
        # blocked solver.
        forward = strsv(factor, (b / scale).astype(np.float32), lower=1)
        return (
            np.asarray(strsv(factor, forward, lower=1, trans=1), dtype=np.float64)
            * scale
        )

    return product


def symmetric_product(A: Array) -> Callable[[Array, Array], None]:
    """Return a function of v and w that writes A v over w, both of shape (n,).

    It reads one half of A, which is symmetric and in Fortran order.
    """
    if len(A) >= COMPILED_FROM:
        return lambda v, w: run_compiled(multiply, A.T, v, w)
    return lambda v, w: dsymv(1.0, A, v, beta=0.0, y=w, lower=1, overwrite_y=1)
