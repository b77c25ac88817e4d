"""scikit-learn's estimators under the parameter names of this package, for comparison with the ELM
family.

Each function returns an unfitted estimator. Its parameters are those of all models:

C : float, default=1.0
    Weight of the errors, so 1/C is the ridge.
gamma : float, default=1.0
    Inverse squared width of the Gaussian kernel, exp(-gamma d^2).
epsilon : float, default=0.1
    Half the width of the tube in which errors of support vector regression cost nothing.
nu : float, optional
    In (0, 1]: replaces `epsilon`, which is then chosen so that at least this share of the training
    rows, approximately, are support vectors.
max_iter : int, default=-1
    Steps after which LIBSVM is stopped; -1 for no limit.
n_landmarks : int, default=100
    Number of training rows that span the features; all of them if there are fewer.
n_hidden : int, default=100
    Number of random features.
n_estimators : int, default=100
    Number of steps of gradient boosting, each with a tree for each class.
learning_rate : float, default=0.1
    Factor of each step of gradient boosting.
n_neighbors : int, default=5
    Number of nearest training rows that vote; all of them if there are fewer.
n_leaves : int, default=31
    Most leaves of a tree of gradient boosting.
random_state : int, optional
    Draws the landmarks, the features or the splits.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC, NuSVR
from sklearn.utils.validation import check_is_fitted

from elmbench.models.base.family import check_real
from elmbench.models.base.feature_pipelines import FeaturePipelines
from elmbench.models.base.ridge_candidates import RidgeModels
from elmbench.models.base.shared_fits import SharedFits
from elmbench.models.svm import EpsilonSVR

#: The least rows of a leaf of gradient boosting: scikit-learn's default.
_LEAF_ROWS = 20


def logistic_regression_classifier(C: float = 1.0) -> LogisticRegression:
    """Return unfitted logistic regression: it minimises |w|^2 / 2 + C times the sum of the losses,
    in at most 1000 steps.
    """
    return LogisticRegression(C=C, max_iter=1000)


class _Neighbors:
    """Mixin of k nearest neighbours, where k is at most the number of training rows."""

    n_neighbors: int
    n_samples_fit_: int

    def __init__(self, n_neighbors: int = 5) -> None:
        super().__init__(n_neighbors, weights=None)  # type: ignore[call-arg]  # "uniform" may not use `kneighbors`

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Return the distances and the numbers of the nearest training rows, each of shape (n, k),
        the nearest first; the numbers only if not `return_distance`.

        `X`: rows; None for the training rows, which are no neighbours of their own. `n_neighbors`:
        k; None stands for that of the model. A k above the number of possible neighbours becomes
        that number; one below 1 raises a ValueError.
        """
        check_is_fitted(self)
        most = self.n_samples_fit_ - (X is None)
        if n_neighbors is None:
            n_neighbors = self.n_neighbors
        nearest: Any = super().kneighbors  # type: ignore[misc]
        return nearest(X, min(n_neighbors, most), return_distance)


class KNNClassifier(_Neighbors, KNeighborsClassifier):
    """k nearest neighbours for classification."""


class KNNRegressor(_Neighbors, KNeighborsRegressor):
    """k nearest neighbours for regression."""


def _ridge_classifier(C: float = 1.0) -> RidgeClassifier:
    """Return unfitted linear ridge regression on targets -1/+1, with the ridge 1/C."""
    return RidgeClassifier(alpha=1.0 / check_real("C", C))


def _ridge_regressor(C: float = 1.0) -> Ridge:
    """Return unfitted linear ridge regression with the ridge 1/C."""
    return Ridge(alpha=1.0 / check_real("C", C))


ridge_classifier = RidgeModels(_ridge_classifier)
ridge_regressor = RidgeModels(_ridge_regressor)


