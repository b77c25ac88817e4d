"""The reduced support vector machine, by Newton's method for squared losses whose corners are
rounded.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from elmbench.models.base.family import (
    FamilyClassifier,
    FamilyRegressor,
    estimator,
    numeric_gamma,
)
from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.kernels import row_blocks
from elmbench.numerics.pairwise import Kernel, kernel_blocks
from elmbench.numerics.solve import RidgeSystem, normal_equations

ARMIJO = 1e-4  # share of the decrease that the slope promises which a step must keep
LEAST_STEP = 2.0**-40  # shortest share of a Newton step that is tried

Losses = tuple[Array, Array, Array]
"""The losses of all rows, of shape (n,), and their first and second derivatives by the outputs."""


def smooth_plus(x: Array, smoothing: float) -> Losses:
    """Return p(x)^2 / 2 and its first two derivatives by x, where p(x) = x + log(1 + exp(-alpha x))
    / alpha.

    `x`: of shape (n,), as are the three results. p rounds the corner of max(x, 0); it is log(2) /
    alpha above it at 0 and less elsewhere. `smoothing` is alpha.
    """
    # p, and its derivatives p' and p''.
    scaled = smoothing * x
    plus = np.logaddexp(0.0, scaled) / smoothing
    slope = expit(scaled)
    curvature = smoothing * slope * expit(-scaled)
    # p^2 / 2, p p' and p'^2 + p p''.
    losses = plus**2 / 2
    first_derivatives = plus * slope
    second_derivatives = slope**2 + plus * curvature
    return losses, first_derivatives, second_derivatives


class Minimum(NamedTuple):
    """The last point of Newton's method.

    Attributes
    ----------
    solution : ndarray of shape (m,)
    n_iter : int
        Number of steps.
    converged : bool
        True if the gradient is zero there, within the tolerance or round-off.
    """

    solution: Array
    n_iter: int
    converged: bool


def minimise(
    A: Array, loss: Callable[[Array], Losses], ridge: float, tol: float, max_iter: int
) -> Minimum:
    """Minimise the losses of the outputs A z plus ridge |z|^2 / 2, from z = 0, by Newton's method
    with Armijo's rule.

    `A`: of shape (n, m). `loss`: returns the losses of outputs, (n,), and their first and second
    derivatives. The method has converged when the gradient ridge z + A's, with s the slopes of the
    losses, is at most `tol` times its terms, ridge |z| + |A'|s||, or a bound of its round-off. It
    also ends when all tried steps raise the objective, or after `max_iter` steps, not converged and
    without an error. A step whose predicted decrease is below the round-off of the objective must
    halve the gradient; else the method ends, converged if the system was factored by Cholesky.
    """
    start = np.zeros(A.shape[1])
    current = _Point(A, loss, ridge, start)
    for n_iter in range(max_iter + 1):
        least_length = max(tol * current.scale, current.gradient_error)
        if current.length <= least_length:
            return Minimum(current.z, n_iter, converged=True)
        if n_iter == max_iter:
            break
        # Newton's direction, and the decrease that it promises.
        hessian = weighted_gram(A, current.curvatures)
        system = RidgeSystem(hessian, ridge)
        gradient = current.gradient[:, np.newaxis]
        solution = system.solve(gradient)
        direction = -solution[:, 0]
        decrease = float(-current.gradient @ direction)
        is_noise = decrease <= current.value_error
        trial = _Point(A, loss, ridge, current.z + direction)
        # Armijo's rule: half a step as long as the objective falls too little.
        step = 1.0
        while not is_noise and step > LEAST_STEP:
            sufficient_decrease = ARMIJO * step * decrease
            if not trial.value > current.value - sufficient_decrease:
                break
            step /= 2
            shorter = step * direction
            trial = _Point(A, loss, ridge, current.z + shorter)
        keeps_gradient = trial.length > current.length / 2
        is_worse = keeps_gradient if is_noise else trial.value > current.value
        if is_worse:
            is_solved = is_noise and system.by_cholesky
            return Minimum(current.z, n_iter, converged=is_solved)
        current = trial
    return Minimum(current.z, max_iter, converged=False)


def weighted_gram(A: Array, weights: Array) -> Array:
    """Return A' diag(weights) A, of shape (m, m), exactly symmetric and in Fortran order.

    `A`: of shape (n, m). `weights`: of its rows, (n,), not negative.
    """
    blocks = ((rows, 0, A[rows].copy()) for rows in row_blocks(*A.shape))
    return normal_equations(
        blocks, 1, A.shape[1], np.empty((len(A), 0)), np.sqrt(weights)
    )[0][0]


class _Point:
    """The objective of `minimise` at z, its derivatives, and bounds of the round-off in them.

    Attributes
    ----------
    z, gradient : ndarrays of shape (m,)
    curvatures : ndarray of shape (n,)
        Second derivatives of the losses by the outputs.
    length, scale : float
        Length of the gradient, and the sum of the lengths of its terms.
    value : float
        The objective.
    gradient_error, value_error : float
        Bounds of the round-off of the gradient and of the objective.
    """

    def __init__(
        self, A: Array, loss: Callable[[Array], Losses], ridge: float, z: Array
    ) -> None:
        n, m = A.shape
        # One pass over A for the outputs and the sums of the sizes of their terms.
        pair = np.column_stack([z, np.abs(z)])
        products = A @ pair
        outputs, sizes = products.T
        losses, slopes, curvatures = loss(outputs)
        blur = m * EPS * sizes  # bound of the round-off of a sum of m products
        # One pass over A for the sums of the slopes, of their sizes, and of their changes by
        # round-off of the outputs.
        steepness = np.abs(slopes)
        changes = curvatures * blur
        triple = np.column_stack([slopes, steepness, changes])
        sums = A.T @ triple
        slope_sum, size_sum, change_sum = sums.T
        self.z = z
        self.curvatures = curvatures
        # The gradient ridge z + A's, the sizes of its terms, and its round-off.
        self.gradient = ridge * z + slope_sum
        self.length = float(np.linalg.norm(self.gradient))
        terms = np.linalg.norm(size_sum)
        change = np.linalg.norm(change_sum)
        self.scale = float(ridge * np.linalg.norm(z) + terms)
        self.gradient_error = float(n * EPS * terms + change)
        # The objective and its round-off.
        total_loss = losses.sum()
        penalty = ridge / 2 * (z @ z)
        self.value = float(total_loss + penalty)
        self.value_error = float(8 * EPS * total_loss + steepness @ blur)


@estimator
class _RSVM:
    """Base class of `RSVMClassifier` and `RSVMRegressor`: fit and outputs, for targets of shape (n,
    n_outputs).
    """

    n_landmarks: int = 100
    C: float = 1.0
    gamma: float | str = "scale"
    random_state: int | np.random.RandomState | None = None
    smoothing: float = 5.0
    tol: float = 1e-10
    max_iter: int = 100

    @abstractmethod
    def _loss(self, targets: Array, outputs: Array) -> Losses:
        """Return the losses of all rows, and their first and second derivatives by the outputs,
        each of shape (n,).

        `targets`, `outputs`: one column of each, (n,).
        """

    def _fit(self, X: Rows, T: Array) -> None:
        """Draw the landmarks and minimise the smooth loss of each output; warn if one has not
        converged.

        `T`: targets, (n, n_outputs), -1/+1 for classes. Rows have no weights.
        """
        n = X.shape[0]
        order = check_random_state(self.random_state).permutation(n)
        landmarks = X[order[: self.n_landmarks]]
        self._kernel = Kernel(gamma=numeric_gamma(self))
        # The last feature is the constant of the intercept.
        features = np.ones((n, landmarks.shape[0] + 1))
        for rows, _, values in kernel_blocks(
            self._kernel, X, landmarks, [self._kernel.gamma]
        ):
            features[rows, :-1] = values
        minima = [
            minimise(
                features,
                loss=partial(self._loss, np.ascontiguousarray(column)),
                ridge=1.0 / self.C,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for column in T.T
        ]
        solution = np.column_stack([minimum.solution for minimum in minima])
        self.landmarks_ = landmarks
        self.beta_ = solution[:-1]
        self.intercept_ = solution[-1]
        self.n_units_ = landmarks.shape[0]
        self.n_iter_ = np.array([minimum.n_iter for minimum in minima])
        n_stopped = sum(not minimum.converged for minimum in minima)
        self.solvers_ = {"capped": 1} if n_stopped else {}
        if n_stopped:
            warnings.warn(
                f"Newton's method ended before the gradient was zero to tol={self.tol:g}, for "
                f"{n_stopped} of {len(minima)} outputs (max_iter={self.max_iter}): "
                "expected more steps or a smaller C",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _outputs(self, X: Rows) -> Array:
        """Return the outputs sum_j u_j k(x, c_j) + b over the landmarks c_j, for the rows x of `X`,
        of shape (n, n_outputs).
        """
        return self._kernel.product(X, self.landmarks_, self.beta_) + self.intercept_


class RSVMClassifier(FamilyClassifier, _RSVM):
    """Reduced support vector machine for classification.

    f(x) = sum_j u_j k(x, c_j) + b, where the landmarks c_j are training rows drawn without
    replacement, and u and b minimise C/2 sum_i p(1 - t_i f(x_i))^2 + (|u|^2 + b^2) / 2 over all
    rows, with targets t of -1/+1 and the smooth plus function p(x) = x + log(1 + exp(-alpha x)) /
    alpha. More than two classes are learnt one against the rest.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks; all training rows if there are fewer. They are the first of a
        permutation of the rows, so the landmarks of a smaller machine are among those of a larger
        one with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors, nu in the papers.
    gamma : float, "scale" or "auto", default="scale"
        Inverse squared width of the kernel, exp(-gamma d^2); "scale" is 1 / (n_features * X.var()).
    random_state : int, RandomState or None, default=None
        Draws the landmarks.
    smoothing : float, default=5.0
        alpha of the smooth plus function, in units of 1 / f: for errors that are small compared
        with 1 / alpha, the loss is smoother than the hinge or the tube that it approximates.
    tol : float, default=1e-10
        Length of the gradient, relative to its terms, below which it counts as zero; at least a
        bound of its round-off.
    max_iter : int, default=100
        The most steps of Newton's method for each output.

    Attributes
    ----------
    landmarks_ : ndarray or CSR matrix of shape (n_units_, n_features)
        As the rows of `fit`.
    beta_ : ndarray of shape (n_units_, n_outputs)
        u, one column for two classes, else one for each class.
    intercept_ : ndarray of shape (n_outputs,)
        b.
    n_iter_ : ndarray of shape (n_outputs,)
        Steps of Newton's method.
    solvers_ : dict of str to int
        ``{"capped": 1}`` if an output did not converge in `max_iter` steps, with a
        `ConvergenceWarning`; else empty.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of landmarks.
    n_features_in_ : int

    See Also
    --------
    RKELMClassifier : Squared errors with the same centres.
    SVMClassifier : All rows may become support vectors.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be a CSR matrix, which is not made dense. The kernel between all n rows and the L
    landmarks takes 8 n L bytes; a step takes n L^2 operations.

    References
    ----------
    Lee and Mangasarian, RSVM: Reduced support vector machines, SIAM International Conference on
    Data Mining, 2001; Lee and Huang, Reduced support vector machines: A statistical theory, IEEE
    TNN 18(1), 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import RSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(RSVMClassifier(n_landmarks=50, C=10, random_state=0).fit(X, y).score(X, y), 2)
    0.98
    """

    def _loss(self, targets: Array, outputs: Array) -> Losses:
        """Return p(1 - t f)^2 / 2 for targets t, -1 or +1, and outputs f, and its first and second
        derivatives by f, each of shape (n,) (Lee & Mangasarian, eq. (9)).

        p is the plus function max(x, 0) with a corner rounded by `smoothing`.
        """
        values, slopes, curvatures = smooth_plus(
            1.0 - targets * outputs, self.smoothing
        )
        return values, -targets * slopes, curvatures


@estimator
class RSVMRegressor(FamilyRegressor, _RSVM):
    """Reduced support vector machine for regression, with `y`, one column or several, as targets.

    As `RSVMClassifier`, but each column t of targets is learnt with the squared loss outside of a
    tube, C/2 sum_i [p(t_i - f(x_i) - epsilon)^2 + p(f(x_i) - t_i - epsilon)^2].

    Parameters
    ----------
    n_landmarks, C, gamma, random_state, smoothing, tol, max_iter
        As in `RSVMClassifier`.
    epsilon : float, default=0.1
        Half the width of the tube, in units of `y`: 0 or more. The default is that of LIBSVM and
        scikit-learn's `SVR`.

    Attributes
    ----------
    landmarks_, beta_, intercept_, n_iter_, solvers_, n_units_, n_features_in_
        As in `RSVMClassifier`.

    See Also
    --------
    RSVMClassifier : For classification.
    RKELMRegressor : Squared errors with the same centres.

    References
    ----------
    Lee, Hsieh and Huang, epsilon-SSVR: A smooth support vector machine for epsilon-insensitive
    regression, IEEE TKDE 17(5), 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import RSVMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RSVMRegressor(n_landmarks=50, C=10, random_state=0)
    >>> round(model.fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.55
    """

    epsilon: float = 0.1

    def _loss(self, targets: Array, outputs: Array) -> Losses:
        """Return (p(t - f - epsilon)^2 + p(f - t - epsilon)^2) / 2 for targets t and outputs f, and
        its first and second derivatives by f, each of shape (n,) (Lee et al.).

        p is the plus function max(x, 0) with a corner rounded by `smoothing`.
        """
        errors = outputs - targets
        above = smooth_plus(errors - self.epsilon, self.smoothing)
        below = smooth_plus(-errors - self.epsilon, self.smoothing)
        return above[0] + below[0], above[1] - below[1], above[2] + below[2]
