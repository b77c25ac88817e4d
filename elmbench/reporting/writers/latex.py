"""A table of results as LaTeX for the booktabs package."""

from elmbench.layouts.table import ResultTable

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
    }
)


def latex(table: ResultTable) -> str:
    """Return a table as LaTeX, each section as a table of its own."""
    blocks = []
    for section in table.sections:
        columns = table.columns_of(section, narrow=True)
        lines = [
            r"\begin{table}",
            rf"\caption{{{tex(table.title)}. {tex(section.heading)}}}",
            rf"\begin{{tabular}}{{{''.join('r' if column.numeric else 'l' for column in columns)}}}",
            r"\toprule",
            " & ".join(tex(column.heading) for column in columns) + r" \\",
            r"\midrule",
            *(" & ".join(map(tex, row)) + r" \\" for row in table.texts(section, columns)),
        ]
        blocks.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(blocks) + "\n"


def tex(text: str) -> str:
    """Return a text with LaTeX's special characters escaped."""
    return text.translate(_TEX)
