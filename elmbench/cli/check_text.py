"""The texts of `elmbench check` for the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType

from elmbench.cli.options import state
from elmbench.report.checks.print_findings import CheckedPrint, summary_text
from elmbench.report.printed_blocks import Block
from elmbench.report.writers.text import Text, blocks, lines_text

#: Differences of a table that are printed.
_SHOWN = 20


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


def baseline_text(outcomes: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Return a table of the numbers of compared and differing cells, and a line for each of the
    first `_SHOWN` differences of a table.

    `outcomes`: the result of `check_baselines`: by table id, `compared` (a number) and
    `differences` (mappings with cell, column, value, baseline and allowed).
    """
    rows = [
        (name, check["compared"], len(check["differences"]))
        for name, check in outcomes.items()
    ]
    counts = ("cells compared", "differ")
    parts: list[RenderableType] = [
        lines_text(("experiment", *counts), rows, right=counts)
    ]
    for name, check in outcomes.items():
        for difference in check["differences"][:_SHOWN]:
            text = "{cell}: {column} is {value}, baseline {baseline} (allowed: {allowed})".format(
                **difference
            )
            parts.append(Text(f"{name}: {text}"))
        if (rest := len(check["differences"]) - _SHOWN) > 0:
            parts.append(Text(f"{name}: and {rest} more; --json has them all"))
    return Group(*parts)


def findings_text(checked: Sequence[CheckedPrint]) -> RenderableType:
    """Return a line for each finding on the print of tables, and a sentence with their number."""
    parts: list[RenderableType] = []
    for table in checked:
        for finding in table.findings:
            text = f"{table.table}: {finding.subject}: {finding.says}"
            parts.append(Text(text))
    summary = summary_text(checked)
    parts.append(Text(summary))
    return Group(*parts)
