"""The extreme entropy kernel machine: an extreme entropy machine in the features of a kernel at
some landmarks.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf, dtrtri
from sklearn.utils import check_random_state

from elmbench.models.base.family import estimator
from elmbench.models.base.kernels import KernelMixin
from elmbench.models.eem import EntropyClassifier, discriminants
from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.solve import cholesky_condition

CONSTANT_KERNEL = (
    "the kernel has the same value for all pairs of rows, so there is nothing to tell the classes "
    "apart by and one "
    "class is predicted for all rows: expected a larger gamma"
)

FLOOR = 1e-12
"""Smaller eigenvalues of a kernel matrix, over its largest diagonal entry, count as so much under
the inverse root.
"""


def landmark_map(K: Array) -> Array:
    """Return the map M, (h, r), of features k(x)'M for the kernel matrix K, (h, h), of landmarks.

    k(x), of shape (h,), holds the kernel of a row with the landmarks. The features are K^(-1/2)
    k(x) up to a rotation, which changes neither projections nor covariance estimates that shrink
    towards a multiple of the identity. r is the numerical rank of K, 0 if its diagonal is not
    positive. Eigenvalues of K below `FLOOR` times the largest entry of its diagonal are raised to
    that value. K is overwritten. (Czarnecki and Tabor, section 3 and Algorithm 2.)
    """
    # The eigenvalues are only computed if one of them may be below the floor.
    n_landmarks = len(K)
    largest = float(K.diagonal().max())
    if not largest > 0:
        return np.zeros((n_landmarks, 0))
    tolerance = n_landmarks * EPS * largest
    floor = FLOOR * largest
    # K = L L' up to the order of its rows; L1 are the leading rows of L.
    columns = np.asfortranarray(K)
    factor, pivots, rank, _ = dpstrf(columns, tol=tolerance, lower=1, overwrite_a=1)
    factor = np.tril(factor[:, :rank])
    leading = np.asfortranarray(factor[:rank])
    inverse, _ = dtrtri(leading, lower=1)
    order = pivots[:rank] - 1  # LAPACK counts from 1
    # L1'^-1 for the landmarks of L1, and zero for the others.
    result = np.zeros((n_landmarks, rank), order="F")
    result[order] = inverse.T
    # The eigenvalues of K are those of L'L, which are at least those of L1'L1, and these at least
    # the reciprocal of the 1-norm of (L1 L1')^-1, which is estimated here.
    smallest = 1.0 / cholesky_condition(leading, 1.0)
    if not smallest > 10 * floor:
        values, vectors = eigh(factor.T @ factor, check_finite=False)
        lowered = np.clip(values, 0.0, floor)
        factors = np.sqrt(lowered / floor)
        result = result @ (vectors * factors)
    return result


@estimator
class EEKMClassifier(EntropyClassifier, KernelMixin):
    """Extreme entropy kernel machine.

    An extreme entropy machine, see `EEMClassifier`, in the features K^(-1/2) k(x) of the Nystroem
    approximation, where k(x) holds the kernel between x and the landmarks, h training rows drawn
    without replacement, and K the kernel among these. Eigenvalues of K below 1e-12 of its largest
    diagonal entry, as for a small `gamma`, are raised to that value. More than two classes are
    learnt one against the rest.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks, h in the paper; all training rows if there are fewer. The landmarks of
        a smaller machine are among those of a larger one with the same integer `random_state`.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, exp(-gamma d^2); "scale" is 1 / (n_features * X.var()).
    kernel : str or callable, default="rbf"
        As in `KELMClassifier`, but positive semi-definite. With "precomputed", the landmarks are
        numbers of training rows.
    priors, costs
        As in `EEMClassifier`.
    random_state : int, RandomState or None, default=None
        Draws the landmarks.
    degree, coef0, kernel_params
        As in `KELMClassifier`.

    Attributes
    ----------
    landmarks_ : ndarray or CSR matrix of shape (n_units_, n_features), or ndarray of shape
    (n_units_,)
    beta_ : ndarray of shape (n_units_, n_outputs)
        K^(-1/2) beta, the weights of the kernel at the landmarks (beta^ of section 6), one column
        for two classes, else one for each class; zero if the means of the classes coincide.
    n_units_ : int
        Number of landmarks.
    means_, variances_, thresholds_, classes_, condition_, n_features_in_
        As in `EEMClassifier`.

    See Also
    --------
    EEMClassifier : Hidden nodes instead of a kernel.

    References
    ----------
    Czarnecki and Tabor, Extreme Entropy Machines: Robust information theoretic classification,
    sections 3 and 6, eqs. (2) and (4), Algorithms 1 and 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import EEKMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(EEKMClassifier(n_landmarks=20, random_state=0).fit(X, y).score(X, y), 2)
    0.99
    """

    n_landmarks: int = 100
    random_state: int | np.random.RandomState | None = None

    def _fit(self, X: Rows, T: Array, weights: Array | None) -> None:
        """Draw the landmarks and find the discriminant of each output on their features.

        `T`: targets -1/+1, (n, n_outputs), one column for two classes. `weights`: of the rows,
        (n,), not their roots; rows of weight 0 are no landmarks; None if all are 1. A warning is
        issued for a class of one row, and for classes with the same mean. A ValueError is raised
        if the kernel of every landmark with itself is 0 or less.
        """
        kernel = self._make_kernel()
        eligible = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        order = check_random_state(self.random_state).permutation(eligible)
        numbers = order[: self.n_landmarks]
        landmarks = kernel.select_rows(X, numbers)
        part = X[np.ix_(numbers, numbers)] if kernel.is_precomputed else X[numbers]
        features_of = landmark_map(kernel.matrix(part))
        rank = features_of.shape[1]
        if rank == 0:
            raise ValueError(
                "kernel: expected one with positive values between each row and itself, got "
                f"{self.kernel!r} instead, which is positive for no landmark"
            )

        def features(rows: NDArray[np.intp]) -> Array:
            """Return the features of the training rows with these numbers, (len(rows), rank)."""
            return kernel.matrix(X[rows], landmarks) @ features_of

        by_size = discriminants(
            features,
            T,
            [rank],
            constant_warning=CONSTANT_KERNEL,
            dimension=len(numbers),
            weights=weights,
        )
        result = by_size[rank]
        # beta^ = K^(-1/2) beta, section 6
        self._kernel = kernel
        self.landmarks_ = landmarks
        self.beta_ = features_of @ np.column_stack([d.beta for d in result])
        self.n_units_ = len(numbers)
        self._set_discriminants(result)

    def _projections(self, X: Rows) -> Array:
        """Return the projections sum_j beta_j k(x, c_j) of the rows x of `X` by the landmarks c_j,
        of shape (n, n_outputs).
        """
        return self._kernel.product(X, self.landmarks_, self.beta_)
