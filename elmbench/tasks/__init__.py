"""Kinds of task, one file each: its key, its inputs, its execution, its cost, its label.

A kind of task is added by a file with a frozen dataclass that derives from `Task`. A kind of table
makes the tasks of its cells.
"""

#: The kind of task that stores predictions.
FIT_KIND = "cell"
