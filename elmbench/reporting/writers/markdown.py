"""A table of results as Markdown."""

from collections.abc import Sequence
from pathlib import Path

from elmbench.layouts.table import ResultTable


def markdown(table: ResultTable, commands: Sequence[str], figure: Path | None = None) -> str:
    """Return a table as Markdown, with the commands that made it and its figure, a picture in the
    same folder.
    """
    lines = [f"# {table.title}", "", table.subtitle, "", "Made by:", ""]
    lines += [f"    {command}" for command in commands]
    for section in table.sections:
        columns = table.columns_of(section)
        rows = [[column.heading for column in columns], *table.texts(section, columns)]
        lines += ["", f"## {section.heading}", "", pipe_rows(rows)]
    if figure is not None:
        lines += ["", f"![{table.title}]({figure.name})"]
    if table.legend:
        lines += ["", *table.legend]
    if table.notes:
        lines += ["", "Notes", "", *(f"- {note.text}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def pipe_rows(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its columns padded; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    text = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]])
