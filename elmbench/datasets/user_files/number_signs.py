"""Numbers that are written with a currency or percent sign, such as $1,234.50 and 12.5 %."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray

from elmbench.datasets.table import Table, few, spelled
from elmbench.datasets.user_files.missing_words import present_words
from elmbench.datasets.user_files.number_text import (
    looks_numeric,
    normalized,
    sample_words,
)

_SIGN = "(?P<sign>[$€£¥₹%])"
#: The forms of a number with a sign, such as -$5, $-5 and 5 %.
_FORMS = (
    re.compile(rf"(?P<minus>[+-]?)\s?{_SIGN}\s?(?P<number>.+)"),
    re.compile(rf"(?P<minus>)(?P<number>.+?)\s?{_SIGN}"),
)
#: The most columns that a note names.
_SHOWN = 8


def without_signs(table: Table, known: Mapping[str, str]) -> Table:
    """Return the table without the signs of numbers, which its `signs` lists, and with a note.

    A column, or the target, has a sign if all present values are numbers with this one sign.
    Columns that the user declares as words stay. `known`: {name of a column: its sign in the
    training rows}; such a column may lack the sign, and keeps values with a different one.
    """
    signs: dict[str, str] = {}
    nominal = dict(table.nominal)
    target = table.target
    for name, values in [*table.nominal.items(), (table.target_name, table.target)]:
        if name in table.words or values.dtype != object:
            continue
        sign = known.get(name) or _sign_of_column(values)
        if not sign:
            continue
        signs[name] = sign
        numbers = spelled(values, partial(without_sign, sign=sign))
        if name in nominal:
            nominal[name] = numbers
        else:
            target = numbers
    table = replace(table, nominal=nominal, target=target, signs=signs)
    return table.add_remark(*_remarks_on_signs(signs))


def without_sign(word: str, sign: str) -> str:
    """Return the number of a word that is written with `sign`, as text; another word as it is.

    Parentheses around a currency mean a minus: ($5) becomes -5.
    """
    if not sign or sign not in word:
        return word
    parts = sign_and_number(word)
    return word if parts is None else parts[1]


def _sign_of_column(values: NDArray[Any]) -> str:
    """Return the sign of all present words of a column; "" if they have different ones or none."""
    return _common_sign(sample_words(values)) and _common_sign(present_words(values))


def _common_sign(words: Iterable[str]) -> str:
    """Return the sign that all words have; "" if they have different ones or none."""
    common = ""
    for word in words:
        parts = sign_and_number(word)
        sign = parts[0] if parts else ""
        if not sign or sign != (common or sign):
            return ""
        common = sign
    return common


def sign_and_number(word: str) -> tuple[str, str] | None:
    """Return the sign of a word and its number as text; None for a word of any other form."""
    text = normalized(word)
    if text.startswith("(") and text.endswith(")"):
        parts = sign_and_number(text[1:-1])
        if parts is None or parts[0] == "%" or parts[1][0] in "+-":
            return None
        sign, number = parts
        return sign, f"-{number}"
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            number = match["minus"] + match["number"]
            return (match["sign"], number) if looks_numeric(number) else None
    return None


def _remarks_on_signs(signs: Mapping[str, str]) -> Iterator[str]:
    """Yield a remark on each sign and its columns. `signs`: {name of a column: its sign}."""
    for sign in dict.fromkeys(signs.values()):
        names = [name for name in signs if signs[name] == sign]
        yield f"{few(names, _SHOWN)}: numbers written with {sign}"