def _ridge_of_features(ridge: Any, C: float) -> Any:
    """Return unfitted ridge regression as the last step of a pipeline, which centres its rows in
    place: features of half a million rows are a gigabyte, and nothing else needs them.

    `ridge`: the function that makes it, `ridge_classifier` or `ridge_regressor`. `C`: one over the
    ridge.
    """
    return ridge(C).set_params(copy_X=False)


def _nystroem_ridge(
    ridge: Any,
    n_landmarks: int = 100,
    gamma: float = 1.0,
    C: float = 1.0,
    random_state: int | None = None,
) -> Pipeline:
    """Return an unfitted pipeline: the Nystroem features of the Gaussian kernel, and ridge
    regression.

    `ridge`: the function that makes the last step from `C`, `ridge_classifier` or
    `ridge_regressor`. `n_landmarks`: training rows that span the features. `gamma`: of the kernel
    exp(-gamma d^2). `C`: one over the ridge. `random_state`: seeds the draw of the landmarks; None
    for a different draw in each fit.
    """
    features = _nystroem(n_landmarks, gamma, random_state)
    return make_pipeline(features, _ridge_of_features(ridge, C))


nystroem_ridge_classifier = FeaturePipelines(partial(_nystroem_ridge, ridge_classifier))
nystroem_ridge_regressor = FeaturePipelines(partial(_nystroem_ridge, ridge_regressor))


def _llsvm(
    n_landmarks: int = 100,
    gamma: float = 1.0,
    C: float = 1.0,
    random_state: int | None = None,
) -> Pipeline:
    """Return an unfitted pipeline: the Nystroem features of the Gaussian kernel, and a linear
    support vector machine, for dense or CSR rows.

    This is the low-rank linearised SVM of Zhang, Lan, Wang and Moerchen, Scaling up kernel SVM on
    limited resources: A low-rank linearization approach, AISTATS 2012, with landmarks drawn from
    the rows. `n_landmarks`: their number. `gamma`: of the kernel exp(-gamma d^2). `C`: weight of
    the errors. `random_state`: seeds the draw of the landmarks; None for a different draw in each
    fit. The errors are squared; more than two classes are learnt one against the rest.
    """
    return make_pipeline(
        _nystroem(n_landmarks, gamma, random_state),
        LinearSVC(C=C, random_state=random_state),
    )


llsvm_classifier = FeaturePipelines(_llsvm)


def _rff_ridge(
    ridge: Any,
    n_hidden: int = 100,
    gamma: float = 1.0,
    C: float = 1.0,
    random_state: int | None = None,
) -> Pipeline:
    """Return an unfitted pipeline: random Fourier features of the Gaussian kernel, and ridge
    regression.

    `ridge`: the function that makes the last step from `C`, `ridge_classifier` or
    `ridge_regressor`. `n_hidden`: number of features. `gamma`: of the kernel exp(-gamma d^2). `C`:
    one over the ridge. `random_state`: seeds the draw of the features; None for a different draw in
    each fit.
    """
    features = RBFSampler(gamma=gamma, n_components=n_hidden, random_state=random_state)
    return make_pipeline(features, _ridge_of_features(ridge, C))


rff_ridge_classifier = FeaturePipelines(partial(_rff_ridge, ridge_classifier))
rff_ridge_regressor = FeaturePipelines(partial(_rff_ridge, ridge_regressor))


def svm_regressor(
    C: float = 1.0,
    gamma: float = 1.0,
    epsilon: float = 0.1,
    nu: float | None = None,
    max_iter: int = -1,
) -> EpsilonSVR | NuSVR:
    """Return unfitted support vector regression with the Gaussian kernel: epsilon-SVR if `nu` is
    None, else nu-SVR, which ignores `epsilon`.

    Table 2 of Deng et al. prints a little more than half of the training rows as support vectors
    for seven of eight data sets: that is nu-SVR with LIBSVM's own nu, .5. `max_iter`: the most
    iterations of LIBSVM; -1 for no limit.
    """
    if nu is not None:
        return NuSVR(nu=nu, C=C, gamma=gamma, kernel="rbf", max_iter=max_iter)
    return EpsilonSVR(
        C=C, gamma=gamma, kernel="rbf", epsilon=epsilon, max_iter=max_iter
    )


