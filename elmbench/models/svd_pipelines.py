"""Online models on the leading singular directions of the rows, which Chen et al. compare with
OSPVM.

Each factory returns an unfitted scikit-learn pipeline of two steps, `SingularFeatures` and a model.
Its parameters are those of the two steps. `random_state` is used by the model, and starts the
iteration for sparse rows. The directions are those of all rows of `fit`, so a pipeline has no
`partial_fit`; its second step learns row by row or block by block.
"""

import inspect
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from elmbench.models.amm import AMMClassifier
from elmbench.models.base.family import FamilyModel, estimator
from elmbench.models.base.feature_pipelines import FeaturePipelines
from elmbench.models.base.sklearn_private import fit_context
from elmbench.models.bsgd import BSGDClassifier
from elmbench.models.os_elm import OSELMClassifier
from elmbench.models.pegasos import PegasosClassifier
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.projection import row_signs, singular_directions

DENSE_BYTES = 2**28
"""Largest dense copy of sparse rows."""


@estimator
class SingularFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FamilyModel):
    """Products with the leading right singular vectors of the rows, which are not centred.

    Parameters
    ----------
    n_components : int, default=100
        Number of singular vectors, at most the number of non-zero singular values.
    random_state : int, RandomState or None, default=None
        Draws the vector from which the iteration for sparse rows starts.

    Attributes
    ----------
    components_ : ndarray of shape (n, n_features)
        The singular vectors, with a positive entry of largest magnitude.
    singular_values_ : ndarray of shape (n,)
        The largest first.
    n_features_in_ : int

    Notes
    -----
    LAPACK decomposes dense rows, and sparse ones (CSR) if a dense copy takes at most 256 MB. Larger
    ones are decomposed by the Lanczos method (ARPACK), which finds fewer directions than there are
    rows and features.

    References
    ----------
    Chen, Jia, Zhang, Deng, Wei, Online Sequential Projection Vector Machine with Adaptive Data Mean
    Update, Computational Intelligence and Neuroscience, 2016, eq. (32) and section 4.1.
    """

    n_components: int = 100
    random_state: int | np.random.RandomState | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Compute the directions of the rows of `X`, of shape (n_samples, n_features), dense or
        sparse; `y` has no effect.

        There are `n_components` directions, or fewer if the rows have a smaller rank, but at least
        one. Sparse rows whose dense form takes more than `DENSE_BYTES` are decomposed by ARPACK,
        which finds at most min(n_samples, n_features) - 1 directions.
        """
        rows = self._validate_rows(X)
        n, d = rows.shape
        size = self.n_components
        if sp.issparse(rows) and 8 * n * d > DENSE_BYTES:
            size = min(size, min(n, d) - 1)
            solver = TruncatedSVD(
                size, algorithm="arpack", random_state=self.random_state
            )
            solver.fit(rows)
            values = solver.singular_values_
            signs = row_signs(solver.components_)
            directions = solver.components_ * signs[:, np.newaxis]
        else:
            dense = rows.toarray() if sp.issparse(rows) else rows
            values, directions = singular_directions(dense)
        # A direction orthogonal to all rows would only matter for other rows.
        round_off = max(n, d) * EPS
        is_significant = values > round_off * values[0]
        rank = int(np.count_nonzero(is_significant))
        size = min(size, max(1, rank))
        self.singular_values_ = values[:size]
        self.components_ = np.ascontiguousarray(directions[:size])
        self._n_features_out = size
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the products of the rows of `X` with the directions, of shape (n_samples, number
        of directions).
        """
        check_is_fitted(self)
        return np.asarray(self._validate_rows(X, reset=False) @ self.components_.T)


class SVDPipelines(FeaturePipelines):
    """A factory of unfitted pipelines: `SingularFeatures`, and an online model on them.

    It is called with `n_components` and the parameters of the model, except for `shuffle`.
    """

    feature_solver = "decomposition"
    model_solver = None

    def __init__(self, model: Any) -> None:
        super().__init__(partial(_pipeline, model))
        self.model_version = (
            f"{model.model_version}, scikit-learn {sklearn.__version__}"
        )
        size = inspect.signature(SingularFeatures).parameters["n_components"]
        parameters = [
            p
            for name, p in inspect.signature(model).parameters.items()
            if name != "shuffle"
        ]
        keyword = inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature(
            [p.replace(kind=keyword) for p in (size, *parameters)]
        )
        self.__name__ = f"svd_{model.__name__}"


def _pipeline(
    model: Any,
    n_components: int = 100,
    random_state: int | None = None,
    **params: Any,
) -> Pipeline:
    """Return an unfitted pipeline: `SingularFeatures` with `n_components` directions, and a model
    of the class `model` with `params`.

    Both steps have the same `random_state`.
    """
    return make_pipeline(
        SingularFeatures(n_components=n_components, random_state=random_state),
        model(random_state=random_state, **params),
    )


svd_os_elm_classifier = SVDPipelines(OSELMClassifier)
svd_bsgd_classifier = SVDPipelines(BSGDClassifier)
svd_amm_classifier = SVDPipelines(AMMClassifier)
svd_pegasos_classifier = SVDPipelines(PegasosClassifier)
