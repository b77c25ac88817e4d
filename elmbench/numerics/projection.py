"""Singular values of centred data, at once or from chunks that change the mean, and the hidden nodes of projections."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgeqrf, dtpqrt

from elmbench.numerics.arrays import EPS, Array

RATIOS = {"linear": 1, "squared": 2}  # powers of the singular values that the accumulation ratio adds up, by name
TIED = 1e-6  # entries of a direction count as equally large that differ by no more of the largest, see `row_signs`
PANEL = 32  # columns that LAPACK's tpqrt takes at a time

SLACK = 16  # so many directions more than singular values, or an eighth more, are not worth a new basis


@dataclass(frozen=True)
class Spectrum:
    """Singular values of samples that may be extended by a row of ones, the largest first, without those of round-off.

    The left singular vectors are stored separately as rows in the same order, except for that of the row of ones, whose
    value has the position `constant`, or None.
    """

    values: Array
    constant: int | None = None

    def node_count(self, theta: float, ratio: str) -> int:
        """Return the least number of values that reach the accumulation ratio theta, eq. (27) of Chen et al.

        `ratio` is "linear" for the sum of the values, as in the equation, or "squared" for that of their squares.
        """
        sums = np.cumsum((self.values / self.values[0]) ** RATIOS[ratio])
        return min(int(np.searchsorted(sums, theta * sums[-1])) + 1, len(sums))

    def leading(self, size: int) -> "Spectrum":
        """Return the spectrum of the `size` largest values."""
        inside = self.constant is not None and self.constant < size
        return Spectrum(self.values[:size], self.constant if inside else None)

    def direction_count(self, size: int) -> int:
        """Return the number of the `size` largest values that have a direction: all but that of the row of ones."""
        return size if self.constant is None or self.constant >= size else size - 1

    def nodes(self, directions: Array, size: int) -> tuple[Array, Array]:
        """Return the weights and biases of the first `size` nodes, eq. (8).

        `directions` are the singular vectors as rows, without that of the row of ones, whose node is constant.
        """
        return self.insert(directions, size, 0.0), self.insert(np.zeros(size), size, 1.0)

    def insert(self, values: Array, size: int, constant: float, axis: int = 0) -> Array:
        """Return values of the first `size` nodes: those of their directions, and `constant` for the constant node."""
        leading = values.take(range(self.direction_count(size)), axis)
        if self.constant is None or self.constant >= size:
            return leading
        return np.insert(leading, self.constant, constant, axis)


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
    """Return the round-off of singular values of n samples of d entries; `scale` is the largest before centring."""
    return 10 * max(n, d) * EPS * scale


def row_signs(directions: Array) -> Array:
    """Return the sign of each row, of shape (k,), that makes its entry of largest magnitude positive.

    The first of several entries that are equally large within round-off decides.
    """
    sizes = np.abs(directions)
    first = np.argmax(sizes >= (1 - TIED) * sizes.max(axis=1, keepdims=True), axis=1)
    return np.where(directions[np.arange(len(directions)), first] < 0, -1.0, 1.0)


def singular_directions(centred: Array) -> tuple[Array, Array]:
    """Return the singular values of a matrix, the largest first, and the directions, as rows with fixed signs.

    No array is larger than the matrix: for more rows than columns, the triangular factor of its QR decomposition is
    decomposed, which has the same values and directions.
    """
    n, d = centred.shape
    if n > d:
        centred = np.triu(dgeqrf(centred)[0][:d])
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    directions *= row_signs(directions)[:, np.newaxis]
    return values, directions


class StreamedDecomposition:
    """The decomposition of the centred rows so far: eqs. (14) to (26) of Chen et al. without the row of ones.

    With A the n_a rows so far and B the n_b rows of a chunk, the centred rows of both have the Gram matrix of the
    centred A, the centred B, and one more row, sqrt(n_a n_b / (n_a + n_b)) (mean(B) - mean(A)). It is Q'F'FQ, with an
    orthonormal basis Q of directions as rows. A chunk extends Q by directions orthogonal to it, and a QR decomposition
    of [F; rows of the chunk in the basis] updates F, whose singular values, and right singular vectors times Q, are
    those of the data. With `centred` False, the rows are not centred. `count` is the number of rows so far, `basis` is
    Q, and `offset` the mean minus that of the first chunk, in the basis.

    (Levy, Lindenbaum, Sequential Karhunen-Loeve basis extraction, IEEE TIP 9(8), 2000; for the row that the change of
    the mean adds, Ross, Lim, Lin, Yang, Incremental learning for robust visual tracking, IJCV 77, 2008.)
    """

    def __init__(self, n_features: int, *, centred: bool = True) -> None:
        self.count = 0
        self.basis = np.empty((0, n_features))
        self.offset = np.zeros(0)
        self._centred = centred
        self._origin, self._from_origin = np.zeros((2, n_features))
        self._squares = 0.0
        self._factor = np.zeros((0, 0), order="F")

    @property
    def mean(self) -> Array:
        """The mean of the rows so far, of shape (d,); zero without centring."""
        return self._origin + self._from_origin

    def update(self, rows: Array) -> Array:
        """Learn from a chunk of one row or more, of shape (b, d), and return its coordinates, of shape (b, q).

        These are the rows minus the mean of the first chunk, in the basis; minus `offset`, they are centred. They stay
        valid as the basis grows, with zeros for further entries, until `truncate`.
        """
        if self._centred:
            if self.count == 0:
                self._origin = rows[0].copy()
            # So that a mean that is large compared with the spread costs no digits.
            rows = rows - self._origin
        self._squares += float(np.einsum("ij,ij->", rows, rows))
        total = self.count + len(rows)
        weight = np.sqrt(self.count * len(rows) / total)
        D, shift = rows, self._from_origin
        if self._centred:
            mean = rows.mean(axis=0)
            shift = mean - self._from_origin
            D = np.vstack([rows - mean, weight * shift])
        self._grow(self._new_directions(D))
        coordinates = D @ self.basis.T
        if size := len(self._factor):
            is_free = self._factor.flags.writeable  # not if it was loaded with a memory map
            self._factor = dtpqrt(
                0, min(PANEL, size), self._factor, np.asfortranarray(coordinates), overwrite_a=is_free
            )[0]
        offset = self.offset
        if self._centred:
            self._from_origin = self._from_origin + shift * (len(rows) / total)
            coordinates, last = coordinates[:-1], coordinates[-1]
            if self.count:
                self.offset = offset + last / weight * (len(rows) / total)
                coordinates += offset + last / weight
        self.count = total
        return coordinates

    def _new_directions(self, D: Array) -> Array:
        """Return orthonormal rows that span the part of D orthogonal to the basis, without null directions."""
        room = D.shape[1] - len(self.basis)
        # Remainders as small as the round-off of the rows are no directions. The second pass subtracts components along
        # the basis that the first one left, which matter if little of a row is orthogonal to it. A direction that then
        # loses most of its length was in the basis within round-off.
        new = D
        for floor in (8 * EPS * np.sqrt(self._squares), 0.5):
            if room == 0 or len(new) == 0:
                return np.empty((0, D.shape[1]))
            rest = new - (new @ self.basis.T) @ self.basis
            directions, triangle, _ = qr(rest.T, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
            rank = int((np.abs(np.diagonal(triangle)) > floor).sum())
            new = directions[:, : min(rank, room)].T
        return new

    def _grow(self, new: Array) -> None:
        """Append directions to the basis; the rows so far have no component along them."""
        if len(new) > 0:
            self.basis = np.vstack([self.basis, new])
            self._factor = np.asfortranarray(np.pad(self._factor, (0, len(new))))
            self.offset = np.pad(self.offset, (0, len(new)))

    def decomposition(self) -> tuple[Array, Array]:
        """Return the singular values of the centred rows, of shape (q,), and their directions in the basis, (q, q).

        The largest value comes first; a direction is a row, its sign not fixed. Values may be zero within round-off.
        """
        _, values, rotation = np.linalg.svd(self._factor)
        return values, rotation

    def with_fixed_signs(self, rotation: Array) -> tuple[Array, Array]:
        """Return directions that `decomposition` returned with fixed signs, in the basis and as vectors of features."""
        directions = rotation @ self.basis
        signs = row_signs(directions)[:, np.newaxis]
        return signs * rotation, signs * directions

    def truncate(self, values: Array, rotation: Array) -> Array:
        """Forget all but the k leading triplets of `decomposition`; return the factor for coordinates of earlier rows.

        The directions become the basis. If they are hardly fewer, the coordinates are projected onto them instead.
        """
        selected, size = rotation.shape
        if size > selected + max(SLACK, selected // 8):
            self.basis = rotation @ self.basis
            self._factor = np.asfortranarray(np.diag(values))
            change = rotation.T
        else:
            self._factor = np.zeros((size, size), order="F")
            if selected:
                self._factor[:selected] = np.triu(dgeqrf(values[:, np.newaxis] * rotation)[0])
            change = rotation.T @ rotation
        self.offset = self.offset @ change
        return change
