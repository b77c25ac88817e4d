"""Kernel extreme learning machines that learn row by row, with a dictionary of independent rows."""

from typing import Any, ClassVar

from elmbench.models.base.family import (
    COUNT,
    FamilyClassifier,
    FamilyRegressor,
    estimator,
    numeric_gamma,
)
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.kos_elm import KOSELM
from elmbench.numerics.online.states import UNLIMITED, DependencyState
from elmbench.numerics.pairwise import Kernel


@estimator
class _ALDKOSELM(KOSELM):
    """Base class of `ALDKOSELMClassifier` and `ALDKOSELMRegressor`, for targets of shape (n,
    n_outputs).

    It sets the state: kernel recursive least squares on a dictionary of approximately independent
    rows.
    """

    delta: float = 0.1
    threshold: str = "squared"
    max_atoms: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_atoms": [COUNT, None],
        "threshold": [StrOptions({"squared", "as-printed"})],
    }

    def _new_state(
        self, n_features: int, n_outputs: int, kernel: Kernel | None
    ) -> DependencyState:
        """Return a state without rows, with a dictionary of at most `max_atoms` approximately
        independent rows.

        `n_features`: of the rows if `kernel` is None, which stands for the Gaussian kernel of dense
        rows; else 1, as the state numbers the rows. `n_outputs`: columns of the targets.
        """
        max_atoms = UNLIMITED if self.max_atoms is None else self.max_atoms
        squared = self.delta if self.threshold == "squared" else self.delta**2
        return DependencyState(
            n_features,
            n_outputs,
            numeric_gamma(self),
            squared,
            max_atoms,
            kernel=kernel,
        )


class ALDKOSELMClassifier(FamilyClassifier, _ALDKOSELM):
    """Kernel online sequential extreme learning machine with approximate linear dependency, for
    classification.

    A row joins the dictionary if its squared distance, in the feature space, from the span of the
    dictionary exceeds a threshold. Any other row still changes the weights: they are the
    least-squares fit to all rows so far, each replaced by its projection at the time it was learnt.
    There is no ridge.

    Parameters
    ----------
    C : float, default=1.0
        Has no effect; accepted because the published protocol gives this model the parameters of
        K-ELM.
    gamma, kernel, degree, coef0, kernel_params
        As in `KOSELMClassifier`.
    delta : float, default=0.1
        The threshold; 0 keeps every row that is independent to working precision.
    threshold : {"squared", "as-printed"}, default="squared"
        "squared" compares the squared distance with `delta`, as the authors' code does;
        "as-printed" the distance itself, as in eq. (10).
    max_atoms : int, default=None
        Largest size of the dictionary; None for no limit.

    Attributes
    ----------
    dictionary_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape
    (n_units,)
        The rows in the dictionary.
    inverse_ : ndarray of shape (n_units, n_units)
        Inverse of the kernel matrix of the dictionary, whose condition is `condition_`.
    beta_, classes_, n_units_, condition_, n_features_in_
        As in `KOSELMClassifier`.

    See Also
    --------
    KOSELMClassifier : A dictionary of all rows.
    FBKOSELMClassifier : A dictionary of limited size.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows with a squared distance below 1e-9 never join, because round-off would decide; so repeated
    rows never do. The Cholesky factor of the kernel matrix is updated, not its inverse as in Engel
    et al., at the same cost.

    References
    ----------
    Engel, Mannor, Meir, The kernel recursive least-squares algorithm, IEEE Trans. Signal Process.
    52(8), 2004; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE
    TNNLS 26(9), 2015, eqs. (10) and (11).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import ALDKOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ALDKOSELMClassifier(delta=0.01).fit(X, y).score(X, y), 2)
    0.99
    """


class ALDKOSELMRegressor(FamilyRegressor, _ALDKOSELM):
    """Kernel OS-ELM with ALD for regression: `ALDKOSELMClassifier` with `y`, one column or several,
    as targets.

    See Also
    --------
    ALDKOSELMClassifier : For classification.
    KOSELMRegressor : A dictionary of all rows.
    FBKOSELMRegressor : A dictionary of limited size.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import ALDKOSELMRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(ALDKOSELMRegressor(delta=0.01).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.95
    """
