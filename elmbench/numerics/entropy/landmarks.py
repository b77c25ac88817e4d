"""Features whose inner products approximate the kernel, from its values at some landmark rows."""

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf, dtrtri

from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.lapack import cholesky_condition

FLOOR = 1e-12
"""Smaller eigenvalues of a kernel matrix, over its largest diagonal entry, count as so much under the inverse root."""


class LandmarkFeatures:
    """The features K^(-1/2) k(x) for the kernel matrix K of landmarks and the kernel k(x) between them and a row.

    A row's features are k(x)' `map`, with `map` of shape (h, r): the same up to a rotation, which changes neither
    projections nor covariance estimates that shrink towards a multiple of the identity. K is overwritten. It is
    factored by Cholesky with pivots, to its numerical rank r, which is 0 if its diagonal is not positive. Its
    eigenvalues are those of a matrix of the size of the rank; they are only computed if one of them may be less than
    `FLOOR` of the largest entry of the diagonal. (Czarnecki and Tabor, section 3 and Algorithm 2.)
    """

    def __init__(self, K: Array) -> None:
        largest = float(K.diagonal().max())
        if not largest > 0:
            self.map = np.zeros((len(K), 0))
            return
        tolerance, floor = len(K) * EPS * largest, FLOOR * largest
        factor, pivots, rank, _ = dpstrf(np.asfortranarray(K), tol=tolerance, lower=1, overwrite_a=1)
        factor = np.tril(factor[:, :rank])
        leading = np.asfortranarray(factor[:rank])
        inverse, _ = dtrtri(leading, lower=1)
        self.map = np.zeros((len(K), rank), order="F")
        self.map[pivots[:rank] - 1] = inverse.T
        # The eigenvalues of K are those of L'L for its factor L, which are at least those of L1'L1 for the leading rows
        # L1 of L, and these at least the reciprocal of the 1-norm of (L1 L1')^-1, which is estimated here.
        if not 1.0 / cholesky_condition(leading, 1.0) > 10 * floor:
            values, vectors = eigh(factor.T @ factor, check_finite=False)
            self.map = self.map @ (vectors * np.sqrt(np.clip(values, 0.0, floor) / floor))
