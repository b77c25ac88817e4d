"""Cells of a `cells.csv` without their store, as in a fresh clone: a run of a part keeps them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import Toy, cell_in_store, keep_cells, predictions_of_mcc
from sentences import sentence

from elmbench.errors import ElmbenchWarning
from elmbench.execution.store import Store
from elmbench.report.table_results import results_of_table
from elmbench.results.cells import CELL_NAMES, read_cells
from elmbench.results.kept_cells import find_kept_cells
from elmbench.runs.write_results import write_results
from elmbench.specs.profiles import Resolved

FIRST = "elmbench run toy/one --runs 2"
SECOND = "elmbench run toy/one -m elm --runs 1"


@pytest.fixture
def resolved(toy: Toy) -> Resolved:
    return toy("WDBC,ELM,mcc,0.9,,\n")


def run(
    resolved: Resolved,
    folder: Path,
    models: dict[str, int],
    command: str,
    mcc: float,
    python: str = "3.12.1",
) -> Path:
    """Store two folds of some runs of each model and write the table; return its folder."""
    store = Store(folder)
    environment = store.put_environment({"python": python})
    cells = {
        cell_in_store(f"{model}{run}{fold}", model, run, fold): {
            "predictions": predictions_of_mcc(mcc / 3)
        }
        for model, n_runs in models.items()
        for run in range(n_runs)
        for fold in (0, 1)
    }
    keep_cells(store, cells, environment, command)
    store.close()
    return write_results(resolved, store, folder).folder


def clone(folder: Path) -> None:
    """Take the store from a folder of results."""
    shutil.rmtree(folder / ".store")


def record_of(folder: Path) -> Any:
    return json.loads((folder / "environment.json").read_text())


def change_record(folder: Path, **changes: Any) -> None:
    """Change the description of the cells of a folder."""
    (folder / "environment.json").write_text(json.dumps(record_of(folder) | changes))


def lines_of(folder: Path) -> dict[tuple[Any, ...], float]:
    """Return the metric of each cell, to twelve digits."""
    cells = pd.read_csv(folder / "cells.csv", keep_default_na=False)
    names = cells[["model", "run", "fold"]].itertuples(index=False, name=None)
    return dict(zip(names, cells["mcc"].round(12), strict=True))


def test_other_cells_stay_with_their_own_origin(
    resolved: Resolved, tmp_path: Path
) -> None:
    table = run(resolved, tmp_path, {"ELM": 1, "K-ELM": 2}, FIRST, mcc=0.7)
    first = record_of(table)
    text = (table / "cells.csv").read_text().splitlines()
    clone(tmp_path)
    run(resolved, tmp_path, {"ELM": 1}, SECOND, mcc=0.8, python="3.13.0")
    values = lines_of(table)
    assert {value for (model, *_), value in values.items() if model == "ELM"} == {
        round(0.8 / 3, 12)
    }
    assert {value for (model, *_), value in values.items() if model == "K-ELM"} == {
        round(0.7 / 3, 12)
    }
    assert len(values) == 6
    # The digits of kept cells are those of the file.
    kept = [
        line
        for line in (table / "cells.csv").read_text().splitlines()
        if ",K-ELM," in line
    ]
    assert kept == [f"{line},1" for line in text if ",K-ELM," in line]
    record = record_of(table)
    assert record["commands"] == [SECOND]
    assert record["models"] == {"ELM": "elm, version 3"}
    assert record["environments"] == [{"cells": 2, "python": "3.13.0"}]
    assert record["kept"] == [{"cells": 4} | first]
    results = results_of_table(resolved, tmp_path)
    assert results.commands == [FIRST, SECOND]
    assert all(
        command in (table / "table.md").read_text() for command in (FIRST, SECOND)
    )


def test_what_was_kept_twice_keeps_its_first_origin(
    resolved: Resolved, tmp_path: Path
) -> None:
    table = run(resolved, tmp_path, {"ELM": 1, "K-ELM": 1, "OS-ELM": 1}, FIRST, mcc=0.7)
    first = record_of(table)
    for model, mcc in (("ELM", 0.8), ("K-ELM", 0.9)):
        clone(tmp_path)
        run(resolved, tmp_path, {model: 1}, f"run {model}", mcc=mcc)
    assert lines_of(table) == {
        (model, 0, fold): round(value / 3, 12)
        for model, value in {"ELM": 0.8, "K-ELM": 0.9, "OS-ELM": 0.7}.items()
        for fold in (0, 1)
    }
    record = record_of(table)
    assert record["commands"] == ["run K-ELM"]
    of_elm, of_os_elm = sorted(
        record["kept"], key=lambda part: part["commands"] == [FIRST]
    )
    assert (of_elm["cells"], of_elm["commands"]) == (2, ["run ELM"])
    assert of_os_elm == {"cells": 2} | first
    records = pd.read_csv(table / "cells.csv").groupby("model")["record"].first()
    assert record["kept"][int(records["OS-ELM"]) - 1] == of_os_elm
    assert record["kept"][int(records["ELM"]) - 1] == of_elm
    assert pd.isna(records["K-ELM"])


def test_another_run_joins_runs_of_the_same_work(
    resolved: Resolved, tmp_path: Path
) -> None:
    table = run(resolved, tmp_path, {"ELM": 2}, FIRST, mcc=0.7)
    clone(tmp_path)
    run(resolved, tmp_path, {"ELM": 1}, SECOND, mcc=0.8)
    assert lines_of(table) == {
        ("ELM", run, fold): round(value / 3, 12)
        for run, value in ((0, 0.8), (1, 0.7))
        for fold in (0, 1)
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"spec_sha256": "another"},
        {"models": {"ELM": "elm, version 2"}},
        {"datasets": {"wdbc": ["another"]}},
    ],
)
def test_runs_of_different_work_are_dropped(
    resolved: Resolved, tmp_path: Path, changes: dict[str, Any]
) -> None:
    table = run(resolved, tmp_path, {"ELM": 2, "K-ELM": 1}, FIRST, mcc=0.7)
    change_record(table, **changes)
    clone(tmp_path)
    with pytest.warns(ElmbenchWarning, match="2 earlier cells left out"):
        run(resolved, tmp_path, {"ELM": 1}, SECOND, mcc=0.8)
    assert set(lines_of(table)) == {
        (m, 0, fold) for m in ("ELM", "K-ELM") for fold in (0, 1)
    }


def test_kept_cells_of_an_older_model_are_named(
    resolved: Resolved, tmp_path: Path
) -> None:
    table = run(resolved, tmp_path, {"ELM": 1, "K-ELM": 1}, FIRST, mcc=0.7)
    versions = {"ELM": "elm, version 0", "K-ELM": "k-elm, version 0"}
    change_record(table, models=versions)
    clone(tmp_path)
    run(resolved, tmp_path, {"ELM": 1}, SECOND, mcc=0.8)
    notes = [note.text for note in results_of_table(resolved, tmp_path).table.notes]
    assert sentence("report.notes.older-version-of-model", model="K-ELM") in notes


def test_stale_cells_of_the_same_store_are_not_kept(
    resolved: Resolved, tmp_path: Path
) -> None:
    run(resolved, tmp_path, {"ELM": 2}, FIRST, mcc=0.7)
    store = Store(tmp_path)
    cell = cell_in_store("new", "ELM")
    changed = cell.__class__(**{**vars(cell), "family": "another grid"})
    keep_cells(
        store, {changed: {"predictions": predictions_of_mcc(0.5)}}, command=SECOND
    )
    table = write_results(resolved, store, tmp_path).folder
    assert lines_of(table) == {("ELM", 0, 0): 0.5}
    assert "kept" not in record_of(table)


@pytest.mark.parametrize("is_there_now", [False, True])
def test_cells_without_data_stay_until_the_data_are_there(
    resolved: Resolved, tmp_path: Path, is_there_now: bool
) -> None:
    table = run(resolved, tmp_path, {"ELM": 1, "K-ELM": 1}, FIRST, mcc=0.7)
    computed = read_cells(table / "cells.csv")
    missing = computed.assign(status="unavailable")
    missing.to_csv(table / "cells.csv", index=False)
    clone(tmp_path)
    # A run of one model.
    new = (computed if is_there_now else missing).query("model == 'ELM'")
    origin = {"spec_sha256": "", "datasets": {}, "models": {}}
    kept = find_kept_cells(table, new, resolved, Store(tmp_path), origin)
    assert list(kept.cells["model"]) == ([] if is_there_now else ["K-ELM", "K-ELM"])


def test_a_damaged_file_is_replaced(resolved: Resolved, tmp_path: Path) -> None:
    table = run(resolved, tmp_path, {"K-ELM": 1}, FIRST, mcc=0.7)
    clone(tmp_path)
    (table / "cells.csv").write_text("nonsense")
    run(resolved, tmp_path, {"ELM": 1}, SECOND, mcc=0.8)
    assert set(lines_of(table)) == {("ELM", 0, 0), ("ELM", 0, 1)}
    assert list(pd.read_csv(table / "cells.csv"))[: len(CELL_NAMES)] == CELL_NAMES
