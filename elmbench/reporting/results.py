"""The files of a table below the results folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.files import write_atomically
from elmbench.reporting.cells import cells_frame, read_cells, write_frame
from elmbench.reporting.figures import write_figures
from elmbench.reporting.formats import markdown
from elmbench.reporting.layouts import value_columns
from elmbench.reporting.optimism import optimism
from elmbench.reporting.summary import summarise, table_order
from elmbench.reporting.tables import Table, build_table
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work import work_from
from elmbench.work.plan import Cell as Row


@dataclass(frozen=True)
class Results:
    """What one table has under one profile.

    Attributes
    ----------
    folder : Path
        Where its files are.
    cells, summary : DataFrame
    table : Table
    """

    folder: Path
    cells: pd.DataFrame
    summary: pd.DataFrame
    table: Table


def results_folder(results_dir: Path, profile: str, experiment: str) -> Path:
    """Return the folder of a table: `<results-dir>/<profile>/<paper>/<table>`."""
    return results_dir / profile / experiment


def write_results(resolved: Resolved, store: Store, results_dir: Path) -> Results:
    """Write `cells.csv`, `summary.csv`, `table.md`, `environment.json` and figures from the store.

    Also `optimism.csv`, where both selections were run.

    Raises
    ------
    WriteError
        If the folder cannot be written.
    """
    experiment = resolved.file.id
    folder = results_folder(results_dir, resolved.profile, experiment)
    rows = store.cells(resolved.profile, experiment)
    extra = dict.fromkeys(row.model for row in rows if row.model not in resolved.spec.models)
    cells = cells_frame(rows, store, value_columns(resolved, extra), table_order(resolved))
    results = _assemble(resolved, folder, cells)
    commands = store.commands(resolved.profile, experiment)
    write_frame(cells, folder / "cells.csv")
    write_frame(results.summary, folder / "summary.csv")
    if len(gains := optimism(cells, resolved)):
        write_frame(gains, folder / "optimism.csv")
    figures = write_figures(resolved, rows, cells, store, folder)
    picture = figures[0].name if figures else None
    write_atomically(folder / "table.md", markdown(results.table, commands, picture))
    record = _provenance(resolved, rows, store, commands)
    write_atomically(folder / "environment.json", json.dumps(record, indent=1, sort_keys=True) + "\n")
    return results


def read_results(resolved: Resolved, results_dir: Path) -> Results:
    """Return what an earlier run wrote, from its `cells.csv`.

    Raises
    ------
    ElmbenchError
        If it is not there.
    """
    folder = results_folder(results_dir, resolved.profile, resolved.file.id)
    return _assemble(resolved, folder, read_cells(folder / "cells.csv"))


def _assemble(resolved: Resolved, folder: Path, cells: pd.DataFrame) -> Results:
    summary = summarise(cells, resolved)
    return Results(folder, cells, summary, build_table(summary, cells, resolved))


def _provenance(resolved: Resolved, rows: list[Row], store: Store, commands: list[str]) -> dict[str, Any]:
    """Return what every number of the table can be traced to."""
    datasets: dict[str, set[str]] = {}
    models: dict[str, str] = {}
    environments: dict[str, int] = {}
    for row in rows:
        record = store.get(row.key) if row.key else None
        if record is None:
            continue
        unit = record["unit"]
        datasets.setdefault(row.dataset, set()).add(unit["dataset"]["identity"])
        if "model" in unit:
            models[row.model] = f"{unit['model']}, version {unit['version']}"
        environments[record["environment"]] = environments.get(record["environment"], 0) + 1
    return {
        "experiment": resolved.file.id,
        "profile": resolved.profile,
        "commands": commands,
        "spec_sha256": hashlib.sha256(
            json.dumps(resolved.file.content, sort_keys=True, default=str).encode()
        ).hexdigest(),
        "datasets": {name: sorted(found) for name, found in datasets.items()},
        "models": models,
        "environments": [{"cells": n, **store.environment(name)} for name, n in environments.items()],
        "solvers": _solvers(rows, store),
    }


def _solvers(rows: list[Row], store: Store) -> dict[str, int]:
    """Return how often each way of solving was taken for these cells and the searches before them, each counted once.

    A candidate on a fold counts as one; "bound failed" and "... given up" are those of them that took another way
    after that.
    """
    total: Counter[str] = Counter()
    seen: set[str] = set()
    ahead = [row.key for row in rows if row.key]
    while ahead:
        key = ahead.pop()
        record = store.get(key) if key not in seen else None
        seen.add(key)
        if record is not None:
            total.update(record["result"].get("solvers", {}))
            ahead += work_from(record["unit"]).needs
    return dict(total)


def read_commands(folder: Path) -> list[str]:
    """Return the commands that made a table's results, as its `environment.json` says."""
    try:
        return list(json.loads((folder / "environment.json").read_text("utf-8"))["commands"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
