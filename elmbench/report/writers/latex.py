"""A table of results as LaTeX for the packages booktabs and graphicx, in the shape of the paper's
table.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from elmbench.tables.result_table import Entry, ResultTable, Section
from elmbench.terminal import escape

if TYPE_CHECKING:
    from elmbench.report.entry_tables import EntryTable
    from elmbench.specs.profiles import Resolved

#: Letters of parameters, which text fonts lack.
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "η": "eta",
    "θ": "theta",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "phi",
    "ω": "omega",
    "Σ": "Sigma",
    "Φ": "Phi",
    "Ω": "Omega",
}
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
        "–": "--",
        ">": "$>$",
        "<": "$<$",
        "≥": r"$\ge$",
        "≤": r"$\le$",
        "|": r"\textbar{}",
        # After the end of a row, they would be its options.
        "[": "{[}",
        "*": "{*}",
        "\n": " ",
        **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
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
#: A list of values with more columns is continued in a second table, which repeats the first ones.
_MOST_COLUMNS = 6
_LABELS = 2
#: A table with more rows does not fit on a page; it is continued in a second one.
_MOST_ROWS = 40
#: A table that is wider than the text is shrunk to its width.
_FIT_WIDTH = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"

_Item = TypeVar("_Item")


def latex(
    table: ResultTable,
    commands: Sequence[str] = (),
    picture: object = None,
    resolved: "Resolved | None" = None,
) -> str:
    """Return a table as LaTeX for the packages booktabs and graphicx, each section as a table.

    With the experiment (`resolved`), a section with published values has the shape of the paper's
    table: a table for each measure, the published values below ours, the best of a row in bold.
    Without it (None), each section is a list of values. `commands`, `picture`: not used; all
    formats have the same parameters.
    """
    blocks: list[str] = []
    for i, section in enumerate(table.sections):
        entry_tables = _entry_tables_of(section, resolved, first=i == 0)
        for entry_table in entry_tables:
            block = _entry_table_block(table, section, entry_table)
            blocks.append(block)
        if not entry_tables:
            block = _lines_block(table, section)
            blocks.append(block)
    return "\n".join(blocks)


def _entry_tables_of(
    section: Section, resolved: "Resolved | None", *, first: bool
) -> "list[EntryTable]":
    """Return the entries of a section as tables in the shape of the paper's table.

    There are none without the experiment (None), or if no entry has a published value. `resolved`:
    the experiment, or None. `first`: True for the first section of the table, which also has times.
    """
    if resolved is None:
        return []
    from elmbench.report.writers.text import entry_tables_to_show

    return entry_tables_to_show(section, resolved, first=first)


def _lines_block(table: ResultTable, section: Section) -> str:
    """Return a section as LaTeX tables with a row for each of its lines; empty without lines.

    Each has at most `_MOST_COLUMNS` columns, of which the first `_LABELS` are repeated in each, and
    at most `_MOST_ROWS` rows.
    """
    columns = table.columns_of(section, narrow=True)
    rows = table.texts(section, columns)
    caption = _caption(table.title, section.heading)
    blocks: list[str] = []
    for positions in _parts_of_columns(len(columns)):
        marks = ["r" if columns[i].numeric else "l" for i in positions]
        header = [tex(columns[i].heading) for i in positions]
        cells = [[tex(row[i]) for i in positions] for row in rows]
        # A page may break after each row.
        lines = [[_latex_row(cells_of_row)] for cells_of_row in cells]
        alignment = "".join(marks)
        blocks += _table_texts(
            caption, alignment, header, lines, is_continued=bool(blocks)
        )
    return "\n".join(blocks)


def _parts_of_columns(n_columns: int) -> Iterator[list[int]]:
    """Yield the positions of the columns of each LaTeX table that a list of values is divided into.

    The first `_LABELS` are in each; one table has all if there are no more than `_MOST_COLUMNS`.
    """
    positions = list(range(n_columns))
    if n_columns <= _MOST_COLUMNS:
        yield positions
        return
    labels = positions[:_LABELS]
    for group in _in_groups(positions[_LABELS:], _MOST_COLUMNS - _LABELS):
        yield [*labels, *group]


def _entry_table_block(
    table: ResultTable, section: Section, entry_table: "EntryTable"
) -> str:
    """Return a table of entries as LaTeX, with the published values below ours and a caption.

    The caption explains the signs of the verdicts that occur. Many rows are continued in further
    LaTeX tables.
    """
    verdicts = dict.fromkeys(entry.verdict for entry in entry_table.entries)
    signs = ", ".join(f"${_SIGNS[name]}$ {name}" for name in verdicts if name in _SIGNS)
    caption = _caption(table.title, entry_table.heading, section.heading)
    if signs:
        caption += f". Published values stand below ours: {signs}"
    header = [tex(entry_table.corner), *map(tex, entry_table.columns)]
    alignment = f"l{'c' * len(entry_table.columns)}"
    lines = list(_entry_table_rows(entry_table))
    return "\n".join(_table_texts(caption, alignment, header, lines))


def _in_groups(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    """Yield the items in groups of `size`, in order; the last group has the remaining ones."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _caption(*parts: str) -> str:
    """Return a caption: the parts, escaped, as sentences without the last full stop.

    Each begins with a capital. A part of one letter, such as a symbol, keeps its case.
    """
    sentences = []
    for part in parts:
        is_symbol = len(part) < 2
        sentence = part if is_symbol else f"{part[0].upper()}{part[1:]}"
        sentences.append(tex(sentence))
    return ". ".join(sentences)


