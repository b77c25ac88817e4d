"""Output weights of hidden nodes: by ridges or the pseudo-inverse, for many numbers of nodes, and
in blocks of rows.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, qr_multiply, solve_triangular
from scipy.linalg.lapack import dtrcon, dtrtrs

from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.nodes.hidden_layer import layer_blocks
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.solve import (
    RidgeSystem,
    add_gram,
    mirror,
    normal_equations,
    scaled_rows,
)

Layer = Callable[[Rows], Array]
"""A hidden layer: from rows, dense or CSR, to new arrays with the outputs of its nodes, of shape
(n, L).
"""


class Network(NamedTuple):
    """The first hidden nodes of a layer with a ridge.

    Attributes
    ----------
    size : int
        Number of nodes.
    ridge : float
    """

    size: int
    ridge: float


def output_weights(
    X: Rows, T: Array, layer: Layer, size: int, ridge: float, scale: Array | None = None
) -> tuple[Array, RidgeSystem]:
    """Return the output weights of a network with `size` nodes, and the system that they solve.

    The weights are of shape (L, k) for L = `size`. With n rows, the smaller of two systems is
    solved: beta = (H'H + ridge I)^-1 H'T if L <= n, else H'(HH' + ridge I)^-1 T, eq. (3) of
    Scardapane et al. X is of shape (n, d), the targets T of shape (n, k). `layer` maps rows to the
    outputs of L nodes or more, of which H holds the first L. `scale`: the square roots of the
    weights of the rows, of shape (n,), which multiply H and T; None if all are 1.
    """
    n_rows = X.shape[0]
    if size <= n_rows:
        # (H'H + ridge I)^-1 H'T.
        gram, moments = _layer_equations(X, T, layer, size, scale)
        system = RidgeSystem(gram, ridge)
        return system.solve(moments), system
    # H'(HH' + ridge I)^-1 T.
    H = scaled_rows(layer(X)[:, :size], scale)
    targets = scaled_rows(T, scale)
    system = RidgeSystem(H @ H.T, ridge)
    Z = system.solve(targets)
    return H.T @ Z, system


def many_weights(
    X: Rows,
    T: Array,
    layer: Layer,
    networks: list[Network],
    solvers: Counter[str],
    scale: Array | None = None,
) -> Iterator[tuple[list[int], Array]]:
    """Yield the output weights of several networks from one draw of hidden nodes.

    Yields the positions of p networks in `networks`, each in one of the results, and their weights
    of shape (L, p * k), where L is at least the largest of their numbers of nodes. The k columns of
    the first network come first; they are zero beyond the nodes of each.

    For networks with at most as many nodes as rows, H'H is computed once, and one Cholesky factor
    for each ridge serves all of them. For larger ones, HH' is extended from one number of nodes to
    the next, for all ridges.

    `layer` maps rows to the outputs of the nodes of the largest network. `solvers`, changed in
    place, counts the method of each network, such as "leading cholesky" or "eigenvalues". `scale`:
    the square roots of the weights of the rows, of shape (n,); None if all are 1.
    """
    n_rows = X.shape[0]
    by_ridge, by_size = _group_networks(networks, n_rows)
    if by_ridge:
        # H'H of the largest of them, and one Cholesky factor for each ridge.
        narrow = [network for network in networks if network.size <= n_rows]
        largest = max(network.size for network in narrow)
        gram, moments = _layer_equations(X, T, layer, largest, scale)
        for ridge, positions in by_ridge.items():
            sizes = [networks[i].size for i in positions]
            weights = _leading_weights(gram, moments, sizes, ridge, solvers)
            yield positions, weights
    if by_size:
        # HH' of one size after the other, with all of their ridges.
        ridges = {}
        for size, positions in by_size.items():
            ridges[size] = np.array([networks[i].ridge for i in positions])
        H = scaled_rows(layer(X), scale)
        targets = scaled_rows(T, scale)
        for size, weights in _wide_weights(H, targets, ridges, solvers):
            yield by_size[size], weights


def _group_networks(
    networks: list[Network], n_rows: int
) -> tuple[dict[float, list[int]], dict[int, list[int]]]:
    """Return the positions of the networks in two dictionaries, by ridge and by number of nodes.

    The first one has the networks with at most `n_rows` nodes, as {ridge: positions}; the second
    one the larger ones, as {number of nodes: positions}.
    """
    by_ridge: dict[float, list[int]] = {}
    by_size: dict[int, list[int]] = {}
    for i, network in enumerate(networks):
        if network.size <= n_rows:
            positions = by_ridge.setdefault(network.ridge, [])
        else:
            positions = by_size.setdefault(network.size, [])
        positions.append(i)
    return by_ridge, by_size


def _wide_weights(
    H: Array, T: Array, ridges: dict[int, Array], solvers: Counter[str]
) -> Iterator[tuple[int, Array]]:
    """Yield each number of leading nodes, ascending, and H'(HH' + r I)^-1 T for its ridges r.

    `H`: outputs of all nodes, of shape (n, L). `T`: targets, of shape (n, k). `ridges`: {number of
    nodes: its p ridges}. The weights are of shape (size, p * k), the k columns of the first ridge
    first. `solvers`, changed in place, counts the method of each ridge.
    """
    n_rows = len(T)
    gram = np.zeros((n_rows, n_rows), order="F")
    width = 0
    for size in sorted(ridges):
        # HH' of more nodes is that of the nodes so far plus that of the further ones.
        further = H[:, width:size]
        add_gram(gram, further.T)
        mirror(gram)
        width = size
        Z = ridge_solutions(gram, T, ridges[size], solvers)
        nodes = H[:, :size]
        yield size, nodes.T @ Z


def _layer_equations(
    X: Rows, T: Array, layer: Layer, size: int, scale: Array | None
) -> tuple[Array, Array]:
    """Return H'H and H'T for the outputs H of the first `size` nodes, from blocks of rows.

    They are of shape (size, size) and (size, k). `layer` maps rows to the outputs of `size` nodes
    or more. `scale`, of shape (n,), multiplies the rows of H and T; None for no scale.
    """
    blocks = ((rows, 0, layer(X[rows])[:, :size]) for rows in layer_blocks(len(T)))
    (equations,) = normal_equations(blocks, 1, size, T, scale)
    return equations


def _leading_weights(
    gram: Array, moments: Array, sizes: list[int], ridge: float, solvers: Counter[str]
) -> Array:
    """Return the output weights of p networks of leading nodes with one ridge.

    `gram` is H'H of all L nodes, and `moments` H'T, of shape (L, k). `sizes`: the number of nodes
    of each network, in any order. The result is of shape (L, p * k), the k columns of the first
    network first, zero beyond the nodes of each. The factor of the largest system that has a
    Cholesky factor solves all smaller ones; eigenvalues solve the larger ones. `solvers`, changed
    in place, counts "leading cholesky" or "eigenvalues" for each network.
    """
    n_nodes, k = moments.shape
    n_networks = len(sizes)
    weights = np.zeros((n_nodes, n_networks, k))
    # From the largest to the smallest network.
    negative_sizes = [-size for size in sizes]
    descending = np.argsort(negative_sizes, kind="stable").tolist()
    for number, position in enumerate(descending):
        # The first nodes have the leading parts of H'H and H'T.
        size = sizes[position]
        leading = np.array(gram[:size, :size], order="F")
        leading_moments = moments[:size]
        system = RidgeSystem(leading, ridge, needs_condition=False)
        if system.by_cholesky:
            # Its factor serves the smaller systems, too.
            rest = descending[number:]
            rest_sizes = [sizes[i] for i in rest]
            n_rest = len(rest)
            Z = system.solve_leading(leading_moments, rest_sizes)
            weights[:size, rest] = Z.reshape(size, n_rest, k)
            solvers["leading cholesky"] += n_rest
            break
        weights[:size, position] = system.solve(leading_moments)
        solvers["eigenvalues"] += 1
    return weights.reshape(n_nodes, -1)


def leading_solutions(
    H: Array, T: Array, sizes: list[int], cutoff: float
) -> Iterator[tuple[int, Array, float]]:
    """Yield the least-squares solution of least norm for each number of leading columns of H.

    That is the pseudo-inverse of the leading columns times `T`. H is of shape (n, L), T of shape
    (n, k); `sizes` ascend. Yields the number of columns, the solution, of shape (size, k), and the
    condition of the inverted matrix, infinite if there is none. The numbers above n come first. H
    is overwritten if it is in Fortran order.

    Up to as many columns as rows, one QR decomposition serves all: the pseudo-inverse of l columns
    is that of the leading triangle of R, times the leading rows of Q'T. For more columns than rows,
    the transposed matrix is decomposed for each number. The triangle is solved by substitution,
    unless a singular value is below `cutoff` times the largest one and counts as zero.
    """
    n_rows = len(T)
    tall = [size for size in sizes if size <= n_rows]
    wide = sizes[len(tall) :]
    for size in wide:  # before any column is overwritten
        # With H' = QR, the solution is Q R'^+ T.
        transposed = H[:, :size].T
        Q, R = qr(transposed, mode="economic", check_finite=False)
        Z, condition = _pseudo_solve(R, T, cutoff, transposed=True)
        yield size, Q @ Z, condition
    if not tall:
        return
    # With H = QR, it is R^+ Q'T.
    columns = H[:, : tall[-1]]
    rotated, R = qr_multiply(columns, T.T, mode="right", overwrite_a=True)
    moments = rotated.T
    for size in tall:
        triangle = R[:size, :size]
        leading_moments = moments[:size]
        solution, condition = _pseudo_solve(triangle, leading_moments, cutoff)
        yield size, solution, condition


def _pseudo_solve(
    R: Array, B: Array, cutoff: float, *, transposed: bool = False
) -> tuple[Array, float]:
    """Return the pseudo-inverse of an upper triangular R times B, and a condition number.

    With `transposed`, R' replaces R. Singular values up to `cutoff` times the largest one count as
    zero. The condition is that of the matrix without them, an estimate if there are none: infinite,
    with a zero solution, if all count as zero.
    """
    n_columns = len(R)
    reciprocal, _ = dtrcon(R)
    # The condition in the 2-norm is at most the number of columns times that in the 1-norm.
    if reciprocal > n_columns * cutoff:
        solution, _ = dtrtrs(R, B, trans=int(transposed))
        condition = 1.0 / reciprocal
        return solution, condition
    # V s^+ U'B of the singular value decomposition, without the small values.
    matrix = R.T if transposed else R
    U, values, V = np.linalg.svd(matrix)
    largest = values[0]
    is_selected = values > cutoff * largest
    rank = int(is_selected.sum())
    if rank == 0:
        return np.zeros_like(B), np.inf
    selected = values[:rank]
    left = U[:, :rank]
    right = V[:rank]
    coordinates = left.T @ B
    coordinates /= selected[:, np.newaxis]
    solution = right.T @ coordinates
    condition = float(largest / selected[-1])
    return solution, condition


# --- Recursive least squares: P = (H'H)^-1 and the output weights of a growing set of rows


def pseudo_inverse_of_gram(H: Array) -> Array:
    """Return pinv(H'H), of shape (L, L) and exactly symmetric, for H of shape (n, L).

    It is pinv(H) pinv(H)', and replaces the inverse in eq. (5) of Scardapane et al., which does not
    exist for fewer rows than nodes. A singular value of H counts as zero up to max(n, L) eps times
    the largest, as in MATLAB's ``pinv(H)``. The same rule for H'H would drop more of H, and with it
    the instability that the paper reports for Calhousing.
    """
    # V s^-2 V' of the singular value decomposition H = U s V', without the small values.
    _, values, rows = np.linalg.svd(H, full_matrices=False)
    round_off = max(H.shape) * EPS
    largest = values[0]
    is_selected = values > round_off * largest
    selected_values = values[is_selected]
    directions = rows[is_selected].T
    # V / s, whose product with its transpose is exactly symmetric.
    scaled = directions / selected_values
    half = np.ascontiguousarray(scaled)
    return half @ half.T


def update_as_printed(P: Array, beta: Array, H: Array, T: Array) -> tuple[Array, Array]:
    """Return P and the output weights after one block of rows, by eqs. (7) and (8) as printed.

    P = (H'H)^-1 of all rows so far is of shape (L, L), `beta` (L, k). `H` are the outputs of the
    nodes for the b rows of the block, (b, L), and `T` their targets, (b, k). Both results are new
    arrays. Nothing keeps P symmetric or positive definite: if it is ill-conditioned, its asymmetry
    by round-off grows from block to block and the weights diverge until they are not finite, as
    Scardapane et al. report for Calhousing.
    """
    with np.errstate(all="ignore"):
        # Eq. (7): P - P H' (I + H P H')^-1 H P.
        HP = H @ P
        inner = HP @ H.T
        diagonal = np.einsum("ii->i", inner)
        diagonal += 1.0
        try:
            gain = np.linalg.solve(inner, HP)
        except np.linalg.LinAlgError:  # singular to the last bit
            gain = np.full_like(HP, np.nan)
        P = P - HP.T @ gain
        # Eq. (8): beta + P H' (T - H beta).
        errors = T - H @ beta
        change = P @ (H.T @ errors)
        return P, beta + change


def update_symmetric(P: Array, beta: Array, H: Array, T: Array) -> tuple[Array, Array]:
    """Return P and the output weights after one block of rows, in a form that keeps P symmetric.

    P = (H'H)^-1 of all rows so far is of shape (L, L), `beta` (L, k). `H` are the outputs of the
    nodes for the b rows of the block, (b, L), and `T` their targets, (b, k). Both results are new
    arrays. The step is that of eqs. (7) and (8) of Scardapane et al.: with the Cholesky factor U'U
    = I + HPH' and W = U'^-1 HP, the new P is P - W'W. If I + HPH' is not positive definite within
    round-off, the step is that of `update_as_printed`.
    """
    HP = H @ P
    inner = HP @ H.T
    diagonal = np.einsum("ii->i", inner)
    diagonal += 1.0
    try:
        factor = cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return update_as_printed(P, beta, H, T)
    W = solve_triangular(factor, HP, lower=True, overwrite_b=True, check_finite=False)
    P = P - W.T @ W
    # Eq. (8).
    errors = T - H @ beta
    change = P @ (H.T @ errors)
    return P, beta + change
