"""Results of many tables compared with their baselines or with the published values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.table import JUDGED
from elmbench.reporting.baseline import (
    BaselineCheck,
    baseline_path,
    compare_with_baseline,
    refuse_failures,
    update_baseline,
)
from elmbench.reporting.cells import read_cells
from elmbench.reporting.results import read_results, results_folder
from elmbench.specs.catalogue import ExperimentFile, find_experiment, load_catalogue
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import resolve

#: What `check_published` counts.
COUNTED = (*JUDGED, "cited", "not run")


class NothingToCompareError(ElmbenchError):
    """There is nothing to compare: a check that compared nothing does not pass."""

    exit_code = 3


@dataclass(frozen=True)
class PublishedCheck:
    """How the results of a table compare with the published figures.

    Attributes
    ----------
    experiment : str
    counts : mapping of str to int
        The number of published figures by verdict, `agrees`, `near`, `differs`, `cited` (the authors took the figure
        from another paper) or `not run` (no data, limits, failures, or a model that the suite does not have).
    """

    experiment: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class BaselineUpdate:
    """A baseline that was written: its table, the number of cells and the file within the repository."""

    experiment: str
    cells: int
    file: str


def _baseline(file: ExperimentFile) -> Path:
    return baseline_path(file.path.parent, file.spec.table)


def check_baselines(names: list[str], profile: str, results_dir: Path) -> dict[str, BaselineCheck]:
    """Compare the cells of tables with their baselines.

    Parameters
    ----------
    names : list of str
        Ids; every table that has a baseline when empty.
    profile : str
    results_dir : Path

    Raises
    ------
    NothingToCompareError
        If a table that is named has no baseline, no table has one, or one that has it has no results.
    """
    files = [find_experiment(name) for name in names] or [
        f for f in load_catalogue().values() if _baseline(f).is_file()
    ]
    if not files:
        raise NothingToCompareError(
            "no table has a baseline",
            expected="experiments/PAPER/TABLE.baseline.csv",
            next_step="elmbench run table4 --profile ci, then: elmbench baseline update table4",
        )
    outcomes = {}
    for file in files:
        if not _baseline(file).is_file():
            raise NothingToCompareError(
                f"{file.id} has no baseline",
                expected=f"{_baseline(file).name} beside its experiment file",
                next_step=f"elmbench run {file.id} --profile ci, then: elmbench baseline update {file.id}",
            )
        resolved = resolve(file, profile)
        cells = read_cells(_cells(file, profile, results_dir))
        outcomes[file.id] = compare_with_baseline(cells, _baseline(file), layout_of(resolved).values(resolved))
    return outcomes


def _cells(file: ExperimentFile, profile: str, results_dir: Path) -> Path:
    path = results_folder(results_dir, profile, file.id) / "cells.csv"
    if not path.is_file():
        raise NothingToCompareError(
            f"{file.id} has no results of profile {profile} in {results_dir}",
            expected="those of an earlier run",
            next_step=f"elmbench run {file.id} --profile {profile}",
        )
    return path


def update_baselines(names: list[str], results_dir: Path) -> list[BaselineUpdate]:
    """Make the cells of profile `ci` the baselines of tables, of all or of none; return what was written."""
    files = [find_experiment(name) for name in names]
    found = {file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv") for file in files}
    for file in files:
        refuse_failures(found[file.id], _baseline(file))
    written = []
    for file in files:
        count = update_baseline(found[file.id], _baseline(file))
        written.append(BaselineUpdate(file.id, count, f"experiments/{file.id}.baseline.csv"))
    return written


def check_published(names: list[str], profile: str, results_dir: Path) -> list[PublishedCheck]:
    """Count the verdicts on tables, under the default readings only.

    Parameters
    ----------
    names : list of str
        Ids; every table with results when empty.
    profile : str
    results_dir : Path

    Returns
    -------
    list of PublishedCheck
        Of an entry with several selections, the table's own counts.

    Raises
    ------
    NothingToCompareError
        If a table that is named has no results.
    """
    files = [find_experiment(name) for name in names] or [
        file
        for file in load_catalogue().values()
        if (results_folder(results_dir, profile, file.id) / "cells.csv").is_file()
    ]
    checks = []
    for file in files:
        resolved = resolve(file, profile)
        layout = layout_of(resolved)
        _cells(file, profile, results_dir)
        summary = read_results(resolved, results_dir).summary
        own = summary[(summary["reading"] == "") & summary["published"].notna()]
        own = own.drop_duplicates(["dataset", "model", "metric"])
        counts = dict.fromkeys(COUNTED, 0)
        for line in own.to_dict("records"):
            if layout.is_judged(Measure(line["metric"])):
                counts[line["verdict"] if line["verdict"] in counts else "not run"] += 1
        checks.append(PublishedCheck(file.id, counts))
    return checks
