"""The linear support vector machine learnt by stochastic gradient descent."""

import numpy as np

from elmbench.models.base.stochastic import HyperplaneClassifier
from elmbench.numerics.arrays import Array


class PegasosClassifier(HyperplaneClassifier):
    """Linear support vector machine learnt by stochastic gradient descent (Pegasos), without projection.

    It descends lambda |w|^2 / 2 + the mean hinge loss, with lambda = 1/(n C), which is the objective |w|^2 / 2 + C
    sum_i loss_i of a support vector machine divided by n C: step t shrinks all weights by 1 - 1/t and adds the row with
    weight 1/(lambda t) if it violates its margin. Two classes are learnt with one output, more with one for each class
    and the loss of Crammer and Singer, max(0, 1 + largest output of another class - output of the row's own). The model
    has the weights after the last step.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors; n is the number of rows in `fit`, or in all calls of `partial_fit` so far.
    n_epochs : int, default=5
        Passes of `fit` over the rows.
    fit_intercept : bool, default=True
        Add a constant feature 1, whose weight shrinks like the others.
    shuffle : bool, default=True
        Draw a new order of the rows for each pass of `fit`; if False, keep their order, as `partial_fit` does.
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
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has `predict_proba`.

    Notes
    -----
    Rows may be a CSR matrix, which is not made dense; the weights are dense. A step takes one row, k = 1 in the paper.
    The rows are taken in turn, not drawn with replacement.

    References
    ----------
    Shalev-Shwartz, Singer, Srebro and Cotter, Pegasos: Primal estimated sub-gradient solver for SVM, Mathematical
    Programming 127(1), 2011, Fig. 1 and sections 2 and 6; for more than two classes, Wang, Crammer and Vucetic,
    Breaking the curse of kernelization, JMLR 13, 2012, section 5.

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
        """The weights, of shape (n_outputs, n_features)."""
        weights = self._solution()[0]
        return np.diff(weights, axis=0) if len(weights) == 2 else weights

    @property
    def intercept_(self) -> Array:
        """The intercepts, of shape (n_outputs,)."""
        intercepts = self._solution()[1]
        return np.diff(intercepts) if len(intercepts) == 2 else intercepts

    @property
    def n_units_(self) -> int:
        """The number of outputs."""
        return len(self.intercept_)
