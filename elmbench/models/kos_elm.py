"""The kernel online sequential extreme learning machine that keeps every row."""

from typing import Any

from elmbench.models.base.family import FamilyClassifier, FamilyRegressor, target_bytes, width
from elmbench.models.base.online_kernel import OnlineKernel, inverse_bytes, looked_up_bytes
from elmbench.numerics.online.states import InverseState


class _KOSELM(OnlineKernel):
    def _new_state(self, n_features: int, n_outputs: int) -> InverseState:
        return InverseState(n_features, n_outputs, 1.0 / self.C, width(self))

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count the inverse, and room for the matrix that it is computed from where round-off demands it."""
        looked_up = looked_up_bytes(params.get("kernel", "rbf"), n_samples, n_samples)
        return inverse_bytes(n_samples, n_features, n_outputs) + looked_up + target_bytes(n_samples, n_outputs)


class KOSELMClassifier(FamilyClassifier, _KOSELM):
    """Kernel online sequential extreme learning machine for classification.

    Learns one row at a time, keeping all of them: after any number of rows it is the kernel extreme learning machine
    of those rows. A row costs time in proportion to the square of the rows so far.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="auto"
        As in `KELMClassifier`; "scale" is that of the rows of `fit`, or of the first call of `partial_fit`.
    C, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`: positive semi-definite kernels. With "precomputed" `fit` takes all rows, and
        `partial_fit` none beyond those of its first call.

    Attributes
    ----------
    beta_ : ndarray of shape (n_units, n_outputs)
        Output weights.
    dictionary_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape (n_units,)
        The rows learnt so far.
    inverse_ : ndarray of shape (n_units, n_units)
        Inverse of K + I/C on the dictionary.
    condition_ : float
        Condition number of K + I/C in the 1-norm, from `inverse_`; computed when asked for.
    classes_, n_units_, n_features_in_
        As in `KELMClassifier`.

    See Also
    --------
    FBKOSELMClassifier : A dictionary of limited size.
    ALDKOSELMClassifier : A dictionary of independent rows.
    KELMClassifier : The same model, learnt at once.

    Notes
    -----
    Round-off adds up in an inverse that is updated again and again. Every 64 rows one equation is put to the inverse
    and to the weights; where the residual exceeds 1e-8, or where r of line 6 falls below its bound 1/C, both are
    computed anew from the dictionary (at most once in as many rows as it has, so that this does not change the cost).

    References
    ----------
    Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import KOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KOSELMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """


class KOSELMRegressor(FamilyRegressor, _KOSELM):
    """Kernel OS-ELM for regression: `KOSELMClassifier` with `y`, one column or several, as targets.

    See Also
    --------
    KOSELMClassifier : For classification.
    FBKOSELMRegressor : A dictionary of limited size.
    ALDKOSELMRegressor : A dictionary of independent rows.
    KELMRegressor : The same model, learnt at once.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import KOSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(KOSELMRegressor(C=10).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.78
    """
