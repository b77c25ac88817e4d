"""The adaptive multi-hyperplane machine: several linear weights a class, learnt by stochastic gradient descent."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from elmbench.models.base.parameters import estimator
from elmbench.models.base.stochastic import HyperplaneClassifier, row_blocks
from elmbench.numerics.arrays import Array
from elmbench.numerics.centres import Rows
from elmbench.numerics.online.budget_loop import Numbers


@estimator
class AMMClassifier(HyperplaneClassifier, BaseEstimator):
    """Adaptive multi-hyperplane machine (AMM).

    A class has several weights w_ij, its output is the largest of their outputs w_ij . x, and the class with the
    largest output is predicted. Each class starts with one weight of zero. Stochastic gradient descent on lambda |W|^2
    / 2 + the mean of the losses max(0, 1 + largest output of another class - output of the row's own weight): step t
    shrinks all weights by 1 - 1/t and, if a row has a loss, adds it to its own weight, and takes it from the largest of
    the other classes, with weight 1/(lambda t). A row's own weight is one of its class. A row becomes a new weight of
    its class where no weight of it has a positive output.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors: lambda = 1/(n C), in which n is the number of rows of `fit`, or of all calls of
        `partial_fit` so far. For two classes it is 2/(n C), so that with one weight each they are a support vector
        machine |w|^2 / 2 + C sum of the losses with w their difference.
    n_weights : int, default=50
        Most weights of a class. A class that has so many gets no new one: the row is added to the largest.
    mode : {"online", "batch"}, default="online"
        Which weight of its class is a row's own. "online": the one with the largest output when the row is looked at.
        "batch": the one with the largest output before the pass of `fit`, in which none is added; a class of which some
        row had a negative output gets one weight of zero for such rows. The first pass, and `partial_fit`, are online.
    n_epochs : int, default=5
        Passes of `fit` over the rows.
    pruning : float, default=10.0
        The weights that are smallest are dropped as long as their norm, all together, is no more than pruning / (lambda
        t); a class keeps one.
    prune_every : int, default=10000
        Steps from one such dropping to the next.
    fit_intercept : bool, default=True
        Add a feature to the rows, the constant 1, whose weights are shrunk as the others are.
    shuffle : bool, default=True
        Draw a new order of the rows for each pass of `fit`; if False, keep their order, as `partial_fit` does.
    random_state : int, RandomState or None, default=None
        Draws the orders.

    Attributes
    ----------
    weights_ : ndarray of shape (n_units_, n_features)
        The weights, class by class.
    intercepts_ : ndarray of shape (n_units_,)
    weight_classes_ : ndarray of shape (n_units_,)
        The label that each weight belongs to.
    n_steps_ : int
        Rows looked at so far.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of weights of all classes.
    n_features_in_ : int

    See Also
    --------
    PegasosClassifier : One weight for each class.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has `predict_proba`.

    Notes
    -----
    Rows may be given as a CSR matrix, and are not copied to a dense one; the weights are dense.

    The paper thinks of a class as having weights of zero without end. Here, as in the toolbox of its authors
    (BudgetedSVM), there is one, which another class's row moves as any other; that a row becomes a weight stands for
    the others. The defaults are those of the toolbox. There a class that has `n_weights` leaves rows out of which no
    weight has a positive output, so that `n_weights` 1 would not be Pegasos.

    References
    ----------
    Wang, Djuric, Crammer and Vucetic, Trading representability for scalability: adaptive multi-hyperplane machine for
    nonlinear classification, KDD 2011; Djuric, Lan, Vucetic and Wang, BudgetedSVM: a toolbox for scalable SVM
    approximations, JMLR 14, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import AMMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(AMMClassifier(C=10, random_state=0).fit(X, y).score(X, y), 2)
    0.89
    """

    model_version = 1

    C: float = 1.0
    n_weights: int = 50
    mode: str = "online"
    n_epochs: int = 5
    pruning: float = 10.0
    prune_every: int = 10_000
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {"mode": [StrOptions({"online", "batch"})]}

    def _limits(self) -> dict[str, Any]:
        return {"limit": self.n_weights, "pruning": self.pruning, "prune_every": self.prune_every}

    def _pass(self, X: Rows, labels: Numbers, order: Numbers, epoch: int) -> None:
        if self.mode == "online" or epoch == 0:
            super()._pass(X, labels, order, epoch)
            return
        blocks = list(row_blocks(X, order))
        assigned = [self._state.assign(X[rows], labels[rows]) for rows in blocks]
        for rows, names in zip(blocks, assigned, strict=True):
            self._state.extend(X[rows], labels[rows], self._ridge, names)

    @property
    def weights_(self) -> Array:
        """The weights, class by class, of shape (n_units_, n_features)."""
        return self._solution()[0]

    @property
    def intercepts_(self) -> Array:
        """The intercepts of the weights, of shape (n_units_,)."""
        return self._solution()[1]

    @property
    def weight_classes_(self) -> np.ndarray:
        """The label that each weight belongs to, of shape (n_units_,)."""
        owners = self._solution()[2]
        labels: np.ndarray = self.classes_[np.minimum(owners, len(self.classes_) - 1)]
        return labels

    @property
    def n_units_(self) -> int:
        """The number of weights of all classes."""
        return len(self._solution()[2])

    @classmethod
    def memory_estimate(cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any) -> int:
        """Count the weights that there may be, the block of rows that the loop works on, and the outputs."""
        n_classes = max(2, n_outputs)
        most = min(params.get("n_weights", 50), n_samples + 1)
        return cls._memory(n_samples, n_features, n_classes, most)
