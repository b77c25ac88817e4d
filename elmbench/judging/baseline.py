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
* If that exceeds 0.1, the values consist of round-off, counts too, and only the ending of the cell
  is compared.
* The ending of a cell and the size of its model must be equal, and so must chosen hyperparameters
  if the table shows nothing else. Times are not compared.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.metrics import COUNTS, metrics_taking
from elmbench.results.cells import NO_METRICS, TIMES, read_cells, write_frame
from elmbench.specs.measures import OF_LEARNT_ROWS, TRAIN_ACCURACY, Measure

RELATIVE = 1e-6
UNDECIDED = 0.1
#: Metrics that stay if a row goes from one wrong class to another.
_OF_RECALLS = {"accuracy", "gmean", "recall", "balanced_accuracy"}
#: A line of `cells.csv`.
_Line = dict[Any, Any]


class AllowedDifference(NamedTuple):
    """The largest absolute difference of two numbers that is allowed, and its words in messages."""

    allowed: float
    words: str


#: The tolerance of a metric without counts.
_POINT = AllowedDifference(0.01, "0.01")
_EQUAL = AllowedDifference(0.0, "equal")
_OF_EQUAL_COUNTS = AllowedDifference(RELATIVE, "that of equal counts")


class _Difference(NamedTuple):
    """A column in which a cell differs from the baseline, with both of its values as texts."""

    column: str
    baseline: str
    value: str
    #: The tolerance in words.
    allowed: str


def refuse_failures(cells: pd.DataFrame, path: Path) -> None:
    """Raise ElmbenchError if there are no cells or some of them failed.

    A baseline must not hide failures. Cells have failed if they are `failed`, `timeout`,
    `out-of-memory` or `unavailable`. `cells`: the frame of `cells.csv`. `path`: that of the
    baseline, which names the table in the message.
    """
    bad = cells[
        cells["status"].isin(["failed", "timeout", "out-of-memory", "unavailable"])
    ]
    if len(cells) and not len(bad):
        return
    fault = "there are no cells"
    if len(bad):
        fault = f"{len(bad)} of {len(cells)} cells ended {bad['status'].iloc[0]}"
    experiment = f"{path.parent.name}/{path.name.split('.')[0]}"
    raise ElmbenchError(
        f"{fault}: no baseline is written",
        expected="cells that ended ok or diverged",
        next_step=f"elmbench run {experiment} --profile ci",
    )


def update_baseline(cells: pd.DataFrame, path: Path) -> int:
    """Write the cells of profile `ci` as a baseline, and return their number.

    The columns of times and of reasons are left out. `cells`: the frame of `cells.csv`. `path`: the
    CSV file, which is overwritten. Raises ElmbenchError before it writes if there are no cells, or
    if some failed (see `refuse_failures`).
    """
    refuse_failures(cells, path)
    write_frame(cells.drop(columns=[*TIMES, "reason"], errors="ignore"), path)
    return len(cells)


def compare_with_baseline(
    cells: pd.DataFrame, path: Path, measures: Collection[Measure] = ()
) -> dict[str, Any]:
    """Return the differences of cells from the baseline at `path`, for JSON.

    `compared` is the number of cells that both have. `differences` is a list with a dict for each
    difference: `cell` (its name), `column`, `baseline` and `value` (as texts), and `allowed` (the
    tolerance in words).

    `cells`: the frame of `cells.csv`. `measures`: those of the table. Of them, metrics of counted
    predictions at a value of a hyperparameter (`accuracy@h=50`) may differ by 0.01, since
    `cells.csv` has no counts for these. By default, no metric has this tolerance.
    """
    counted = (*metrics_taking("counts"), *OF_LEARNT_ROWS)
    points = {
        measure.column
        for measure in measures
        if measure.parameter and measure.metric in counted
    }
    old = _lines_by_name(read_cells(path))
    new = _lines_by_name(cells)
    differences = [
        {"cell": name, **difference._asdict()}
        for name in old | new
        for difference in _compare_cell(old.get(name), new.get(name), points)
    ]
    return {"compared": len(old.keys() & new.keys()), "differences": differences}


