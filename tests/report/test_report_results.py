"""The files of a table: their content, their origin, and no file is ever half-written."""

import errno
import json
import os
from pathlib import Path

import pandas as pd
import pytest
from made_cells import (
    Toy,
    cell_in_store,
    keep,
    keep_cells,
    predictions,
    predictions_of_mcc,
)
from sentences import pattern

from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.execution.store import Store
from elmbench.files import WriteError
from elmbench.report.table_results import results_of_table
from elmbench.runs.write_results import write_results
from elmbench.specs.profiles import Resolved
from elmbench.tables import base
from elmbench.tables.precision_recall import PrecisionRecallTable

FILES = [
    "cells.csv",
    "environment.json",
    "figure.csv",
    "figure.png",
    "summary.csv",
    "table.md",
]
COMMAND = "elmbench run toy/one --profile paper -m elm"


def fill(
    store: Store, *, mcc: float = 0.9, models: tuple[str, ...] = ("ELM", "K-ELM")
) -> None:
    """Store two folds of each model, and the command that asked for them."""
    software = store.put_environment({"python": "3.12.1", "packages": {"numpy": "2.1"}})
    result = {"measured": {"mcc": mcc}, "params": {"C": 8}}
    result["predictions"] = predictions([1, 0, 1], [1, 1, 0], [0.5, 0.1, -0.2])
    cells = [
        cell_in_store(f"{model}{fold}{mcc}", model, fold=fold)
        for model in models
        for fold in (0, 1)
    ]
    keep_cells(store, dict.fromkeys(cells, result), software, COMMAND)


