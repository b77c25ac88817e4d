"""What models warned of: a column of cells.csv, a note below the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import folds, frame, table_of

from elmbench.reporting.cells import cells_frame, read_cells, write_frame
from elmbench.reporting.summary import summarise, table_order
from elmbench.reporting.tables import build_table
from elmbench.reporting.warned import WARNING, warning_notes, warning_of
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Cell as Row

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
    store.put("plain", {"kind": "cell"}, ok, "e")
    store.put("warned", {"kind": "cell"}, ok | {"warnings": [f"UserWarning: {ONE_CLASS}"]}, "e")

    def of_store(*keys: str) -> pd.DataFrame:
        rows = [Row("wdbc", key, 0, 0, "nested", "", key, "f") for key in keys]
        return cells_frame(rows, store, ["mcc"], table_order(toy()))

    assert WARNING not in of_store("plain").columns
    write_frame(of_store("plain", "warned"), tmp_path / "cells.csv")
    read = read_cells(tmp_path / "cells.csv").set_index("model")
    assert read.loc["warned", WARNING] == ONE_CLASS
    assert pd.isna(read.loc["plain", WARNING])
    assert warning_notes(read.reset_index()) == [f"wdbc warned, in 1 of 1 cells: warned that {ONE_CLASS}"]


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
    assert warning_notes(pd.DataFrame(lines)) == expected
    resolved = toy()
    cells = frame(resolved, lines).assign(warning=[line.get(WARNING) for line in lines])
    notes = build_table(summarise(cells, resolved), cells, resolved).notes
    assert [note for note in notes if "warned" in note] == expected
    assert not any("warned" in note for note in table_of(resolved, lines).notes)
