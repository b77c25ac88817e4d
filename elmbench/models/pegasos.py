"""Machines that are learnt by stochastic gradient descent, and the linear support vector
machine.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from elmbench.models.base.family import FamilyClassifier, estimator
from elmbench.numerics.arrays import Array, Rows
from elmbench.numerics.nodes.hidden_layer import layer_blocks
from elmbench.numerics.online.hyperplanes import HyperplaneState
from elmbench.numerics.online.loops import Numbers


@estimator
class StochasticClassifier(FamilyClassifier):
    """Base class of machines that pass over the rows in random orders, with lambda = 1/(n C).

    Its ``_new_state(n_features, n_outputs)`` returns a state with ``extend(X, labels, ridge)`` and
    ``step``.
    """

    C: float = 1.0
    n_epochs: int = 5
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None

    def _fit(self, X: Rows, T: Array) -> None:
        """Forget all rows, then pass `n_epochs` times over those of `X`, in new random orders if
        `shuffle`.

        `T`: targets -1/+1, (n, n_outputs), one column for two classes. Rows have no weights.
        """
        random_state = check_random_state(self.random_state)
        self._start(X, T)
        self._count_rows(X.shape[0])
        labels = class_numbers(T)
        n_rows = X.shape[0]
        for epoch in range(self.n_epochs):
            order = (
                random_state.permutation(n_rows) if self.shuffle else np.arange(n_rows)
            )
            self._pass(X, labels, order, epoch)

    def _start(self, X: Rows, T: Array) -> None:
        """Forget all rows: set a state without rows.

        `X`, `T`: as they will be learnt; only their numbers of columns, and whether `X` is sparse,
        count.
        """
        self._state = self._new_state(X.shape[1], T.shape[1])
        self._sparse = sp.issparse(X)
        self._n_rows = 0

    def _update(self, X: Rows, T: Array) -> None:
        """Learn further rows once, in their order, with targets `T`, -1/+1, (n, n_outputs).

        They are added to the number n of rows in lambda = 1/(n C) first.
        """
        self._count_rows(X.shape[0])
        self._pass(X, class_numbers(T), np.arange(X.shape[0]), 0)

    def _pass(self, X: Rows, labels: Numbers, order: Numbers, epoch: int) -> None:
        """Learn the rows once, in the given order.

        `labels`: class numbers of the rows, (n_rows,). `order`: row numbers. `epoch`: number of the
        pass of `fit`, from 0, which has no effect here.
        """
        for block in layer_blocks(len(order)):
            self._state.extend(X[order[block]], labels[order[block]], self._ridge)

    def _count_rows(self, n_rows: int) -> None:
        """Add `n_rows` to the number n of rows so far, and set the ridge lambda = 1/(n C)."""
        self._n_rows += n_rows
        self._ridge = 1.0 / (self._n_rows * float(self.C))

    @property
    def n_steps_(self) -> int:
        """The number of steps so far, one for each row and pass."""
        return int(self._state.step)


def class_numbers(T: Array) -> Numbers:
    """Return the class number of each row, of shape (n,), from targets -1/+1 in columns.

    `T`: of shape (n, n_classes), or (n, 1) for the classes 0 (-1) and 1 (+1).
    """
    if T.shape[1] == 1:
        return (T[:, 0] > 0).astype(np.int64)
    return np.argmax(T, axis=1)


@estimator
class HyperplaneClassifier(StochasticClassifier):
    """Base class of linear machines: the output of a class is that of its largest weight.

    Two classes have the weights w_1 and w_0, and lambda is 2/(n C), so their difference is the w of
    |w|^2 / 2 + C sum of the losses, as with a single output.
    """

    fit_intercept: bool = True

    def _new_state(self, n_features: int, n_outputs: int) -> HyperplaneState:
        """Return a state without rows, with one weight for each class.

        `n_features`: without the constant one. `n_outputs`: columns of the targets; a single one
        stands for two classes.
        """
        return HyperplaneState(n_features, max(2, n_outputs), float(self.fit_intercept))

    def _count_rows(self, n_rows: int) -> None:
        """Add `n_rows` to the number n of rows so far, and set the ridge lambda: 1/(n C), or 2/(n
        C) for two classes or one.
        """
        super()._count_rows(n_rows)
        if self._state.n_classes == 2:
            self._ridge *= 2.0

    def _outputs(self, X: Rows) -> Array:
        """Return the largest output of the weights of each class for the rows of `X`, of shape
        (n_rows, n_classes); for two classes or one, (n_rows, 1), that of the second less that of
        the first.
        """
        weights, intercepts, owners = self._solution()
        n_classes = self._state.n_classes
        # The weights have the order of their classes; the largest output of a class counts.
        classes = np.arange(n_classes)
        first_weights = np.searchsorted(owners, classes)
        blocks = []
        for rows in layer_blocks(X.shape[0]):
            products = X[rows] @ weights.T + intercepts
            largest = np.maximum.reduceat(products, first_weights, axis=1)
            blocks.append(largest)
        outputs = np.concatenate(blocks)
        if n_classes != 2:
            return outputs
        negative = outputs[:, :1]
        positive = outputs[:, 1:]
        return positive - negative

    def _solution(self) -> tuple[Array, Array, np.ndarray]:
        """Return the weights, of shape (size, n_features), their intercepts, (size,), and the
        numbers of their classes, (size,), in ascending order of the classes.
        """
        return self._state.solution(self._ridge)


class PegasosClassifier(HyperplaneClassifier):
    """Linear support vector machine learnt by stochastic gradient descent (Pegasos), without
    projection.

    It descends lambda |w|^2 / 2 + the mean hinge loss, with lambda = 1/(n C), which is the
    objective |w|^2 / 2 + C sum_i loss_i of a support vector machine divided by n C: step t shrinks
    all weights by 1 - 1/t and adds the row with weight 1/(lambda t) if it violates its margin. Two
    classes are learnt with one output, more with one for each class and the loss of Crammer and
    Singer, max(0, 1 + largest output of another class - output of the row's own). The model has the
    weights after the last step.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; n is the number of rows in `fit`, or in all calls of `partial_fit` so
        far.
    n_epochs : int, default=5
        Passes of `fit` over the rows.
    fit_intercept : bool, default=True
        Add a constant feature 1, whose weight shrinks like the others.
    shuffle : bool, default=True
        Draw a new order of the rows for each pass of `fit`; if False, keep their order, as
        `partial_fit` does.
    random_state : int, RandomState or None, default=None
        Draws the orders.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights, one row for two classes, else one for each class.
    intercept_ : ndarray of shape (n_outputs,)
    n_steps_ : int
        Number of steps so far.
    classes_ : ndarray of shape (n_classes,)
    n_units_ : int
        Number of rows of `coef_`.
    n_features_in_ : int

    See Also
    --------
    AMMClassifier : Several weights for each class.
    BSGDClassifier : A kernel and a limited number of support vectors.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    Notes
    -----
    Rows may be a CSR matrix, which is not made dense; the weights are dense. A step takes one row,
    k = 1 in the paper. The rows are taken in turn, not drawn with replacement.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter, Pegasos: Primal estimated sub-gradient solver for
    SVM, Mathematical Programming 127(1), 2011, Fig. 1 and sections 2 and 6; for more than two
    classes, Wang, Crammer and Vucetic, Breaking the curse of kernelization, JMLR 13, 2012, section
    5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import PegasosClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(PegasosClassifier(C=10, random_state=0).fit(X, y).score(X, y), 2)
    0.89
    """

    @property
    def coef_(self) -> Array:
        """The weights of the outputs, of shape (n_outputs, n_features): one row for two classes or
        one, else one for each class.
        """
        weights = self._solution()[0]
        return np.diff(weights, axis=0) if len(weights) == 2 else weights

    @property
    def intercept_(self) -> Array:
        """The intercepts of the outputs, of shape (n_outputs,): one for two classes or one, else
        one for each class.
        """
        intercepts = self._solution()[1]
        return np.diff(intercepts) if len(intercepts) == 2 else intercepts

    @property
    def n_units_(self) -> int:
        """The number of outputs: one for two classes, else one for each class."""
        return len(self.intercept_)