@pytest.fixture(autouse=True)
def _quick_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are tested elsewhere; drawing them takes most of the time."""
    monkeypatch.setattr(PrecisionRecallTable, "draw", lambda self, points: points)
    monkeypatch.setattr(base, "figure_bytes", lambda points: points.to_csv().encode())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    fill(store)
    return store


@pytest.fixture
def resolved(toy: Toy) -> Resolved:
    return toy("WDBC,ELM,mcc,0.9,,\n", layout="precision-recall")


def test_the_optimism_is_written_if_both_selections_were_run(
    toy: Toy, tmp_path: Path
) -> None:
    store = Store(tmp_path)
    keep_cells(
        store, {cell_in_store("nested"): {"predictions": predictions_of_mcc(0.7)}}
    )
    folder = write_results(toy(), store, tmp_path).folder
    assert not (folder / "optimism.csv").exists()
    oracle = {"predictions": predictions_of_mcc(0.9)}
    keep_cells(store, {cell_in_store("oracle", select="oracle"): oracle})
    write_results(toy(), store, tmp_path)
    (line,) = pd.read_csv(folder / "optimism.csv").to_dict("records")
    assert line["optimism"] == pytest.approx(0.2)


def test_cells_of_an_unknown_data_set_are_left_out_with_a_note(
    resolved: Resolved, store: Store, tmp_path: Path
) -> None:
    keep_cells(
        store,
        {
            cell_in_store("elsewhere", dataset="of another --spec-dir"): {
                "predictions": predictions_of_mcc(0.7)
            }
        },
    )
    path = write_results(resolved, store, tmp_path).folder / "cells.csv"
    path.write_text(path.read_text().replace("wdbc,K-ELM", "nosuch,K-ELM"))
    with pytest.warns(
        ElmbenchWarning,
        match=pattern("report.results.cells-not-comparable", path=path),
    ):
        results = results_of_table(resolved, tmp_path)
    assert {*results.cells["model"]} == {"ELM"}
    assert "cells of nosuch" in results.table.notes[0].text


def test_every_number_can_be_traced(
    resolved: Resolved, store: Store, tmp_path: Path
) -> None:
    results = write_results(resolved, store, tmp_path)
    folder = results.folder
    record = json.loads((folder / "environment.json").read_text())
    assert record["commands"] == [COMMAND] == results.commands
    assert f"    {COMMAND}\n" in (folder / "table.md").read_text()
    assert (record["experiment"], record["profile"]) == ("toy/one", "paper")
    assert record["datasets"] == {"wdbc": ["abc"]}
    assert record["models"] == {"ELM": "elm, version 3", "K-ELM": "k-elm, version 3"}
    assert record["environments"] == [
        {"cells": 4, "python": "3.12.1", "packages": {"numpy": "2.1"}}
    ]
    assert len(record["spec_sha256"]) == 64


def test_solvers_are_summed_over_searches_each_once(
    resolved: Resolved, store: Store, tmp_path: Path
) -> None:
    outcome = {"status": "ok", "reason": "", "params": {}, "scores": [], "seconds": 1.0}
    inner = {"kind": "stratified-kfold", "folds": 3}
    keep(
        store,
        "first",
        outcome | {"solvers": {"lanczos": 5, "bound failed": 1}},
        kind="search",
        inner=inner,
    )
    keep(
        store,
        "second",
        outcome | {"solvers": {"cholesky": 2}},
        kind="search",
        inner=inner,
        given="first",
    )
    keep(
        store,
        "choice",
        outcome,
        kind="choice",
        given="second",
        evaluated=["grid", "lost"],
    )
    keep(
        store,
        "grid",
        outcome | {"solvers": {"lanczos": 10}},
        kind="grid",
        given="second",
    )
    for row in store.cells("paper", "toy/one"):
        record = store.get(row.key)
        assert record is not None
        keep(
            store,
            row.key,
            record["result"] | {"solvers": {"cholesky": 1}},
            **record["unit"] | {"chosen": "choice"},
        )
    folder = write_results(resolved, store, tmp_path).folder
    # Four cells rest on one choice.
    solvers = json.loads((folder / "environment.json").read_text())["solvers"]
    assert solvers == {"lanczos": 15, "bound failed": 1, "cholesky": 2 + 4}


def test_results_are_read_from_cells_and_not_from_the_store(
    resolved: Resolved, store: Store, tmp_path: Path
) -> None:
    written = write_results(resolved, store, tmp_path)
    fill(store, mcc=0.1)
    path = written.folder / "cells.csv"
    again = results_of_table(resolved, tmp_path)
    pd.testing.assert_frame_equal(again.summary, written.summary)
    assert again.table == written.table
    pd.read_csv(path).assign(mcc=0.8).to_csv(path, index=False)
    assert results_of_table(resolved, tmp_path).summary["mean"].iloc[
        0
    ] == pytest.approx(0.8)
    path.unlink()
    with pytest.raises(ElmbenchError, match="does not exist"):
        results_of_table(resolved, tmp_path)


@pytest.mark.parametrize(
    "fault",
    [
        *(("fsync", errno.ENOSPC, i) for i in range(len(FILES))),
        *(("replace", errno.EROFS, i) for i in (0, 3)),
    ],
)
def test_a_disk_that_fills_or_turns_read_only_leaves_no_file_half_written(
    resolved: Resolved,
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: tuple[str, int, int],
) -> None:
    function, code, broken_write = fault
    folder = write_results(resolved, store, tmp_path).folder
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    fill(store, mcc=0.25, models=("ELM", "K-ELM", "OS-ELM"))
    after = {
        path.name: path.read_bytes()
        for path in write_results(resolved, store, tmp_path / "o").folder.iterdir()
    }

    real, calls = getattr(os, function), []

    def fail_in_time(*words: object) -> object:
        calls.append(words)
        if len(calls) > broken_write:
            raise OSError(code, os.strerror(code))
        return real(*words)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail_in_time)
        with pytest.raises(
            WriteError, match=r"cannot write .*: " + os.strerror(code)
        ) as error:
            write_results(resolved, store, tmp_path)
    assert "Next: " in str(error.value)
    outcome = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(outcome) == FILES
    assert [
        name for name in FILES if outcome[name] not in (before[name], after[name])
    ] == []
    assert (
        sum(outcome[name] == after[name] != before[name] for name in FILES)
        <= broken_write
    )
    # Nothing that was computed is lost, and the same command goes on.
    write_results(resolved, store, tmp_path)
    assert (folder / "cells.csv").read_bytes() == after["cells.csv"]


def test_a_folder_that_cannot_be_made(
    resolved: Resolved, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "paper" / "toy").mkdir(parents=True)
    (tmp_path / "paper" / "toy" / "one").write_text("in the way")
    with pytest.raises(WriteError, match=r"cannot write .*cells\.csv") as error:
        write_results(resolved, store, tmp_path)
    assert "--results-dir" in str(error.value)
    assert (tmp_path / "paper" / "toy" / "one").read_text() == "in the way"


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("run", "", "run is"),
        ("fold", "-1", "fold is '-1'"),
        ("status", "fine", "status is 'fine'"),
        ("select", "x", "select is 'x'"),
        ("params", "[1]", r"params is '\[1\]'"),
        ("params", "", "params is ''"),
        ("mcc", "high", "mcc is 'high'"),
        ("fold", "1", "line 3: duplicate cell"),
    ],
)
def test_an_error_names_the_damage(
    resolved: Resolved, store: Store, tmp_path: Path, column: str, value: str, says: str
) -> None:
    path = write_results(resolved, store, tmp_path).folder / "cells.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame.loc[0, column] = value
    frame.to_csv(path, index=False)
    with pytest.raises(ElmbenchError, match=says) as caught:
        results_of_table(resolved, tmp_path)
    assert str(path) in str(caught.value)
