"""The budget of support vectors: removal or merging of the one with the least weight.

Support vectors are the columns of a dense matrix, (n_features, capacity), so products with a sparse row are sums of its
rows. All arrays have the support vectors along their last or only axis, of which the leading `m` are in use. See Wang,
Crammer, Vucetic, Breaking the curse of kernelization: Budgeted stochastic gradient descent for large-scale SVM
training, JMLR 13, 2012, section 4.
"""

import math
from typing import NamedTuple

from elmbench.numerics.arrays import Array
from elmbench.numerics.online.loops import Numbers

GOLDEN_STEPS = 24
"""Steps of the golden section search for a merged support vector: its place is known to 1e-5 of the way."""

GOLDEN = 0.6180339887498949  # share of the interval that a step leaves


class SupportVectors(NamedTuple):
    """Support vectors as `columns`, of shape (n_features, capacity), and their properties.

    `norms` are squared norms; `weights` has shape (n_outputs, capacity); `born` are the steps at which they joined;
    `distances`, of shape (capacity, capacity), are squared.
    """

    columns: Array
    norms: Array
    weights: Array
    born: Numbers
    distances: Array


def least_weight(m: int, weights: Array, born: Numbers) -> int:
    """Return the support vector with the shortest vector of weights, the oldest of equal ones."""
    lightest = 0
    min_length = math.inf
    for s in range(m):
        length = 0.0
        for o in range(len(weights)):
            length += weights[o, s] * weights[o, s]
        if length < min_length or (length == min_length and born[s] < born[lightest]):
            min_length = length
            lightest = s
    return lightest


def merged_length(h: float, exponent: float, aa: float, ab: float, bb: float) -> float:
    """Return the squared length of the projection of two weighted support vectors onto one at h of the way from b to a.

    Their kernel is exp(`exponent`); aa, ab and bb are the inner products of their weights. The kernel of the merged one
    is k^((1-h)^2) with a and k^(h^2) with b.
    """
    u = math.exp(exponent * (1.0 - h) * (1.0 - h))
    v = math.exp(exponent * h * h)
    return aa * u * u + 2.0 * ab * u * v + bb * v * v


def best_merge(exponent: float, aa: float, ab: float, bb: float) -> tuple[float, float]:
    """Return the h in [0, 1] of the longest projection (see `merged_length`), and its length, by golden section search.

    With two maxima, the search may end at the lower one; but both ends are tried as well, so merging never loses more
    than the removal of either support vector.
    """
    low, high = 0.0, 1.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = merged_length(left, exponent, aa, ab, bb), merged_length(right, exponent, aa, ab, bb)
    for _ in range(GOLDEN_STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = merged_length(left, exponent, aa, ab, bb)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = merged_length(right, exponent, aa, ab, bb)
    h, length = left, at_left
    if at_right > length:
        h, length = right, at_right
    for end in (0.0, 1.0):
        at_end = merged_length(end, exponent, aa, ab, bb)
        if at_end >= length:
            h, length = end, at_end
    return h, length


def best_partner(a: int, m: int, gamma: float, weights: Array, distances: Array) -> tuple[int, float]:
    """Return the support vector with which merging `a` loses least, the first of equal ones, and the h of `best_merge`.

    The loss is |w_a f_a + w_b f_b|^2 minus the squared length of the projection, summed over the outputs.
    """
    aa = 0.0
    for o in range(len(weights)):
        aa += weights[o, a] * weights[o, a]
    partner, best_h, min_loss = -1, 0.0, math.inf
    for b in range(m):
        if b != a:
            ab = bb = 0.0
            for o in range(len(weights)):
                ab += weights[o, a] * weights[o, b]
                bb += weights[o, b] * weights[o, b]
            exponent = -gamma * distances[a, b]
            h, length = best_merge(exponent, aa, ab, bb)
            loss = aa + 2.0 * ab * math.exp(exponent) + bb - length
            if loss < min_loss:
                partner, best_h, min_loss = b, h, loss
    return partner, best_h


def merge_into(a: int, b: int, h: float, m: int, gamma: float, held: SupportVectors) -> None:
    """Replace support vector `b` by z = h x_a + (1 - h) x_b, with the weights of the least loss.

    The squared distances of z follow from those of a and b: |z - s|^2 = h |a - s|^2 + (1-h) |b - s|^2 - h (1-h) |a -
    b|^2, and so does its norm.
    """
    columns, norms, weights, _, distances = held
    gap = distances[a, b]
    to_a, to_b = math.exp(-gamma * gap * (1.0 - h) * (1.0 - h)), math.exp(-gamma * gap * h * h)
    for o in range(len(weights)):
        weights[o, b] = weights[o, a] * to_a + weights[o, b] * to_b
    for f in range(len(columns)):
        columns[f, b] = (1.0 - h) * columns[f, b] + h * columns[f, a]
    reduction = h * (1.0 - h) * gap
    norms[b] = max(0.0, h * norms[a] + (1.0 - h) * norms[b] - reduction)
    for s in range(m):
        distance = max(0.0, h * distances[a, s] + (1.0 - h) * distances[b, s] - reduction)
        distances[b, s] = distances[s, b] = distance
    distances[b, b] = 0.0


def take_out(a: int, m: int, held: SupportVectors) -> None:
    """Remove support vector `a` and move the last one to its position."""
    columns, norms, weights, born, distances = held
    last = m - 1
    norms[a], born[a] = norms[last], born[last]
    for array in (columns, weights):
        array[:, a] = array[:, last]
        array[:, last] = 0.0
    distances[a, :last] = distances[last, :last]
    distances[:last, a] = distances[last, :last]
    distances[a, a] = 0.0
