"""Ridge systems of a kernel between rows with weights, with an intercept or without one."""

from dataclasses import dataclass

import numpy as np

from elmbench.numerics.arrays import Array
from elmbench.numerics.kernels import row_blocks
from elmbench.numerics.solve import scaled_rows


@dataclass(frozen=True)
class Centre:
    """The centre of weighted rows in the space of their kernel.

    Attributes
    ----------
    direction : ndarray of shape (n,)
        u = s / |s| for the scale s of the rows, the square roots of their weights.
    products : ndarray of shape (n,)
        m, the weighted means of the rows of K.
    targets : ndarray of shape (k,)
        t, the weighted means of the targets.
    """

    direction: Array
    products: Array
    targets: Array


class KernelSystem:
    """The system (M + r I) Z = B of a model with the kernel K of its training rows, for any ridge
    r.

    Without an intercept, M = S K S and B = S T, where the diagonal matrix S holds the scale of the
    rows, the square roots of their weights w, and T their targets. The coefficients of the rows are
    beta = S Z: they minimise r ||f||^2 + sum_i w_i (f(x_i) - t_i)^2.

    With an intercept b, they satisfy [0 1'; 1 K + r S^-2] [b; beta] = [0; T] (Suykens and
    Vandewalle, 1999). Let u be the direction of the scale s, and P = I - uu'. As 1'beta = s'Z = 0,
    PZ = Z. The lower rows, multiplied by S, are S K S Z + r Z + s b = S T. Multiplied by P and by
    s', they are

        (P S K S P + r I) Z = P S T = S (T - 1 t')    and    b = t - m'beta,

    with the weighted means t = w'T / w'1 and m = K w / w'1. The solution is the same for every r >
    0, and tends to the right limit as r vanishes. The usual b = 1'A^-1 T / 1'A^-1 1, A = K + r
    S^-2, does not: if the span of K lacks the constants, A^-1 1 grows as 1 / r, and depends on
    directions of K within its round-off.

    B is orthogonal to u, so any multiple of uu' may be added to the matrix without effect. M has
    uu'S K S uu': then its eigenvalues are within the range of those of S K S, so a matrix of full
    rank remains one, and the largest eigenvalue is not below the terms whose difference M is. If
    u'S K S u is negative, its magnitude is taken. The entries of M are s_i s_j (K_ij - m_i - m_j +
    2 c), c = w'm / w'1.

    `K`, in Fortran order, is replaced by M. `scale` is None if all weights are 1. The attribute
    `right_hand_sides` is B, of shape (n, k).
    """

    def __init__(
        self, K: Array, T: Array, scale: Array | None, *, centred: bool
    ) -> None:
        self._scale = scale
        self._centre: Centre | None = None
        deviations = T
        if centred:
            self._centre = _subtract_centre(K, T, scale)
            deviations = T - self._centre.targets
        # S K S.
        if scale is not None and (scale != 1.0).any():
            K *= scale[:, np.newaxis]
            K *= scale
        self.right_hand_sides = scaled_rows(deviations, scale)

    def coefficients(self, Z: Array) -> tuple[Array, Array]:
        """Return the intercepts and the coefficients of the rows from solutions `Z` of the system.

        `Z` is of shape (n, p * k) for p ridges and k targets, the columns of the first ridge first.
        The intercepts are of shape (p * k,), zero for a system without one, and the coefficients
        beta of shape (n, p * k): the outputs for x are sum_i beta_i k(x_i, x) plus the intercepts.
        """
        centre = self._centre
        n_columns = Z.shape[1]
        if centre is None:
            beta = scaled_rows(Z, self._scale)
            return np.zeros(n_columns), beta
        # beta = S P Z.
        u = centre.direction
        along = u @ Z
        projected = Z - np.outer(u, along)
        beta = scaled_rows(projected, self._scale)
        # b = t - m'beta.
        n_ridges = n_columns // len(centre.targets)
        targets = np.tile(centre.targets, n_ridges)
        intercepts = targets - centre.products @ beta
        return intercepts, beta

    @property
    def centre_products(self) -> Array:
        """The weighted means m of the rows of K, of shape (n,); zeros without an intercept."""
        if self._centre is None:
            return np.zeros(len(self.right_hand_sides))
        return self._centre.products


def _subtract_centre(K: Array, T: Array, scale: Array | None) -> Centre:
    """Centre a kernel matrix `K` of weighted rows in place, and return the centre.

    K_ij becomes K_ij - m_i - m_j + c + |c| with the weighted means m of the rows of K, and their
    weighted mean c, see `KernelSystem`. `T`: targets, of shape (n, k). `scale`: the square roots of
    the weights, of shape (n,); None if all are 1. They do not multiply K here.
    """
    n = len(K)
    scale = np.ones(n) if scale is None else scale
    weight = scale @ scale
    shares = scale**2 / weight
    products = shares @ K
    constant = float(shares @ products)
    # m_i - c, with the magnitude of c if it is negative.
    doubled = constant + abs(constant)
    halves = products - doubled / 2
    for columns in row_blocks(n, n):
        block = K[:, columns]
        block -= halves[:, np.newaxis]
        block -= halves[columns]
    return Centre(
        direction=scale / np.sqrt(weight),
        products=products,
        targets=shares @ T,
    )
