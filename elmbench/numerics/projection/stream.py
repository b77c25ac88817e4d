"""The singular value decomposition of centred data that arrive in chunks, which change the mean."""

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgeqrf, dtpqrt

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.projection.spectrum import fix_signs

PANEL = 32
"""Columns that LAPACK's tpqrt takes at a time."""

SLACK = 16
"""So many directions more than the singular values that are kept are not worth a new basis, or an eighth more."""


class StreamedDecomposition:
    """The decomposition of the centred rows so far: eqs. (14) to (26) of Chen et al. without the row of ones.

    With A the n_a rows so far and B the n_b rows of a chunk, the centred rows of both have the Gram matrix of the
    centred A, the centred B, and one more row, sqrt(n_a n_b / (n_a + n_b)) (mean(B) - mean(A)). So they can be replaced
    by a factor F with an orthonormal basis Q of directions as rows, such that their Gram matrix is Q'F'FQ. A chunk
    extends Q by directions orthogonal to it, and a QR decomposition of [F; rows of the chunk in the basis] updates F.
    The singular values of F, and its right singular vectors times Q, are those of the data, as exactly as if all rows
    were decomposed at once. An update only takes time for its chunk. With `centred` False, the rows are not centred.
    `count` is the number of rows so far, `basis` is Q, and `offset` the mean minus that of the first chunk, in the
    basis.

    References
    ----------
    Levy, Lindenbaum, Sequential Karhunen-Loeve basis extraction, IEEE TIP 9(8), 2000; Ross, Lim, Lin, Yang, Incremental
    learning for robust visual tracking, IJCV 77, 2008, for the row that the change of the mean adds.
    """

    def __init__(self, n_features: int, *, centred: bool = True) -> None:
        self.count = 0
        self.offset = np.zeros(0)
        self._centred = centred
        self._origin = np.zeros(n_features)
        self._from_origin = np.zeros(n_features)
        self._squares = 0.0
        self._held = np.empty((0, n_features))
        self._factor = np.zeros((0, 0), order="F")

    @property
    def mean(self) -> Array:
        """The mean of the rows so far, of shape (d,); zero without centring."""
        return self._origin + self._from_origin

    @property
    def basis(self) -> Array:
        """The orthonormal directions, one a row, which span the centred rows."""
        return self._held[: len(self._factor)]

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
        self._factor = _update_factor(self._factor, coordinates)
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
        for least in (8 * EPS * np.sqrt(self._squares), 0.5):
            if room == 0 or len(new) == 0:
                return np.empty((0, D.shape[1]))
            apart = new - (new @ self.basis.T) @ self.basis
            directions, triangle, _ = qr(apart.T, mode="economic", pivoting=True, overwrite_a=True, check_finite=False)
            rank = int((np.abs(np.diagonal(triangle)) > least).sum())
            new = directions[:, : min(rank, room)].T
        return new

    def _grow(self, new: Array) -> None:
        """Append directions to the basis; the rows so far have no component along them."""
        before, after = len(self._factor), len(self._factor) + len(new)
        if after == before:
            return
        if after > len(self._held):
            held = np.empty((min(max(after, 2 * before), self._held.shape[1]), self._held.shape[1]))
            held[:before] = self.basis
            self._held = held
        self._held[before:after] = new
        factor = np.zeros((after, after), order="F")
        factor[:before, :before] = self._factor
        self._factor = factor
        self.offset = np.append(self.offset, np.zeros(len(new)))

    def decomposition(self) -> tuple[Array, Array]:
        """Return the singular values of the centred rows, of shape (q,), and their directions in the basis, (q, q).

        The largest value comes first; a direction is a row, its sign not fixed. Values may be zero within round-off.
        """
        _, values, rotation = np.linalg.svd(self._factor)
        return values, rotation

    def directions(self, rotation: Array) -> tuple[Array, Array]:
        """Return the directions of `decomposition` with fixed signs, in the basis and in the space of the rows."""
        directions = rotation @ self.basis
        signs = fix_signs(directions)[:, np.newaxis]
        return signs * rotation, signs * directions

    def truncate(self, values: Array, rotation: Array) -> Array:
        """Forget all but the k leading triplets of `decomposition`; return the factor for coordinates of earlier rows.

        The directions become the basis. If they are hardly fewer, the coordinates are projected onto them instead.
        """
        selected, held = rotation.shape
        if held > selected + max(SLACK, selected // 8):
            self._held = rotation @ self.basis
            self._factor = np.asfortranarray(np.diag(values))
            change = rotation.T
        else:
            self._factor = np.zeros((held, held), order="F")
            if selected:
                self._factor[:selected] = np.triu(dgeqrf(values[:, np.newaxis] * rotation)[0])
            change = rotation.T @ rotation
        self.offset = self.offset @ change
        return change


def _update_factor(factor: Array, rows: Array) -> Array:
    """Return the triangular factor of [factor; rows], which overwrites the old one."""
    if len(factor) == 0:
        return factor
    panel = min(PANEL, len(factor))
    factor, _, _, _ = dtpqrt(0, panel, factor, np.asfortranarray(rows), overwrite_a=1, overwrite_b=0)
    return factor
