"""Cells of profile `ci` compared with their baselines, and new baselines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from elmbench.errors import ElmbenchError
from elmbench.judging.baseline import (
    compare_with_baseline,
    refuse_failures,
    update_baseline,
)
from elmbench.report.checks.checked_tables import (
    NothingToCompareError,
    checked_files,
    require_results,
)
from elmbench.results.cells import read_cells
from elmbench.results.folders import (
    has_results,
    results_folder,
)
from elmbench.specs.catalogue import find_experiment, is_project, load_catalogue
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.profiles import resolve
from elmbench.tables import kind_of_table


def _baseline_path(file: ExperimentFile) -> Path:
    """Return the path of an experiment's baseline, TABLE.baseline.csv; it need not exist."""
    return file.path.with_suffix(".baseline.csv")


def default_comparison(names: Sequence[str]) -> Literal["baseline", "published"]:
    """Return what `elmbench check` compares tables with by default: "baseline" or "published".

    It is "published" only in a project, if none of the tables has a baseline. `names`: ids or
    aliases (ElmbenchError for an unknown one); all tables if empty.
    """
    files = [find_experiment(name) for name in names] or list(load_catalogue().values())
    has_baseline = any(_baseline_path(file).is_file() for file in files)
    return "baseline" if has_baseline or not is_project() else "published"


def check_baselines(
    names: list[str], results_dir: Path, profile: str = "ci"
) -> dict[str, dict[str, Any]]:
    """Compare the cells of profile `ci` of tables with their baselines: {table id: comparison}.

    A comparison is a dict for JSON: `compared`, the number of cells, and `differences`, a list with
    a dict for each (`cell`, `column`, `baseline`, `value` and `allowed`, all texts). `names`: ids
    or aliases; if empty, all tables that have a baseline and results. Raises NothingToCompareError
    if a named table has no baseline or no results, or if no table has both, and ElmbenchError for
    another profile than `ci`.
    """
    if profile != "ci":
        problem = f"--profile {profile} has no baselines"
        words = " ".join([*names, "--against"])
        next_step = f"elmbench check {words} published --profile {profile}"
        raise ElmbenchError(
            problem,
            expected="profile ci, or a comparison with the paper",
            next_step=next_step,
        )
    files = checked_files(
        names,
        lambda file: (
            _baseline_path(file).is_file() and has_results(results_dir, "ci", file.id)
        ),
    )
    if lacking := [file.id for file in files if not _baseline_path(file).is_file()]:
        table = lacking[0]
        problem = f"{table} has no baseline"
        next_step = (
            f"elmbench run {table} --profile ci, then: elmbench baseline update {table}"
        )
        raise NothingToCompareError(
            problem,
            expected="experiments/PAPER/TABLE.baseline.csv",
            next_step=next_step,
        )
    compare = (
        f", or to compare with the paper: elmbench check {' '.join([*names, '--against'])} "
        "published"
    )
    require_results([file.id for file in files], "ci", results_dir, compare)
    outcomes = {}
    for file in files:
        resolved = resolve(file, "ci")
        cells = read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv")
        outcomes[file.id] = compare_with_baseline(
            cells, _baseline_path(file), kind_of_table(resolved).values()
        )
    return outcomes


def update_baselines(names: list[str], results_dir: Path) -> list[dict[str, Any]]:
    """Replace the baselines of tables by their cells of profile `ci`.

    Return a dict for each: `experiment` (its id), `cells` (their number) and `file` (the path of
    the baseline). `names`: ids or aliases. If one of the tables has no cells or failed ones,
    ElmbenchError is raised and no baseline changes.
    """
    files = [find_experiment(name) for name in names]
    cells = {
        file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv")
        for file in files
    }
    for file in files:
        refuse_failures(cells[file.id], _baseline_path(file))
    return [
        {
            "experiment": file.id,
            "cells": update_baseline(cells[file.id], path := _baseline_path(file)),
            "file": str(path),
        }
        for file in files
    ]
