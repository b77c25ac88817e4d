"""The sentences of the program that tests expect, read from `sentences.toml`."""

import re
import tomllib
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

FILE = Path(__file__).with_suffix(".toml")


@cache
def read_sentences() -> dict[str, str]:
    """Return the sentences by their key, such as `cli.check.cell-differs`."""
    tables = tomllib.loads(FILE.read_text("utf-8"))
    return {
        f"{area}.{subject}.{name}": text
        for area, subjects in tables.items()
        for subject, texts in subjects.items()
        for name, text in texts.items()
    }


def placeholders(text: str) -> set[str]:
    """Return the names in braces of a sentence."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def sentence(key: str, /, **values: Any) -> str:
    """Return the sentence with this key, with a value in each of its placeholders."""
    text = read_sentences()[key]
    names = sorted(placeholders(text))
    if names != sorted(values):
        raise TypeError(f"{key} takes the values {names}, got {sorted(values)}")
    return text.format(**values)


def pattern(key: str, /, **values: Any) -> str:
    """Return a regular expression for `sentence(key)`, as `pytest.raises(match=...)` takes one."""
    return re.escape(sentence(key, **values))
