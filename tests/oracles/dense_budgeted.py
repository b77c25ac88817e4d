"""Budgeted stochastic gradient descent written densely from its formulas, with the weights shrunk at every step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from dense_online import kernel


@dataclass
class Dense:
    """Support vectors X, their weights W (a column an output), and the steps at which each joined."""

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
    """Return the state after a row, before any maintenance: eqs. (3) and (4) and, for classes, section 5."""
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
            X, W, born = np.vstack([X, x]), np.vstack([W, gain / (ridge * t)]), [*born, t]
    return Dense(X, W, born, t)


def least(state):
    """Return the support vectors with the shortest weights, but for round-off, the oldest first."""
    lengths = np.linalg.norm(state.W, axis=1)
    near = np.flatnonzero(lengths <= lengths.min() * (1 + 1e-12))
    return near[np.argsort(np.array(state.born)[near], kind="stable")]


def without(state, a, W=None):
    keep = np.arange(len(state.X)) != a
    return Dense(state.X[keep], (state.W if W is None else W)[keep], list(np.array(state.born)[keep]), state.t)


def projected(state, a, gamma):
    """Return the state whose weight vector is nearest among those without support vector `a`."""
    rest = np.arange(len(state.X)) != a
    K = kernel(state.X, state.X, gamma)
    W = state.W.copy()
    W[rest] = np.linalg.lstsq(K[np.ix_(rest, rest)], K[rest] @ state.W, rcond=1e-12)[0]
    return without(state, a, W)
