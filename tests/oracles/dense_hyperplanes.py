"""Linear machines learnt by stochastic gradient descent, written from their formulas: weights shrunk at every step."""

from __future__ import annotations

import numpy as np


def products(W, x):
    """Return W x, such that equal rows have equal products."""
    return (W * x).sum(axis=1)


def pegasos_step(W, x, label, t, ridge):
    """Return the weights after step t: Fig. 1 of Shalev-Shwartz et al. for one row, else the loss of classes."""
    scores = products(W, x)
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
    """Return weights and their classes after step t; `own` is the weight that the row is assigned to, if it is."""
    scores = products(W, x)
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
