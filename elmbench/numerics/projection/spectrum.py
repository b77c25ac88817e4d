"""Singular values of centred data extended by a row of ones, and the number of hidden nodes."""

from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import EPS, Array

RATIOS = {"linear": 1, "squared": 2}
"""Powers of the singular values that the accumulation ratio adds up, by name."""

TIED = 1e-6
"""Entries of a direction count as equally large that differ by no more of the largest, see `fix_signs`."""


@dataclass(frozen=True)
class Spectrum:
    """Singular values of samples and of the row that extends them, the largest first, without round-off.

    The left singular vectors are stored separately as rows in the same order, except for that of the row of ones, whose
    value has the position `constant`, or None.
    """

    values: Array
    constant: int | None = None

    def node_count(self, theta: float, ratio: str) -> int:
        """Return the least number of values that reach the accumulation ratio theta, eq. (27) of Chen et al.

        `theta` is in (0, 1]; `ratio` is "linear" for the sum of the values, as in the equation, or "squared" for that
        of their squares.
        """
        sums = np.cumsum((self.values / self.values[0]) ** RATIOS[ratio])
        return min(int(np.searchsorted(sums, theta * sums[-1])) + 1, len(sums))

    def first(self, size: int) -> "Spectrum":
        """Return the spectrum of the `size` largest values."""
        inside = self.constant is not None and self.constant < size
        return Spectrum(self.values[:size], self.constant if inside else None)

    def directions(self, size: int) -> int:
        """Return the number of directions of the first `size` values, which all but the constant have."""
        return size if self.constant is None or self.constant >= size else size - 1

    def nodes(self, directions: Array, size: int) -> tuple[Array, Array]:
        """Return the weights, of shape (size, m), and biases of the first nodes, eq. (8).

        `directions` has at least `self.directions(size)` rows, of m entries each.
        """
        weights, biases = directions[: self.directions(size)], np.zeros(size)
        if self.constant is not None and self.constant < size:
            weights = np.insert(weights, self.constant, 0.0, axis=0)
            biases[self.constant] = 1.0
        return np.array(weights), biases

    def node_inputs(self, projections: Array, size: int) -> Array:
        """Return the inputs of the first nodes, of shape (n, size), eq. (7).

        `projections`, the samples along their directions, has at least `self.directions(size)` columns.
        """
        inputs = projections[:, : self.directions(size)]
        if self.constant is None or self.constant >= size:
            return inputs
        return np.insert(inputs, self.constant, 1.0, axis=1)


def with_ones(values: Array, n: int, mean: Array) -> Spectrum:
    """Return the spectrum of n centred samples extended by a row of ones, from their singular values and their mean.

    The ones are orthogonal to the rows of centred data, so they add the triplet (e_(m+1), sqrt(n), 1/sqrt(n)) and do
    not change the others.
    """
    ones = float(np.sqrt(n))
    floor = round_off(max(values.max(initial=0.0), ones, ones * float(np.linalg.norm(mean))), n, len(mean))
    selected = int((values > floor).sum())
    position = int((values[:selected] >= ones).sum()) if ones > floor else None
    return Spectrum(values[:selected] if position is None else np.insert(values[:selected], position, ones), position)


def without_ones(values: Array, n: int, d: int) -> Spectrum:
    """Return the spectrum of n samples of d entries without centring, from their singular values."""
    return Spectrum(values[values > round_off(values.max(initial=0.0), n, d)])


def round_off(scale: float, n: int, d: int) -> float:
    """Return the size up to which a singular value of n samples of d entries counts as round-off.

    `scale` is the largest singular value of the samples before centring.
    """
    return 10 * max(n, d) * EPS * scale


def fix_signs(directions: Array) -> Array:
    """Return the sign of each row, of shape (k,), that makes its entry of largest magnitude positive.

    The first of several entries that are equally large within round-off decides.
    """
    sizes = np.abs(directions)
    first = np.argmax(sizes >= (1 - TIED) * sizes.max(axis=1, keepdims=True), axis=1)
    return np.where(directions[np.arange(len(directions)), first] < 0, -1.0, 1.0)
