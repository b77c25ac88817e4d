"""Words that stand for a missing value in text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Words for a missing value in any column: those of pandas but "None", which may be a category, and
#: "?".
MISSING = {
    "", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan",
    "NULL", "null",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
}  # fmt: skip
#: Further words for a missing value, in lower case; in columns of numbers, codes and dates only.
_MISSING_NUMBER = {
    "", "none", "na", "n.a.", "n/a", "nan", "null", "nil", "-", "--", "---", ".", "..", "missing",
    "unknown", "(null)",
    "k.a.", "k. a.", "keine angabe", "unbekannt", "n.d.", "nd", "s/d",  # German and Romance
    "not available", "#n/a", "#value!", "#div/0!", "#ref!", "#num!", "#name?",
}  # fmt: skip


def is_missing_word(word: str) -> bool:
    """Return True if a word of a column of numbers, codes or dates stands for a missing value.

    Such are "", NA, null, unknown and -, apart from surrounding spaces.
    """
    text = word.strip()
    return text in MISSING or text.lower() in _MISSING_NUMBER


def present_words(words: Iterable[str | None]) -> set[str]:
    """Return the distinct words of a column that are neither None nor words for a missing value.

    For columns of numbers, codes or dates: words such as `unknown` are missing there.
    """
    return {word for word in {*words} if word is not None and not is_missing_word(word)}


def without_missing_words(words: NDArray[Any]) -> NDArray[np.object_]:
    """Return the words of a column of codes, with None for every word for a missing value.

    Such are NA and `unknown`. Shape and order stay.
    """
    present = present_words(words)
    return np.array([word if word in present else None for word in words], dtype=object)
