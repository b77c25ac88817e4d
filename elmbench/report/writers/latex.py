"""A table of results as LaTeX for the booktabs package, in the shape of the paper's table."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from elmbench.tables.drawing import words_for
from elmbench.tables.result_table import Entry, ResultTable, Section
from elmbench.terminal import escape

if TYPE_CHECKING:
    from elmbench.report.build_table import TableGrid
    from elmbench.specs.profiles import Resolved

#: LaTeX's special characters, and the commands that print them.
_TEX = str.maketrans(
    {
        **{character: "\\" + character for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "±": r"$\pm$",
        "†": r"\textdagger{}",
        "−": "$-$",
        ">": "$>$",
        "<": "$<$",
        "|": r"\textbar{}",
        # After the end of a row, they would be its options.
        "[": "{[}",
        "*": "{*}",
        "\n": " ",
    }
)


#: The sign of each verdict in mathematics, without further packages.
_SIGNS = {
    "exact": "=",
    "reproduced": r"\surd",
    "consistent": r"\in",
    "close": r"\approx",
    "differs": r"\times",
    "too few runs": "?",
    "not comparable": r"\parallel",
}
#: Tables with more columns are shrunk to the width of the text.
_MOST_COLUMNS = 6


def latex(
    table: ResultTable,
    commands: Sequence[str] = (),
    picture: object = None,
    resolved: "Resolved | None" = None,
) -> str:
    """Return a table as LaTeX, each section as a table of its own.

    With the experiment (`resolved`), a section with published values has the shape of the paper's
    table: a table for each measure, the published values below ours, the best of a row in bold.
    """
    blocks: list[str] = []
    for i, section in enumerate(table.sections):
        grids = _grids_of(section, resolved, first=i == 0)
        for grid in grids:
            block = _grid_block(table, section, grid)
            blocks.append(block)
        if not grids:
            block = _lines_block(table, section)
            blocks.append(block)
    return "\n".join(blocks)


def _grids_of(
    section: Section, resolved: "Resolved | None", *, first: bool
) -> "list[TableGrid]":
    """Return the grids of a section with published values."""
    if resolved is None:
        return []
    from elmbench.report.writers.text import grids_to_show

    return grids_to_show(section, resolved, first=first)


def _lines_block(table: ResultTable, section: Section) -> str:
    """Return the lines of a section as a table."""
    columns = table.columns_of(section, narrow=True)
    frame = pd.DataFrame(
        table.texts(section, columns),
        columns=[tex(column.heading) for column in columns],
    )
    text: str = frame.map(tex).to_latex(
        index=False,
        escape=False,
        caption=f"{tex(table.title)}. {tex(section.heading)}",
        column_format="".join("r" if column.numeric else "l" for column in columns),
    )
    return text


def _grid_block(table: ResultTable, section: Section, grid: "TableGrid") -> str:
    """Return a grid as a table; the published values are below ours."""
    verdicts = dict.fromkeys(entry.verdict for entry in grid.entries)
    signs = ", ".join(f"${_SIGNS[name]}$ {name}" for name in verdicts if name in _SIGNS)
    parts = [tex(table.title), tex(words_for(grid.heading)), tex(section.heading)]
    if signs:
        parts.append(f"Published values stand below ours: {signs}")
    caption = ". ".join(parts)
    header = [tex(grid.corner), *map(tex, grid.columns)]
    tabular = [
        rf"\begin{{tabular}}{{l{'c' * len(grid.columns)}}}",
        r"\toprule",
        _row(header),
        r"\midrule",
        *_grid_rows(grid),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if len(grid.columns) > _MOST_COLUMNS:
        # It needs the graphicx package.
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular, "}"]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}.}}",
        *tabular,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _grid_rows(grid: "TableGrid") -> Iterator[str]:
    """Yield a row of our values and, if there are any, one of the published values."""
    for name, entries in grid.rows:
        ours = [_our_text(entry) for entry in entries]
        published = [_published_text(entry) for entry in entries]
        yield _row([tex(name), *ours])
        if any(published):
            yield _row([r"\quad published", *published])


def _row(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _our_text(entry: Entry | None) -> str:
    """Return our value, in bold if it is the best of its row."""
    if entry is None:
        return ""
    return _bold(tex(entry.shown or "-"), is_best=entry.best)


def _published_text(entry: Entry | None) -> str:
    """Return the published value, in bold if it is the best of its row, with the sign of the
    verdict.
    """
    if entry is None or not entry.published_text:
        return ""
    text = _bold(tex(entry.published_text), is_best=entry.best_published)
    sign = _SIGNS.get(entry.verdict)
    return f"{text}~${sign}$" if sign else text


def _bold(text: str, *, is_best: bool) -> str:
    """Return a text, in bold if it is the best; signs in mathematics are bold too."""
    return rf"\textbf{{\boldmath {text}}}" if is_best else text


def tex(text: str) -> str:
    """Return a text in one line with LaTeX's special characters escaped."""
    return escape(text).translate(_TEX)
