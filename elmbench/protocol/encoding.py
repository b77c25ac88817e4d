"""Encoding of categories and imputation of missing values, fitted to the training rows of a fold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.protocol.scaling import scale_columns
from elmbench.protocol.splits import Indices
from elmbench.specs.protocol import Scale

#: The most categories of a column with separate indicators; rarer ones share one.
MOST_CATEGORIES = 50


def prepared_inputs(
    X: NDArray[np.float64], rows: Indices, scale: Scale | None, nominal: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return all rows encoded, imputed and scaled by transformers that are fitted to some of them.

    Missing numbers become the median of their column, missing categories the most frequent one. Each category of the
    training rows has an indicator.

    `X` (ndarray of shape (n, d)): NaN for missing values. `rows`: the training rows. `scale`: of the encoded columns,
    by the same rows. `nominal`: columns of category numbers.
    """
    numbers = [column for column in range(X.shape[1]) if column not in nominal]
    encoded: NDArray[np.float64] = encoder(numbers, list(nominal)).fit(X[rows]).transform(X)
    return encoded if scale is None else np.asarray(scale_columns(encoded, rows, scale))


def encoder(numbers: list[Any], words: list[Any], dates: list[Any] | None = None, day_first: bool | None = None) -> Any:
    """Return a transformer that imputes columns of numbers, and imputes and encodes columns of words and of dates."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    # A column without values in the training rows becomes zero, and so must not be missing in other rows.
    filled: Any = SimpleImputer(strategy="median", keep_empty_features=True)
    one_hot = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES, sparse_output=False)
    indicators = make_pipeline(SimpleImputer(strategy="most_frequent", keep_empty_features=True), one_hot)
    parts = [("numbers", filled, numbers), ("words", indicators, words)]
    if dates:
        from elmbench.protocol.date_features import DateFeatures

        parts.insert(1, ("dates", make_pipeline(DateFeatures(day_first), filled), dates))
    return ColumnTransformer(parts)
