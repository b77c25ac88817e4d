"""Numbers and dates as people write them: decimal commas, separators of thousands, and words for
missing values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import product
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.missing import is_missing_word, present_words, without_missing_words
from elmbench.datasets.table import (
    Table,
    category_word,
    few,
    is_missing,
    is_number,
    label_word,
    spelled,
    to_frame,
)
from elmbench.errors import ElmbenchError, wording

if TYPE_CHECKING:
    import pandas as pd

#: A column with at least this share of numbers is a column of numbers.
MOSTLY = 0.8
#: A target with at most this many distinct numbers may hold labels, and any other word is then a
#: label as well.
_FEW = 20
#: Number of values of a column that determine its kind.
_SAMPLE = 1000
#: Numbers by their decimal mark. Thousands, or lakhs and crores, may be separated: 1,234,567 or
#: 12,34,567.
_NUMBERS = {
    mark: re.compile(
        rf"[+-]?(([1-9]\d{{0,2}}(?P<mark>[{other}'’ "
        rf"\u00a0\u202f])(\d{{2,3}}(?P=mark))*\d{{3}}|\d+)(\{mark}\d*)?"
        rf"|\{mark}\d+)([eE][+-]?\d+)?",
        re.ASCII,
    )
    for mark, other in (".,", ",.")
}
#: The characters of a number, by its decimal mark, in the notation of Python.
_PLAIN = {mark: str.maketrans({**dict.fromkeys(".,'’ \u00a0\u202f"), mark: "."}) for mark in ".,"}
#: A number with a unit: a sign, such as % or $, the code of a currency, or a word, such as kg.
_WITH_UNIT = re.compile(
    r"[+-]?(?P<before>[$€£¥₹]|[A-Z]{3}(?=\s))?\s?[+-]?"
    r"\d([\d.,'’]|\s(?=\d{3}(?!\d)))*\s?(?P<after>\D*)"
)
#: A column of words has numbers with units if it has at most this many distinct units.
_MOST_UNITS = 3
#: The beginning of a number of four digits or more without a separator of thousands.
_UNGROUPED = re.compile(r"[+-]?\d{4}")
#: A number whose point may separate thousands.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
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


def looks_numeric(word: str) -> bool:
    """Return True for a number with any decimal mark and any separator of thousands."""
    return any(pattern.fullmatch(_stripped(word)) for pattern in _NUMBERS.values())


def may_have_thousands(words: Iterable[str]) -> bool:
    """Return True if all points of a column of numbers may separate thousands, and there is one."""
    pointed = {word for word in words if "." in word and not is_missing_word(word)}
    return bool(pointed) and all(map(_GROUPED.fullmatch, map(_stripped, pointed)))


def number_with_unit(values: NDArray[Any]) -> str:
    """Return the first number with a unit, such as 12 kg, of a column that mostly holds numbers.

    The numbers may have up to three different units or none. The text is empty for any other
    column.
    """
    words = _sample(values)
    matches = [match for word in words if (match := _WITH_UNIT.fullmatch(word))]
    if len(matches) < MOSTLY * len(words):
        return ""
    first_words: dict[tuple[str | None, str], str] = {}
    for match in matches:
        first_words.setdefault((match["before"], match["after"]), match[0])
    first_words.pop((None, ""), None)
    if not 1 <= len(first_words) <= _MOST_UNITS:
        return ""
    return next(iter(first_words.values()))


def with_numbers(table: Table, decimal: str = "") -> Table:
    """Convert numbers in other notations, in the features and the target, to floats.

    `decimal` ({"", ".", ","}): the decimal mark; detected if empty, once for all columns. Raises
    ElmbenchError if most but not all values of a column are numbers, or the decimal mark is
    ambiguous.
    """
    columns = _columns_of_numbers(table)
    texts = {name: _distinct_words(values) for name, values in columns.items()}
    decimal = decimal or _decimal_of(table, texts)
    if not columns:
        return replace(table, decimal=decimal)
    features: dict[str, list[float]] = {}
    target = table.target
    for name, values in columns.items():
        is_feature = name in table.nominal
        parsed: dict[str | None, float | None] = {
            word: _parse(word, decimal or ".") for word in set(values)
        }
        odd = [row for row, word in enumerate(values) if parsed[word] is None]
        if odd and (is_feature or len(parsed) > _FEW):
            raise _not_all_numbers(table, name, odd, decimal)
        numbers = {word: number for word, number in parsed.items() if number is not None}
        if is_feature:
            features[name] = [numbers[word] for word in values]
        elif not odd:  # or else labels stay as they are
            target = _plain_targets(values, numbers, decimal)
    remarks = _remarks_on_marks(texts.values(), decimal)
    table = replace(table.with_numbers(features), target=target, decimal=decimal)
    return table.add_remark(*remarks)


def _columns_of_numbers(table: Table) -> dict[str, NDArray[Any]]:
    """Return the columns of words, the target included, that are mostly numbers."""
    columns = {}
    for name, values in [*table.nominal.items(), (table.target_name, table.target)]:
        sample = _sample(values) if values.dtype == object and name not in table.words else []
        n_numbers = sum(map(looks_numeric, sample))
        if sample and n_numbers >= MOSTLY * len(sample):
            columns[name] = values
    return columns


def _plain_targets(
    values: NDArray[Any], numbers: Mapping[str | None, float], decimal: str
) -> NDArray[np.object_]:
    """Return the words of a target in the notation of Python, None for a missing one."""
    words: dict[str | None, str | None] = {}
    for word, number in numbers.items():
        if word is None or math.isnan(number):
            words[word] = None
        else:
            words[word] = word if _is_plain(word, decimal) else repr(number)
    return np.array([words[word] for word in values], dtype=object)


def _distinct_words(values: NDArray[Any]) -> list[str]:
    """Return the distinct words of a column of numbers, in their order."""
    present = present_words(values)
    return [*dict.fromkeys(_stripped(word) for word in values if word in present)]


def _is_plain(word: str, decimal: str) -> bool:
    """Return True if Python reads a number as it is meant."""
    return is_number(word) and not (decimal == "," and "." in word)


def _remarks_on_marks(columns: Iterable[list[str]], decimal: str) -> Iterator[str]:
    """Yield a remark on the decimal mark and on the separator of thousands, if they are special."""
    other = "." if decimal == "," else ","
    titles = {".": "point", ",": "comma"}
    text = f"numbers have a decimal {titles[decimal or '.']}"
    if any(other in word and looks_numeric(word) for words in columns for word in words):
        yield f"{text}, and a {titles[other]} separates thousands"
    elif decimal == ",":
        yield text


def as_read(
    X: Any,
    numbers: Collection[str],
    dates: Mapping[str, str],
    words: Collection[str],
    codes: Collection[str] = (),
    decimal: str = "",
) -> pd.DataFrame:
    """Return rows as a data frame of floats, dates and words, as if it had been read from a file.

    See `Columns` for the arguments. Raises ValueError if a column is missing, or one of numbers or
    dates holds anything else.
    """
    import pandas as pd

    frame = to_frame(X)
    if lacking := [name for name in (*numbers, *dates, *words) if name not in frame]:
        raise ValueError(f"columns are missing: {few(lacking, 8)}")
    columns: dict[str, Any] = {}
    known = {*numbers, *dates, *words}
    for name in filter(known.__contains__, map(str, frame)):
        column = frame[name]
        if name in words:
            columns[name] = _categories(column, are_codes=name in codes)
        elif name in dates:
            columns[name] = _dates(column, dates[name])
        else:
            columns[name] = _floats(column, decimal)
    return pd.DataFrame(columns, index=frame.index)


def _categories(column: pd.Series[Any], are_codes: bool) -> pd.Series[Any]:
    """Return the words of a column of categories, NaN for a missing one.

    `are_codes`: words such as `unknown` are missing.
    """
    import pandas as pd

    words = spelled(column, lambda value: category_word(label_word(value)))
    if are_codes:
        words = without_missing_words(words)
    # As objects: scikit-learn would make new objects of the strings of pandas in each fit.
    return pd.Series(np.where(is_missing(words), np.nan, words), column.index, dtype=object)


def _dates(column: pd.Series[Any], form: str) -> Dates:
    """Return the dates of text in a format or in that of ISO 8601, or of a column of dates."""
    words = column.astype(object).where(column.notna(), None)
    for accepted in (form, "ISO8601"):
        with suppress(ValueError):
            return dates_in(words, accepted)
    expected = form.replace("ISO8601", "%Y-%m-%d")
    raise ValueError(f"the column {column.name!r} holds other dates than {expected}")


def _floats(column: pd.Series[Any], decimal: str) -> NDArray[np.float64]:
    """Return the numbers of a column, which may be text, NaN for a missing one."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    words = column.map(str, na_action="ignore").astype(object).where(column.notna(), None)
    numbers = [_parse(word, decimal or ".") for word in words]
    if None in numbers:
        word = words.iloc[numbers.index(None)]
        raise ValueError(f"the column {column.name!r} holds {word!r}; expected a number")
    return np.array(numbers, dtype=np.float64)


