"""The plan of a run for the terminal, within 80 columns."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rich.table import Table as RichTable

from elmbench.cli.progress import duration
from elmbench.report.writers.text import lines_text


def plan_table(lines: list[dict[str, Any]]) -> RichTable:
    """Return the plan of a run, to be printed by rich.

    It has a row for each data set and model, or for each table if there are several. `lines`: an
    entry for each data set and model of each table, in this order: dicts with `experiment` (an id),
    `dataset`, `model`, `cells`, `to_run`, `unavailable` (numbers of cells), `fits` and `seconds`
    (None if unknown).
    """
    several_tables = len({line["experiment"] for line in lines}) > 1
    keys = ["experiment"] if several_tables else ["dataset", "model"]
    rows = [
        _plan_row(keys, list(group))
        for _, group in groupby(lines, key=itemgetter(*keys))
    ]
    names = [key.replace("dataset", "data set") for key in keys]
    numbers = ("cells", "to run", "fits", "one core")
    return lines_text((*names, *numbers), rows, right=numbers, whole=names)


def _plan_row(keys: Sequence[str], lines: Sequence[dict[str, Any]]) -> list[Any]:
    """Return a row of the plan: the values of `keys`, then cells, cells to run, fits and duration.

    `lines`: the entries that the row sums up, with equal values of `keys`. The numbers are sums;
    the duration is a text, "no data" if the data of all cells are missing.
    """
    n_cells = sum(line["cells"] for line in lines)
    n_unavailable = sum(line["unavailable"] for line in lines)
    return [
        *(lines[0][key] for key in keys),
        n_cells,
        sum(line["to_run"] for line in lines),
        sum(line["fits"] for line in lines),
        "no data"
        if n_unavailable == n_cells
        else _estimate([line["seconds"] for line in lines]),
    ]


def _estimate(seconds: Sequence[float | None]) -> str:
    """Return the sum of durations in words, such as "5 min".

    `seconds`: None for an unknown duration. If some are unknown, the text is such as "> 5 min", or
    "unknown" if the others are zero.
    """
    total = duration(sum(filter(None, seconds)))
    if None not in seconds:
        return total
    return f"> {total}" if any(seconds) else "unknown"
