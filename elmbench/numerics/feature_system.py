"""Ridge systems of a linear kernel, solved in the features of the rows."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svd

from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.solve import scaled_rows


def solves_in_features(kernel: Kernel, X: Rows) -> bool:
    """Return True if a `FeatureSystem` solves a model with this kernel and these training rows.

    The kernel must be linear, with fewer features than rows.
    """
    return needs_features_only(kernel.name, X.shape)


def needs_features_only(kernel: object, shape: tuple[int, ...]) -> bool:
    """Return True if a kernel system is solved in the features of its rows, without its matrix.

    That is so for the kernel "linear" and rows of a shape (n, d) with 0 < d < n.
    """
    n_rows, n_features = shape
    return isinstance(kernel, str) and kernel == "linear" and 0 < n_features < n_rows


class FeatureSystem:
    """The system of a `KernelSystem` with the linear kernel K = XX', for any ridge r, without K.

    Let S be the diagonal matrix of the scale of the rows, A = S (X - 1 o') their deviations from
    the origin o, and B = S (T - 1 t') those of the targets. With an intercept, o and t are the
    weighted means; without one, they are zero. The solution Z of (AA' + r I) Z = B gives the
    linear function f(x) = (x - o)'w + t with the weights

        w = A'Z = V (s^2 + r)^-1 s U'B    for the singular value decomposition A = U s V'.

    The round-off of w grows with the condition of A. The round-off of K-based coefficients grows
    with its square, and with the distance of the rows from zero.

    Singular values within the round-off of A count as zero.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        Training rows; sparse ones are made dense.
    T : ndarray of shape (n, k)
        Targets.
    scale : ndarray of shape (n,) or None
        Square roots of the weights of the rows; None if all are 1.
    centred : bool
        True for a system with an intercept.
    """

    def __init__(
        self, X: Rows, T: Array, scale: Array | None, *, centred: bool
    ) -> None:
        dense = X.toarray() if sp.issparse(X) else X
        rows = np.asarray(dense, dtype=float)
        n_rows, n_features = rows.shape
        self._scale = np.ones(n_rows) if scale is None else scale
        self._centred = centred
        # o and t, the weighted means of the rows and of the targets.
        self._origin = np.zeros(n_features)
        self._means = np.zeros(T.shape[1])
        if centred:
            weights = self._scale**2
            total = self._scale @ self._scale
            shares = weights / total
            self._origin = shares @ rows
            self._means = shares @ T
        # A = U s V'.
        deviations = scaled_rows(rows - self._origin, self._scale)
        self._left, self._singular, self._right = svd(
            deviations, full_matrices=False, overwrite_a=True, check_finite=False
        )
        round_off = n_rows * EPS * self._singular[0]
        is_zero = self._singular <= round_off
        self._singular[is_zero] = 0.0
        # B and U'B.
        target_deviations = T - self._means
        self._targets = scaled_rows(target_deviations, self._scale)
        self._moments = self._left.T @ self._targets

    def weights(self, ridges: Array) -> tuple[Array, Array]:
        """Return the weights w of the linear functions for p positive ridges, and their intercepts.

        The weights are of shape (d, p * k), the k columns of the first ridge first. The intercepts
        are of shape (p * k,), zero for a system without one.
        """
        by_ridge = [self._weights_of(ridge) for ridge in ridges.tolist()]
        weights = np.hstack(by_ridge)
        means = np.tile(self._means, len(ridges))
        return weights, means - self._origin @ weights

    def _weights_of(self, ridge: float) -> Array:
        """Return the weights w = V (s^2 + r)^-1 s U'B of the features for a ridge r, (d, k).

        U s V' is the singular value decomposition of the scaled deviations of the rows, and B holds
        those of the targets.
        """
        factors = self._singular / (self._singular**2 + ridge)
        return np.asarray(self._right.T @ (factors[:, np.newaxis] * self._moments))

    def row_coefficients(self, ridge: float) -> Array:
        """Return the coefficients beta of the training rows x_i for a positive ridge, (n, k).

        The outputs for x are sum_i beta_i x_i'x plus the intercepts of `weights`. In a system with
        an intercept, the coefficients add up to zero. They are the solution Z of the system (see
        `FeatureSystem`) times the scale of the rows.
        """
        # The part in the range of A: U (s^2 + r)^-1 U'B.
        eigenvalues = self._singular**2 + ridge
        coordinates = self._moments / eigenvalues[:, np.newaxis]
        in_range = self._left @ coordinates
        # The rest: (B - U U'B) / r.
        projected = self._left @ self._moments
        rest = self._targets - projected
        Z = in_range + rest / ridge
        if self._centred:
            # In exact arithmetic, Z is orthogonal to the scale.
            length = np.linalg.norm(self._scale)
            direction = self._scale / length
            along = direction @ Z
            Z -= np.outer(direction, along)
        return scaled_rows(Z, self._scale)

    def condition(self, ridge: float) -> float:
        """Return the condition number of the system's matrix for a positive ridge r.

        It is AA' + r I, where A are the scaled deviations of the rows; AA' lacks full rank.
        """
        return float((self._singular[0] ** 2 + ridge) / ridge)
