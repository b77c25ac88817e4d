"""A table written as Markdown or LaTeX."""

from __future__ import annotations

from elmbench.reporting.summary import COMPLETE
from elmbench.reporting.tables import NUMERIC, Section, Table


def markdown(table: Table, commands: list[str], figure: str | None = None) -> str:
    """Return a table as Markdown, with the commands that made it and, where it has one, its figure.

    Parameters
    ----------
    table : Table
    commands : list of str
    figure : str, optional
        Name of a picture in the same folder.
    """
    lines = [f"# {table.title}", "", table.subtitle, "", "Made by:", ""]
    lines += [f"    {command}" for command in commands]
    for section in table.sections:
        lines += ["", f"## {section.heading}", "", *_pipe_rows(section, table.columns_of(section))]
    if figure is not None:
        lines += ["", f"![{table.title}]({figure})"]
    legend = []
    if any(row.get("verdict") in COMPLETE[1:] for section in table.sections for row in section.rows):
        legend.append(
            "Verdicts: agrees (within one published deviation and half of the last digit), near (within two), differs."
        )
    if "fit" in table.columns:
        legend.append("Fit times are of one machine; compare the ratios, over the first model on the same data set.")
    if any(row.get("optimism") for section in table.sections for row in section.rows):
        legend.append("Optimism: the oracle's mean minus that of nested selection, on the same folds.")
    if legend:
        lines += ["", *legend]
    if table.notes:
        lines += ["", "Notes", "", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _pipe_rows(section: Section, columns: dict[str, str]) -> list[str]:
    rows = [list(columns.values()), *([row[name] for name in columns] for row in section.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return [text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]]


def latex(table: Table) -> str:
    """Return a table as LaTeX for the booktabs package, each section a table of its own."""
    blocks = []
    for section in table.sections:
        columns = table.columns_of(section, narrow=True)
        lines = [
            r"\begin{table}",
            rf"\caption{{{_tex(table.title)}. {_tex(section.heading)}}}",
            rf"\begin{{tabular}}{{{''.join('r' if name in NUMERIC else 'l' for name in columns)}}}",
            r"\toprule",
            " & ".join(map(_tex, columns.values())) + r" \\",
            r"\midrule",
            *(" & ".join(_tex(row[name]) for name in columns) + r" \\" for row in section.rows),
        ]
        blocks.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(blocks) + "\n"


#: What LaTeX takes for a command, and what shows it.
_TEX = str.maketrans(
    {
        **{character: "\\" + character for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "±": r"$\pm$",
        ">": "$>$",
        "<": "$<$",
    }
)


def _tex(text: str) -> str:
    return text.translate(_TEX)
