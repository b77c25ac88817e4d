"""Kernel extreme learning machines that learn row by row, with all rows or a fixed budget."""

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.family import (
    FamilyClassifier,
    FamilyRegressor,
    check_condition,
    estimator,
    numeric_gamma,
)
from elmbench.models.base.kernels import KernelMixin
from elmbench.models.base.paths import CandidateGrid, PathMixin
from elmbench.numerics.arrays import EPS, Array, Rows
from elmbench.numerics.online.states import UNLIMITED, DependencyState, InverseState
from elmbench.numerics.pairwise import Kernel
from elmbench.numerics.solve import RidgeSystem


@estimator
class KOSELM(KernelMixin, PathMixin):
    """Base class of the kernel models that learn row by row, by a state that grows by `extend`.

    Targets are of shape (n, n_outputs). A subclass with `budget` limits the dictionary.
    """

    C: float = 1.0
    gamma: float | str = "auto"

    def _new_state(
        self, n_features: int, n_outputs: int, kernel: Kernel | None
    ) -> InverseState | DependencyState:
        """Return a state without rows, whose dictionary has at most `budget` rows if the model has
        one.

        `n_features`: of the rows if `kernel` is None, which stands for the Gaussian kernel of dense
        rows; else 1, as the state numbers the rows. `n_outputs`: columns of the targets.
        """
        budget = getattr(self, "budget", UNLIMITED)
        return InverseState(
            n_features,
            n_outputs,
            numeric_gamma(self),
            1.0 / self.C,
            budget,
            kernel=kernel,
        )

    def _fit(self, X: Rows, T: Array) -> None:
        """Forget all rows and learn those of `X` one by one; warn if the model has a ridge, which
        is at most the machine precision, and the system is singular.

        `T`: targets, (n, n_outputs), -1/+1 for classes. Rows have no weights.
        """
        self._start(X, T)
        self._update(X, T)
        # A look at all of the matrix costs too much where there is no need for it.
        if 0 < self._state.ridge <= EPS:
            check_condition(
                self,
                RidgeSystem(
                    np.array(self._state.dictionary_kernel(), order="F"),
                    self._state.ridge,
                ),
            )

    def _start(self, X: Rows, T: Array) -> None:
        """Forget all rows: set the kernel and a state without rows.

        `X`, `T`: rows and targets, (n, n_outputs), as they will be learnt; only the number of
        columns, and whether `X` is sparse, count.
        """
        kernel = self._make_kernel()
        self._kernel = kernel
        n_outputs = T.shape[1]
        if kernel.is_plain(X):
            n_features = X.shape[1]
            self._state = self._new_state(n_features, n_outputs, None)
        else:
            self._state = self._new_state(1, n_outputs, kernel)

    def _update(self, X: Rows, T: Array) -> None:
        """Learn further rows one by one, in their order, with targets `T`, (n, n_outputs), -1/+1
        for classes.
        """
        self._state.extend(X, T)
        self.n_units_ = self._state.size

    def _outputs(self, X: Rows) -> Array:
        """Return the outputs sum_i beta_i k(x_i, x) over the rows x_i of the dictionary, for the
        rows x of `X`, of shape (n, n_outputs).
        """
        return self._kernel.product(X, self.dictionary_, self.beta_)

    @classmethod
    def _path(cls, grid: CandidateGrid) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Yield (candidate, fold, outputs), fitting once for all candidates that learn the same
        model.

        Candidates learn the same if they differ in budgets that are not reached, in thresholds with
        no row's distance between them, in `C` without a ridge, or in `gamma` of a kernel without
        one. `outputs`: the values of the method `grid.output` for the test rows.
        """
        groups = grid.group(lambda model: model._make_kernel().key)
        for j, (train, test) in enumerate(grid.folds):
            X = grid.X[train]
            probes = grid.X[test]
            (T, decode) = grid.encode(train)
            for members in groups:
                fits: list[tuple[Any, Array]] = []
                for i, member in members:
                    model = copy(member)  # the state ends with its group
                    model._start(X, T)
                    outputs = next(
                        (
                            values
                            for fit, values in fits
                            if fit.learns_like(model._state)
                        ),
                        None,
                    )
                    if outputs is None:
                        model._update(X, T)
                        outputs = model._outputs(probes)
                        fits.append((model._state, outputs))
                    yield i, j, decode(outputs)

    @property
    def beta_(self) -> Array:
        """Output weights, of shape (n_units, n_outputs)."""
        return self._state.solution()

    @property
    def dictionary_(self) -> Rows:
        """Rows of the dictionary in the order of `beta_`, sparse if the first rows were; the
        numbers of training rows for a precomputed kernel.
        """
        return self._state.rows

    @property
    def inverse_(self) -> Array:
        """Inverse of the kernel matrix of the dictionary, plus the ridge if the model has one, of
        shape (n_units, n_units).
        """
        return self._state.inverse_matrix()

    @property
    def condition_(self) -> float:
        """Condition number in the 1-norm of the matrix whose inverse is `inverse_`, computed on
        demand; 1 for an empty dictionary.
        """
        state = self._state
        if state.size == 0:
            return 1.0
        diagonal = state.ridge * np.eye(state.size)
        matrix = state.dictionary_kernel() + diagonal
        norm = np.linalg.norm(matrix, 1)
        inverse_norm = np.linalg.norm(self.inverse_, 1)
        return float(norm * inverse_norm)


class KOSELMClassifier(FamilyClassifier, KOSELM):
    """Kernel online sequential extreme learning machine for classification.

    It learns one row at a time and keeps all of them: after any number of rows, it is the kernel
    extreme learning machine of these rows. Learning a row takes time proportional to the square of
    the rows so far.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="auto"
        As in `KELMClassifier`; "scale" is computed from the rows of `fit`, or of the first call of
        `partial_fit`.
    C, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`: positive semi-definite kernels. With "precomputed" `fit` takes all
        rows, and `partial_fit` none beyond those of its first call.

    Attributes
    ----------
    beta_ : ndarray of shape (n_units, n_outputs)
        Output weights.
    dictionary_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape
    (n_units,)
        The rows learnt so far.
    inverse_ : ndarray of shape (n_units, n_units)
        Inverse of K + I/C on the dictionary.
    condition_ : float
        Condition number of K + I/C in the 1-norm, computed from `inverse_` on demand.
    classes_, n_units_, n_features_in_
        As in `KELMClassifier`.

    See Also
    --------
    FBKOSELMClassifier : A dictionary of limited size.
    ALDKOSELMClassifier : A dictionary of independent rows.
    KELMClassifier : The same model, learnt at once.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Round-off accumulates in an inverse that is updated repeatedly. Every 64 rows, one equation
    checks the inverse and the weights. If its residual exceeds 1e-6, or r of line 6 is below its
    bound 1/C, both are recomputed from the dictionary, at most once in as many rows as it has, so
    that this does not change the order of the cost.

    References
    ----------
    Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS 26(9),
    2015, Table I.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import KOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KOSELMClassifier(C=10).fit(X, y).score(X, y), 2)
    0.99
    """


class KOSELMRegressor(FamilyRegressor, KOSELM):
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


@estimator
class _FBKOSELM(KOSELM):
    """Base class of `FBKOSELMClassifier` and `FBKOSELMRegressor`: the K-ELM of the rows in a
    dictionary of limited size.
    """

    budget: int = 200


class FBKOSELMClassifier(FamilyClassifier, _FBKOSELM):
    """Fixed-budget kernel online sequential extreme learning machine for classification.

    Each row joins the dictionary. If this exceeds the budget, the row i with the least |a_i| / Q_ii
    leaves it, where a are the weights (for several outputs, their 2-norm) and Q is the inverse of K
    + I/C. That quotient is the error of row i under the model of all other rows. The new row itself
    may leave. The model is always the kernel extreme learning machine of the rows in the
    dictionary; labels are not changed.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default="auto"
        As in `KELMClassifier`; "scale" is computed from the rows of `fit`, or of the first call of
        `partial_fit`.
    C, kernel, degree, coef0, kernel_params
        As in `KELMClassifier`: positive semi-definite kernels. With "precomputed" `fit` takes all
        rows, and `partial_fit` none beyond those of its first call.
    budget : int, default=200
        Largest number of rows in the dictionary.

    Attributes
    ----------
    dictionary_ : ndarray or CSR matrix of shape (n_units, n_features), or ndarray of shape
    (n_units,)
        The rows in the dictionary. A joining row takes the position of the leaving one.
    beta_, inverse_, classes_, n_units_, condition_, n_features_in_
        As in `KOSELMClassifier`.

    See Also
    --------
    KOSELMClassifier : A dictionary of all rows.
    ALDKOSELMClassifier : A dictionary of independent rows.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Learning a row takes time proportional to the square of the budget. Round-off is monitored as in
    `KOSELMClassifier`.

    References
    ----------
    Van Vaerenbergh, Santamaria, Liu, Principe, Fixed-budget kernel recursive least-squares, ICASSP
    2010; Scardapane et al., Online Sequential Extreme Learning Machine With Kernels, IEEE TNNLS
    26(9), 2015, section IV.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import FBKOSELMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(FBKOSELMClassifier(C=10, budget=50).fit(X, y).score(X, y), 2)
    0.97
    """


class FBKOSELMRegressor(FamilyRegressor, _FBKOSELM):
    """Fixed-budget kernel OS-ELM for regression: `FBKOSELMClassifier` with `y`, one column or
    several, as targets.

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
