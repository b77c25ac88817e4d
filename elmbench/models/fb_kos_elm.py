"""The kernel online sequential extreme learning machine with a fixed budget."""

from collections.abc import Mapping
from typing import Any

from elmbench.models.base.family import SequentialClassifier, SequentialRegressor, target_bytes
from elmbench.models.base.online_kernel import OnlineKernel, inverse_bytes, looked_up_bytes
from elmbench.models.base.parameters import check_count
from elmbench.numerics.online.states import InverseState


class _FBKOSELM(OnlineKernel):
    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        kernel: Any = "rbf",
        budget: int = 200,
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(C, gamma, kernel, degree, coef0, kernel_params)
        self.budget = budget

    def _new_state(self, n_features: int, n_outputs: int) -> InverseState:
        ridge, gamma = self._checked()
        return InverseState(n_features, n_outputs, ridge, gamma, check_count("budget", self.budget))

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        m = min(n_samples, params.get("budget", 200))
        looked_up = looked_up_bytes(params.get("kernel", "rbf"), m, n_samples)
        return inverse_bytes(m, n_features, n_outputs) + looked_up + target_bytes(n_samples, n_outputs)


class FBKOSELMClassifier(SequentialClassifier, _FBKOSELM):
    """Fixed-budget kernel online sequential extreme learning machine for classification.

    Each row joins the dictionary; where that makes it larger than the budget, the row i with the least |a_i| / Q_ii
    leaves it, a being the weights (for several outputs: their 2-norm) and Q the inverse of K + I/C. That quotient is
    the error of row i under the model of all the others. The new row can be the one that leaves. The model is always
    the kernel extreme learning machine of the rows in the dictionary; labels are not changed.

    Parameters
    ----------
    C, gamma, kernel, degree, coef0, kernel_params
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

    Notes
    -----
    A row costs time in proportion to the square of the budget. Round-off is watched as in `KOSELMClassifier`.

    References
    ----------
    Van Vaerenbergh, Santamaria, Liu, Principe, Fixed-budget kernel recursive least-squares, ICASSP 2010; Scardapane
    et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9), 2015, section IV.
    """


class FBKOSELMRegressor(SequentialRegressor, _FBKOSELM):
    """Fixed-budget kernel OS-ELM for regression: `FBKOSELMClassifier` with `y`, one column or several, as targets."""
