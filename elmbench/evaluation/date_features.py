"""A transformer of date columns to features, for pipelines that predict new rows."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from elmbench.datasets.values import Dates, date_format, date_parts, dates_in, features_of

if TYPE_CHECKING:
    import pandas as pd


class DateFeatures(TransformerMixin, BaseEstimator):
    """Replace columns of dates by their parts that vary, and by the days since the first date.

    `day_first` decides between February and January for dates such as 1/2/2023, if no value does.
    `columns_` holds the format, the first date and the parts of each column; new rows must have the
    same format, or that of ISO 8601.
    """

    def __init__(self, day_first: bool | None = None) -> None:
        self.day_first = day_first

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn the formats, the first dates and the parts of the columns of a data frame: text or
        dates.
        """
        self.columns_ = {}
        for name, column in X.items():
            text = date_format(
                column.astype(object).where(column.notna(), None), self.day_first, str(name)
            )
            if text is None:
                raise ValueError(f"the column {name!r}: expected dates in one format")
            dates = _dates(column, text)
            self.columns_[name] = (text, dates[~np.isnat(dates)].min(), tuple(features_of(dates)))
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the features of new rows, of shape (n, n_features_out); NaN for a missing date."""
        features = [
            date_parts(_dates(X[name], text), first)[list(parts)]
            for name, (text, first, parts) in self.columns_.items()
        ]
        return np.hstack([np.empty((len(X), 0)), *features])


def _dates(column: pd.Series[Any], text: str) -> Dates:
    """Return the dates of text in a format, or of dates, which have that of ISO 8601."""
    words = column.astype(object).where(column.notna(), None)
    for form in (text, "ISO8601"):
        with suppress(ValueError):
            return dates_in(words, form)
    raise ValueError(
        f"the column {column.name!r} holds other dates than {text.replace('ISO8601', '%Y-%m-%d')}"
    )
