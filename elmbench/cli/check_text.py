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
    """Return the text of a check, to be printed by rich.

    `parts`: in their order; a block with `rows` is a table, any other one a paragraph.
    """
    return Group(*_renderables(parts))


def _renderables(parts: Iterable[Block]) -> Iterator[RenderableType]:
    """Yield each paragraph as a text, and each table as one or more tables of the terminal's width.

    `parts`: blocks; one with `rows` is a table. A table that is too wide is cut into several, which
    all begin with its columns of labels.
    """
    for part in parts:
        if part.rows:
            yield from blocks(part.headings, part.rows, state.width, part.n_labels)
        else:
            yield Text(part.text, style=part.style)


def baseline_text(outcomes: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Return the comparison of tables with their baselines, to be printed by rich.

    It is a table with the numbers of compared and differing cells, and a line for each of the first
    20 differences of a table. `outcomes`: {id of a table: {"compared": number of cells,
    "differences": [mappings with cell, column, value, baseline and allowed]}}.
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
    """Return the contradictions in published tables as text, to be printed by rich.

    It has a line for each finding, "TABLE: SUBJECT: TEXT", and a sentence with the number of
    findings. `checked`: the tables, each with its findings, which may be none.
    """
    parts: list[RenderableType] = []
    for table in checked:
        for finding in table.findings:
            text = f"{table.table}: {finding.subject}: {finding.says}"
            parts.append(Text(text))
    summary = summary_text(checked)
    parts.append(Text(summary))
    return Group(*parts)