def _lines_by_name(cells: pd.DataFrame) -> dict[str, _Line]:
    """Return the lines of `cells.csv` as dicts, `{name of the cell: {column: value}}`.

    A name is such as `wine ELM run 0 fold 1 nested`.
    """
    return {_cell_name(line): line for line in cells.to_dict("records")}


def _cell_name(line: _Line) -> str:
    """Return the name of a cell in messages, such as `wine ELM run 0 fold 1 nested`.

    The last word is the selection; a reading other than the default follows. `line`: that of the
    cell, {column of `cells.csv`: value}.
    """
    fold = f"run {line['run']} fold {line['fold']}"
    name = f"{line['dataset']} {line['model']} {fold} {line['select']}"
    return f"{name} {line['reading']}" if line["reading"] else name


def _compare_cell(
    old: _Line | None, new: _Line | None, points: set[str]
) -> Iterator[_Difference]:
    """Yield each difference of a cell from the baseline.

    `old`, `new`: the cell in the baseline and now, {column of `cells.csv`: value}; None stands for
    a missing cell. A status that differs is a difference. If both cells ended ok, their sizes must
    be equal; metrics are compared only if the condition of the matrix leaves them digits: those of
    classes by their counts, others by their values. If one of the cells is missing, this is the
    only difference. `points`: the columns that may differ by 0.01.
    """
    if old is None or new is None:
        was = "missing" if old is None else "there"
        now = "missing" if new is None else "there"
        yield _Difference("cell", was, now, "the same cells")
        return
    if old["status"] != new["status"]:
        yield _unequal("status", old, new)
    if old["status"] != "ok" or new["status"] != "ok":
        return
    yield from _compare_numbers(old, new, {"n_units": _EQUAL})
    # The condition multiplies round-off.
    condition = _number_in(old, "condition")
    of_condition = 10 * condition * np.finfo(float).eps
    relative = float(np.nanmax((RELATIVE, of_condition)))
    if relative >= UNDECIDED:
        return
    has_counts = not np.isnan(_number_in(old, "mcc"))
    if has_counts:
        yield from _compare_classes(old, new)
    else:
        yield from _compare_metrics(old, new, relative, points)


def _unequal(column: str, old: _Line, new: _Line) -> _Difference:
    """Return the difference of a column that must be equal, from two lines {column: value}."""
    return _Difference(column, baseline=old[column], value=new[column], allowed="equal")


def _compare_metrics(
    old: _Line, new: _Line, relative: float, points: set[str]
) -> Iterator[_Difference]:
    """Yield the metrics that differ, for a cell that has no counts of classes.

    Columns that the baseline lacks are not compared. If the old cell has no metric at all, the
    chosen hyperparameters are compared. `old`, `new`: the cell in the baseline and now, {column of
    `cells.csv`: value}. `relative`: the tolerance, as a share of the old value. `points`: the
    columns that may differ by 0.01 instead.
    """
    metrics = [name for name in old if name not in NO_METRICS]
    has_values = any(not pd.isna(old[metric]) for metric in metrics)
    if not has_values and old["params"] != new["params"]:
        yield _unequal("params", old, new)
    allowed = f"{relative:.1e} relative"
    tolerances = {}
    for name in metrics:
        if name in points:
            tolerances[name] = _POINT
            continue
        size = abs(_number_in(old, name))
        tolerances[name] = AllowedDifference(relative * size, allowed)
    yield from _compare_numbers(old, new, tolerances)


