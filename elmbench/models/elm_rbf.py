"""The extreme learning machine with radial basis functions as hidden nodes."""

from sklearn.utils import check_random_state

from elmbench.models.base.family import estimator
from elmbench.models.base.weights import WeightedClassifier, WeightedRegressor
from elmbench.models.rk_elm import CentresMixin
from elmbench.numerics.arrays import Array, Indices, Rows


@estimator
class _ELMRBF(CentresMixin):
    """Base class of `ELMRBFClassifier` and `ELMRBFRegressor`, which draws their centres and
    widths.
    """

    _size_name = "n_hidden"

    n_hidden: int = 100

    def _draw(self, X: Rows, eligible: Indices) -> tuple[Rows, Array]:
        """Draw centres and widths independently of the data, node by node (section 4.3).

        `X`: only its number of features counts. `eligible`: without effect. Return centres on [-1,
        1], of shape (n_hidden, n_features), and the factor of `gamma` of each on [0, 1],
        (n_hidden,).
        """
        random_state = check_random_state(self.random_state)
        nodes = random_state.uniform(size=(self.n_hidden, X.shape[1] + 1))
        return 2.0 * nodes[:, :-1] - 1.0, nodes[:, -1]


@estimator
class ELMRBFClassifier(WeightedClassifier, _ELMRBF):
    """Extreme learning machine with radial basis functions, for classification.

    A network f(x) = sum_i beta_i exp(-||x - c_i||^2 / sigma_i) with centres uniform on [-1, 1] and
    a random width for each, independent of the data. The output weights are fitted as in
    `RKELMClassifier`.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes, L in the paper. The nodes of a smaller network are the first ones of
        a larger network with the same integer `random_state`.
    C : float, default=1.0
        Weight of the errors; 1/C is the ridge.
    gamma : float, "scale" or "auto", default="scale"
        Largest inverse squared width; "scale" is 1 / (n_features * X.var()). A node has u_i * gamma
        with u_i uniform on [0, 1], as in the code of the authors of this ELM.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : "balanced", dict or None, default=None
        As in `KELMClassifier`.

    Attributes
    ----------
    centres_ : ndarray of shape (n_hidden, n_features)
    gammas_ : ndarray of shape (n_hidden,)
        The `gamma` of each node, 1/sigma_i.
    beta_, classes_, n_units_, condition_, n_features_in_
        As in `RKELMClassifier`.

    See Also
    --------
    RKELMClassifier : Centres drawn from the rows.
    CalibratedClassifierCV : Of scikit-learn; ``CalibratedClassifierCV(model, ensemble=False)`` has
    `predict_proba`.

    References
    ----------
    Huang, Siew, Extreme learning machine: RBF network case, ICARCV 2004; Deng, Ong, Zheng, A Fast
    Reduced Kernel Extreme Learning Machine, Neural Networks 76, 2016, section 4.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from elmbench.models import ELMRBFClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ELMRBFClassifier(C=100, random_state=0).fit(X, y).score(X, y), 2)
    0.89
    """


class ELMRBFRegressor(WeightedRegressor, _ELMRBF):
    """ELM with radial basis functions, for regression: `ELMRBFClassifier` with `y`, in one column
    or several.

    See Also
    --------
    ELMRBFClassifier : For classification.
    RKELMRegressor : Centres drawn from the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from elmbench.models import ELMRBFRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(ELMRBFRegressor(C=100, random_state=0).fit(20 * X, y / 100).score(20 * X, y / 100), 2)
    0.59
    """
