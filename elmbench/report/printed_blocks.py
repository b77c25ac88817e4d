"""The parts of a text that fit into lines of any width."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Block:
    """A paragraph, or a table of texts if it has `rows`.

    Attributes
    ----------
    text, style : str
        The paragraph and its style in rich.
    headings, rows : sequence
        The table; a heading may have several lines.
    n_labels : int
        The number of columns that label a row.
    """

    text: str = ""
    style: str = ""
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    n_labels: int = 1
