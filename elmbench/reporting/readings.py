"""The pages on readings: each published figure, the mean under each value of a reading, and the value that fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from elmbench.files import write_atomically
from elmbench.layouts import layout_of
from elmbench.layouts.base import UNJUDGED
from elmbench.layouts.table import Quantity
from elmbench.reporting.cells import read_cells
from elmbench.reporting.comparisons import LEVEL, Region, corrected_t
from elmbench.reporting.folders import ResultsDirs, results_folder
from elmbench.reporting.results import read_commands
from elmbench.reporting.summary import share_of_test_rows
from elmbench.reporting.verdicts import FEWEST_RUNS, draws_of_means
from elmbench.specs.catalogue import PROFILES, ExperimentFile
from elmbench.specs.papers import Paper, Reading
from elmbench.specs.profiles import Resolved, resolve

#: How the pages explain `fits`.
FITS = (
    "`fits` names the value of the reading whose mean is nearer to the published figure than any other value's. "
    "A t-test of the two distances must say so (p ≤ .025): over the runs, or over the folds if there are fewer than "
    "three runs. It must do so for every figure that rounds to the published one."
)
_INTRODUCTION = (
    "A reading is one way to interpret a passage that the paper leaves open. Each table shows the means under every "
    "value of a reading, with all other readings at their defaults, on the same folds and random numbers. Figures that "
    "a reading does not change are left out."
)


@dataclass(frozen=True)
class ReadingComparison:
    """One published figure under each value of a reading.

    Attributes
    ----------
    place : str
        Data set, model and metric, with the table, profile and selection.
    experiment, dataset, model, metric : str
        The same apart: the table's id, the data set as the paper spells it.
    means : mapping of str to str
        By value of the reading, without the values that were not run: the mean, and how many cells did not end ok; the
        ending alone if none ended ok.
    fits : str
        The value of the reading that comes nearest; empty if chance may have decided.
    values : mapping of str to float
        By value of the reading, the mean where a cell ended ok.
    intervals : mapping of str to (float, float)
        By value of the reading, the interval of 95 % for the published figure, if there are enough runs.
    """

    place: str
    published: float
    means: Mapping[str, str]
    fits: str
    experiment: str
    dataset: str
    model: str
    metric: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]


def write_readings(
    paper: Paper, found: Mapping[str, list[ReadingComparison]], files: Sequence[ExperimentFile], dirs: ResultsDirs
) -> Path | None:
    """Write `readings/<paper>.md` into the user's folder; return it, or None if `compare_readings` found nothing."""
    path = dirs.own / "readings" / f"{paper.key}.md"
    if not any(found.values()):
        return None
    lines = [f"# Readings of {paper.title}", "", f"{paper.authors} ({paper.year}).", "", _INTRODUCTION, "", FITS]
    for name, reading in paper.readings.items():
        lines += _section(name, reading, found[name])
    folders = [_folder(run, dirs) for run in _with_results(files, dirs)]
    commands = dict.fromkeys(command for folder in folders for command in read_commands(folder))
    lines += ["", "## Commands", "", *(f"    {command}" for command in commands)]
    write_atomically(path, "\n".join(lines) + "\n")
    return path


def compare_readings(
    readings: Mapping[str, Reading], files: Sequence[ExperimentFile], dirs: ResultsDirs
) -> dict[str, list[ReadingComparison]]:
    """Return by its id the published figures in these tables that each reading moves."""
    found: dict[str, list[ReadingComparison]] = {name: [] for name in readings}
    for resolved in _with_results(files, dirs):
        cells = read_cells(_folder(resolved, dirs) / "cells.csv")
        for name, reading in readings.items():
            if name in resolved.file.spec.readings:
                found[name] += _compare(name, reading, cells, resolved)
    return found


def _folder(resolved: Resolved, dirs: ResultsDirs) -> Path:
    results_dir = dirs.of(resolved.profile, resolved.file.id)
    return results_folder(results_dir, resolved.profile, resolved.file.id)


def _with_results(files: Sequence[ExperimentFile], dirs: ResultsDirs) -> list[Resolved]:
    """Return the tables that have results and whose figures can be compared under readings, but for profile `ci`."""
    found = [
        resolve(file, profile)
        for file in files
        for profile in PROFILES[1:]
        if profile in file.profiles and dirs.has(profile, file.id)
    ]
    return [resolved for resolved in found if layout_of(resolved).compares_readings]