def _compare_classes(old: _Line, new: _Line) -> Iterator[_Difference]:
    """Yield the differences of a cell of classification from the baseline.

    Counts that differ by more than one row are the only difference. If they differ by one row,
    their metrics are not compared; if they are equal, their metrics must be, too, to round-off.
    With more than two classes, two or more of them may still differ if the recalls do not: a row
    may have gone from one wrong class to another. Metrics of scores and probabilities, and the
    training accuracy, may differ by 0.01. `old`, `new`: the cell in the baseline and now, {column
    of `cells.csv`: value}.
    """
    has_two_classes = not np.isnan(_number_in(old, "tp"))
    counts_of = _confusion_counts if has_two_classes else _right_predictions
    old_counts = counts_of(old)
    new_counts = counts_of(new)
    agree = _confusion_counts_agree if has_two_classes else _right_predictions_agree
    if not agree(old_counts, new_counts):
        yield _Difference(
            column=", ".join(COUNTS) if has_two_classes else "right predictions",
            baseline=_counts_text(old_counts),
            value=_counts_text(new_counts),
            allowed="one test row predicted otherwise",
        )
        return
    metrics = []
    if np.array_equal(old_counts, new_counts):
        metrics = [name for name in metrics_taking("counts") if name in old]
    wrong = list(_compare_numbers(old, new, dict.fromkeys(metrics, _OF_EQUAL_COUNTS)))
    # With more classes, a row may have gone from one wrong class to another.
    differ_in_recalls = any(difference.column in _OF_RECALLS for difference in wrong)
    if has_two_classes or len(wrong) < 2 or differ_in_recalls:
        yield from wrong
    scores = [name for name in metrics_taking("scores", "probabilities") if name in old]
    tolerances = dict.fromkeys((TRAIN_ACCURACY, *scores), _POINT)
    yield from _compare_numbers(old, new, tolerances)


def _confusion_counts_agree(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return True if two confusion matrices differ by one changed prediction at most.

    `a`, `b`: the counts tn, fp, fn and tp, of shape (4,). Each class must have as many rows in
    both.
    """
    # A changed prediction moves a row from one count to another of the same true class.
    has_same_negatives = a[:2].sum() == b[:2].sum()
    has_same_positives = a[2:].sum() == b[2:].sum()
    is_one_move = np.abs(a - b).sum() <= 2
    return bool(has_same_negatives and has_same_positives and is_one_move)


def _right_predictions_agree(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return True if two numbers of right predictions, `a` and `b`, differ by one at most.

    Both are arrays of shape (1,).
    """
    return bool(np.abs(a - b).max() <= 1)


def _counts_text(counts: NDArray[np.float64]) -> str:
    """Return counts joined by commas, such as `8, 1, 0, 3`."""
    return ", ".join(f"{count:g}" for count in counts)


def _confusion_counts(line: _Line) -> NDArray[np.float64]:
    """Return the counts tn, fp, fn and tp of a cell of two classes, an array of shape (4,).

    `line`: that of the cell, {column of `cells.csv`: value}; missing counts are NaN.
    """
    return np.array([_number_in(line, name) for name in COUNTS])


def _right_predictions(line: _Line) -> NDArray[np.float64]:
    """Return the number of right predictions of a cell as an array of shape (1,).

    It is the accuracy times the number of test rows, rounded; NaN without an accuracy. `line`: that
    of the cell, {column of `cells.csv`: value}.
    """
    return np.round([_number_in(line, "accuracy") * _number_in(line, "n_test")])


def _compare_numbers(
    old: _Line, new: _Line, tolerances: Mapping[str, AllowedDifference]
) -> Iterator[_Difference]:
    """Yield the columns of `tolerances` whose numbers differ by more than their tolerance.

    A number that only one of the cells has differs. `old`, `new`: the cell in the baseline and now,
    {column of `cells.csv`: value}.
    """
    for name, tolerance in tolerances.items():
        a = _number_in(old, name)
        b = _number_in(new, name)
        if not _are_within(tolerance.allowed, a, b):
            yield _Difference(
                column=name,
                baseline=f"{a:.10g}",
                value=f"{b:.10g}",
                allowed=tolerance.words,
            )


def _are_within(allowed: float, a: float, b: float) -> bool:
    """Return True if two numbers differ by no more than `allowed`, or if both are NaN."""
    are_missing = np.isnan(a) and np.isnan(b)
    return bool(a == b or abs(a - b) <= allowed or are_missing)


def _number_in(line: _Line, name: str) -> float:
    """Return the number in the column `name` of a line; NaN if the column or its value is missing.

    `line`: that of a cell, {column of `cells.csv`: value}.
    """
    value = line.get(name)
    return np.nan if pd.isna(value) else float(value)
