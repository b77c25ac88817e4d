"""The online kernel models in dense algebra from their formulas: each row solves everything again."""

from __future__ import annotations

import numpy as np


def kernel(A, B, gamma):
    """Return exp(-gamma |a - b|^2) for all pairs of rows (KOS-ELM paper, eq. (12))."""
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def regularised(D, gamma, C):
    """Return K + I/C on the rows of `D`."""
    return kernel(D, D, gamma) + np.eye(len(D)) / C


def removal_costs(D, T, gamma, C):
    """Return |a_i| / Q_ii for each row (Van Vaerenbergh et al., 2010), the 2-norm over outputs in place of | |."""
    Q = np.linalg.inv(regularised(D, gamma, C))
    return np.linalg.norm(Q @ T, axis=1) / np.diag(Q)


def squared_distance(D, x, gamma):
    """Return the squared distance of h(x) from the span of the h(d), as a least-squares residual.

    The rows are given coordinates in the feature space by the symmetric square root of their kernel matrix, so that
    no inverse of K is involved.
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
    """Return the dictionary's row numbers, the weights, and the least-squares values at the dictionary rows.

    Engel et al. (2004): with A the expansion of every row in the dictionary that it met, the weights minimise
    |A K alpha - y|^2.
    """
    kept, rows = [], []
    for t in range(len(X)):
        D = X[kept]
        a = np.linalg.solve(kernel(D, D, gamma), kernel(D, X[t : t + 1], gamma)[:, 0]) if kept else np.zeros(0)
        if squared_distance(D, X[t], gamma) > threshold and len(kept) < max_atoms:
            a = np.append(np.zeros(len(kept)), 1.0)
            kept.append(t)
        rows.append(a)
    A = np.zeros((len(X), len(kept)))
    for t, a in enumerate(rows):
        A[t, : len(a)] = a
    values = np.linalg.lstsq(A, T, rcond=None)[0]
    return kept, np.linalg.solve(kernel(X[kept], X[kept], gamma), values), values
