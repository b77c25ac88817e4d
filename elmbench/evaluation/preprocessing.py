"""The preprocessing of rows for models: one pipeline, which is fitted to the training rows of a
fold or, for a model that is saved, to all rows.

It encodes categories, imputes missing values and scales. The steps that `datasets.yaml` asks for
are in `elmbench.datasets.preparation_steps`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from elmbench.datasets.dataset import TEXT_FEATURES
from elmbench.datasets.user_files.dates import date_parts, first_date, varying_parts
from elmbench.datasets.user_files.values import as_read
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    import pandas as pd

    from elmbench.datasets.dataset import Columns
    from elmbench.evaluation.splits import Indices
    from elmbench.specs.scaling import Scale, TargetScale

#: Kinds of scaling that keep sparse rows sparse.
KEEP_ZEROS = ("max-abs", "unit-rows")
#: The hashes of the words of a text.
_HASHES = 2**15
#: Singular values below this share of the largest are round-off.
_ROUND_OFF = 1e-6
#: The most indicators of a column of categories; the rarest categories share one if there are more.
MOST_CATEGORIES = 50


def preprocessing(columns: Columns | None, scale: Scale | None) -> Pipeline:
    """Return the unfitted pipeline that turns rows into the inputs of models.

    Missing numbers become the median of their column, missing categories the most frequent one.
    Categories become `CategoryIndicators`, dates their parts, texts components of their words.

    Parameters
    ----------
    columns : Columns or None
        The kinds of the columns of a data frame; None for complete rows of numbers, which are only
        scaled.
    scale : Scale or None
        The scaling of the inputs; None for none.
    """
    steps = [] if columns is None else [("inputs", encoder(columns))]
    scaler = "passthrough" if scale is None else scaler_of(scale)
    return Pipeline([*steps, ("scale", scaler)])


def pipeline_of(model: Any, columns: Columns | None, scale: Scale | None) -> Pipeline:
    """Return the unfitted pipeline of a model and its preprocessing, for rows of a program or file.

    `columns`: the kinds of the columns of a data frame, whose values are first read as those kinds;
    None for sparse rows. `scale`: of the inputs, None for none.
    """
    steps = list(preprocessing(columns, scale).steps)
    if columns is not None:
        kinds = columns._asdict()
        read = FunctionTransformer(as_read, kw_args=kinds)
        steps.insert(0, ("values", read))
    steps.append(("model", model))
    return Pipeline(steps)


def encoder(columns: Columns) -> ColumnTransformer:
    """Return an unfitted transformer of the columns of a data frame into numbers.

    It imputes numbers, dates and words, and encodes dates, words and text; the results are in this
    order. `columns`: the names of the columns by kind; others are dropped.
    """
    # A column without values in the training rows becomes zero, and so must not be missing in other
    # rows.
    imputer = SimpleImputer(strategy=median_of, keep_empty_features=True)
    most_frequent = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    return ColumnTransformer(
        [
            ("numbers", imputer, list(columns.numbers)),
            ("dates", make_pipeline(DateFeatures(), imputer), list(columns.dates)),
            (
                "words",
                make_pipeline(most_frequent, CategoryIndicators()),
                list(columns.words),
            ),
            ("text", TextFeatures(), list(columns.text)),
        ]
    )


def median_of(values: NDArray[np.float64]) -> float:
    """Return the median of the present values of a column, or zero if there are none.

    scikit-learn's own strategy takes four times as long, as it sorts masked arrays.
    """
    return float(np.median(values)) if len(values) else 0.0


class CategoryIndicators(TransformerMixin, BaseEstimator):
    """Replace columns of categories by an indicator for each category, as `OneHotEncoder` does.

    In a column of more than `MOST_CATEGORIES`, the rarer ones share the last of so many indicators.
    An unknown category has only zeros.

    Attributes
    ----------
    encoder_ : OneHotEncoder
    """

    def fit(self, X: NDArray[np.object_], y: Any = None) -> Self:
        """Learn the categories of complete columns of words, of shape (n, number of columns).

        `y` is ignored.
        """
        n_categories = [len(set(column)) for column in X.T]
        has_many = max(n_categories, default=0) > MOST_CATEGORIES
        # A limit makes scikit-learn count the rows of each category, which takes most of the time.
        encoder = OneHotEncoder(
            handle_unknown="ignore",
            max_categories=MOST_CATEGORIES if has_many else None,
            sparse_output=False,
        )
        self.encoder_ = encoder.fit(X)
        return self

    @property
    def categories_(self) -> list[NDArray[np.object_]]:
        """The sorted categories of each column."""
        return list(self.encoder_.categories_)

    def transform(self, X: NDArray[np.object_]) -> NDArray[np.float64]:
        """Return the indicators of new rows, of shape (n, n_features_out)."""
        return np.asarray(self.encoder_.transform(X))


class DateFeatures(TransformerMixin, BaseEstimator):
    """Replace columns of dates by their parts that vary, and by the days since the first date.

    Attributes
    ----------
    columns_ : dict
        The first date and the names of the parts of each column.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the first date of each column of a data frame of dates, and its parts that vary.

        `y` is ignored. `X`: only columns of dates.
        """
        self.columns_ = {}
        for name in X:
            dates = _dates_of(X, name)
            self.columns_[name] = (first_date(dates), varying_parts(dates))
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the features of new rows, of shape (n, n_features_out); NaN for a missing date.

        `X`: must have the columns of `fit`, in any order; others are ignored. The features come in
        the order of the columns of `fit`, and of the parts that vary.
        """
        features = [
            date_parts(_dates_of(X, name), first)[list(parts)]
            for name, (first, parts) in self.columns_.items()
        ]
        return np.hstack(features)


