"""The reduced kernel extreme learning machine of Deng et al."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from elmbench.models.base.centres import WIDTH_INTERVAL, CentresMixin, CentresRegressor
from elmbench.models.base.family import FamilyClassifier
from elmbench.models.base.parameters import check_choice, check_count, check_finite
from elmbench.numerics.centres import KERNELS, OF_DISTANCES, CentreKernel, Rows


class _RKELM(CentresMixin, BaseEstimator):
    """What the classifier and the regressor share."""

    model_version: int = 1

    _size_name = "n_landmarks"

    def __init__(
        self,
        n_landmarks: int = 100,
        C: float = 1.0,
        gamma: float = 1.0,
        kernel: str = "rbf",
        degree: int = 3,
        coef0: float = 1.0,
        widths: str = "equal",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.C = C
        self.gamma = gamma
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.widths = widths
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_choice("kernel", self.kernel, KERNELS)
        check_count("degree", self.degree)
        check_finite("coef0", self.coef0)
        if check_choice("widths", self.widths, ("equal", "random")) == "random" and self.kernel not in OF_DISTANCES:
            kernels = ", ".join(map(repr, OF_DISTANCES))
            raise ValueError(f"widths: expected a kernel with a width, {kernels}, got {self.kernel!r} instead")

    def _draw(self, X: Rows) -> CentreKernel:
        """Algorithm 1, line 1: some of the rows, each once at most."""
        random_state = check_random_state(self.random_state)
        chosen = random_state.permutation(X.shape[0])[: self.n_landmarks]
        gamma = 1.0 / random_state.uniform(*WIDTH_INTERVAL, len(chosen)) if self.widths == "random" else 1.0
        return CentreKernel(X[chosen], self.kernel, gamma, int(self.degree), float(self.coef0))

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count what `CentresMixin` does, for no more centres than rows."""
        landmarks = min(params.get("n_landmarks", 100), n_samples)
        return super().memory_estimate(n_samples, n_features, n_outputs, **params | {"n_landmarks": landmarks})

    def _drawn_by(self) -> Hashable:
        return self.kernel, self.degree, self.coef0, self.widths, self.random_state


class RKELMClassifier(FamilyClassifier, _RKELM):
    """Reduced kernel extreme learning machine for classification.

    A network f(x) = [k(x, c_1), ..., k(x, c_L)] beta whose centres are some of the training rows, drawn at random
    without replacement, and whose output weights minimise ||beta||^2 / 2 + C/2 ||K beta - T||^2, with targets -1/+1,
    for more than two classes one against the rest: beta = (K'K + I/C)^-1 K'T.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of centres, L in the paper; all rows, where there are fewer. The centres of a smaller network are the
        first ones of a larger network with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge, which the paper calls C.
    gamma : float, default=1.0
        Inverse squared width of the kernel, 1/sigma in the paper; of the other kernels see
        `elmbench.numerics.centres.CentreKernel`.
    kernel : {"rbf", "inverse-multiquadric", "rational-quadratic", "polynomial", "sigmoid"}, default="rbf"
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial and the sigmoid kernel.
    widths : {"equal", "random"}, default="equal"
        Whether all centres have the width 1/gamma, or each its own, sigma_i = u_i / gamma with u_i uniform on [0.5,
        1.5]: kernels of distances only.
    random_state : int, RandomState or None, default=None
        Draws the centres and the widths.

    Attributes
    ----------
    centres_ : ndarray or CSR matrix of shape (n_units, n_features)
    gammas_ : ndarray of shape (n_units,)
        The `gamma` of each centre.
    beta_ : ndarray of shape (n_units, n_outputs)
        Output weights.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of centres.
    condition_ : float
        Estimated condition number of K'K + I/C.
    n_features_in_ : int

    Notes
    -----
    Rows are seen a block at a time, so that `fit` needs 8 L^2 bytes and some blocks, however many rows there are.
    Sparse rows (CSR) stay sparse.

    References
    ----------
    Deng, Ong, Zheng, A Fast Reduced Kernel Extreme Learning Machine, Neural Networks 76, 2016, eqs. (7)-(10) and
    Algorithm 1.
    """


class RKELMRegressor(CentresRegressor, _RKELM):
    """Reduced kernel ELM for regression: `RKELMClassifier` with `y`, one column or several, as targets."""
