"""A table written as Markdown or LaTeX."""

from __future__ import annotations

from elmbench.reporting.tables import Entry, Section, Table

#: Field of an entry -> its heading; `{}` stands for the metric.
COLUMNS = {
    "dataset": "data set",
    "model": "model",
    "value": "{}",
    "published": "published",
    "verdict": "verdict",
    "fit": "fit s",
    "published_fit": "published s",
    "ratio": "fit ratio",
    "published_ratio": "published ratio",
}


def markdown(table: Table, commands: list[str]) -> str:
    """Return a table as Markdown, with the commands that made it."""
    lines = [f"# {table.title}", "", table.subtitle, "", "Made by:", ""]
    lines += [f"    {command}" for command in commands]
    for section in table.sections:
        lines += ["", f"## {section.heading}", "", *_pipe_rows(section, table.metric)]
    lines += [
        "",
        "Verdicts: agrees (within one published deviation and the last printed digit), near (within two), differs.",
        "Fit times are of this machine; compare the ratios, which are over the first model on the same data set.",
    ]
    if table.notes:
        lines += ["", "Notes", "", *(f"- {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _pipe_rows(section: Section, metric: str) -> list[str]:
    rows = [[title.format(metric) for title in COLUMNS.values()]]
    rows += [[getattr(entry, name) for name in COLUMNS] for entry in section.entries]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    return [text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]]


def latex(table: Table) -> str:
    """Return a table as LaTeX, for the booktabs package: a block of rows a data set, each section its own table."""
    blocks = []
    for section in table.sections:
        lines = [
            r"\begin{table}",
            rf"\caption{{{_tex(table.title)}. {_tex(section.heading)}}}",
            r"\begin{tabular}{llrrlrr}",
            r"\toprule",
            rf"data set & model & {_tex(table.metric)} & published & verdict & fit s & published s \\",
            r"\midrule",
        ]
        lines += [_tex_row(entry) for entry in section.entries]
        blocks.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(blocks) + "\n"


def _tex_row(entry: Entry) -> str:
    fields = ("dataset", "model", "value", "published", "verdict", "fit", "published_fit")
    return " & ".join(_tex(getattr(entry, name)) for name in fields) + r" \\"


def _tex(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text.replace("±", r"$\pm$").replace(">", "$>$").replace("<", "$<$")
