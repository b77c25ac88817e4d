"""Preparation by the training rows of a fold: scaling of inputs and targets, encoding and imputation."""

from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.protocol.splits import Indices
from elmbench.specs.protocol import Scale

#: Kinds of scaling that keep sparse rows sparse.
KEEP_ZEROS = ("max-abs", "unit-rows")
#: The most categories of a column with separate indicators; rarer ones share one.
MOST_CATEGORIES = 50


def scale_columns(X: Any, rows: Indices | slice, scale: Scale) -> Any:
    """Return all rows of `X`, scaled by factors from `rows` (for `unit-rows`: from each row itself).

    A column that is constant over `rows` becomes the lower end of the range, or zero for `standard`. Sparse rows stay
    sparse; a scaling that would make them dense is an error.
    """
    from scipy.sparse import issparse

    if issparse(X) and scale.kind not in KEEP_ZEROS:
        raise ElmbenchError(
            f"scaling of kind {scale.kind!r} would make sparse rows dense",
            expected="`scale: {kind: max-abs}`, `scale: {kind: unit-rows}` or `scale: null`",
            next_step="correct the protocol of the experiment",
        )
    return scaler_of(scale).fit(X[rows]).transform(X)


def scaler_of(scale: Scale) -> Any:
    """Return scikit-learn's transformer for a scaling."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

    others = {"standard": StandardScaler, "max-abs": MaxAbsScaler, "unit-rows": Normalizer}
    return others[scale.kind]() if scale.kind in others else MinMaxScaler(scale.range)


def prepared_inputs(X: Any, rows: Indices, scale: Scale | None, nominal: tuple[int, ...] | None) -> Any:
    """Return all rows encoded, imputed and scaled by transformers that are fitted to some of them.

    Missing numbers become the median of their column, missing categories the most frequent one. Each category of the
    training `rows` has an indicator. `nominal`: columns of category numbers; None if the rows are only scaled.
    """
    if nominal is not None:
        numbers = [column for column in range(X.shape[1]) if column not in nominal]
        X = encoder(numbers, list(nominal)).fit(X[rows]).transform(X)
    return X if scale is None else scale_columns(X, rows, scale)


def encoder(numbers: list[Any], words: list[Any], dates: list[Any] | None = None, day_first: bool | None = None) -> Any:
    """Return a transformer that imputes columns of numbers, and imputes and encodes columns of words and of dates."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    # A column without values in the training rows becomes zero, and so must not be missing in other rows.
    imputer: Any = SimpleImputer(strategy="median", keep_empty_features=True)
    one_hot = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES, sparse_output=False)
    indicators = make_pipeline(SimpleImputer(strategy="most_frequent", keep_empty_features=True), one_hot)
    parts = [("numbers", imputer, numbers), ("words", indicators, words)]
    if dates:
        from elmbench.protocol.date_features import DateFeatures

        parts.insert(1, ("dates", make_pipeline(DateFeatures(day_first), imputer), dates))
    return ColumnTransformer(parts)
