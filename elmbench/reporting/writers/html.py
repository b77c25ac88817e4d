"""A table of results as HTML, for notebooks."""

from collections.abc import Sequence
from html import escape

from elmbench.layouts.table import ResultTable


def html(table: ResultTable) -> str:
    """Return a table as HTML without styles; everything in it is escaped."""
    parts = [f"<h2>{escape(table.title)}</h2>", f"<p>{escape(table.subtitle)}</p>"]
    for section in table.sections:
        columns = table.columns_of(section)
        rows = (_row(row, "td") for row in table.texts(section, columns))
        parts += [f"<h3>{escape(section.heading)}</h3>", "<table>", "<thead>"]
        parts += [_row([column.heading for column in columns], "th"), "</thead>", "<tbody>", *rows]
        parts += ["</tbody>", "</table>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in table.legend]
    if table.notes:
        parts += ["<ul>", *(f"<li>{escape(note.text)}</li>" for note in table.notes), "</ul>"]
    return "\n".join(parts) + "\n"


def _row(texts: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"
