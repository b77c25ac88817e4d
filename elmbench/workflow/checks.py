"""Results of many tables compared with their baselines or with the published values."""

from collections.abc import Callable
from pathlib import Path

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.layouts.table import JUDGED
from elmbench.reporting.baseline import BaselineCheck, compare_with_baseline, refuse_failures, update_baseline
from elmbench.reporting.cells import read_cells
from elmbench.reporting.results import has_results, read_results, results_folder
from elmbench.specs.catalogue import ExperimentFile, find_experiment, load_catalogue
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import resolve

#: What `check_published` counts.
COUNTED = (*JUDGED, "cited", "not run")


class NothingToCompareError(ElmbenchError):
    """There is nothing to compare: a check that compared nothing does not pass."""

    exit_code = 3


def _baseline(file: ExperimentFile) -> Path:
    return file.path.parent / f"{file.spec.table}.baseline.csv"


def check_baselines(names: list[str], profile: str, results_dir: Path) -> dict[str, BaselineCheck]:
    """Compare the cells of tables (by their ids; if there are none, of all that have one) with their baselines.

    Raises
    ------
    NothingToCompareError
        If a table that is named has no baseline, no table has one, or one that has it has no results.
    """
    files = _files(names, lambda file: _baseline(file).is_file())
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
        _require_results(file, profile, results_dir)
        cells = read_cells(results_folder(results_dir, profile, file.id) / "cells.csv")
        outcomes[file.id] = compare_with_baseline(cells, _baseline(file), layout_of(resolved).values(resolved))
    return outcomes


def _files(names: list[str], otherwise: Callable[[ExperimentFile], bool]) -> list[ExperimentFile]:
    return [find_experiment(name) for name in names] or list(filter(otherwise, load_catalogue().values()))


def _require_results(file: ExperimentFile, profile: str, results_dir: Path) -> None:
    if not has_results(results_dir, profile, file.id):
        raise NothingToCompareError(
            f"{file.id} has no results of profile {profile} in {results_dir}",
            expected="those of an earlier run",
            next_step=f"elmbench run {file.id} --profile {profile}",
        )


def update_baselines(names: list[str], results_dir: Path) -> dict[str, int]:
    """Make the cells of profile `ci` the baselines of tables, of all or of none; return the number of cells by id."""
    files = [find_experiment(name) for name in names]
    found = {file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv") for file in files}
    for file in files:
        refuse_failures(found[file.id], _baseline(file))
    return {file.id: update_baseline(found[file.id], _baseline(file)) for file in files}


def check_published(names: list[str], profile: str, results_dir: Path) -> dict[str, dict[str, int]]:
    """Count the published figures of tables (by their ids; if there are none, of all with results) by verdict.

    A figure is `cited` if the authors took it from another paper, and `not run` for want of data, for a limit or a
    failure, or if the suite does not have the model. Only the default readings count, and of several selections the
    table's own.

    Raises
    ------
    NothingToCompareError
        If a table that is named has no results.
    """
    checks = {}
    for file in _files(names, lambda file: has_results(results_dir, profile, file.id)):
        resolved = resolve(file, profile)
        layout = layout_of(resolved)
        _require_results(file, profile, results_dir)
        summary = read_results(resolved, results_dir).summary
        own = summary[(summary["reading"] == "") & summary["published"].notna()]
        own = own.drop_duplicates(["dataset", "model", "metric"])
        counts = dict.fromkeys(COUNTED, 0)
        for line in own.to_dict("records"):
            if layout.is_judged(Measure(line["metric"])):
                counts[line["verdict"] if line["verdict"] in counts else "not run"] += 1
        checks[file.id] = counts
    return checks
