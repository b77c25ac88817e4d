"""Comparison of the published values with our means under each value of a reading."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.judging.value_verdicts import (
    FEWEST_RUNS,
    Tolerance,
    draws_of_means,
    run_means,
)
from elmbench.judging.verdict_words import COMPLETE
from elmbench.numerics.significance import LEVEL, Region, corrected_t_test
from elmbench.results import group_by
from elmbench.specs.measures import UNJUDGED
from elmbench.specs.papers import Reading
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import words_for
from elmbench.tables.number_texts import quantity

#: Columns of `compare_readings`; those up to `published` identify a published value.
COLUMNS = ["reading", "experiment", "dataset", "model", "metric", "label", "published"]
COLUMNS += ["value", "leaks", "nearest", "text", "mean", "low", "high"]
_Values = NDArray[np.float64]
#: A run and a fold.
_Fold = tuple[int, int]
#: The positions of the cells of a model under one value of a reading.
_Positions = dict[_Fold, int]


class TableCells(NamedTuple):
    """The cells of a table under one profile."""

    cells: pd.DataFrame
    resolved: Resolved


def compare_readings(
    readings: Mapping[str, Reading], tables: Iterable[TableCells]
) -> pd.DataFrame:
    """Return our means under each value of each reading beside the published values.

    The frame has a line for each published value and each value of a reading that was run, unless
    all values give the same numbers. Times, sizes and values without a number have none. Its
    columns are `COLUMNS`: `dataset` is spelled as in the paper, `label` names the published value
    in words, and `value` is that of the reading. `text` is the mean with the number of cells that
    did not end ok, or only their ending if none ended ok; `mean` is NaN then. `low` and `high` are
    the ends of the 95 % interval for the published value, NaN if there are too few runs. `nearest`
    is True for the value that comes nearest; for no value if chance may have decided. `leaks` is
    True for a value under which test rows influence training.

    `readings`: those of the paper, by name. `tables`: the cells of its tables, each under a
    profile; those of profile `ci` are left out.
    """
    lines = []
    for cells, resolved in tables:
        if resolved.profile == "ci":  # it has other or fewer data
            continue
        columns = _Columns(cells)
        for name, reading in readings.items():
            if name in resolved.file.spec.readings:
                lines += [
                    {"reading": name, **line}
                    for line in _lines_of_reading(name, reading, columns, resolved)
                ]
    return pd.DataFrame(lines, columns=COLUMNS)


class _Columns:
    """The columns of the cells of a table as arrays, each converted only once.

    `status` is the ending of each cell, `labels` the label of its readings, `folds` its (run,
    fold). Selecting lines of a frame instead takes many times as long.
    """

    def __init__(self, cells: pd.DataFrame) -> None:
        self._cells = cells
        self._values: dict[str, _Values] = {}
        self.status: NDArray[Any] = cells["status"].to_numpy(object)
        #: The label of the readings of each cell.
        self.labels: list[str] = cells["reading"].tolist()
        runs = cells["run"].tolist()
        folds = cells["fold"].tolist()
        self.folds: list[_Fold] = list(zip(runs, folds, strict=True))

    @cached_property
    def groups(self) -> dict[tuple[str, str, str], list[int]]:
        """The positions of the cells of each (data set, model, selection).

        Cells that are `unavailable` are left out; readings do not matter.
        """
        columns = [
            self._cells[name].tolist() for name in ("dataset", "model", "select")
        ]
        names = list(zip(*columns, strict=True))
        is_available = self.status != "unavailable"
        positions: list[int] = np.flatnonzero(is_available).tolist()
        return group_by(positions, lambda position: names[position])

    def __contains__(self, metric: str) -> bool:
        """Return True if the cells have a column for a metric."""
        return metric in self._cells

    def values(self, metric: str) -> _Values:
        """Return the values of a metric, one for each cell of the table, NaN if missing.

        The cells must have a column for the metric (else KeyError).
        """
        if metric not in self._values:
            column = self._cells[metric]
            self._values[metric] = column.to_numpy(dtype=float, na_value=np.nan)
        return self._values[metric]


@dataclass(frozen=True, eq=False)
class _CommonCells:
    """The cells of a model on a data set that were run under each of some values of a reading.

    `positions` has a row for each of `choices` and a column for each of `runs`.
    """

    dataset: str
    model: str
    reading: Reading
    #: The selection of the hyperparameters.
    select: str
    #: The values of the reading that were run, in its order.
    choices: list[str]
    #: The number of the run of each cell.
    runs: NDArray[np.int64]
    #: The columns of the cells of the table.
    columns: _Columns
    #: The position of each cell among these, a row for each of `choices`.
    positions: NDArray[np.int64]

    @property
    def endings(self) -> NDArray[Any]:
        """The status of each cell, a row for each of `choices`, a column for each run and fold."""
        return self.columns.status[self.positions]

    def values(self, metric: str) -> _Values:
        """Return the values of a metric, a row for each of `choices`, a column for each fold.

        A column is a run and fold; missing values are NaN.
        """
        return self.columns.values(metric)[self.positions]


def _lines_of_reading(
    name: str, reading: Reading, columns: _Columns, resolved: Resolved
) -> Iterator[dict[str, Any]]:
    """Yield the lines of `compare_readings` for one reading of a table, as dicts.

    There is one for each judged published number, each selection and each value of the reading that
    was run, unless all values give the same numbers. The keys are the other `COLUMNS`; `reading` is
    left out. `name`: that of the reading. `columns`: those of the cells of the table.
    """
    groups = group_by(
        _common_cells(name, reading, columns),
        lambda common: (common.dataset, common.model),
    )
    if not groups:
        return
    table = kind_of_table(resolved)
    for (dataset, model, metric), published in resolved.published.items():
        is_judged = metric in columns and metric not in UNJUDGED
        if published.value is None or not is_judged:
            continue
        for common in groups.get((dataset, model), ()):
            tolerance = Tolerance(
                rounding=table.last_place(published) / 2,
                mean_of=resolved.mean_of,
            )
            yield from _lines_of_value(published, tolerance, common, resolved)


def _common_cells(
    name: str, reading: Reading, columns: _Columns
) -> Iterator[_CommonCells]:
    """Yield the cells that were run under each value of a reading.

    There is one item for each data set, model and selection that was run under the default and at
    least one more value. Its cells are those of the runs and folds, perhaps none, that have a cell
    under each of these values; all other readings are at their defaults. `name`: that of the
    reading. `columns`: those of all cells of the table.
    """
    choice_of_label = {"": reading.default}
    for choice in reading.values:
        if choice != reading.default:
            choice_of_label[f"{name}={choice}"] = choice
    if not set(columns.labels) & choice_of_label.keys() - {""}:
        return
    for (dataset, model, select), numbers in columns.groups.items():
        positions = _positions_by_choice(columns, numbers, choice_of_label)
        compares_choices = {reading.default} < set(positions)
        if not compares_choices:
            continue
        choices = [choice for choice in reading.values if choice in positions]
        common_folds = _common_folds(positions.values())
        yield _CommonCells(
            dataset=dataset,
            model=model,
            reading=reading,
            select=select,
            choices=choices,
            runs=np.array([run for run, _ in common_folds], dtype=np.int64),
            columns=columns,
            positions=_position_table(positions, choices, common_folds),
        )


def _positions_by_choice(
    columns: _Columns, numbers: Iterable[int], choice_of_label: Mapping[str, str]
) -> dict[str, _Positions]:
    """Return the positions of some cells, as `{value of the reading: {(run, fold): position}}`.

    `numbers`: the positions of these cells among all cells of the table. `choice_of_label`: {label
    of a cell's readings: value of the reading}; cells with other labels are left out.
    """
    positions: dict[str, _Positions] = defaultdict(dict)
    for number in numbers:
        choice = choice_of_label.get(columns.labels[number])
        if choice is not None:
            fold = columns.folds[number]
            positions[choice][fold] = number
    return positions


def _position_table(
    positions: Mapping[str, _Positions],
    choices: Iterable[str],
    folds: Iterable[_Fold],
) -> NDArray[np.int64]:
    """Return the positions of cells, a row for each value of a reading, a column for each fold.

    `positions`: {value of the reading: {(run, fold): position}}, with all of `folds`, which are
    (run, fold), for each of `choices`.
    """
    rows = [[positions[choice][fold] for fold in folds] for choice in choices]
    return np.array(rows, dtype=np.int64)


def _common_folds(positions: Iterable[_Positions]) -> list[_Fold]:
    """Return, sorted, each (run, fold) that has a cell under every value of a reading.

    `positions`: for each value, {(run, fold): position}; there is at least one value.
    """
    return sorted(set.intersection(*map(set, positions)))


def _lines_of_value(
    published: PublishedValue,
    tolerance: Tolerance,
    common: _CommonCells,
    resolved: Resolved,
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a published value, one for each value of a reading, as dicts.

    There are none if all values of the reading give the same numbers, or without cells. The nearest
    value and the intervals are of the cells that ended ok with the metric under every value, the
    means of all. The keys are the columns of `compare_readings` without `reading`. `tolerance`: its
    rounding, and the number of draws behind the published value. `common`: the cells of its model
    under each value of the reading.
    """
    metric = published.metric
    dataset = common.dataset
    model = common.model
    runs = common.runs
    values = common.values(metric)
    endings = common.endings
    # A metric may be undefined in a cell that ended ok.
    has_value = (endings == COMPLETE) & ~np.isnan(values)
    is_ok = has_value.all(axis=0)
    changes_nothing = is_ok.all() and (values == values[0]).all()
    if not values.size or changes_nothing:
        return
    test_share = share_of_test_rows(dataset, resolved) or 0.0
    # The print may stand for any number between these two.
    least = published.number - tolerance.rounding
    greatest = published.number + tolerance.rounding
    nearest = _pick_nearest_row(
        values[:, is_ok], runs[is_ok], (least, greatest), test_share
    )
    spelling = resolved.spelling(dataset)
    table_label = resolved.file.spec.label
    origin = f"{table_label}, {resolved.profile}, {common.select}, {len(runs)} cells"
    for number, choice in enumerate(common.choices):
        row = values[number]
        low, high = _interval_of_mean(row[is_ok], runs[is_ok], tolerance)
        yield {
            "experiment": resolved.file.id,
            "dataset": spelling,
            "model": model,
            "metric": metric,
            "label": f"{spelling} {model} {words_for(metric)} ({origin})",
            "published": published.number,
            "value": choice,
            "leaks": common.reading.values[choice].leaks,
            "nearest": number == nearest,
            "text": _mean_text(row, endings[number], runs),
            "mean": np.nan if np.isnan(row).all() else float(np.nanmean(row)),
            "low": low,
            "high": high,
        }


def _mean_text(values: _Values, endings: NDArray[Any], runs: NDArray[np.int64]) -> str:
    """Return the mean of cells as text, such as `0.93 ± 0.012 (3 timeout)`.

    The deviation is that of the means of runs; the numbers of cells that did not end ok follow, by
    ending, as in `(2 timeout, 1 failed)`. If no cell ended ok, the text is only the first ending.
    The mean is a dash if no cell has a value. `values`, `endings`, `runs`: of the cells: the value
    (NaN if missing), the status and the number of the run, each of shape (n,).
    """
    bad = Counter(endings[endings != COMPLETE].tolist())
    if bad.total() == len(values):
        return str(next(iter(bad)))
    measured = values[~np.isnan(values)]
    text = "–"
    if measured.size:
        deviation = _deviation(run_means(values, runs))
        text = quantity(float(measured.mean()), deviation, places=3)
    if not bad:
        return text
    counts = ", ".join(f"{count} {ending}" for ending, count in bad.items())
    return f"{text} ({counts})"


def _deviation(means: _Values) -> float | None:
    """Return the sample standard deviation of the means of runs; None for a single run."""
    return float(means.std(ddof=1)) if len(means) > 1 else None


def _interval_of_mean(
    values: _Values, runs: NDArray[np.int64], tolerance: Tolerance
) -> tuple[float, float]:
    """Return the two ends of the interval for the published value around our mean.

    They are NaN if there are too few runs. `values`, `runs`: the value (NaN if missing) and the
    number of the run of each cell, of shape (n,). `tolerance`: its rounding widens the interval.
    """
    n_runs = len(set(runs.tolist()))
    if n_runs < FEWEST_RUNS:
        return np.nan, np.nan
    means = run_means(values, runs)
    draws = draws_of_means(means, least_half_width=0.0)
    half_width = draws.half_width(tolerance.mean_of) + tolerance.rounding
    low = draws.mean - half_width
    high = draws.mean + half_width
    return low, high


def _pick_nearest_row(
    values: _Values,
    runs: NDArray[np.int64],
    print_range: tuple[float, float],
    test_share: float,
) -> int | None:
    """Return the position of the row of `values` whose mean is nearest to the print.

    It is None if chance may have decided, or with too few cells to tell. `values` has a row for
    each value of a reading and a column for each cell, none missing; `runs` are the numbers of the
    runs of the columns. The draws are the runs, as for the verdicts. If there are too few, they are
    the cells, whose folds share training rows: `test_share` is the number of test rows over that of
    training rows. `print_range`: the least and the greatest number that round to the print; both
    must give the same answer.
    """
    draws = np.array([run_means(row, runs) for row in values])
    share = 0.0
    if draws.shape[1] < FEWEST_RUNS:
        draws = values
        share = test_share
    if draws.shape[1] < FEWEST_RUNS:
        return None
    answers = {
        _row_significantly_nearest(draws, number, share) for number in print_range
    }
    return answers.pop() if len(answers) == 1 else None


def _row_significantly_nearest(
    draws: _Values, published: float, test_share: float
) -> int | None:
    """Return the position of the row of `draws` whose mean is nearest to a published value.

    It must be significantly nearer than each other row, else the result is None. `draws`: a row for
    each value of a reading, a column for each draw. `test_share`: test rows over training rows, for
    the correction of the t-test; 0 for independent draws.
    """
    sides = np.sign(draws.mean(axis=1) - published)
    # With these signs, the mean over the draws is the distance of the mean, unlike the mean of
    # |draw - print|.
    distances = (draws - published) * sides[:, None]
    nearest = int(distances.mean(axis=1).argmin())
    differences = np.delete(distances - distances[nearest], nearest, axis=0)
    positive = Region(low=0.0)
    tests = [
        corrected_t_test(difference, test_share, positive) for difference in differences
    ]
    is_certain = all(test.confirming <= LEVEL for test in tests)
    return nearest if is_certain else None


def reading_table(reading: Reading, lines: pd.DataFrame) -> pd.DataFrame:
    """Return the table of a reading in texts, a line for each published value.

    The columns are `published value` (its label), `published`, one for each value of the reading,
    and `nearest` (the heading of a value of the reading, or empty). A heading ends with `(leaking)`
    if the value leaks. A value without a line for a published value is `not run`. `lines`: the
    result of `compare_readings` for this reading.
    """
    headings = {value: _heading(value, reading) for value in reading.values}
    records = lines.to_dict("records")
    by_published = group_by(records, lambda line: (line["label"], line["published"]))
    rows = []
    for (label, published), group in by_published.items():
        text_of = {line["value"]: line["text"] for line in group}
        texts = [text_of.get(value, "not run") for value in headings]
        nearest = [headings[line["value"]] for line in group if line["nearest"]]
        nearest_heading = nearest[-1] if nearest else ""
        rows.append([label, f"{published:g}", *texts, nearest_heading])
    table_columns = ["published value", "published", *headings.values(), "nearest"]
    return pd.DataFrame(rows, columns=table_columns)


def _heading(value: str, reading: Reading) -> str:
    """Return the name of a value of a reading, followed by `(leaking)` if it leaks."""
    leaks = reading.values[value].leaks
    return f"{value} (leaking)" if leaks else value
