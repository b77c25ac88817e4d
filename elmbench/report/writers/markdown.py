"""A table of results as Markdown."""

import re
from collections.abc import Sequence
from pathlib import Path

from elmbench.report.legend import legend_of
from elmbench.tables.result_table import ResultTable
from elmbench.terminal import escape

#: Characters that Markdown acts on within a line: code, cells, links, and backslashes before these.
_ACTIVE = re.compile(r"[`|]|(?<=\])\(|\\(?=[!-/:-@\[-`{-~]|$)")
#: The beginnings of tags, comments and entities of HTML.
_HTML = {r"&(?=#?\w+;)": "&amp;", r"<(?=[a-zA-Z/!?])": "&lt;"}


def markdown(
    table: ResultTable, commands: Sequence[str], figure: Path | None = None, *_: object
) -> str:
    """Return a table as a Markdown document: commands, a table for each section, figure and notes.

    The legend of the columns follows the figure. `commands`: those that made it. `figure`: the path
    of its picture, which must be in the folder of the document, as only its name is used; None for
    no figure. Further arguments are ignored: all formats have the same parameters.
    """
    lines = [
        f"# {literal(table.title)}",
        "",
        literal(table.subtitle),
        "",
        "Made by:",
        "",
    ]
    lines += [
        f"    {line}" for command in commands for line in escape(command).split("\n")
    ]
    for section in table.sections:
        columns = table.columns_of(section)
        rows = [[column.heading for column in columns], *table.texts(section, columns)]
        cells = [[literal(text) for text in row] for row in rows]
        lines += ["", f"## {literal(section.heading)}", "", pipe_rows(cells)]
    if figure is not None:
        label = re.sub(r"[\[\]]", r"\\\g<0>", literal(table.title))
        lines += ["", f"![{label}]({figure.name})"]
    if legend := legend_of(table):
        lines += ["", *legend]
    if table.notes:
        lines += ["", "Notes", "", *(f"- {literal(note.text)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def literal(text: str) -> str:
    """Return a text in one line that Markdown shows as it is, without code, links and HTML.

    Asterisks and underscores are not escaped, so that emphasis stays.
    """
    text = _ACTIVE.sub(r"\\\g<0>", escape(text).replace("\n", " "))
    for pattern, entity in _HTML.items():
        text = re.sub(pattern, entity, text)
    return text


def pipe_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with padded columns, without a final line end.

    `rows`: lists of as many texts, already escaped; the first one is the heading, and there must be
    one.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    heading, *lines = (_pipe_row(row, widths) for row in rows)
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([heading, f"|{rule}|", *lines])


def _pipe_row(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return a row of a Markdown table; each cell is padded to its width in characters."""
    cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    return f"| {' | '.join(cells)} |"
