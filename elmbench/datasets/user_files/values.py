"""Conversion of the columns of a table, and of new rows, to floats, dates and words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
from elmbench.datasets.user_files.dates import Dates, dates_in
from elmbench.datasets.user_files.decimal_mark import (
    assumed_mark_warnings,
    detect_decimal_mark,
)
from elmbench.datasets.user_files.missing_words import (
    present_words,
    without_missing_words,
)
from elmbench.datasets.user_files.number_signs import without_sign, without_signs
from elmbench.datasets.user_files.number_text import (
    MOSTLY,
    looks_numeric,
    normalized,
    parse_number,
    sample_words,
)
from elmbench.errors import ElmbenchError, wording

if TYPE_CHECKING:
    import pandas as pd

#: A target with at most this many distinct numbers may hold labels, and any other word is then a
#: label as well.
_MOST_LABELS = 20


def with_numbers(
    table: Table,
    decimal: str = "",
    *,
    is_assumed: bool = False,
    signs: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return the table with floats for features that are numbers in other notations: 1,5 or $2.

    A target of this kind keeps its words, in a notation that Python's `float` reads. Notes name
    unusual marks.

    `decimal` ({"", ".", ","}): the decimal mark; detected if empty, once for all columns.
    `is_assumed`: True if it is the mark of different rows, so that a note warns of numbers that the
    other mark reads differently. `signs`: {name of a column: the sign, such as $, of its numbers in
    different rows}; the signs of other columns are detected.

    Raises ElmbenchError if most but not all values of a column are numbers, or the decimal mark is
    ambiguous. A target of few different values is no such column: it stays, as they may be labels.
    """
    table = without_signs(table, signs)
    columns = _columns_of_numbers(table)
    texts = {name: _distinct_words(values) for name, values in columns.items()}
    decimal = decimal or detect_decimal_mark(table, texts)
    if not columns:
        return replace(table, decimal=decimal)
    features: dict[str, list[float]] = {}
    target = table.target
    for name, values in columns.items():
        is_feature = name in table.nominal
        numbers = _numbers_of_words(table, name, values, decimal)
        if numbers is None:
            continue
        if is_feature:
            features[name] = [numbers[word] for word in values]
        else:
            target = _plain_targets(values, numbers, decimal)
    remarks = [*_remarks_on_marks(texts.values(), decimal)]
    if is_assumed:
        remarks += assumed_mark_warnings(table, texts, decimal)
    table = replace(table.with_numbers(features), target=target, decimal=decimal)
    return table.add_remark(*remarks)


def _numbers_of_words(
    table: Table, name: str, values: NDArray[Any], decimal: str
) -> dict[str | None, float] | None:
    """Return {word: number} of the distinct words of a column, NaN for None and missing words.

    None is returned for a target with other words as well and at most 20 distinct ones, which may
    be labels. Raises ElmbenchError if some words of another column are not numbers. `name`: of the
    column, with its `values`. `decimal`: "," or "."; "" is a point.
    """
    numbers: dict[str | None, float] = {}
    words = set(values)
    mark = decimal or "."
    for word in words:
        number = parse_number(word, mark)
        if number is not None:
            numbers[word] = number
    word_rows = [row for row, word in enumerate(values) if word not in numbers]
    if not word_rows:
        return numbers
    is_target = name not in table.nominal
    if is_target and len(words) <= _MOST_LABELS:
        return None
    raise _not_all_numbers(table, name, word_rows, decimal)


def _columns_of_numbers(table: Table) -> dict[str, NDArray[Any]]:
    """Return {name: values} of the columns of words that mostly spell numbers, the target included.

    Columns that the user declares as words are left out.
    """
    candidates = [*table.nominal.items(), (table.target_name, table.target)]
    return {
        name: values
        for name, values in candidates
        if name not in table.words and _are_mostly_numbers(values)
    }


