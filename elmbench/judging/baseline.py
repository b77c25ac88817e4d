"""The regression check: cells of profile `ci` against the committed baseline.

The tolerance rule, the same for every model:

* Metrics that count test rows (all of classification): the confusion counts may differ as if one
  test row had been predicted otherwise; with more than two classes, the number of right predictions
  may differ by one. Where the counts are equal, so are the metrics, to round-off. With more than
  two classes a row may have gone from one wrong class to another: then recall and G-mean are equal,
  and MCC, precision and F1 differ together or not at all.
* A metric of classification at a value of a hyperparameter, of the rows that were learnt, or of
  rankings and probabilities, which has no counts: 0.01, about one row of the smaller class.
* Metrics that are real numbers: 1e-6 relative, or `10 * condition * 2.2e-16` with the cell's stored
  estimate of the condition, if that is larger.
* If that exceeds 0.1, the figures consist of round-off, counts too, and only the ending of the cell
  is compared.
* The ending of a cell and the size of its model must be equal, and so must chosen hyperparameters
  if the table shows nothing else. Times are not compared.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.metrics import COUNTS, metrics_taking
from elmbench.results.cells import NO_METRICS, TIMES, read_cells, write_frame
from elmbench.specs.measures import Measure
from elmbench.specs.protocol import OF_LEARNT_ROWS, TRAIN_ACCURACY

RELATIVE = 1e-6
UNDECIDED = 0.1
#: Metrics that stay if a row goes from one wrong class to another.
_OF_RECALLS = {"accuracy", "gmean", "recall", "balanced_accuracy"}
#: The tolerance of a metric without counts, and its words.
_POINT = (0.01, "0.01")
#: What is known of a difference.
_COLUMNS = ("cell", "column", "baseline", "value", "allowed")
#: A line of `cells.csv`.
_Line = dict[Any, Any]


def refuse_failures(cells: pd.DataFrame, path: Path) -> None:
    """Raise ElmbenchError if there are no cells, or one failed: a baseline of failures would hide
    them.
    """
    bad = cells[cells["status"].isin(["failed", "timeout", "out-of-memory", "unavailable"])]
    if not len(cells) or len(bad):
        fault = (
            f"{len(bad)} of {len(cells)} cells ended {bad['status'].iloc[0]}"
            if len(bad)
            else "there are no cells"
        )
        problem = f"{fault}: no baseline is written"
        next_step = f"elmbench run {path.parent.name}/{path.name.split('.')[0]} --profile ci"
        raise ElmbenchError(
            problem, expected="cells that ended ok or diverged", next_step=next_step
        )


def update_baseline(cells: pd.DataFrame, path: Path) -> int:
    """Write a baseline from the cells of profile `ci`; return their number. See
    `refuse_failures`.
    """
    refuse_failures(cells, path)
    write_frame(cells.drop(columns=[*TIMES, "reason"], errors="ignore"), path)
    return len(cells)


def compare_with_baseline(
    cells: pd.DataFrame, path: Path, measures: Collection[Measure] = ()
) -> dict[str, Any]:
    """Compare cells, as `cells.csv` has them, with a baseline by the rule above.

    The outcome has the number of `compared` cells and the `differences`, each with the cell, the
    column, both values, and the tolerance in words.

    `measures`: those of the table; those at a value of a hyperparameter have a tolerance of their
    own.
    """
    counts = (*metrics_taking("counts"), *OF_LEARNT_ROWS)
    points = {
        measure.column for measure in measures if measure.parameter and measure.metric in counts
    }
    old, new = (
        {_name(line): line for line in frame.to_dict("records")}
        for frame in (read_cells(path), cells)
    )
    lines = [
        (cell, *line)
        for cell in old | new
        for line in _compare_cell(old.get(cell), new.get(cell), points)
    ]
    differences = [dict(zip(_COLUMNS, line, strict=True)) for line in lines]
    return {"compared": len(old.keys() & new.keys()), "differences": differences}


def _name(line: _Line) -> str:
    """Return the name of a cell in messages."""
    words = [
        f"{line['dataset']} {line['model']} run {line['run']} fold {line['fold']} {line['select']}"
    ]
    return " ".join(words + ([line["reading"]] if line["reading"] else []))


def _compare_cell(
    old: _Line | None, new: _Line | None, points: set[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield each column in which a cell differs, its two values, and the tolerance in words; None
    for no cell.
    """
    if old is None or new is None:
        yield "cell", "there" if old else "missing", "there" if new else "missing", "the same cells"
        return
    if old["status"] != new["status"]:
        yield "status", old["status"], new["status"], "equal"
    if old["status"] != "ok" or new["status"] != "ok":
        return
    yield from _compare_numbers(old, new, {"n_units": (0.0, "equal")})
    tolerance = np.nanmax((RELATIVE, 10 * _real(old, "condition") * np.finfo(float).eps))
    if tolerance >= UNDECIDED:
        return
    if not np.isnan(_real(old, "mcc")):
        yield from _compare_classes(old, new)
        return
    metrics = [name for name in old if name not in NO_METRICS]
    if all(pd.isna(old[metric]) for metric in metrics) and old["params"] != new["params"]:
        yield "params", old["params"], new["params"], "equal"
    relative = {
        name: (tolerance * abs(_real(old, name)), f"{tolerance:.1e} relative") for name in metrics
    }
    yield from _compare_numbers(
        old, new, relative | {name: _POINT for name in metrics if name in points}
    )


