"""Kinds of work, one file each: its key, its inputs, its execution, its cost, its label.

A kind of work is added by a file with a frozen dataclass that derives from `Work`. A kind of table
makes the work of its cells.
"""

#: The kind of work that stores predictions.
FIT_KIND = "cell"
