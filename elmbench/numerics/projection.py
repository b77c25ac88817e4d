"""Singular values of centred data, at once or from chunks that change the mean, and the hidden
nodes of projections.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.lapack import dgeqrf, dtpqrt

from elmbench.numerics.arrays import EPS, Array

RATIOS = {
    "linear": 1,
    "squared": 2,
}  # powers of the singular values that the accumulation ratio adds up, by name
# entries of a direction count as equally large that differ by no more of the largest, see
# `row_signs`
TIED = 1e-6
PANEL = 32  # columns that LAPACK's tpqrt takes at a time


class Spectrum(NamedTuple):
    """Singular values of samples that may be extended by a row of ones, the largest first, without
    those of round-off.

    `ones` is True at the value of the row of ones. The left singular vectors of the other values,
    the directions, are stored separately as rows in the same order.
    """

    values: Array
    ones: NDArray[np.bool_]

    def node_count(self, theta: float, ratio: str) -> int:
        """Return the least number of leading values that reach the accumulation ratio theta.

        `theta`: a share, in (0, 1], of the sum of all values, eq. (27) of Chen et al. `ratio` is
        "linear" for the sum of the values, as in the equation, or "squared" for that of their
        squares.
        """
        sums = np.cumsum((self.values / self.values[0]) ** RATIOS[ratio])
        return min(int(np.searchsorted(sums, theta * sums[-1])) + 1, len(sums))

    def leading(self, size: int) -> "Spectrum":
        """Return the spectrum of the `size` largest values, or of all if there are fewer."""
        return Spectrum(self.values[:size], self.ones[:size])

    @property
    def n_directions(self) -> int:
        """The number of values that have a direction: all but that of the row of ones."""
        return int(np.count_nonzero(~self.ones))

    def node_rows(self, rows: Array, constant: float) -> Array:
        """Return an array with a row for each singular value, of the width of `rows`.

        A value with a direction takes the next of the `rows`, which are in the order of the
        directions; rows beyond these directions are ignored. In the row for the row of ones, every
        entry is `constant`.
        """
        result = np.full((len(self.ones), rows.shape[1]), constant)
        result[~self.ones] = rows[: self.n_directions]
        return result

    def nodes(self, directions: Array) -> tuple[Array, Array]:
        """Return the weights, of shape (number of values, d), and the biases of the nodes, eq. (8).

        The node of the ones has zero weights and the bias 1. The others have the rows of
        `directions` as weights and the bias 0.
        """
        return self.node_rows(directions, 0.0), self.ones.astype(np.float64)


def extended_spectrum(values: Array, n: int, mean: Array) -> Spectrum:
    """Return the spectrum of n centred samples that a row of ones extends.

    `values`: the singular values of the centred samples, in descending order. `mean`: of the
    samples, of shape (d,). Values within round-off are left out.

    The ones are orthogonal to the rows of centred data, so they add the triplet (e_(m+1), sqrt(n),
    1/sqrt(n)) and do not change the others. Their value is left out within round-off, too, unless
    no other is left. It follows values that are equal to it.
    """
    root = float(np.sqrt(n))
    # The largest singular value before centring.
    mean_length = float(np.linalg.norm(mean))
    value_of_mean = root * mean_length
    largest_value = values.max(initial=0.0)
    largest = max(largest_value, root, value_of_mean)
    floor = round_off(largest, n, len(mean))
    is_above = values > floor
    values = values[is_above]
    ones = np.zeros(len(values), dtype=bool)
    if root > floor or len(values) == 0:
        # The values descend.
        is_before = values >= root
        position = int(is_before.sum())
        values = np.insert(values, position, root)
        ones = np.insert(ones, position, True)
    return Spectrum(values, ones)


def uncentred_spectrum(values: Array, n: int, d: int) -> Spectrum:
    """Return the spectrum of n samples of d entries without centring and without a row of ones.

    `values`: their singular values, in descending order; those within round-off are left out, which
    are all for samples of zeros.
    """
    values = values[values > round_off(values.max(initial=0.0), n, d)]
    return Spectrum(values, np.zeros(len(values), dtype=bool))


def round_off(scale: float, n: int, d: int) -> float:
    """Return the round-off of singular values of n samples of d entries.

    `scale`: the largest singular value before centring.
    """
    return 10 * max(n, d) * EPS * scale


def row_signs(directions: Array) -> Array:
    """Return the sign of each row that makes its entry of largest magnitude positive, (k,).

    `directions`: rows, of shape (k, d). The first of several entries that are equally large within
    round-off decides. A row of zeros has the sign 1.
    """
    sizes = np.abs(directions)
    first = np.argmax(sizes >= (1 - TIED) * sizes.max(axis=1, keepdims=True), axis=1)
    return np.where(directions[np.arange(len(directions)), first] < 0, -1.0, 1.0)


def singular_directions(centred: Array) -> tuple[Array, Array]:
    """Return the singular values of a matrix, the largest first, and its right singular vectors.

    `centred`: of shape (n, d). The values are of shape (k,) for k = min(n, d), and the vectors are
    rows of shape (k, d) with the signs of `row_signs`. No array is larger than the matrix: for more
    rows than columns, the triangular factor of its QR decomposition is decomposed, which has the
    same values and vectors.
    """
    n, d = centred.shape
    if n > d:
        # R of the decomposition QR.
        qr_factors, *_ = dgeqrf(centred)
        leading = qr_factors[:d]
        centred = np.triu(leading)
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    signs = row_signs(directions)
    directions *= signs[:, np.newaxis]
    return values, directions


class StreamedDecomposition:
    """The decomposition of the centred rows so far: eqs. (14) to (26) of Chen et al. without the
    row of ones.

    With A the n_a rows so far and B the n_b rows of a chunk, the centred rows of both have the Gram
    matrix of the centred A, the centred B, and one more row, sqrt(n_a n_b / (n_a + n_b)) (mean(B) -
    mean(A)). It is Q'F'FQ, with an orthonormal basis Q of directions as rows. A chunk extends Q by
    directions orthogonal to it, and a QR decomposition of [F; rows of the chunk in the basis]
    updates F, whose singular values, and right singular vectors times Q, are those of the data.
    With `centred` False, the rows are not centred. `count` is the number of rows so far, `basis` is
    Q, and `offset` the mean minus that of the first chunk, in the basis.

    (Levy, Lindenbaum, Sequential Karhunen-Loeve basis extraction, IEEE TIP 9(8), 2000; for the row
    that the change of the mean adds, Ross, Lim, Lin, Yang, Incremental learning for robust visual
    tracking, IJCV 77, 2008.)
    """

    def __init__(self, n_features: int, *, centred: bool = True) -> None:
        self.count = 0
        self.basis = np.empty((0, n_features))
        self.offset = np.zeros(0)
        self._centred = centred
        # The mean is the sum of the first row and of the mean distance from it.
        self._origin = np.zeros(n_features)
        self._from_origin = np.zeros(n_features)
        self._squares = 0.0
        self._factor = np.zeros((0, 0), order="F")

    @property
    def mean(self) -> Array:
        """The mean of the rows so far, of shape (d,); zero without centring."""
        return self._origin + self._from_origin

    def update(self, rows: Array) -> Array:
        """Learn from a chunk of rows, of shape (b, d); return their coordinates, of shape (b, q).

        The chunk has one row or more, q is the number of directions in the basis afterwards. The
        coordinates are the rows minus the mean of the first chunk, in the basis; minus `offset`,
        they are centred. Without centring, nothing is subtracted. They stay valid as the basis
        grows, with zeros for further entries, until `truncate`.
        """
        if self._centred:
            if self.count == 0:
                self._origin = rows[0].copy()
            # So that a mean that is large compared with the spread costs no digits.
            rows = rows - self._origin
        self._squares += float(np.einsum("ij,ij->", rows, rows))
        total = self.count + len(rows)
        weight = np.sqrt(self.count * len(rows) / total)
        D = rows
        shift = self._from_origin
        if self._centred:
            mean = rows.mean(axis=0)
            shift = mean - self._from_origin
            D = np.vstack([rows - mean, weight * shift])
        self._grow(self._new_directions(D))
        coordinates = D @ self.basis.T
        if size := len(self._factor):
            # Not if it was loaded with a memory map.
            is_free = self._factor.flags.writeable
            self._factor = dtpqrt(
                0,
                min(PANEL, size),
                self._factor,
                np.asfortranarray(coordinates),
                overwrite_a=is_free,
            )[0]
        offset = self.offset
        if self._centred:
            self._from_origin = self._from_origin + shift * (len(rows) / total)
            last = coordinates[-1]
            coordinates = coordinates[:-1]
            if self.count:
                change = last / weight
                self.offset = offset + change * (len(rows) / total)
                coordinates += offset + change
        self.count = total
        return coordinates

    def _new_directions(self, D: Array) -> Array:
        """Return orthonormal rows that span the part of D orthogonal to the basis.

        `D` is of shape (b, d), the result of shape (number, d). Directions within the round-off of
        all rows so far are left out.
        """
        room = D.shape[1] - len(self.basis)
        # Remainders as small as the round-off of the rows are no directions. The second pass
        # subtracts components along the basis that the first one left, which matter if little of a
        # row is orthogonal to it. A direction that then loses most of its length was in the basis
        # within round-off.
        new = D
        for floor in (8 * EPS * np.sqrt(self._squares), 0.5):
            if room == 0 or len(new) == 0:
                return np.empty((0, D.shape[1]))
            rest = new - (new @ self.basis.T) @ self.basis
            directions, triangle, _ = qr(
                rest.T,
                mode="economic",
                pivoting=True,
                overwrite_a=True,
                check_finite=False,
            )
            rank = int((np.abs(np.diagonal(triangle)) > floor).sum())
            new = directions[:, : min(rank, room)].T
        return new

    def _grow(self, new: Array) -> None:
        """Append orthonormal rows `new`, of shape (number, d), to the basis.

        The rows so far have no component along them, so the factor and the offset get zeros.
        """
        if len(new) > 0:
            self.basis = np.vstack([self.basis, new])
            self._factor = np.asfortranarray(np.pad(self._factor, (0, len(new))))
            self.offset = np.pad(self.offset, (0, len(new)))

    def decomposition(self) -> tuple[Array, Array]:
        """Return the singular values of the centred rows so far, and their directions in the basis.

        They are of shape (q,) and (q, q). The largest value comes first; a direction is a row, its
        sign not fixed. Values may be zero within round-off.
        """
        _, values, rotation = np.linalg.svd(self._factor)
        return values, rotation

    def fix_signs(self, rotation: Array) -> tuple[Array, Array]:
        """Give directions of `decomposition` the signs of `row_signs`.

        `rotation`, of shape (k, q), holds directions in the basis. Return them with fixed signs in
        the basis, (k, q), and as vectors of features, (k, d).
        """
        directions = rotation @ self.basis
        signs = row_signs(directions)[:, np.newaxis]
        directions *= signs
        return signs * rotation, directions

    def truncate(self, values: Array, rotation: Array) -> Array:
        """Keep only k leading triplets of `decomposition`, whose directions become the basis.

        `values`, of shape (k,), and `rotation`, (k, q), are these triplets. Return the matrix, of
        shape (q, k), by which coordinates of earlier rows are multiplied for the new basis.
        """
        self.basis = rotation @ self.basis
        self._factor = np.asfortranarray(np.diag(values))
        self.offset = self.offset @ rotation.T
        return rotation.T
