"""Cells and experiments made by hand, small enough to know what must come out."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_work import task_from_spec

import elmbench
from elmbench.evaluation.stored_predictions import _pack, packed_rows
from elmbench.execution.store import Store
from elmbench.judging.judged_results import JudgedResults
from elmbench.judging.measured_cells import MeasuredCells
from elmbench.judging.summary import summary_frame, summary_lines
from elmbench.report.build_table import build_table
from elmbench.report.table_results import Results, results_of_table
from elmbench.results.cells import (
    CELL_NAMES,
    LIMITS,
    TIMES,
    columns_of_cells,
    write_frame,
)
from elmbench.results.folders import results_folder
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.published import read_published
from elmbench.tables import kind_of_table
from elmbench.tables.result_table import ResultTable, Section
from elmbench.tasks.plan import Cell

#: Makes the toy experiment, with figures and changes.
Toy = Callable[..., Resolved]
HEADER = "dataset,model,metric,value,std,note\n"
#: The committed results.
RESULTS = Path(elmbench.__file__).parents[1] / "results"


@cache
def committed(name: str) -> Results:
    """The committed results of a table, by `profile/paper/table`."""
    profile, id = name.split("/", 1)
    return results_of_table(resolve(find_experiment(id), profile), RESULTS)


@pytest.fixture
def toy(
    write_tree: Callable[..., Path], experiment: dict[str, Any], paper: dict[str, Any]
) -> Toy:
    """Make an experiment: the toy one, two outer folds, with the given figures and changes."""
    values = {
        "none": {"says": "a fresh model"},
        "folds": {"says": "the same model", "leaks": True},
    }
    paper["readings"]["carry-over"] = {
        "question": "Is the model kept?",
        "values": values,
    }

    def make(
        figures: str = "",
        /,
        *,
        profile: str = "paper",
        readings: dict[str, str] | None = None,
        **changes: Any,
    ) -> Resolved:
        content = experiment | changes
        outer = {"kind": "stratified-kfold", "folds": 2, "runs": 2}
        content["protocol"] = (
            experiment["protocol"] | {"outer": outer} | changes.get("protocol", {})
        )
        root = write_tree(content, paper=paper)
        if figures:
            content["published"] = {"values": "one.csv"} | changes.get("published", {})
            (root / "experiments" / "toy" / "one.csv").write_text(HEADER + figures)
            root = write_tree(content, paper=paper)
        load_catalogue.cache_clear()
        read_published.cache_clear()
        return resolve(load_catalogue(root)["toy/one"], profile, readings)

    return make


#: What a unit of work has unless a test says otherwise.
UNIT: dict[str, Any] = {
    "format": 1, "kind": "cell", "task": "classification", "run": 0, "fold": 0,
    "dataset": {"name": "wdbc", "identity": "abc", "run": 0, "options": {}, "rows": None},
    "protocol": {"scale": None, "outer": {"kind": "stratified-kfold", "folds": 2},
    "order": "shuffled"},
    "model": "elm", "version": "3", "stream": "elm", "params": {}, "carry_over": "none",
    "chosen": None, "given": None,
    "metric": "mcc", "tune_rows": None, "grid": {},
}  # fmt: skip


def unit_of(**values: Any) -> dict[str, Any]:
    """The content of a unit of work."""
    unit = UNIT | values
    return unit | {"grid_order": list(unit["grid"])}


def keep(
    store: Store, key: str, result: dict[str, Any], environment: str = "e", **unit: Any
) -> str:
    """Store a result under a key of the test's own; return the key."""
    content = unit_of(**unit)
    stored = task_from_spec(content)
    task: Any = SimpleNamespace(
        key=key,
        content=lambda: content,
        needs=stored.needs,
        number_of_fits=stored.number_of_fits,
    )
    store.put(task, result, environment)
    return key