def _are_mostly_numbers(values: NDArray[Any]) -> bool:
    """Return True if at least 80 % of a sample of the words `values` of a column look like numbers.

    False for a column of numbers or booleans, or without any word that is not missing.
    """
    if values.dtype != object:
        return False
    sample = Counter(sample_words(values))
    if not sample:
        return False
    counts = [count for word, count in sample.items() if looks_numeric(word)]
    least = MOSTLY * sample.total()
    return sum(counts) >= least


def _plain_targets(
    values: NDArray[Any], numbers: Mapping[str | None, float], decimal: str
) -> NDArray[np.object_]:
    """Return the words of a target as Python's `float` reads them; None for a missing one.

    `numbers`: {word: number} of every word in `values`; the words None and those of NaN are
    missing. `decimal`: the mark with which `numbers` were read, "" or "." or ",". A word that
    `float` would read as the same number keeps its spelling; another becomes the shortest text of
    its number.
    """
    words: dict[str | None, str | None] = {}
    for word, number in numbers.items():
        if word is None or math.isnan(number):
            words[word] = None
        elif _is_plain(word, decimal):
            words[word] = word
        else:
            words[word] = repr(number)
    plain = [words[word] for word in values]
    return np.array(plain, dtype=object)


def _distinct_words(values: NDArray[Any]) -> list[str]:
    """Return the distinct words of `values`, a column of numbers, in the order of first appearance.

    Missing ones are left out; the others lose surrounding spaces, and get an ASCII minus sign.
    """
    present = present_words(values)
    return [*dict.fromkeys(normalized(word) for word in values if word in present)]


def _is_plain(word: str, decimal: str) -> bool:
    """Return True if Python's `float` reads a word as the number that it means.

    `decimal`: its decimal mark; 1.234 with a decimal comma is 1234, so that `float` would be wrong.
    """
    return is_number(word) and not (decimal == "," and "." in word)


def _remarks_on_marks(columns: Iterable[list[str]], decimal: str) -> Iterator[str]:
    """Yield a remark if the decimal mark is a comma, or if the other mark separates thousands.

    Else, nothing. `columns`: the words of each column of numbers. `decimal`: "" is a point.
    """
    titles = {".": "point", ",": "comma"}
    title = titles[decimal or "."]
    other = "." if decimal == "," else ","
    remark = f"numbers have a decimal {title}"
    words = (word for column in columns for word in column)
    has_other_mark = any(other in word and looks_numeric(word) for word in words)
    if has_other_mark:
        yield f"{remark}, and a {titles[other]} separates thousands"
    elif decimal == ",":
        yield remark


