"""Results of many tables against their baselines or the published values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from elmbench.errors import ElmbenchError
from elmbench.reporting.baseline import Comparison, baseline_path, compare, refuse_failures, update_baseline
from elmbench.reporting.cells import read_cells
from elmbench.reporting.layouts import judged
from elmbench.reporting.results import read_results, results_folder
from elmbench.specs.catalogue import ExperimentFile, find_experiment, load_catalogue
from elmbench.specs.profiles import resolve


class NothingToCompareError(ElmbenchError):
    """What was to be compared is not there: no check may pass by having compared nothing."""

    exit_code = 3


def _baseline(file: ExperimentFile) -> Path:
    return baseline_path(file.path.parent, file.spec.table)


def check_baselines(names: list[str], profile: str, results_dir: Path) -> dict[str, Comparison]:
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
        outcomes[file.id] = compare(read_cells(_cells(file, profile, results_dir)), _baseline(file))
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


def update_baselines(names: list[str], results_dir: Path) -> list[dict[str, Any]]:
    """Make the cells of profile `ci` the baselines of tables, of all or of none; return what was written."""
    files = [find_experiment(name) for name in names]
    found = {file.id: read_cells(results_folder(results_dir, "ci", file.id) / "cells.csv") for file in files}
    for file in files:
        refuse_failures(found[file.id], _baseline(file))
    written = []
    for file in files:
        count = update_baseline(found[file.id], _baseline(file))
        written.append({"experiment": file.id, "cells": count, "file": f"experiments/{file.id}.baseline.csv"})
    return written


def check_published(names: list[str], profile: str, results_dir: Path) -> list[dict[str, Any]]:
    """Count the verdicts on tables, default readings only.

    Parameters
    ----------
    names : list of str
        Ids; every table with results when empty.
    profile : str
    results_dir : Path

    Returns
    -------
    list of dict
        `experiment`, and how many published figures the results agree with, are near to, differ from, and how many
        were `not run` (no data, limits, failures). Where an entry has several selections, the table's own counts.

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
    lines = []
    for file in files:
        resolved = resolve(file, profile)
        _cells(file, profile, results_dir)
        summary = read_results(resolved, results_dir).summary
        own = summary[(summary["reading"] == "") & (summary["published"].notna())]
        own = own[np.array([judged(metric, resolved.spec.layout) for metric in own["metric"]], dtype=bool)]
        own = own.drop_duplicates(["dataset", "model", "metric"])
        counts = own["verdict"].value_counts()
        found = {verdict: int(counts.get(verdict, 0)) for verdict in ("agrees", "near", "differs")}
        lines.append({"experiment": file.id, **found, "not run": len(own) - sum(found.values())})
    return lines
