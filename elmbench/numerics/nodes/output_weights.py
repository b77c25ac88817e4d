"""Networks that share their hidden nodes: output weights and outputs, for many numbers of nodes and ridges."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.nodes.cholesky import LeadingCholesky, leading_norm
from elmbench.numerics.nodes.gram import gram_of_outputs, outer_gram, outer_grams, transposed_product
from elmbench.numerics.nodes.hidden_layer import Nodes, layer_blocks, padded
from elmbench.numerics.shifted.all_ridges import RESIDUAL, residuals, solve_shifted
from elmbench.numerics.solve import RidgeSystem, mirror

_COLUMNS = 96
"""Columns of output weights that are worth a product with hidden outputs of their own."""


@dataclass(frozen=True)
class Solved:
    """What some of the networks that were asked for yield for other rows.

    Attributes
    ----------
    networks : list of int
        Which ones, p in all.
    outputs : ndarray of shape (n_probe, p * k)
        The k columns of the first one, then those of the second, ...
    close, slack : ndarray of shape (p,)
        Whether they are those of `output_weights` to `elmbench.numerics.shifted.all_ridges.RESIDUAL`, as there. What an
        output may be off, over the norm of the hidden outputs that it is of.
    exact : callable
        From a position in `networks` to the output weights as `output_weights` returns them, to the last bit. Valid
        until the next result.
    """

    networks: list[int]
    outputs: Array
    close: NDArray[np.bool_]
    slack: Array
    exact: Callable[[int], Array]


def output_weights(X: Rows, T: Array, nodes: Nodes, ridge: float) -> tuple[Array, float]:
    """Return the output weights of one network, of shape (L, k), and the condition of the system that gives them.

    With n rows and L nodes, the smaller of two: beta = (H'H + ridge I)^-1 H'T if L <= n, else H'(HH' + ridge I)^-1 T,
    eq. (3) of Scardapane et al. X is of shape (n, d), dense or CSR, and the targets T of shape (n, k).
    """
    size = len(nodes)
    if size > X.shape[0]:
        H = nodes.outputs(X)
        system = RidgeSystem(outer_gram(H), ridge)
        return transposed_product(H, system.solve(T))[:size], system.condition
    gram, moments = gram_of_outputs(lambda rows: nodes.outputs(X[rows]), T, size)
    norm = leading_norm(gram, size, ridge)
    factor = LeadingCholesky(gram, ridge, moments)
    if factor.grow(size):
        return factor.solution(size), factor.condition(size, norm)
    system, rows = factor.system(size)
    return system.solve(rows), system.condition


def many_outputs(
    X: Rows, T: Array, nodes: Nodes, networks: list[tuple[int, float]], probes: list[Array], solvers: Counter[str]
) -> Iterator[Solved]:
    """Yield the outputs of several networks from one draw of hidden nodes, each network in one of the results.

    Up to as many nodes as rows: H'H is computed once, and one Cholesky factor a ridge serves all of them. Beyond: HH'
    is carried on from one number of nodes to the next, and one reduction of it serves all ridges.

    X, of shape (n, d), dense or CSR, and T, of shape (n, k), are training rows and targets; the nodes are those of the
    largest network, L in all; the networks are numbers of nodes and ridges. The probes, of shape (any, L), are the
    hidden outputs of the rows that outputs are for, in blocks. The way of solving is counted in `solvers`, once a
    network: "leading cholesky", "cholesky" or "reduction".
    """
    n = X.shape[0]
    primal = [i for i, (size, _) in enumerate(networks) if size <= n]
    dual = [i for i, (size, _) in enumerate(networks) if size > n]
    H = nodes.outputs(X) if dual else None
    if primal:
        largest = max(networks[i][0] for i in primal)
        if H is not None and next(layer_blocks(n)).stop == n:
            gram, moments = gram_of_outputs(H.__getitem__, T, largest)
        else:  # to the last bit, the outputs of a block of rows are not those of the block in a larger product
            few = nodes.first(largest)
            gram, moments = gram_of_outputs(lambda rows: few.outputs(X[rows]), T, largest)
        yield from _by_leading_blocks(gram, moments, networks, primal, probes, solvers)
    if H is not None:
        yield from _by_rows(H, T, networks, dual, probes, solvers)


def _by_leading_blocks(
    gram: Array,
    moments: Array,
    networks: list[tuple[int, float]],
    members: list[int],
    probes: list[Array],
    solvers: Counter[str],
) -> Iterator[Solved]:
    """Solve leading systems of H'H + ridge I, exactly as `output_weights`; several ridges are yielded together."""
    ordered = sorted(members, key=lambda i: (networks[i][1], networks[i][0]))
    work, k = np.empty_like(gram), moments.shape[1]
    step = max(1, _COLUMNS // k)
    factor, last = None, None
    for start in range(0, len(ordered), step):
        some = ordered[start : start + step]
        weights = np.zeros((max(networks[i][0] for i in some), len(some) * k), order="F")
        for j, i in enumerate(some):
            size, ridge = networks[i]
            if factor is None or ridge != last:
                np.copyto(work, gram)
                factor, last = LeadingCholesky(work, ridge, moments), ridge
            sound = factor.grow(size)
            solvers["leading cholesky" if sound else "cholesky"] += 1
            if sound:
                solution = factor.solution(size)
            else:
                system, rows = factor.system(size)
                solution = system.solve(rows)
            weights[:size, j * k : (j + 1) * k] = solution
        yield _exactly_solved(some, weights, [networks[i][0] for i in some], k, probes)


def _exactly_solved(members: list[int], weights: Array, sizes: list[int], k: int, probes: list[Array]) -> Solved:
    """Return the outputs of networks whose weights are known: zero from the number of its nodes on."""
    # What is left is the order of summation in the product of so many hidden outputs with them.
    norms = np.sqrt(np.einsum("ij,ij->j", weights, weights)).reshape(len(sizes), k).max(axis=1)
    return Solved(
        members,
        np.concatenate([probe[:, : len(weights)] @ weights for probe in probes]),
        np.ones(len(sizes), dtype=bool),
        2 * EPS * np.array(sizes) * norms,
        lambda i: weights[: sizes[i], i * k : (i + 1) * k],
    )


@dataclass(frozen=True)
class _RowSystems:
    """(HH' + r I) Z = T for the first `size` nodes and some ridges r, given the lower triangle of HH'."""

    outer: Array
    H: Array
    T: Array
    size: int
    ridges: Array
    work: Array
    solvers: Counter[str]

    def weights(self, i: int) -> Array:
        """Return the output weights of one ridge by a factorisation, to the last bit those of `output_weights`."""
        self.solvers["cholesky"] += 1
        np.copyto(self.work, self.outer)
        mirror(self.work)
        solution = RidgeSystem(self.work, float(self.ridges[i])).solve(self.T)
        return transposed_product(self.H[:, : padded(self.size)], solution)[: self.size]


def _by_rows(
    H: Array,
    T: Array,
    networks: list[tuple[int, float]],
    members: list[int],
    probes: list[Array],
    solvers: Counter[str],
) -> Iterator[Solved]:
    """Solve (HH' + r I) Z = T for all ridges of each number of nodes; of probes P the outputs are PH'Z."""
    n = len(H)
    work = np.empty((n, n), order="F")
    crosses, done = [np.zeros((len(probe), n)) for probe in probes], 0
    for size, outer in outer_grams(H, sorted({networks[i][0] for i in members})):
        for cross, probe in zip(crosses, probes, strict=True):
            cross += probe[:, done:size] @ H[:, done:size].T
        done = size
        own = [i for i in members if networks[i][0] == size]
        ridges = np.array([networks[i][1] for i in own])
        systems = _RowSystems(outer, H, T, size, ridges, work, solvers)
        # The eigenvalues of HH' spread over ten orders of magnitude and more.
        Z = solve_shifted(outer, T, ridges, work, solvers, try_lanczos=False)
        if Z is None:
            weights = np.hstack([systems.weights(i) for i in range(len(ridges))])
            yield _exactly_solved(own, weights, [size] * len(ridges), T.shape[1], probes)
            continue
        off = residuals(dsymm(1.0, outer, Z, lower=1), Z, T, ridges)
        lengths = (np.maximum(off, 4 * EPS) * np.linalg.norm(T, axis=0)).max(axis=1)
        # |h'H'(HH' + r I)^-1 e| is at most |h| |e| / sqrt(r). Four times that, as a factorisation has round-off too.
        slack = 4 * lengths / np.sqrt(ridges)
        # The product PH' has round-off too, of at most `size` roundings of |h| |H|, which weigh as much as |Z|.
        norms = np.sqrt(np.einsum("ij,ij->j", Z, Z)).reshape(len(ridges), -1).max(axis=1)
        slack += 2 * EPS * np.sqrt(size * np.einsum("ii->", outer)) * norms
        outputs = np.concatenate([cross @ Z for cross in crosses])
        yield Solved(own, outputs, off.max(axis=1) <= RESIDUAL, slack, systems.weights)