def keep_cells(
    store: Store,
    results: Mapping[Cell, dict[str, Any]],
    environment: str = "e",
    command: str = "elmbench run toy/one",
) -> None:
    """Store the results of cells that ended ok, as of one command of profile `paper`."""
    for row, result in results.items():
        keep(
            store,
            row.key,
            {"status": "ok", "reason": ""} | result,
            environment,
            model=row.model.lower(),
            task=_task_of(result),
        )
    store.add_cells("paper", "toy/one", list(results), command)


def _task_of(result: dict[str, Any]) -> str:
    """The task that the predictions of a result are for."""
    is_regression = "predictions" in result and "classes" not in result["predictions"]
    return "regression" if is_regression else "classification"


def cell_in_store(
    key: str, model: str = "ELM", run: int = 0, fold: int = 0, **values: str
) -> Cell:
    """The planned cell of a key, on wdbc by nested selection unless `values` say otherwise."""
    entry = {"dataset": "wdbc", "select": "nested", "reading": ""} | values
    return Cell(model=model, run=run, fold=fold, key=key, family="family", **entry)


def predictions(
    true: Sequence[int], predicted: Sequence[int], scores: Any = None, classes: int = 2
) -> dict[str, Any]:
    """Predictions as a record has them, of class numbers."""
    content = {
        name: _pack(np.array(rows), "|u1")
        for name, rows in (("true", true), ("predicted", predicted))
    }
    more = {} if scores is None else {"scores": _pack(np.array(scores), "<f4")}
    return {"classes": classes, **content, **more}


def predictions_of_mcc(mcc: float) -> dict[str, Any]:
    """Predictions for 300 rows of each of two classes, which have nearly this correlation."""
    n_rows = 300
    n_wrong = round(n_rows * (1 - mcc) / 2)
    zeros = [0] * (n_rows - n_wrong) + [1] * n_wrong
    ones = [1 - label for label in zeros]
    return predictions([0] * n_rows + [1] * n_rows, zeros + ones)


def predictions_of_fit(unit: dict[str, Any], mcc: float = 0.92) -> dict[str, Any]:
    """Predictions for the first rows of the data of a fit: 100 of each class of WDBC, 10 of each
    of a user's small file. Their correlation is `mcc`, rounded to what such rows can have; numbers
    have the error 1 - `mcc`.
    """
    n_rows = 100 if unit["dataset"]["name"] == "wdbc" else 10
    rows = {"rows": packed_rows(np.arange(2 * n_rows))}
    if unit.get("task") == "regression":
        true = np.array([0.0, 1.0] * n_rows)
        values = {"true": true, "predicted": true + 1 - mcc}
        return rows | {name: _pack(numbers, "<f8") for name, numbers in values.items()}
    # As many rows of each class are wrong.
    n_wrong = max(1, round(n_rows * (1 - mcc) / 2))
    zeros = [0] * (n_rows - n_wrong) + [1] * n_wrong
    ones = [1 - label for label in zeros]
    return rows | predictions([0] * n_rows + [1] * n_rows, zeros + ones)


def cell(
    model: str = "ELM", run: int = 0, fold: int = 0, **values: Any
) -> dict[str, Any]:
    """One line of cells.csv: ok on wdbc by nested selection, unless `values` say otherwise."""
    line: dict[str, Any] = {
        "dataset": "wdbc",
        "model": model,
        "run": run,
        "fold": fold,
        "select": "nested",
    }
    line |= {
        "reading": "",
        "status": "ok",
        "reason": "",
        "n_test": 190,
        "fit_seconds": 0.5,
        "n_units": 10,
    }
    line["params"] = json.dumps(values.pop("params", {}), sort_keys=True)
    return line | values


def cell_of(line: dict[str, Any]) -> Cell:
    """The planned cell of a line."""
    return Cell(**{name: line[name] for name in CELL_NAMES}, key="", family="")


