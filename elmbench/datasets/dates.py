"""Dates as people write them: one format for a whole column."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import product

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError

Dates = NDArray[np.datetime64]
#: Formats beside ISO 8601. In dates with points the day comes first in every country.
_DATES = (
    "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y",
    "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d",
    "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
    "%d %b %Y", "%d %B %Y", "%d. %b %Y", "%d. %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y",
    "%b %Y", "%B %Y", "%m/%Y", "%m.%Y",
)  # fmt: skip
_TIMES = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")


def read_dates(words: Iterable[object], day_first: bool | None = None, column: str = "") -> Dates | None:
    """Read a column of dates; return None if it holds anything else. See `date_format` and `dates_in`."""
    words = list(words)
    text = date_format(words, day_first, column)
    return None if text is None else dates_in(words, text)


def dates_in(words: Iterable[object], text: str) -> Dates:
    """Return the dates of words in one format; NaT for None, and in UTC for times with an offset.

    Raises ValueError if a word is not a date in this format.
    """
    import pandas as pd

    series = pd.Series(list(words), dtype=object)
    dates = pd.to_datetime(series.dropna().astype(str).str.strip(), format=text, utc=True).dt.tz_localize(None)
    return np.asarray(dates.reindex(series.index), dtype="datetime64[us]")


def date_format(words: Iterable[object], day_first: bool | None = None, column: str = "") -> str | None:
    """Return the format of a column of dates, in the notation of pandas; None if it holds anything else.

    `words`: None is a missing value. `day_first`: settles whether 1/2/2023 is in February or in January, if no value
    does. `column`: name of the column, for the error.

    Raises ElmbenchError if the values fit several formats that give different dates.
    """
    texts = [str(word).strip() for word in words if word is not None]
    if not texts or all(map(str.isdigit, texts)):
        return None
    readings: dict[str, Dates] = {}
    for text in ["ISO8601", *_formats_of(texts[0])]:
        with suppress(ValueError):
            readings[text] = dates_in(texts, text)
    first = next(iter(readings), None)
    if first is None or all((dates == readings[first]).all() for dates in readings.values()):
        return first
    start = {True: "%d", False: "%m", None: "?"}[day_first]
    chosen = [text for text in readings if text.startswith(start)]
    if len(chosen) == 1:
        return chosen[0]
    row = next(row for row, dates in enumerate(zip(*readings.values(), strict=True)) if len(set(dates)) > 1)
    days = dict.fromkeys(str(dates[row].astype("datetime64[D]")) for dates in readings.values())
    raise ElmbenchError(
        f"the column {column!r} holds dates such as {texts[row]!r}, which may be {' or '.join(days)}",
        expected="a date that decides, such as one with a day above 12",
        next_step="--dates day-first or --dates month-first, or write the dates as YYYY-MM-DD",
    )


def span(dates: Dates) -> str:
    """Return the first and the last of dates in words, with the time of day if there is one."""
    unit = "D" if (dates == dates.astype("datetime64[D]")).all() else "s"
    return " to ".join(str(date.astype(f"datetime64[{unit}]")) for date in (dates.min(), dates.max()))


def features_of(dates: Dates) -> dict[str, NDArray[np.float64]]:
    """Return the features of dates, by name: the parts of `date_parts` that vary."""
    parts = date_parts(dates, dates[~np.isnat(dates)].min())
    return {name: values for name, values in parts.items() if len(np.unique(values[~np.isnan(values)])) > 1}


def date_parts(dates: Dates, first: np.datetime64) -> dict[str, NDArray[np.float64]]:
    """Return the parts of dates by name, and the days since the first one; NaT becomes NaN."""
    import pandas as pd

    index = pd.DatetimeIndex(dates)
    days = (index - pd.Timestamp(first)) / pd.Timedelta(days=1)
    parts = {"year": index.year, "month": index.month, "weekday": index.day_of_week, "hour": index.hour, "days": days}
    return {name: np.asarray(values, dtype=np.float64) for name, values in parts.items()}


def _formats_of(word: str) -> Iterator[str]:
    """Yield the formats that fit a word."""
    for date, time in product(_DATES, _TIMES):
        for separator in (" ", ", ", "T") if time else ("",):
            text = f"{date}{separator}{time}"
            with suppress(ValueError):
                datetime.strptime(word, text)
                yield text
