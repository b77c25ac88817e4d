"""The adaptive multi-hyperplane machine: several weights for each class, learnt by stochastic
gradient descent.
"""

from typing import Any, ClassVar

import numpy as np

from elmbench.models.base.family import estimator
from elmbench.models.base.sklearn_private import StrOptions
from elmbench.models.pegasos import HyperplaneClassifier
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.nodes.hidden_layer import layer_blocks
from elmbench.numerics.online.hyperplanes import HyperplaneState
from elmbench.numerics.online.loops import Numbers


@estimator
class AMMClassifier(HyperplaneClassifier):
    """Adaptive multi-hyperplane machine (AMM).

    A class has several weights w_ij, its output is the largest of their outputs w_ij . x, and the
    class with the largest output is predicted. Each class starts with one weight of zero.
    Stochastic gradient descent on lambda |W|^2 / 2 + the mean of the losses max(0, 1 + largest
    output of another class - output of the row's own weight): step t shrinks all weights by 1 - 1/t
    and, if a row has a loss, adds it to its own weight, and takes it from the largest of the other
    classes, with weight 1/(lambda t). A row's own weight is one of its class. A row becomes a new
    weight of its class if none of them has a positive output.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors: lambda = 1/(n C), where n is the number of rows in `fit`, or in all
        calls of `partial_fit` so far. For two classes it is 2/(n C): with one weight each, their
        difference w is then that of a support vector machine, |w|^2 / 2 + C sum of the losses.
    n_weights : int, default=50
        The most weights of a class. At this number, a row is added to the largest weight instead of
        becoming a new one.
    mode : {"online", "batch"}, default="online"
        The choice of a row's own weight. "online": the weight of its class with the largest output
        at the time of the step. "batch": the one with the largest output before the pass of `fit`,
        which adds no weights; a class with rows of negative output gets one weight of zero for
        these. The first pass, and `partial_fit`, are online.
    n_epochs : int, default=5
        Passes of `fit` over the rows.
    pruning : float, default=10.0
        The smallest weights are dropped as long as their joint norm is at most pruning / (lambda
        t); a class keeps at least one.
    prune_every : int, default=10000
        Number of steps between two prunings.
    fit_intercept : bool, default=True
        Add a constant feature 1, whose weights shrink like the others.
    shuffle : bool, default=True
        Draw a new order of the rows for each pass of `fit`; if False, keep their order, as
        `partial_fit` does.
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
        Number of steps so far.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of weights of all classes.
    n_features_in_ : int

    See Also
    --------
    PegasosClassifier : One weight for each class.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be a CSR matrix, which is not made dense; the weights are dense.

    In the paper, a class has infinitely many weights of zero. Here, as in the toolbox of its
    authors (BudgetedSVM), it has one, which rows of other classes move like any other; new weights
    replace the remaining ones. The defaults are those of the toolbox. In the toolbox, a class with
    `n_weights` weights ignores rows for which no weight has a positive output, so `n_weights=1`
    would not be Pegasos.

    References
    ----------
    Wang, Djuric, Crammer and Vucetic, Trading representability for scalability: adaptive
    multi-hyperplane machine for nonlinear classification, KDD 2011; Djuric, Lan, Vucetic and Wang,
    BudgetedSVM: a toolbox for scalable SVM approximations, JMLR 14, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import AMMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(AMMClassifier(C=10, random_state=0).fit(X, y).score(X, y), 2)
    0.89
    """

    n_weights: int = 50
    mode: str = "online"
    pruning: float = 10.0
    prune_every: int = 10_000

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "mode": [StrOptions({"online", "batch"})]
    }

    def _new_state(self, n_features: int, n_outputs: int) -> HyperplaneState:
        """Return a state without rows, in which each class has one weight of zero.

        `n_features`: without the constant one. `n_outputs`: columns of the targets; a single one
        stands for two classes.
        """
        return HyperplaneState(
            n_features,
            max(2, n_outputs),
            float(self.fit_intercept),
            limit=self.n_weights,
            pruning=self.pruning,
            prune_every=self.prune_every,
        )

    def _pass(self, X: Rows, labels: Numbers, order: Numbers, epoch: int) -> None:
        """Learn the rows once, in the given order; in mode "batch", passes after the first assign
        all rows to weights before they change any.

        `labels`: class numbers of the rows, (n_rows,). `order`: row numbers. `epoch`: number of the
        pass of `fit`, from 0; only whether it is 0 counts.
        """
        if self.mode == "online" or epoch == 0:
            super()._pass(X, labels, order, epoch)
            return
        state = self._state
        blocks = [order[block] for block in layer_blocks(len(order))]
        # All rows are assigned to weights before any weight changes.
        assignments = []
        for rows in blocks:
            assigned = state.assign(X[rows], labels[rows])
            assignments.append(assigned)
        for rows, assigned in zip(blocks, assignments, strict=True):
            block_labels = labels[rows]
            state.extend(X[rows], block_labels, self._ridge, assigned)

    @property
    def weights_(self) -> Array:
        """The weights without intercepts, class by class, of shape (n_units_, n_features)."""
        return self._solution()[0]

    @property
    def intercepts_(self) -> Array:
        """The intercepts of the weights, of shape (n_units_,)."""
        return self._solution()[1]

    @property
    def weight_classes_(self) -> np.ndarray:
        """The label of each weight, of shape (n_units_,), in the order of `weights_`; a single
        class has all weights.
        """
        _, _, owners = self._solution()
        last = len(self.classes_) - 1
        return np.asarray(self.classes_[np.minimum(owners, last)])

    @property
    def n_units_(self) -> int:
        """The number of weights of all classes."""
        return self._state.size
