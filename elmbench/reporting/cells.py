"""`cells.csv`: one line a cell, written from the store and read by everything that reports."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.reporting.capped import CAPPED, CappedFits
from elmbench.reporting.layouts import COUNTS, FACTS
from elmbench.reporting.warned import WARNING, warning_of
from elmbench.running.store import Store
from elmbench.work.plan import Cell as Row

PLACE = ["dataset", "model", "run", "fold", "select", "reading"]
TIMES = ["fit_seconds", "search_seconds", "predict_seconds"]
SELECTIONS = ("published", "nested", "oracle")
_TEXT = ["dataset", "model", "select", "reading", "status", "reason", "params"]
_WHOLE = ["run", "fold", "n_units", "n_test", *COUNTS, *FACTS]


def cells_frame(rows: list[Row], store: Store, values: list[str], order: Order) -> pd.DataFrame:
    """Return the cells that have ended, as a table.

    Parameters
    ----------
    rows : list of Row
        The cells that were asked for; those that have not run yet are left out.
    store : Store
    values : list of str
        The columns of measured values.
    order : Order
        How the lines are sorted.

    Returns
    -------
    DataFrame
        With the columns of `cells.csv`; the columns `CAPPED` only where a model may be stopped, `WARNING` only where
        one has warned.
    """
    lines = []
    fits = CappedFits(store)
    for row in rows:
        if row.unavailable:
            lines.append(_line(row, {"status": "unavailable", "reason": row.unavailable}))
        elif (record := store.get(row.key)) is not None:
            lines.append(_line(row, record["result"]) | fits.of(record) | warning_of(record["result"]))
    columns = [*PLACE, "status", "reason", "params", *values, *TIMES, "n_units", "condition", "n_test"]
    columns += CAPPED if any("capped" in line for line in lines) else ()
    columns += [WARNING] if any(WARNING in line for line in lines) else []
    frame = pd.DataFrame(lines, columns=columns)
    frame = frame.astype({name: "Int64" for name in _WHOLE if name in columns})
    keys = [order.key(line) for line in lines]
    return frame.iloc[sorted(range(len(frame)), key=lambda i: keys[i])].reset_index(drop=True)


def _line(row: Row, result: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in PLACE},
        "status": result["status"],
        "reason": without_folders(result["reason"]),
        "params": json.dumps(result.get("params", {}), sort_keys=True),
        **result.get("metrics", {}),
        **{name: result.get(name) for name in (*TIMES, "n_units", "condition", "n_test")},
        # A search that stands for itself, in a table of hyperparameters.
        **({"search_seconds": result["seconds"]} if "scores" in result else {}),
    }


def without_folders(text: str) -> str:
    """Return a text with absolute paths cut to their last part: results are to be the same on every machine."""
    return re.sub(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+(?=[^\s/])", ".../", text)


class Order:
    """The order of lines: default readings first, the table's own selection first, then as the table has them.

    Parameters
    ----------
    datasets, models : sequence of str
        As the table has them; what it does not have comes after, by name.
    select : sequence of str
        The table's own selections.
    """

    def __init__(self, datasets: list[str], models: list[str], select: list[str]) -> None:
        self.datasets = datasets
        self.models = models
        self.select = [*select, *(s for s in SELECTIONS if s not in select)]

    def key(self, line: Any) -> tuple[Any, ...]:
        """Return the sort key of a line that has the columns of `PLACE`."""
        return (
            line["reading"] != "",
            line["reading"],
            self.select.index(line["select"]),
            _position(self.datasets, line["dataset"]),
            _position(self.models, line["model"]),
            line.get("run", 0),
            line.get("fold", 0),
        )


def _position(names: list[str], name: str) -> tuple[int, str]:
    return (names.index(name), "") if name in names else (len(names), name)


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, atomically; floats keep every digit."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, lineterminator="\n")
    write_atomically(path, buffer.getvalue())


def read_cells(path: Path) -> pd.DataFrame:
    """Return the content of a `cells.csv` or of a baseline.

    Raises
    ------
    ElmbenchError
        If it is not there or is no such file.
    """
    try:
        types = dict.fromkeys(_TEXT, "str") | dict.fromkeys(_WHOLE, "Int64")
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
    except (FileNotFoundError, NotADirectoryError):
        raise ElmbenchError(
            f"{path} is not there", expected="results of an earlier run", next_step=f"elmbench run {_guess(path)}"
        ) from None
    except (OSError, ValueError) as error:
        raise ElmbenchError(
            f"cannot read {path}: {error}",
            expected="a table that elmbench wrote",
            next_step=f"elmbench run {_guess(path)}",
        ) from error
    missing = [name for name in (*PLACE, "status") if name not in frame.columns]
    if missing:
        raise ElmbenchError(
            f"{path} lacks the columns {', '.join(missing)}",
            expected="a table that elmbench wrote",
            next_step=f"elmbench run {_guess(path)}",
        )
    return frame.fillna({name: "" for name in _TEXT if name in frame.columns})


def _guess(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.parent.name} --profile {path.parent.parent.parent.name}"
