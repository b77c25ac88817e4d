"""The support vector machine on a budget, learnt by stochastic gradient descent."""

from typing import Any, ClassVar

import scipy.sparse as sp

from elmbench.models.base.family import estimator, numeric_gamma
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.pegasos import StochasticClassifier
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.online.budgeted_sgd import BudgetedState
from elmbench.numerics.pairwise import Kernel


@estimator
class BSGDClassifier(StochasticClassifier):
    """Support vector machine on a budget, learnt by stochastic gradient descent (BSGD).

    Kernel Pegasos that keeps at most `budget` support vectors. It descends lambda |w|^2 / 2 + the
    mean hinge loss, with lambda = 1/(n C), which is the objective |w|^2 / 2 + C sum_i loss_i of a
    support vector machine divided by n C: step t shrinks all weights by 1 - 1/t and adds the row
    with weight 1/(lambda t) if it violates its margin. Two classes are learnt with one output, more
    with one for each class and the loss of Crammer and Singer, max(0, 1 + largest output of another
    class - output of the row's own).

    Parameters
    ----------
    budget : int, default=100
        The most support vectors. A row that already is one adds to its weight.
    C : float, default=1.0
        Weight of the errors; n is the number of rows in `fit`, or in all calls of `partial_fit` so
        far.
    gamma : float, "scale" or "auto", default="auto"
        As in `KOSELMClassifier`.
    maintenance : {"merging", "removal"}, default="merging"
        Treatment of the support vector with the smallest weight (the oldest of equal ones) if the
        budget is exceeded. "merging": it and another one are replaced by a single vector between
        them, found by golden section search; the other one is that with the least loss, the squared
        distance by which the weight vector moves, summed over the outputs. "removal": it is
        dropped.
    n_epochs : int, default=1
        Passes of `fit` over the rows.
    shuffle : bool, default=True
        Draw a new order of the rows for each pass of `fit`; if False, keep their order, as
        `partial_fit` does.
    random_state : int, RandomState or None, default=None
        Draws the orders.

    Attributes
    ----------
    support_vectors_ : ndarray or CSR matrix of shape (n_units_, n_features)
        Sparse if the training rows were.
    beta_ : ndarray of shape (n_units_, n_outputs)
        Weights of the support vectors, one column for two classes, else one for each class.
    n_steps_ : int
        Number of steps so far.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of support vectors.
    n_features_in_ : int

    See Also
    --------
    PegasosClassifier : The linear machine.
    SVMClassifier : A solver without a limit of support vectors.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be a CSR matrix, which is not made dense. Support vectors take 8 n_features (budget +
    1) bytes: the kernel with a sparse row is then a few sums of vectors.

    References
    ----------
    Wang, Crammer and Vucetic, Breaking the curse of kernelization: Budgeted stochastic gradient
    descent for large-scale SVM training, JMLR 13, 2012, Algorithm 1 and sections 4 and 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import BSGDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(BSGDClassifier(budget=50, C=10, random_state=0).fit(X, y).score(X, y), 2)
    0.97
    """

    model_version = 2

    budget: int = 100
    gamma: float | str = "auto"
    maintenance: str = "merging"
    n_epochs: int = 1

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "maintenance": [StrOptions({"merging", "removal"})]
    }

    def _new_state(self, n_features: int, n_outputs: int) -> BudgetedState:
        """Return a state without support vectors, for rows of `n_features` features and targets of
        `n_outputs` columns.
        """
        return BudgetedState(
            n_features,
            n_outputs,
            gamma=numeric_gamma(self),
            budget=self.budget,
            merges=self.maintenance == "merging",
        )

    def _outputs(self, X: Rows) -> Array:
        """Return the outputs sum_s beta_s k(x_s, x) over the support vectors x_s, for the rows of
        `X`, of shape (n_rows, n_outputs).
        """
        return Kernel(gamma=self._state.gamma).product(
            X, self.support_vectors_, self.beta_
        )

    @property
    def support_vectors_(self) -> Rows:
        """The support vectors, of shape (n_units_, n_features), CSR if the first rows were."""
        vectors = self._state.vectors()
        return sp.csr_matrix(vectors) if self._sparse else vectors

    @property
    def beta_(self) -> Array:
        """The weights of the support vectors, of shape (n_units_, n_outputs)."""
        return self._state.solution(self._ridge)

    @property
    def n_units_(self) -> int:
        """The number of support vectors."""
        return self._state.size
