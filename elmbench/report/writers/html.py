"""A table of results as HTML, for notebooks."""

from html import escape

import pandas as pd

from elmbench.report.legend import legend_of
from elmbench.tables.result_table import ResultTable


def html(table: ResultTable) -> str:
    """Return a table as HTML for a notebook: headings, tables of texts, the legend and notes.

    It has no styles, and is a part of a page. All texts are escaped.
    """
    parts = [f"<h2>{escape(table.title)}</h2>", f"<p>{escape(table.subtitle)}</p>"]
    for section in table.sections:
        columns = table.columns_of(section)
        frame = pd.DataFrame(
            table.texts(section, columns),
            columns=[column.heading for column in columns],
        )
        parts += [
            f"<h3>{escape(section.heading)}</h3>",
            frame.to_html(index=False, border=0),
        ]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in legend_of(table)]
    if table.notes:
        parts += [
            "<ul>",
            *(f"<li>{escape(note.text)}</li>" for note in table.notes),
            "</ul>",
        ]
    return "\n".join(parts) + "\n"