def _hist_gradient_boosting(
    kind: Any,
    learning_rate: float = 0.1,
    n_leaves: int = 31,
    n_estimators: int = 100,
    random_state: int | None = None,
) -> Any:
    """Return unfitted gradient boosting of trees on binned values.

    `kind`: the class, scikit-learn's classifier or regressor. `learning_rate`: factor of each step.
    `n_leaves`: the most leaves of a tree. `n_estimators`: number of steps. `random_state`: the
    seed; None for different draws in each fit.
    """
    return kind(
        learning_rate=learning_rate,
        max_leaf_nodes=n_leaves,
        max_iter=n_estimators,
        min_samples_leaf=_LEAF_ROWS,
        random_state=random_state,
    )


def _trees_key(params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
    """Return a key that is equal for parameters whose trees grow equally on `n_rows` rows.

    `params`: {name: value} of all parameters of `_hist_gradient_boosting`, without the class.
    Numbers of leaves beyond those that fit into the rows, at `_LEAF_ROWS` rows each, are equal. So
    are two values None of `random_state`, although their draws differ.
    """
    most_leaves = max(n_rows // _LEAF_ROWS, 2)
    n_leaves = min(params["n_leaves"], most_leaves)
    others = {name: value for name, value in params.items() if name != "n_leaves"}
    return n_leaves, *sorted(others.items())


hist_gradient_boosting_classifier = SharedFits(
    partial(_hist_gradient_boosting, HistGradientBoostingClassifier), _trees_key
)
hist_gradient_boosting_regressor = SharedFits(
    partial(_hist_gradient_boosting, HistGradientBoostingRegressor), _trees_key
)


#: The size of an estimator from its first attribute among these.
_SIZES: dict[str, Callable[[Any], Any]] = {
    "n_units_": int,
    "n_samples_fit_": int,
    "component_indices_": len,
    "random_offset_": len,
    "support_vectors_": lambda vectors: vectors.shape[0],
    "get_n_leaves": lambda count: count(),
    "coef_": lambda coefficients: np.prod(coefficients.shape),
}


def n_units(estimator: Any) -> int | None:
    """Return the size of a fitted scikit-learn estimator, or None if it has none.

    It is the first of these that the estimator has: `n_units_`, or the number of stored rows, of
    landmarks, of random features, of support vectors, of leaves or of coefficients; else the sum
    for the members of an ensemble. A pipeline has the size of its first step of kernel features, or
    else of its last step.
    """
    if isinstance(estimator, Pipeline):
        features = [
            step for step in estimator if isinstance(step, Nystroem | RBFSampler)
        ]
        estimator = features[0] if features else estimator[-1]
    for name, size_of in _SIZES.items():
        if hasattr(estimator, name):
            attribute = getattr(estimator, name)
            return int(size_of(attribute))
    # The members of an ensemble.
    members = np.ravel(getattr(estimator, "estimators_", []))
    sizes = []
    for member in members:
        size = n_units(member)
        if size is not None:
            sizes.append(size)
    return sum(sizes) if sizes else None


class RowLandmarks(Nystroem):
    """scikit-learn's `Nystroem`, which takes all rows as landmarks if there are fewer than asked,
    without its warning: the features are then those of the whole kernel.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks among the rows `X`, dense or CSR; `y` is ignored."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_components > n_samples")
            super().fit(X, y)
        return self


def _nystroem(n_landmarks: int, gamma: float, random_state: int | None) -> RowLandmarks:
    """Return the unfitted Nystroem features of the kernel exp(-gamma d^2) at `n_landmarks` random
    training rows, or all if there are fewer.

    `random_state`: seeds the draw of the rows; None for a different draw in each fit.
    """
    return RowLandmarks(
        kernel="rbf", gamma=gamma, n_components=n_landmarks, random_state=random_state
    )