def _compare_classes(old: _Line, new: _Line) -> Iterator[tuple[str, str, str, str]]:
    """Yield the counts if they differ, or else the metrics that differ."""
    two_classes = not np.isnan(_real(old, "tp"))
    if two_classes:
        a, b = (np.array([_real(line, name) for name in COUNTS]) for line in (old, new))
        # A changed prediction moves a row from one count to another of the same true class.
        same_rows = a[:2].sum() == b[:2].sum() and a[2:].sum() == b[2:].sum()
        column = ", ".join(COUNTS)
        agree = same_rows and np.abs(a - b).sum() <= 2
    else:
        a, b = (np.round([_real(line, "accuracy") * _real(line, "n_test")]) for line in (old, new))
        column = "right predictions"
        agree = np.abs(a - b).max() <= 1
    if not agree:
        was, now = (", ".join(f"{count:g}" for count in counts) for counts in (a, b))
        yield column, was, now, "one test row predicted otherwise"
        return
    metrics = (
        [name for name in metrics_taking("counts") if name in old] if np.array_equal(a, b) else []
    )
    wrong = list(
        _compare_numbers(old, new, dict.fromkeys(metrics, (RELATIVE, "that of equal counts")))
    )
    # With more classes, a row may have gone from one wrong class to another.
    if two_classes or len(wrong) < 2 or {name for name, *_ in wrong} & _OF_RECALLS:
        yield from wrong
    scores = (name for name in metrics_taking("scores", "probabilities") if name in old)
    yield from _compare_numbers(old, new, dict.fromkeys((TRAIN_ACCURACY, *scores), _POINT))


def _compare_numbers(
    old: _Line, new: _Line, tolerances: Mapping[str, tuple[float, str]]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield each number that differs by more than its tolerance, which is also given in words; NaN
    equals NaN.
    """
    for name, (allowed, words) in tolerances.items():
        a = _real(old, name)
        b = _real(new, name)
        if not (a == b or abs(a - b) <= allowed or np.isnan((a, b)).all()):
            yield name, f"{a:.10g}", f"{b:.10g}", words


def _real(line: _Line, name: str) -> float:
    """Return the number in a column of a line; NaN if it is missing."""
    value = line.get(name)
    return np.nan if pd.isna(value) else float(value)