def as_read(
    X: Any,
    numbers: Collection[str],
    dates: Mapping[str, str],
    words: Collection[str],
    codes: Collection[str] = (),
    decimal: str = "",
    text: Collection[str] = (),
    signs: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return rows as a data frame of floats, dates, words and texts, as if read from a file.

    `X`: a data frame, whose column names are taken as text, or an array, lists or sparse rows,
    whose columns are named `x0`, `x1`, ...; columns that are not named below are left out, and the
    others keep their order. `numbers`, `words`, `text`: names of the columns of numbers, categories
    and text. `dates`: {name: format of the dates}. `codes`: the columns of `words` in which words
    such as `unknown` are missing values. `decimal`: the mark of numbers that are text; "" is a
    point. `signs`: {name of a column of numbers: the sign, such as $, that text may have}.

    Missing values become NaN or NaT, and "" in columns of text. Raises ValueError if a column is
    missing, or one of numbers or dates holds anything else.
    """
    import pandas as pd

    frame = to_frame(X)
    known = {*numbers, *dates, *words, *text}
    lacking = [name for name in (*numbers, *dates, *words, *text) if name not in frame]
    if lacking:
        raise ValueError(f"columns are missing: {few(lacking, 8)}")
    columns: dict[str, Any] = {}
    for name in map(str, frame):
        if name not in known:
            continue
        column = frame[name]
        if name in words:
            columns[name] = _to_categories(column, are_codes=name in codes)
        elif name in text:
            columns[name] = column.astype(object).where(column.notna(), "").map(str)
        elif name in dates:
            columns[name] = _to_dates(column, dates[name])
        else:
            columns[name] = _to_floats(column, decimal, sign=signs.get(name, ""))
    return pd.DataFrame(columns, index=frame.index)


def _to_categories(column: pd.Series[Any], are_codes: bool) -> pd.Series[Any]:
    """Return the words of a column of categories, NaN for a missing one; the index stays.

    Surrounding spaces are removed, 1.0 and +1 become '1', and True becomes 'true'. `are_codes`:
    True if the column holds codes such as 007, so that words such as `unknown` and `-` stand for a
    missing value; else they are categories of their own.
    """
    import pandas as pd

    words = spelled(column, lambda value: category_word(label_word(value)))
    if are_codes:
        words = without_missing_words(words)
    # As objects: scikit-learn would make new objects of the strings of pandas in each fit.
    return pd.Series(
        np.where(is_missing(words), np.nan, words), column.index, dtype=object
    )


def _to_dates(column: pd.Series[Any], form: str) -> Dates:
    """Return the dates of a column of text or dates, NaT for a missing one.

    Text is read in the format `form` of pandas, or else in ISO 8601. Raises ValueError if neither
    fits all words.
    """
    words = column.astype(object).where(column.notna(), None)
    for accepted in (form, "ISO8601"):
        with suppress(ValueError):
            return dates_in(words, accepted)
    expected = form.replace("ISO8601", "%Y-%m-%d")
    raise ValueError(f"the column {column.name!r} holds other dates than {expected}")


def _to_floats(
    column: pd.Series[Any], decimal: str, *, sign: str
) -> NDArray[np.float64]:
    """Return the numbers of a column of numbers, booleans or text, NaN for a missing one.

    `decimal`: the decimal mark of text; "" is a point. `sign`: the sign, such as $, that numbers
    of text may have; "" for none. Raises ValueError for a word that is neither a number nor
    missing.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    words = (
        column.map(str, na_action="ignore").astype(object).where(column.notna(), None)
    )
    plain_words = [without_sign(word, sign) if word else None for word in words]
    numbers = [parse_number(word, decimal or ".") for word in plain_words]
    if None in numbers:
        word = words.iloc[numbers.index(None)]
        raise ValueError(
            f"the column {column.name!r} holds {word!r}; expected a number"
        )
    return np.array(numbers, dtype=np.float64)


def _not_all_numbers(
    table: Table, name: str, word_rows: list[int], decimal: str
) -> ElmbenchError:
    """Return the error for a column of numbers in which some rows hold other words.

    `name`: a nominal column of the table, or the target. `word_rows`: the positions of these rows
    from 0, at least one. `decimal`: the decimal mark; "" is a point.
    """
    is_feature = name in table.nominal
    kind = "column" if is_feature else "target"
    values = table.nominal[name] if is_feature else table.target
    word = values[word_rows[0]]
    more = f" (and {len(word_rows) - 1} more)" if len(word_rows) > 1 else ""
    expected = "a number, or a usual word for a missing value such as NA"
    steps = ["correct the data"]
    if looks_numeric(word):
        other = "." if decimal == "," else ","
        expected = f"a number with the decimal mark {decimal or '.'}"
        steps.append(wording(f"--decimal {other}", "convert the column to floats"))
    if is_feature:
        column = quote(name)
        options = (
            f"--words {column} if they are categories, --drop {column} to leave it out"
        )
        steps.append(
            wording(options, "astype(str).astype('category') if they are categories")
        )
    return ElmbenchError(
        f"{table.origin}: the {kind} {name!r} is mostly numbers, "
        f"but row {word_rows[0] + 1} holds {word!r}{more}",
        expected=expected,
        next_step="; ".join(steps),
    )
