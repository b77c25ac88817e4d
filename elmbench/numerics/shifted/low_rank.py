"""The inverse of K + r I, about, for all ridges r, from the columns of some of the rows of K."""

import numpy as np
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.shifted.fold_views import FoldView

RANK = 500
"""Columns that are taken: as many as there are rows at hand in few folds, and few enough to factor in no time."""


class LowRankInverse:
    """(F F' + r I)^-1, times r, where F F' is Nyström's approximation of K by `RANK` of its columns, drawn at random.

    With these columns K_S and the Cholesky factor L of their own rows, F is K_S L'^-1, and by Woodbury's formula the
    inverse is (I - F (F'F + r I)^-1 F') / r. It is nearly that of K + r I where the eigenvalues of K fall fast, as
    those of a wide kernel do. K is that between the training rows of a fold.

    References
    ----------
    Williams, Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000; Frangella, Tropp, Udell,
    Randomized Nyström preconditioning, SIAM J. Matrix Anal. Appl. 44(2), 2023.
    """

    def __init__(self, K: Array, part: FoldView) -> None:
        chosen = np.random.default_rng(0).choice(len(part.rows), RANK, replace=False)
        columns = np.asfortranarray(K[:, part.training[chosen]][part.training])
        own, jitter = columns[chosen], RANK * EPS
        while True:
            square = np.asfortranarray(own)
            np.einsum("ii->i", square)[:] += jitter
            factor, info = dpotrf(square, lower=1, overwrite_a=1)
            if info == 0:
                break
            jitter *= 10
        self._F = dtrsm(1.0, factor, columns, side=1, lower=1, trans_a=1, overwrite_b=1)
        self._gram = dsyrk(1.0, self._F, trans=1, lower=1)
        self.ridge = np.nan

    def factor(self, ridge: float) -> None:
        """Take this ridge from now on."""
        system = self._gram.copy(order="F")
        np.einsum("ii->i", system)[:] += ridge
        self.ridge = ridge
        self._factor, _ = dpotrf(system, lower=1, overwrite_a=1)

    def __call__(self, v: Array) -> Array:
        weights, _ = dpotrs(self._factor, v @ self._F, lower=1)
        product: Array = v - self._F @ weights
        return product
