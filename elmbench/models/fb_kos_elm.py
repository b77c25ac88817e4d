"""The kernel online sequential extreme learning machine with a fixed budget."""

from typing import Any

from elmbench.models.base.family import FamilyClassifier, FamilyRegressor, target_bytes, width
from elmbench.models.base.online_kernel import OnlineKernel, inverse_bytes, looked_up_bytes
from elmbench.models.base.parameters import estimator
from elmbench.numerics.online.states import InverseState


@estimator
class _FBKOSELM(OnlineKernel):
    budget: int = 200

    def _new_state(self, n_features: int, n_outputs: int) -> InverseState:
        return InverseState(n_features, n_outputs, 1.0 / self.C, width(self), self.budget)

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        m = min(n_samples, params.get("budget", 200))
        looked_up = looked_up_bytes(params.get("kernel", "rbf"), m, n_samples)
        return inverse_bytes(m, n_features, n_outputs) + looked_up + target_bytes(n_samples, n_outputs)


class FBKOSELMClassifier(FamilyClassifier, _FBKOSELM):
    """Fixed-budget kernel online sequential extreme learning machine for classification.

    Each row joins the dictionary; where that makes it larger than the budget, the row i with the least |a_i| / Q_ii
    leaves it, a being the weights (for several outputs: their 2-norm) and Q the inverse of K + I/C. That quotient is
    the error of row i under the model of all the others. The new row can be the one that leaves. The model is always
    the kernel extreme learning machine of the rows in the dictionary; labels are not changed.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="auto"
        As in `KELMClassifier`; "scale" is that of the rows of `fit`, or of the first call of `partial_fit`.
    C, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`: positive semi-definite kernels. With "precomputed" `fit` takes all rows, and
        `partial_fit` none beyond those of its first call.
    budget : int, default=200
        Largest number of rows in the dictionary.

    Attributes
    ----------
    dictionary_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape (n_units,)
        The rows that are kept. A row that joins takes the place of the one that leaves.
    beta_, inverse_, classes_, n_units_, condition_, n_features_in_
        As in `KOSELMClassifier`.

    See Also
    --------
    KOSELMClassifier : A dictionary of all rows.
    ALDKOSELMClassifier : A dictionary of independent rows.

    Notes
    -----
    A row costs time in proportion to the square of the budget. Round-off is watched as in `KOSELMClassifier`.

    References
    ----------
    Van Vaerenbergh, Santamaria, Liu, Principe, Fixed-budget kernel recursive least-squares, ICASSP 2010; Scardapane
    et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015, section IV.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import FBKOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(FBKOSELMClassifier(C=10, budget=50).fit(X, y).score(X, y), 2)
    0.97
    """


class FBKOSELMRegressor(FamilyRegressor, _FBKOSELM):
    """Fixed-budget kernel OS-ELM for regression: `FBKOSELMClassifier` with `y`, one column or several, as targets.

    See Also
    --------
    FBKOSELMClassifier : For classification.
    KOSELMRegressor : A dictionary of all rows.
    ALDKOSELMRegressor : A dictionary of independent rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import FBKOSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(FBKOSELMRegressor(C=10, budget=50).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.47
    """