class TextFeatures(TransformerMixin, BaseEstimator):
    """Replace columns of text by the components of their words.

    Words are hashed and weighted by tf-idf; a truncated SVD reduces them. Components without
    variance are left out.

    Attributes
    ----------
    pipelines_ : dict
        The fitted pipeline of each column.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the weights and the components of the words of a data frame of texts.

        Each column is learnt separately. `y` is ignored.
        """
        self.pipelines_ = {}
        for name in X:
            pipeline = make_pipeline(
                HashingVectorizer(n_features=_HASHES),
                TfidfTransformer(),
                TruncatedSVD(TEXT_FEATURES, random_state=0),
            )
            with warnings.catch_warnings(), np.errstate(invalid="ignore"):
                # The explained share of texts without words.
                warnings.simplefilter("ignore", RuntimeWarning)
                self.pipelines_[name] = pipeline.fit(X[name])
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the components of new rows, of shape (n, n_features_out).

        `X`: must have the columns of `fit`, in any order; others are ignored. The components come
        in the order of the columns of `fit`.
        """
        return np.hstack([self._components(X, name) for name in self.pipelines_])

    def _components(self, X: pd.DataFrame, name: Any) -> NDArray[np.float64]:
        """Return the components of the words of column `name`, of shape (n, rank).

        Components that were only round-off in `fit` are left out; at least one is kept. `X`: a data
        frame with this column of texts.
        """
        pipeline = self.pipelines_[name]
        rank = _rank(pipeline[-1].singular_values_)
        return np.asarray(pipeline.transform(X[name])[:, :rank])


def _rank(singular_values: NDArray[np.float64]) -> int:
    """Return the number of components that are more than round-off, at least one.

    Scaling would make noise of the others. `singular_values` descend.
    """
    return max(1, int((singular_values > _ROUND_OFF * singular_values[0]).sum()))


def _dates_of(X: pd.DataFrame, name: Any) -> NDArray[np.datetime64]:
    """Return the column `name` of a data frame as dates, in microseconds."""
    return X[name].to_numpy("datetime64[us]")


def scaler_of(scale: Scale | TargetScale) -> Any:
    """Return the unfitted transformer of scikit-learn for a scaling of inputs or targets.

    `scale.kind`: "standard", "max-abs" or "unit-rows"; any other kind scales to `scale.range`.
    """
    if scale.kind == "standard":
        return StandardScaler()
    if scale.kind == "max-abs":
        return MaxAbsScaler()
    if scale.kind == "unit-rows":
        return Normalizer()
    return MinMaxScaler(scale.range)


def take_rows(X: Any, rows: Indices | slice) -> Any:
    """Return some rows of an array, a CSR matrix or a data frame, by position."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def prepared_inputs(
    X: Any, rows: Indices | slice, scale: Scale | None, columns: Columns | None = None
) -> Any:
    """Return all rows of `X` as inputs of models, by a pipeline that is fitted to the rows `rows`.

    `scale`: of the inputs, None for none. `columns`: the kinds of the columns of a data frame; None
    for rows of complete numbers. Raises ElmbenchError for a scaling that would make sparse rows
    dense.
    """
    return fitted_preprocessing(X, rows, scale, columns).transform(X)


def fitted_preprocessing(
    X: Any, rows: Indices | slice, scale: Scale | None, columns: Columns | None = None
) -> Pipeline:
    """Return the pipeline of `preprocessing`, fitted to the rows `rows` of `X`.

    `columns`: the kinds of the columns of a data frame; None for complete rows of numbers. `scale`:
    None for no scaling. A column that is constant over `rows` becomes the lower end of the range,
    or zero for `standard`. Sparse rows stay sparse; raises ElmbenchError for a scaling that would
    make them dense.
    """
    if scale is not None and issparse(X) and scale.kind not in KEEP_ZEROS:
        raise ElmbenchError(
            f"scaling of kind {scale.kind!r} would make sparse rows dense",
            expected="`scale: {kind: max-abs}`, `scale: {kind: unit-rows}` or `scale: null`",
            next_step="correct the protocol of the experiment",
        )
    return preprocessing(columns, scale).fit(take_rows(X, rows))


def columns_of_inputs(X: pd.DataFrame, columns: Columns) -> NDArray[np.intp]:
    """Return the position, among the columns of `X`, of the column behind each input of models.

    The inputs are those that `preprocessing` makes of the rows `X`, to which the encoders are
    fitted for that purpose.
    """
    names = [*columns.numbers]
    for name in (*columns.dates, *columns.words, *columns.text):
        names += [name] * _n_inputs(X, columns, name)
    return np.array([X.columns.get_loc(name) for name in names], dtype=np.intp)


def _n_inputs(X: pd.DataFrame, columns: Columns, name: str) -> int:
    """Return the number of inputs that the column `name` becomes in an encoding of these rows."""
    inputs = encoder(columns.only([name])).fit_transform(X[[name]])
    return int(inputs.shape[1])