def stopped(seconds: float, *, search: bool = False) -> dict[str, Any]:
    """Return the values in the line of a cell that a limit stopped, itself or in the search before
    it.
    """
    reason = ("the search before it: " if search else "") + f"> {seconds:g} s"
    return {
        "status": "timeout",
        "reason": reason,
        "search_limit" if search else "fit_limit": seconds,
    }


def folds(model: str, *mcc: float, **values: Any) -> list[dict[str, Any]]:
    """A run of as many folds as there are figures."""
    return [cell(model, fold=i, mcc=value, **values) for i, value in enumerate(mcc)]


def runs(
    model: str, *mcc: float, folds: int = 2, **values: Any
) -> list[dict[str, Any]]:
    """A run of equal folds for each figure."""
    return [
        cell(model, run, fold, mcc=value, **values)
        for run, value in enumerate(mcc)
        for fold in range(folds)
    ]


def value_columns(resolved: Resolved, extra: Sequence[str] = ()) -> list[str]:
    """The columns of cells.csv that hold a table's measured values."""
    return [measure.column for measure in kind_of_table(resolved).values(extra)]


def frame(resolved: Resolved, lines: list[dict[str, Any]]) -> pd.DataFrame:
    """The lines as a table of cells of this experiment."""
    values = value_columns(resolved)
    columns = columns_of_cells(values)
    columns += [name for name in LIMITS if any(name in line for line in lines)]
    table = pd.DataFrame(lines, columns=columns)
    return table.astype(dict.fromkeys([*values, *TIMES, "condition"], float))


def summarise(measured: MeasuredCells, *, published_only: bool = False) -> pd.DataFrame:
    """The lines of summary.csv of cells that are prepared for judging."""
    return summary_frame(summary_lines(measured, published_only=published_only))


def summary_of(resolved: Resolved, lines: list[dict[str, Any]]) -> pd.DataFrame:
    """The lines of summary.csv of these cells."""
    return summarise(MeasuredCells(frame(resolved, lines), resolved))


def results_of(
    resolved: Resolved, lines: list[dict[str, Any]], folder: Path
) -> Results:
    """Write these cells and read them again as results."""
    write_frame(
        frame(resolved, lines),
        results_folder(folder, resolved.profile, resolved.file.id) / "cells.csv",
    )
    return results_of_table(resolved, folder)


def entry(
    resolved: Resolved, lines: list[dict[str, Any]], metric: str = "mcc", **columns: str
) -> dict[str, Any]:
    """The line of summary.csv for a metric, of the only entry that fits `columns`."""
    summary = summary_of(resolved, lines)
    chosen = summary[summary["metric"] == metric]
    for name, value in columns.items():
        chosen = chosen[chosen[name] == value]
    (line,) = chosen.to_dict("records")
    return line


def table_of(resolved: Resolved, lines: list[dict[str, Any]]) -> ResultTable:
    """The table that these cells make."""
    return table_from(frame(resolved, lines), resolved)


def table_from(cells: pd.DataFrame, resolved: Resolved) -> ResultTable:
    """The table that a frame of cells makes."""
    return build_table(JudgedResults(cells, resolved))


def rows_of(section: Section) -> list[dict[str, str]]:
    """The lines of a section as texts; what is empty is an empty text."""
    return [defaultdict(str, line) for line in section.lines]


def row(section: Section, model: str, measure: str | None = None) -> dict[str, str]:
    """A model's row in a section."""
    (row,) = [
        r
        for r in rows_of(section)
        if r["model"] == model and measure in (None, r["measure"])
    ]
    return row


def headings(
    table: ResultTable, section: Section, *, narrow: bool = False
) -> dict[str, str]:
    """The columns of a section that have something to show, with their headings."""
    return {
        column.name: column.heading
        for column in table.columns_of(section, narrow=narrow)
    }


def notes_of(table: ResultTable) -> tuple[str, ...]:
    """The notes of a table as texts."""
    return tuple(note.text for note in table.notes)
