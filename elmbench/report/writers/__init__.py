"""The output formats of a table of results, one file each.

A format is added by a file with a function of the table, the commands that made it and its picture,
and an entry in `FORMATS`.
"""

#: The function of each format of `elmbench table`, besides text and CSV.
FORMATS = {
    "md": "elmbench.report.writers.markdown:markdown",
    "latex": "elmbench.report.writers.latex:latex",
}
