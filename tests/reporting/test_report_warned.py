"""Warnings of models: a column of cells.csv, a note below the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import folds, frame, keep, notes_of, table_from, table_of

from elmbench.reporting.cells import WARNING, Order, cells_frame, read_cells, warning_of, write_frame
from elmbench.reporting.notes import warning_notes
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Cell

Toy = Callable[..., Resolved]
ONE_CLASS = "the layer is constant, so one class is predicted"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"status": "ok"}, {}),
        ({"status": "ok", "warnings": []}, {}),
        ({"status": "ok", "warnings": [f"UserWarning: {ONE_CLASS}"]}, {WARNING: ONE_CLASS}),
        ({"status": "ok", "warnings": ["UserWarning: a", "UserWarning: b"]}, {WARNING: "a; b"}),
        ({"status": "ok", "warnings": ["ConvergenceWarning: stopped", "DeprecationWarning: old"]}, {}),
        ({"status": "diverged", "warnings": ["UserWarning: a"]}, {}),
    ],
)
def test_what_counts_as_said_by_a_model(result: dict[str, Any], expected: dict[str, str]) -> None:
    assert warning_of(result) == expected


def test_the_column_is_there_only_where_a_model_has_warned(tmp_path: Path, toy: Toy) -> None:
    store = Store(tmp_path)
    ok = {"status": "ok", "reason": ""}
    keep(store, "plain", ok)
    keep(store, "warned", ok | {"warnings": [f"UserWarning: {ONE_CLASS}"]})

    def of_store(*keys: str) -> pd.DataFrame:
        rows = [Cell("wdbc", key, 0, 0, "nested", "", key, "f") for key in keys]
        return cells_frame(rows, store, ["mcc"], Order(toy()))

    assert WARNING not in of_store("plain").columns
    write_frame(of_store("plain", "warned"), tmp_path / "cells.csv")
    read = read_cells(tmp_path / "cells.csv").set_index("model")
    assert read.loc["warned", WARNING] == ONE_CLASS
    assert pd.isna(read.loc["plain", WARNING])
    assert [note.text for note in warning_notes(read.reset_index())] == [
        f"wdbc warned, in 1 of 1 cells: warned that {ONE_CLASS}"
    ]


def test_a_warning_is_said_once_with_all_it_is_about(toy: Toy) -> None:
    lines = [
        *folds("EEM", 0, 0, warning=ONE_CLASS),
        *folds("WELM", 0, 0, warning=ONE_CLASS),
        *folds("EEM", 0, warning=ONE_CLASS, dataset="heart"),
        *folds("EEM", 1, dataset="heart", run=1),
        *folds("ELM", 1, 1, warning="another thing"),
        *folds("ELM", 1, 1, warning="a reading's own", reading="order=stored"),
        *folds("OS-ELM", 1, 1),
    ]
    expected = [
        f"wdbc EEM, WELM, in 4 of 4 cells; heart EEM, in 1 of 2 cells: warned that {ONE_CLASS}",
        "wdbc ELM, in 2 of 2 cells: warned that another thing",
    ]
    assert [note.text for note in warning_notes(pd.DataFrame(lines))] == expected
    resolved = toy()
    cells = frame(resolved, lines).assign(warning=[line.get(WARNING) for line in lines])
    notes = notes_of(table_from(cells, resolved))
    assert [note for note in notes if "warned" in note] == expected
    assert not any("warned" in note for note in notes_of(table_of(resolved, lines)))
