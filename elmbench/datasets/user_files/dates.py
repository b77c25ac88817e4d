"""Dates in text: their format is detected, and their parts become numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from itertools import product
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.user_files.missing_words import is_missing_word
from elmbench.errors import ElmbenchError, wording

if TYPE_CHECKING:
    import pandas as pd

Dates = NDArray[np.datetime64]
#: Formats beside ISO 8601. In dates with points the day comes first in every country.
_DATES = (
    "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y",
    "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d",
    "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
    "%d %b %Y", "%d %B %Y", "%d. %b %Y", "%d. %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y",
    "%B %d, %Y",
    "%b %Y", "%B %Y", "%m/%Y", "%m.%Y",
)  # fmt: skip
_TIMES = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
#: The number of first words that show whether a column may hold dates.
_HEAD = 1000
_DIRECTIVE = re.compile("%.")
#: Punctuation of a date. A point after a letter may belong to a month's name in some locale.
_PUNCTUATION = re.compile(r"[^\w\s.]|(?<![^\W\d])\.")


def read_dates(
    words: Iterable[object], day_first: bool | None = None, column: str = ""
) -> Dates | None:
    """Return the dates `words` of a column as an array; None if it holds anything else.

    Digits alone, such as years, are no dates, and a column without any value has none. Missing
    values become NaT. `day_first`: True if 1/2/2023 is in February, False if in January, None if
    the values must decide. `column`: its name, for the error. Raises ElmbenchError if the values
    fit several formats that give different dates, and `day_first` does not decide.
    """
    words = _texts(words)
    text = date_format(words, day_first, column)
    return None if text is None else dates_in(words, text)


def dates_in(words: Iterable[object], form: str) -> Dates:
    """Return the dates of words in the format `form`, in the notation of pandas or "ISO8601".

    Missing values become NaT. Times with an offset are converted to UTC. Raises ValueError if a
    word is not a date in this format.
    """
    import pandas as pd

    dates = pd.to_datetime(
        pd.Series(_texts(words), dtype=object), format=form, utc=True
    )
    return np.asarray(dates.dt.tz_localize(None), dtype="datetime64[us]")


def date_format(
    words: list[Any] | NDArray[Any], day_first: bool | None = None, column: str = ""
) -> str | None:
    """Return the format of a column of dates, in the notation of pandas; None for any other column.

    It is "ISO8601" for 2023-01-31 and 2023-01-31T12:00. A column of digits alone, such as years,
    has none, nor has one without any value. `words`: None and the usual words for a missing value
    are ignored. `day_first`: True if 1/2/2023 is in February, False if in January; used only if no
    value decides. `column`: name of the column, for the error.

    Raises ElmbenchError if the values fit several formats that give different dates, and
    `day_first` is None or does not decide.
    """
    if len(words) > _HEAD:
        head = _distinct_texts(words[:_HEAD])
        if head and not _dates_by_format(head):
            return None
    texts = _distinct_texts(words)
    if all(map(str.isdigit, texts)):
        return None
    readings = _dates_by_format(texts)
    first = next(iter(readings), None)
    if first is None or all(
        (dates == readings[first]).all() for dates in readings.values()
    ):
        return first
    start = {True: "%d", False: "%m", None: "?"}[day_first]
    chosen = [form for form in readings if form.startswith(start)]
    if len(chosen) == 1:
        return chosen[0]
    raise _ambiguous_dates(texts, readings, column)


def _distinct_texts(words: Iterable[object]) -> list[str]:
    """Return the distinct words that are not missing, in the order of first appearance.

    Surrounding spaces are then removed, so words that differ in them alone repeat.
    """
    distinct = dict.fromkeys(words)
    return [text for text in _texts(distinct) if text is not None]


def _dates_by_format(texts: list[str]) -> dict[str, Dates]:
    """Return {format: dates of all texts} for each format that fits all of them; at least one text.

    The dates have the shape (n_texts,). Without a fitting format, the dict is empty.
    """
    readings: dict[str, Dates] = {}
    for form in ["ISO8601", *_formats_of(texts[0])]:
        with suppress(ValueError):
            readings[form] = dates_in(texts, form)
    return readings


def _ambiguous_dates(
    texts: list[str], readings: Mapping[str, Dates], column: str
) -> ElmbenchError:
    """Return the error for a column whose dates differ from one format to another.

    `readings`: {format: the dates of `texts`}; at least one date differs. `column`: its name.
    """
    row, candidates = next(
        (row, dates)
        for row, dates in enumerate(zip(*readings.values(), strict=True))
        if len(set(dates)) > 1
    )
    days = dict.fromkeys(str(date.astype("datetime64[D]")) for date in candidates)
    options = (
        "--dates day-first or --dates month-first, "
        f"--words {quote(column)} if it has no dates"
    )
    way = wording(
        options, "convert it by pandas.to_datetime, or astype('category') without dates"
    )
    return ElmbenchError(
        f"the column {column!r} holds dates such as {texts[row]!r}, which may be "
        f"{' or '.join(days)}",
        expected="a date that decides, such as one with a day above 12",
        next_step=f"{way}, or write the dates as YYYY-MM-DD",
    )


def span(dates: Dates) -> str:
    """Return the first and the last of dates without NaT as 'FIRST to LAST'.

    Both have the time of day if any date has one.
    """
    are_days = (dates == dates.astype("datetime64[D]")).all()
    unit = "datetime64[D]" if are_days else "datetime64[s]"
    return f"{dates.min().astype(unit)} to {dates.max().astype(unit)}"


def varying_parts(dates: Dates) -> tuple[str, ...]:
    """Return the names of those columns of `date_parts` that vary among dates.

    They are among year, month, weekday, hour and days; `days` is always one of them.
    """
    parts = date_parts(dates, first_date(dates))
    varies = parts.max() > parts.min()
    return tuple(name for name in map(str, parts) if varies[name] or name == "days")


def first_date(dates: Dates) -> np.datetime64:
    """Return the earliest of dates; NaT if all are missing."""
    present = dates[~np.isnat(dates)]
    return present.min() if len(present) else np.datetime64("NaT")


def date_parts(dates: Dates, first: np.datetime64) -> pd.DataFrame:
    """Return the columns year, month, weekday, hour and days of dates, one row each, as floats.

    Weekdays are numbered from 0 (Monday); `days` since `first` have fractions for times of day. NaT
    gives NaN.
    """
    import pandas as pd

    index = pd.DatetimeIndex(dates)
    days = (index - first) / pd.Timedelta(days=1)
    parts = {
        "year": index.year,
        "month": index.month,
        "weekday": index.day_of_week,
        "hour": index.hour,
        "days": days,
    }
    return pd.DataFrame(parts, dtype=np.float64)


def _texts(words: Iterable[object]) -> list[str | None]:
    """Return words without surrounding spaces; None for a word that stands for a missing value."""
    return [None if word is None else _present_text(str(word)) for word in words]


def _present_text(word: str) -> str | None:
    """Return a word without surrounding spaces; None if it stands for a missing value."""
    text = word.strip()
    return None if is_missing_word(text) else text


def _formats_of(word: str) -> Iterator[str]:
    """Yield the formats, other than ISO 8601, in which a word is a date; none for another word."""
    for text in _formats_by_punctuation().get(_punctuation(word), ()):
        with suppress(ValueError):
            datetime.strptime(word, text)
            yield text


@cache
def _formats_by_punctuation() -> dict[str, list[str]]:
    """Return {punctuation marks: the formats of dates and times with these marks, in this order}.

    A word is compared with few of the hundreds of formats: with all of them, a column would take 10
    milliseconds.
    """
    formats: dict[str, list[str]] = {}
    for date, time in product(_DATES, _TIMES):
        separators = (" ", ", ", "T") if time else ("",)
        for separator in separators:
            text = f"{date}{separator}{time}"
            example = _DIRECTIVE.sub("0", text)
            punctuation = _punctuation(example)
            formats.setdefault(punctuation, []).append(text)
    return formats


def _punctuation(word: str) -> str:
    """Return the punctuation marks of a word in their order as one string, such as '--::'.

    A point after a letter is left out, as it may belong to the short name of a month.
    """
    return "".join(_PUNCTUATION.findall(word))
