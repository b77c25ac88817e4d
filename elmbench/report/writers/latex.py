"""A table of results as LaTeX for the booktabs package."""

import pandas as pd

from elmbench.tables.result_table import ResultTable
from elmbench.terminal import escape

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


def latex(table: ResultTable, *_: object) -> str:
    """Return a table as LaTeX, each section as a table of its own."""
    blocks = []
    for section in table.sections:
        columns = table.columns_of(section, narrow=True)
        frame = pd.DataFrame(
            table.texts(section, columns), columns=[tex(column.heading) for column in columns]
        )
        caption = f"{tex(table.title)}. {tex(section.heading)}"
        alignment = "".join("r" if column.numeric else "l" for column in columns)
        blocks.append(
            frame.map(tex).to_latex(
                index=False, escape=False, caption=caption, column_format=alignment
            )
        )
    return "\n".join(blocks)


def tex(text: str) -> str:
    """Return a text in one line with LaTeX's special characters escaped."""
    return escape(text).translate(_TEX)