def _table_texts(
    caption: str,
    alignment: str,
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    is_continued: bool = False,
) -> Iterator[str]:
    """Yield LaTeX tables that hold all rows, each with at most `_MOST_ROWS` of them.

    `caption`, `header` (a cell for each column), `lines`: escaped. `alignment`: of the columns,
    such as "lcc". `lines`: groups of rows that no page break may separate. `is_continued`: True if
    the first table, too, is a continuation; the others always are, and say so in the caption.
    """
    height = max(map(len, lines), default=1)
    for group in _in_groups(lines, _MOST_ROWS // height):
        ending = " (continued)" if is_continued else ""
        parts = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}{ending}.}}",
            _FIT_WIDTH,
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _latex_row(header),
            r"\midrule",
            *(row for rows in group for row in rows),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
        yield "\n".join(parts) + "\n"
        is_continued = True


def _entry_table_rows(entry_table: "EntryTable") -> Iterator[list[str]]:
    """Yield a list of LaTeX rows for each row of a table: our values, then the published ones.

    Without a published value, the second row is left out.
    """
    for name, entries in entry_table.rows:
        ours = [_our_text(entry) for entry in entries]
        published = [_published_text(entry) for entry in entries]
        rows = [_latex_row([tex(name), *ours])]
        if any(published):
            rows.append(_latex_row([r"\quad published", *published]))
        yield rows


def _latex_row(cells: Sequence[str]) -> str:
    """Return a row of a LaTeX table, with its ending, from cells that are already escaped."""
    return rf"{' & '.join(cells)} \\"


def _our_text(entry: Entry | None) -> str:
    """Return our value as LaTeX, in bold if it is the best of its row.

    It is a dash if the entry has no value of ours, and empty without an entry (None).
    """
    if entry is None:
        return ""
    return _bold(tex(entry.shown or "–"), is_best=entry.best)


def _published_text(entry: Entry | None) -> str:
    """Return the published value as LaTeX with the sign of its verdict, in bold if it is the best.

    The sign is missing without a verdict. The text is empty without a published value or an entry
    (None).
    """
    if entry is None or not entry.published_text:
        return ""
    value = tex(entry.published_text)
    text = _bold(value, is_best=entry.best_published)
    if entry.verdict not in _SIGNS:
        return text
    sign = _SIGNS[entry.verdict]
    return f"{text}~${sign}$"


def _bold(text: str, *, is_best: bool) -> str:
    """Return LaTeX, in bold if `is_best`; mathematical signs in it are bold too."""
    return rf"\textbf{{\boldmath {text}}}" if is_best else text


def tex(text: str) -> str:
    """Return a text as LaTeX in one line, with special and control characters escaped."""
    return escape(text).translate(_TEX)