def _compare(name: str, reading: Reading, found: pd.DataFrame, resolved: Resolved) -> Iterator[ReadingComparison]:
    value_of = {"" if value == reading.default else f"{name}={value}": value for value in reading.values}
    cells = found[found["status"] != "unavailable"]
    wanted = cells.assign(reading=cells["reading"].map(value_of)).dropna(subset="reading")
    layout = layout_of(resolved)
    entries: dict[tuple[str, str], list[tuple[str, pd.DataFrame]]] = {}
    for (dataset, model, select), group in wanted.groupby(["dataset", "model", "select"], sort=False):
        if len(set(group["reading"])) > 1:
            entries.setdefault((str(dataset), str(model)), []).append((str(select), group))
    for (dataset, model, metric), paper in resolved.published.items():
        if metric in UNJUDGED or metric not in wanted or paper.value is None:
            continue
        for select, cells in entries.get((dataset, model), ()):
            table = cells.pivot(index=["run", "fold"], columns="reading", values=metric)
            ended = cells.pivot(index=["run", "fold"], columns="reading", values="status")
            values = [value for value in reading.values if value in table]
            # Only cells that were run under every value are compared.
            asked = ended.notna().all(axis=1)
            table, ended = table.loc[asked, values].astype(float), ended.loc[asked, values]
            if len(values) < 2 or reading.default not in values or not len(table) or _unmoved(table, ended):
                continue
            place = f"{resolved.spelling(dataset)} {model} {metric} ({resolved.file.spec.label}, {resolved.profile}, "
            means = {value: _measured(table[value], ended[value]) for value in values}
            ok = table[(ended == "ok").all(axis=1)]
            share = share_of_test_rows(dataset, resolved) or 0.0
            rounding = layout.last_place(paper) / 2
            fits = _fits(ok, float(paper.value), rounding, share)
            yield ReadingComparison(
                f"{place}{select}, {len(table)} cells)",
                float(paper.value),
                means,
                fits,
                resolved.file.id,
                resolved.spelling(dataset),
                model,
                metric,
                {str(value): float(mean) for value, mean in table.mean().items() if not math.isnan(mean)},
                dict(_intervals(ok, resolved.mean_of, rounding)),
            )


def _unmoved(table: pd.DataFrame, ended: pd.DataFrame) -> bool:
    return bool((ended == "ok").all(axis=None) and table.sub(table.iloc[:, 0], axis=0).eq(0).all(axis=None))


def _measured(values: pd.Series[float], ended: pd.Series[str]) -> str:
    means = values.groupby("run").mean()
    bad = ended[ended != "ok"]
    if len(bad) == len(ended):
        return str(bad.iloc[0])
    mean = Quantity(float(values.mean()), float(means.std(ddof=1)) if len(means) > 1 else None, places=3)
    return mean.text + (f" ({len(bad)} {bad.iloc[0]})" if len(bad) else "")


def _intervals(cells: pd.DataFrame, mean_of: int, rounding: float) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the interval of the verdicts under each value of the reading."""
    runs = cells.groupby("run").mean()
    if len(runs) < FEWEST_RUNS:
        return
    for value in runs:
        draws = draws_of_means(runs[value].to_numpy(), least=0.0)
        half_width = draws.half_width(mean_of) + rounding
        yield str(value), (draws.mean - half_width, draws.mean + half_width)


def _fits(cells: pd.DataFrame, published: float, rounding: float, test_share: float) -> str:
    """Return the value of the reading that is nearer to the print than every other value, or nothing.

    The draws are the runs, as they are in the verdicts. If there are too few, they are the folds, which share training
    rows. Every figure that rounds to the print must give the same answer.
    """
    runs = cells.groupby("run").mean()
    draws, share = (runs, 0.0) if len(runs) >= FEWEST_RUNS else (cells, test_share)
    if len(draws) < FEWEST_RUNS:
        return ""
    fitting = {_nearest(draws, end, share) for end in (published - rounding, published + rounding)}
    return fitting.pop() if len(fitting) == 1 else ""


def _nearest(draws: pd.DataFrame, published: float, test_share: float) -> str:
    # With these signs the mean over the draws is the distance of the mean; the mean of |draw - print| is not.
    distances = (draws - published) * np.sign(draws.mean() - published)
    nearest = distances.mean().idxmin()
    others = distances.drop(columns=nearest).sub(distances[nearest], axis=0)
    tests = (corrected_t(others[other], test_share, Region(low=0.0)) for other in others)
    return str(nearest) if all(test.confirming <= LEVEL for test in tests) else ""


def _section(name: str, reading: Reading, comparisons: list[ReadingComparison]) -> list[str]:
    lines = ["", f"## {name}", "", reading.question, ""]
    lines += [
        f"- `{value}`{' (default)' if value == reading.default else ''}: {choice.says}"
        for value, choice in reading.values.items()
    ]
    if not comparisons:
        return [*lines, "", "Not run, or it moves no published figure."]
    marked = {value: value + " (leaking)" * choice.leaks for value, choice in reading.values.items()}
    rows = []
    for found in comparisons:
        means = [found.means.get(value, "not run") for value in marked]
        rows.append((found.place, f"{found.published:g}", *means, marked.get(found.fits, "")))
    head = f"| figure | published | {' | '.join(marked.values())} | fits |"
    return [*lines, "", head, "|---" * (len(marked) + 3) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
