"""Networks that share their hidden nodes: output weights for many numbers of nodes and ridges."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.lapack import add_gram
from elmbench.numerics.nodes.hidden_layer import Nodes, layer_blocks
from elmbench.numerics.ridge_path import ridge_solutions
from elmbench.numerics.rows import Rows, scaled_rows
from elmbench.numerics.solve import RidgeSystem, mirror

TOGETHER = 128
"""Networks whose weights are yielded as one matrix at least: a product with few columns runs at the pace of memory."""


def output_weights(
    X: Rows, T: Array, nodes: Nodes, ridge: float, scale: Array | None = None
) -> tuple[Array, RidgeSystem]:
    """Return the output weights of one network, of shape (L, k), and the system that they solve.

    With n rows and L nodes, the smaller of two: beta = (H'H + ridge I)^-1 H'T if L <= n, else H'(HH' + ridge I)^-1 T,
    eq. (3) of Scardapane et al. X is of shape (n, d), dense or CSR, and the targets T of shape (n, k). With a `scale` S
    of the rows, S H and S T replace H and T.
    """
    T = scaled_rows(T, scale)
    if len(nodes) > X.shape[0]:
        H = _hidden(X, nodes, scale)
        system = RidgeSystem(H @ H.T, ridge)
        return H.T @ system.solve(T), system
    gram, moments = _normal_equations(X, T, nodes, scale)
    system = RidgeSystem(gram, ridge)
    return system.solve(moments), system


def many_weights(
    X: Rows,
    T: Array,
    nodes: Nodes,
    networks: list[tuple[int, float]],
    solvers: Counter[str],
    scale: Array | None = None,
) -> Iterator[tuple[list[int], Array]]:
    """Yield the output weights of several networks from one draw of hidden nodes, each network in one of the results.
    For networks with at most as many nodes as rows, H'H is computed once, and one Cholesky factor for each ridge serves
    all of them. For larger ones, HH' is extended from one number of nodes to the next, and one reduction of it serves
    all ridges.

    `nodes` are those of the largest network, `networks` numbers of nodes and ridges; X, T and scale are as in
    `output_weights`. `solvers` counts the method of each network: "leading cholesky", "cholesky", "reduction" or
    "eigenvalues". Yields the positions of p networks, and their weights of shape (L, p * k), the k columns of the first
    network first, for the L nodes of the largest: zero beyond the nodes of each.
    """
    T = scaled_rows(T, scale)
    by_ridge: dict[float, list[int]] = {}
    by_size: dict[int, list[int]] = {}
    for i, (size, ridge) in enumerate(networks):
        if size <= X.shape[0]:
            by_ridge.setdefault(ridge, []).append(i)
        else:
            by_size.setdefault(size, []).append(i)
    if by_ridge:
        largest = max(networks[i][0] for positions in by_ridge.values() for i in positions)
        gram, moments = _normal_equations(X, T, nodes.first(largest), scale)
        together: list[int] = []
        columns: list[Array] = []
        for number, (ridge, positions) in enumerate(by_ridge.items(), 1):
            together += positions
            columns.append(_leading_weights(gram, moments, [networks[i][0] for i in positions], ridge, solvers))
            if len(together) >= TOGETHER or number == len(by_ridge):
                yield together, np.hstack(columns)
                together, columns = [], []
    if by_size:
        H = _hidden(X, nodes, scale)
        gram, done = np.zeros((len(T), len(T)), order="F"), 0
        for size, positions in sorted(by_size.items()):
            add_gram(gram, H[:, done:size].T)
            mirror(gram)
            done = size
            Z = ridge_solutions(gram, T, np.array([networks[i][1] for i in positions]), solvers)
            yield positions, H[:, :size].T @ Z


def _hidden(X: Rows, nodes: Nodes, scale: Array | None) -> Array:
    """Return the hidden outputs, their rows times a scale if there is one."""
    H = nodes.outputs(X)
    if scale is not None:
        H *= scale[:, np.newaxis]
    return H


def _normal_equations(X: Rows, T: Array, nodes: Nodes, scale: Array | None) -> tuple[Array, Array]:
    """Return H'H, in Fortran order, and H'T, from blocks of `ROW_BLOCK` rows of the hidden outputs H."""
    gram, moments = np.zeros((len(nodes), len(nodes)), order="F"), np.zeros((len(nodes), T.shape[1]))
    for rows in layer_blocks(len(T)):
        H = _hidden(X[rows], nodes, None if scale is None else scale[rows])
        add_gram(gram, H)
        moments += H.T @ T[rows]
    mirror(gram)
    return gram, moments


def _leading_weights(gram: Array, moments: Array, sizes: list[int], ridge: float, solvers: Counter[str]) -> Array:
    """Solve leading systems of H'H + ridge I, all by the factor of the largest one that has a factor."""
    k = moments.shape[1]
    weights = np.zeros((len(gram), len(sizes) * k), order="F")
    descending = sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)
    for number, position in enumerate(descending):
        size = sizes[position]
        system = RidgeSystem(np.array(gram[:size, :size], order="F"), ridge)
        if system.by_cholesky:
            solved, method = descending[number:], "leading cholesky"
            solutions = list(system.solve_leading(moments[:size], [sizes[i] for i in solved]))
        else:
            solved, method = [position], "eigenvalues"
            solutions = [system.solve(moments[:size])]
        for i, solution in zip(solved, solutions, strict=True):
            weights[: sizes[i], i * k : (i + 1) * k] = solution
        solvers[method] += len(solved)
        if system.by_cholesky:
            break
    return weights