def _sample(values: NDArray[Any]) -> list[str]:
    """Return evenly spaced words of a column, or all if they are few."""
    texts = values[[word is not None for word in values]]
    return [word for word in texts[:: 1 + len(texts) // _SAMPLE] if not is_missing_word(word)]


def _decimal_of(table: Table, columns: Mapping[str, list[str]]) -> str:
    """Return the decimal mark of one file, whose columns hold these numbers as words; empty if no
    number has one.

    A number decides if only one mark can read it. The other mark then separates thousands, which
    must be evident. Without a decision, a comma-separated file, and a file that is not text, has a
    decimal point.
    """
    samples = {name: words[:: 1 + len(words) // _SAMPLE] for name, words in columns.items()}
    comma = _deciding_number(samples, ",")
    point = _deciding_number(samples, ".")
    if not (comma or point):
        comma = _deciding_number(columns, ",")
        point = _deciding_number(columns, ".")
    point = point or _first_fraction(table)
    is_decided = bool(comma or point)
    if comma and not point:
        point = _doubtful_thousands(columns, ".")
    elif point and not comma and table.separator not in ("", ","):
        comma = _doubtful_thousands(columns, ",")
    if comma and point:
        examples = ", and ".join(
            f"the column {name!r} holds {word!r}" for name, word in (comma, point)
        )
        step = (
            "--drop or correct the odd one, or --decimal , or --decimal . (the other mark "
            "separates thousands)"
        )
        next_step = wording(step, "correct the odd one, or convert the columns to floats")
        raise ElmbenchError(
            f"{table.origin}: {examples}", expected="one decimal mark", next_step=next_step
        )
    pair = None if is_decided else _first_ambiguous(columns)
    if pair and table.separator not in ("", ","):
        name, word = pair
        mark = "." if "." in word else ","
        numbers = f"{word.replace(mark, '')} or {word.replace(mark, '.')}"
        problem = f"{table.origin}: {word!r} in the column {name!r} may be {numbers}"
        expected = "a number that decides, such as 0,5 or 0.5"
        next_step = wording("--decimal , or --decimal .", "convert the column to floats")
        raise ElmbenchError(problem, expected=expected, next_step=next_step)
    if comma:
        return ","
    return "." if point or pair else ""


def _deciding_number(columns: Mapping[str, list[str]], mark: str) -> tuple[str, str] | None:
    """Return the first number that only one decimal mark can read, and its column."""
    this = _NUMBERS[mark]
    other = _NUMBERS["." if mark == "," else ","]
    for name, words in columns.items():
        for word in words:
            if not other.fullmatch(word) and this.fullmatch(word):
                return name, word
    return None


def _first_ambiguous(columns: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """Return the first number that both decimal marks can read, and its column."""
    for name, words in columns.items():
        for word in words:
            if ("." in word or "," in word) and _is_ambiguous(word):
                return name, word
    return None


def _is_ambiguous(word: str) -> bool:
    """Return True if both decimal marks can read a number, as different values."""
    numbers = {_parse(word, mark) for mark in ".,"}
    return len(numbers) == 2 and None not in numbers


def _first_fraction(table: Table) -> tuple[str, str] | None:
    """Return the first number with a decimal point that was read from a text, and its column."""
    if not table.separator or not isinstance(table.X, np.ndarray):
        return None
    for index, name in enumerate(table.names):
        values = table.X[:, index]
        fractions = values[np.isfinite(values) & (values != np.round(values))]
        if len(fractions):
            return name, str(fractions[0])
    return None


def _doubtful_thousands(columns: Mapping[str, list[str]], mark: str) -> tuple[str, str] | None:
    """Return the first number in which a mark may separate thousands or decimals, and its column.

    It separates thousands if every number of the column from 1000 on has it, and some number would
    not have it with three decimals: one below 1000, or one of two marks.
    """
    for name, words in columns.items():
        marked = [word for word in words if mark in word and _is_ambiguous(word)]
        if not marked:
            continue
        rest = [word for word in words if mark not in word and looks_numeric(word)]
        is_grouped = not any(_UNGROUPED.match(word) for word in rest)
        if not is_grouped or not (rest or any(word.count(mark) > 1 for word in words)):
            return name, marked[0]
    return None


def _stripped(word: str) -> str:
    return word.strip().replace("\u2212", "-")


def _parse(word: str | None, decimal: str) -> float | None:
    """Return the number of a word: NaN for a missing value, None if it is not a number."""
    if word is None or is_missing_word(word):
        return math.nan
    text = _stripped(word)
    return float(text.translate(_PLAIN[decimal])) if _NUMBERS[decimal].fullmatch(text) else None


def _not_all_numbers(table: Table, name: str, odd: list[int], decimal: str) -> ElmbenchError:
    """Return the error for a column of numbers in which some rows hold words."""
    kind, values = (
        ("column", table.nominal[name]) if name in table.nominal else ("target", table.target)
    )
    word = values[odd[0]]
    value = f"{word!r}" + (f" (and {len(odd) - 1} more)" if len(odd) > 1 else "")
    steps = ["correct the data"]
    expected = "a number, or a usual word for a missing value such as NA"
    if looks_numeric(word):
        other = "." if decimal == "," else ","
        expected = f"a number with the decimal mark {decimal or '.'}"
        steps.append(wording(f"--decimal {other}", "convert the column to floats"))
    if kind == "column":
        options = (
            f"--words {quote(name)} if they are categories, --drop {quote(name)} to leave it out"
        )
        steps.append(wording(options, "astype(str).astype('category') if they are categories"))
    return ElmbenchError(
        f"{table.origin}: the {kind} {name!r} is mostly numbers, "
        f"but row {odd[0] + 1} holds {value}",
        expected=expected,
        next_step="; ".join(steps),
    )


# --- dates


def read_dates(
    words: Iterable[object], day_first: bool | None = None, column: str = ""
) -> Dates | None:
    """Read a column of dates; return None if it holds anything else. See `date_format` and
    `dates_in`.
    """
    words = _texts(words)
    text = date_format(words, day_first, column)
    return None if text is None else dates_in(words, text)


def dates_in(words: Iterable[object], text: str) -> Dates:
    """Return the dates of words in one format; NaT for a missing value, and in UTC for times with
    an offset.

    Raises ValueError if a word is not a date in this format.
    """
    import pandas as pd

    dates = pd.to_datetime(pd.Series(_texts(words), dtype=object), format=text, utc=True)
    return np.asarray(dates.dt.tz_localize(None), dtype="datetime64[us]")


def date_format(
    words: Iterable[object], day_first: bool | None = None, column: str = ""
) -> str | None:
    """Return the format of a column of dates, in the notation of pandas; None if it holds anything
    else.

    `words`: None and the usual words for a missing value are ignored. `day_first`: settles whether
    1/2/2023 is in February or in January, if no value does. `column`: name of the column, for the
    error.

    Raises ElmbenchError if the values fit several formats that give different dates.
    """
    texts = [text for text in _texts(words) if text is not None]
    if all(map(str.isdigit, texts)):
        return None
    readings: dict[str, Dates] = {}
    for form in ["ISO8601", *_formats_of(texts[0])]:
        with suppress(ValueError):
            readings[form] = dates_in(texts, form)
    first = next(iter(readings), None)
    if first is None or all((dates == readings[first]).all() for dates in readings.values()):
        return first
    start = {True: "%d", False: "%m", None: "?"}[day_first]
    chosen = [text for text in readings if text.startswith(start)]
    if len(chosen) == 1:
        return chosen[0]
    row = next(
        row for row, dates in enumerate(zip(*readings.values(), strict=True)) if len(set(dates)) > 1
    )
    options = (
        f"--dates day-first or --dates month-first, --words {quote(column)} if it has no dates"
    )
    way = wording(options, "convert it by pandas.to_datetime, or astype('category') without dates")
    days = dict.fromkeys(str(dates[row].astype("datetime64[D]")) for dates in readings.values())
    raise ElmbenchError(
        f"the column {column!r} holds dates such as {texts[row]!r}, which may be "
        f"{' or '.join(days)}",
        expected="a date that decides, such as one with a day above 12",
        next_step=f"{way}, or write the dates as YYYY-MM-DD",
    )


def span(dates: Dates) -> str:
    """Return the first and the last of dates in words, with the time of day if there is one."""
    unit = "D" if (dates == dates.astype("datetime64[D]")).all() else "s"
    return " to ".join(
        str(date.astype(f"datetime64[{unit}]")) for date in (dates.min(), dates.max())
    )


def varying_parts(dates: Dates) -> tuple[str, ...]:
    """Return the names of the parts of `date_parts` that vary among dates, and `days`."""
    parts = date_parts(dates, first_date(dates))
    varies = parts.max() > parts.min()
    return tuple(name for name in map(str, parts) if varies[name] or name == "days")


def first_date(dates: Dates) -> np.datetime64:
    """Return the first of dates; NaT if all are missing."""
    present = dates[~np.isnat(dates)]
    return present.min() if len(present) else np.datetime64("NaT")


def date_parts(dates: Dates, first: np.datetime64) -> pd.DataFrame:
    """Return the parts of dates as numbers, and the days since the first one; NaN for NaT."""
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
    """Return words without surrounding spaces, None for a missing value."""
    return [
        None if word is None or is_missing_word(text := str(word).strip()) else text
        for word in words
    ]


def _formats_of(word: str) -> Iterator[str]:
    for date, time in product(_DATES, _TIMES):
        for separator in (" ", ", ", "T") if time else ("",):
            text = f"{date}{separator}{time}"
            with suppress(ValueError):
                datetime.strptime(word, text)
                yield text
