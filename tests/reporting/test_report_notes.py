"""Warnings of models: columns of cells.csv and notes below a table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from made_cells import Toy, cell_in_store, folds, frame, keep, notes_of, table_from, table_of

from elmbench.reporting.cells import WARNING, cells_frame, read_cells, write_frame
from elmbench.reporting.notes import warning_notes
from elmbench.running.store import Store

OK = {"status": "ok", "reason": ""}
ONE_CLASS = "the layer is constant, so one class is predicted"


def cells_of(store: Store, toy: Toy, *keys: str) -> pd.DataFrame:
    """The cells of these keys, whose models have the same names."""
    return cells_frame([cell_in_store(key, key) for key in keys], store, ["mcc"], toy())


@pytest.mark.parametrize(
    ("warnings", "expected"),
    [
        ([f"UserWarning: {ONE_CLASS}"], [ONE_CLASS]),
        (["UserWarning: a", "UserWarning: b"], ["a; b"]),
        (["ConvergenceWarning: stopped\nSee https://...", "DeprecationWarning: old"], ["stopped"]),
    ],
)
def test_what_counts_as_said_by_a_model(tmp_path: Path, toy: Toy, warnings: list[str], expected: list[str]) -> None:
    store = Store(tmp_path)
    keep(store, "ok", OK | {"warnings": warnings})
    keep(store, "diverged", OK | {"status": "diverged", "warnings": warnings})
    cells = cells_of(store, toy, "ok", "diverged")
    assert cells.get(WARNING, pd.Series(dtype=object)).dropna().tolist() == expected


def test_the_column_is_there_only_where_a_model_has_warned(tmp_path: Path, toy: Toy) -> None:
    store = Store(tmp_path)
    keep(store, "plain", OK)
    keep(store, "warned", OK | {"warnings": [f"UserWarning: {ONE_CLASS}"]})
    assert WARNING not in cells_of(store, toy, "plain").columns
    write_frame(cells_of(store, toy, "plain", "warned"), tmp_path / "cells.csv")
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
