"""The output formats of a table of results, one file each.

A format is added by a file with a function of the table, the commands that made it and its picture,
an entry in `FORMATS` and its name in `TableFormat`.
"""

from typing import Literal

#: The formats of `elmbench table`.
TableFormat = Literal["text", "csv", "md", "latex"]
#: The function of each format besides text and CSV.
FORMATS: dict[TableFormat, str] = {
    "md": "elmbench.report.writers.markdown:markdown",
    "latex": "elmbench.report.writers.latex:latex",
}
