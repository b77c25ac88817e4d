"""The text of a comparison of tables with their papers, for the terminal."""

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType

from elmbench.cli.options import state
from elmbench.report.printed_blocks import Block
from elmbench.report.writers.text import Text, blocks


def check_text(parts: Iterable[Block]) -> RenderableType:
    """Return the paragraphs and tables of a check as rich prints them."""
    return Group(*_renderables(parts))


def _renderables(parts: Iterable[Block]) -> Iterator[RenderableType]:
    """Yield each paragraph as a text, and each table as one or more tables of the terminal's
    width.
    """
    for part in parts:
        if part.rows:
            yield from blocks(part.headings, part.rows, state.width, part.n_labels)
        else:
            yield Text(part.text, style=part.style)
