"""The online models in dense algebra from their formulas: each row solves everything again."""

from dataclasses import dataclass, field

import numpy as np


def kernel(A, B, gamma):
    """Return exp(-gamma |a - b|^2) for all pairs of rows (KOS-ELM paper, eq. (12))."""
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def regularised(D, gamma, C):
    """Return K + I/C on the rows of `D`."""
    return kernel(D, D, gamma) + np.eye(len(D)) / C


def removal_costs(D, T, gamma, C):
    """Return |a_i| / Q_ii for each row (Van Vaerenbergh et al., 2010), the 2-norm over outputs in
    place of | |.
    """
    Q = np.linalg.inv(regularised(D, gamma, C))
    return np.linalg.norm(Q @ T, axis=1) / np.diag(Q)


def squared_distance(D, x, gamma):
    """Return the squared distance of h(x) from the span of the h(d), as a least-squares residual.

    The rows are given coordinates in the feature space by the symmetric square root of their kernel
    matrix, so that no inverse of K is involved.
    """
    points = np.vstack([D, x[None, :]])
    values, vectors = np.linalg.eigh(kernel(points, points, gamma))
    coordinates = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    target = coordinates[:, -1]
    if len(D) == 0:
        return float(target @ target)
    solution = np.linalg.lstsq(coordinates[:, :-1], target, rcond=None)[0]
    return float(np.sum((target - coordinates[:, :-1] @ solution) ** 2))


def dependency(X, T, gamma, threshold, max_atoms=10**9):
    """Return the dictionary's row numbers, the weights, and the least-squares values at the
    dictionary rows.

    Engel et al. (2004): with A the expansion of every row in the dictionary that it met, the
    weights minimise
    |A K alpha - y|^2.
    """
    kept, rows = [], []
    for t in range(len(X)):
        D = X[kept]
        a = (
            np.linalg.solve(kernel(D, D, gamma), kernel(D, X[t : t + 1], gamma)[:, 0])
            if kept
            else np.zeros(0)
        )
        if squared_distance(D, X[t], gamma) > threshold and len(kept) < max_atoms:
            a = np.append(np.zeros(len(kept)), 1.0)
            kept.append(t)
        rows.append(a)
    A = np.zeros((len(X), len(kept)))
    for t, a in enumerate(rows):
        A[t, : len(a)] = a
    values = np.linalg.lstsq(A, T, rcond=None)[0]
    return kept, np.linalg.solve(kernel(X[kept], X[kept], gamma), values), values


@dataclass
class Dense:
    """Support vectors X, their weights W (a column an output), and the steps at which each
    joined.
    """

    X: np.ndarray
    W: np.ndarray
    born: list[int] = field(default_factory=list)
    t: int = 0


def merged(X, W, gamma, h):
    """Return z = h x_0 + (1 - h) x_1, its best weights, and the loss, for two support vectors."""
    z = h * X[0] + (1 - h) * X[1]
    k = kernel(X, z[None], gamma)[:, 0]
    w = k @ W
    return z, w, np.einsum("io,ij,jo->", W, kernel(X, X, gamma), W) - w @ w


def best_merge(X, W, gamma, points=2001):
    """Return the least loss over a fine grid of h, and the h."""
    losses = [merged(X, W, gamma, h)[2] for h in np.linspace(0, 1, points)]
    return min(losses), np.linspace(0, 1, points)[int(np.argmin(losses))]


def norm(X, W, gamma):
    """Return the squared length of the weight vector, summed over the outputs."""
    return float(np.einsum("io,ij,jo->", W, kernel(X, X, gamma), W))


def step(state, x, label, ridge, gamma):
    """Return the state after a row, before any maintenance: eqs. (3) and (4) and, for classes,
    section 5.
    """
    t = state.t + 1
    n_outputs = state.W.shape[1]
    scores = kernel(x[None], state.X, gamma)[0] @ state.W
    gain = np.zeros(n_outputs)
    if n_outputs == 1:
        sign = 2 * label - 1
        violated = sign * scores[0] < 1
        gain[0] = sign
    else:
        rest = [o for o in range(n_outputs) if o != label]
        rival = rest[int(np.argmax(scores[rest]))]
        violated = scores[label] - scores[rival] < 1
        gain[label], gain[rival] = 1, -1
    W = (1 - 1 / t) * state.W
    X, born = state.X, list(state.born)
    if violated:
        same = np.flatnonzero((x == X).all(axis=1))
        if len(same):
            W[same[0]] += gain / (ridge * t)
        else:
            X, W, born = (
                np.vstack([X, x]),
                np.vstack([W, gain / (ridge * t)]),
                [*born, t],
            )
    return Dense(X, W, born, t)


def least(state):
    """Return the support vectors with the shortest weights, but for round-off, the oldest first."""
    lengths = np.linalg.norm(state.W, axis=1)
    near = np.flatnonzero(lengths <= lengths.min() * (1 + 1e-12))
    return near[np.argsort(np.array(state.born)[near], kind="stable")]


def without(state, a):
    keep = np.arange(len(state.X)) != a
    return Dense(
        state.X[keep], state.W[keep], list(np.array(state.born)[keep]), state.t
    )


def scores_of(W, x, t, ridge):
    """Return W x before step t, without the round-off that would tell equal scores apart.

    All features are multiples of 1/8, so ridge (t - 1) W x is one of 1/64.
    """
    unit = 1 / (64 * ridge * max(1, t - 1))
    return np.round((W * x).sum(axis=1) / unit) * unit


def pegasos_step(W, x, label, t, ridge):
    """Return the weights after step t: Fig. 1 of Shalev-Shwartz et al. for one row, else the loss
    of classes.
    """
    scores = scores_of(W, x, t, ridge)
    shrunk = (1 - 1 / t) * W
    if len(W) == 1:
        sign = 2 * label - 1
        return shrunk + (sign * x / (ridge * t) if sign * scores[0] < 1 else 0.0)
    others = np.where(np.arange(len(W)) == label, -np.inf, scores)
    if 1 + others.max() - scores[label] > 0:
        shrunk[label] += x / (ridge * t)
        shrunk[others.argmax()] -= x / (ridge * t)
    return shrunk


def amm_step(W, owners, x, label, t, ridge, limit, own=None):
    """Return weights and their classes after step t; `own` is the weight that the row is assigned
    to, if it is.
    """
    scores = scores_of(W, x, t, ridge)
    mine = np.where(owners == label, scores, -np.inf)
    others = np.where(owners == label, -np.inf, scores)
    grows = own is None and mine.max() <= 0 and (owners == label).sum() < limit
    own = mine.argmax() if own is None else own
    shrunk = (1 - 1 / t) * W
    if 1 + others.max() - scores[own] > 0:
        shrunk[others.argmax()] -= x / (ridge * t)
        if grows:
            return np.vstack([shrunk, x / (ridge * t)]), np.append(owners, label)
        shrunk[own] += x / (ridge * t)
    return shrunk, owners
