"""Comparison of the published figures with the means under each value of a reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.layouts import layout_of
from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.comparison import share_of_test_rows
from elmbench.layouts.table import COMPLETE, quantity
from elmbench.numerics.significance import LEVEL, Region, corrected_t
from elmbench.reporting.results import Results
from elmbench.reporting.verdicts import FEWEST_RUNS, draws_of_means, run_means
from elmbench.specs.papers import Reading

#: The explanation of the column `nearest`.
NEAREST = (
    "The column nearest names the value whose mean is nearer to the published figure than any other value's. A t-test "
    "of the two distances must say so (p ≤ .025): over the runs, or over the folds if there are fewer than three runs. "
    "It must do so for every figure that rounds to the published one."
)
_Values = NDArray[np.float64]


@dataclass(frozen=True)
class ReadingComparison:
    """One published figure under each value of a reading, with the data set as the paper spells it.

    The mappings go by the value of the reading: `means` as text, with the number of cells that did not end ok (only
    their ending if none ended ok); `values`, the means, if a cell ended ok; `intervals`, the 95 % intervals for the
    published figure, if there are enough runs. `nearest` is the value that comes nearest; empty if chance may have
    decided.
    """

    label: str
    published: float
    means: Mapping[str, str]
    nearest: str
    experiment: str
    dataset: str
    model: str
    metric: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]


def compare_readings(readings: Mapping[str, Reading], results: Sequence[Results]) -> dict[str, list[ReadingComparison]]:
    """Return the published figures of some tables that each reading changes, by the name of the reading."""
    comparisons: dict[str, list[ReadingComparison]] = {name: [] for name in readings}
    for table in _comparable(results):
        for name, reading in readings.items():
            if name in table.resolved.file.spec.readings:
                comparisons[name] += _compare(name, reading, table)
    return comparisons


def _comparable(tables: Sequence[Results]) -> list[Results]:
    """Return the results whose figures can be compared under readings; profile `ci` has other or fewer data."""
    return [table for table in tables if table.resolved.profile != "ci" and layout_of(table.resolved).compares_readings]


def _compare(name: str, reading: Reading, results: Results) -> Iterator[ReadingComparison]:
    resolved, layout = results.resolved, layout_of(results.resolved)
    value_of = {"" if value == reading.default else f"{name}={value}": value for value in reading.values}
    cells = results.cells[results.cells["status"] != "unavailable"]
    cells = cells.assign(reading=cells["reading"].map(value_of)).dropna(subset="reading").reset_index(drop=True)
    status = cells["status"].to_numpy(object)
    #: By data set and model: the selection, and the lines of the cells that were run under each value of the reading.
    common: dict[Any, list[Any]] = {}
    for (dataset, model, select), group in cells.groupby(["dataset", "model", "select"], sort=False):
        if {reading.default} < set(group["reading"]):
            lines = group.assign(line=group.index).pivot(index=["run", "fold"], columns="reading", values="line")
            run = [value for value in reading.values if value in lines]
            common.setdefault((dataset, model), []).append((select, lines[run].dropna().astype(int)))
    for (dataset, model, metric), paper in resolved.published.items():
        if metric in UNJUDGED or metric not in cells or paper.value is None:
            continue
        for select, lines in common.get((dataset, model), ()):
            names, numbers = list(lines.columns), lines.to_numpy().T
            runs = lines.index.get_level_values("run").to_numpy(np.int64)
            table, ended = cells[metric].to_numpy(dtype=float, na_value=np.nan)[numbers], status[numbers]
            ok = (ended == COMPLETE).all(axis=0)
            if not table.size or (ok.all() and (table == table[0]).all()):
                continue
            published, rounding = float(paper.value), layout.last_place(paper) / 2
            nearest = _pick(table[:, ok], runs[ok], published, rounding, share_of_test_rows(dataset, resolved) or 0.0)
            spelling = resolved.spelling(dataset)
            rows = list(zip(names, table, ended, strict=True))
            yield ReadingComparison(
                f"{spelling} {model} {metric} ({resolved.file.spec.label}, {resolved.profile}, {select}, "
                f"{len(runs)} cells)",
                published,
                {value: _mean_text(row, endings, runs) for value, row, endings in rows},
                names[nearest] if nearest is not None else "",
                resolved.file.id,
                spelling,
                model,
                metric,
                {value: float(np.nanmean(row)) for value, row, _ in rows if not np.isnan(row).all()},
                dict(zip(names, _intervals(table[:, ok], runs[ok], resolved.mean_of, rounding), strict=False)),
            )


def _mean_text(values: _Values, endings: NDArray[Any], runs: NDArray[np.int64]) -> str:
    """Return the mean of cells with the deviation of their runs, and the number of those that did not end ok."""
    bad = endings[endings != COMPLETE]
    if len(bad) == len(values):
        return str(bad[0])
    means = run_means(values, runs)
    std = float(means.std(ddof=1)) if len(means) > 1 else None
    mean = quantity(float(values[~np.isnan(values)].mean()), std, places=3)
    return mean.text + (f" ({len(bad)} {bad[0]})" if len(bad) else "")


def _intervals(table: _Values, runs: NDArray[np.int64], mean_of: int, rounding: float) -> Iterator[tuple[float, float]]:
    """Yield the interval of the verdicts under each value of the reading."""
    if len(set(runs.tolist())) >= FEWEST_RUNS:
        for row in table:
            draws = draws_of_means(run_means(row, runs), least_half_width=0.0)
            half_width = draws.half_width(mean_of) + rounding
            yield draws.mean - half_width, draws.mean + half_width


def _pick(table: _Values, runs: NDArray[np.int64], published: float, rounding: float, test_share: float) -> int | None:
    """Return the value that is nearer to the print than every other value, by its number.

    The draws are the runs, as for the verdicts. If there are too few, they are the folds, which share training rows.
    Every figure that rounds to the print must give the same answer.
    """
    draws, share = np.array([run_means(row, runs) for row in table]), 0.0
    if draws.shape[1] < FEWEST_RUNS:
        draws, share = table, test_share
    if draws.shape[1] < FEWEST_RUNS:
        return None
    answers = {_nearest_to(draws, end, share) for end in (published - rounding, published + rounding)}
    return answers.pop() if len(answers) == 1 else None


def _nearest_to(draws: _Values, published: float, test_share: float) -> int | None:
    # With these signs, the mean over the draws is the distance of the mean, unlike the mean of |draw - print|.
    distances = (draws - published) * np.sign(draws.mean(axis=1) - published)[:, None]
    nearest = int(distances.mean(axis=1).argmin())
    differences = np.delete(distances - distances[nearest], nearest, axis=0)
    tests = (corrected_t(difference, test_share, Region(low=0.0)) for difference in differences)
    return nearest if all(test.confirming <= LEVEL for test in tests) else None


def reading_rows(reading: Reading, comparisons: Sequence[ReadingComparison]) -> tuple[list[str], list[list[str]]]:
    """Return the table of a reading: its headings, and a line for each published figure."""
    names = {value: value + " (leaking)" * choice.leaks for value, choice in reading.values.items()}
    rows = []
    for figure in comparisons:
        means = [figure.means.get(value, "not run") for value in names]
        rows.append([figure.label, f"{figure.published:g}", *means, names.get(figure.nearest, "")])
    return ["figure", "published", *names.values(), "nearest"], rows
