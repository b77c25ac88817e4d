"""Fits that were stopped at `max_iter` and warnings of models: columns of cells.csv and notes below
a table.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_cells import (
    Toy,
    cell_in_store,
    folds,
    frame,
    keep,
    notes_of,
    predictions_of_mcc,
    table_from,
    table_of,
    unit_of,
)
from sentences import sentence

from elmbench.execution.store import Store
from elmbench.report.notes import capped_notes, warning_notes
from elmbench.results.cells import (
    CAPPED,
    WARNING,
    capped_fits,
    cells_frame,
    read_cells,
    write_frame,
)

GRID = {"C": [1, 2], "gamma": [1, 2, 3]}
INNER = {"kind": "stratified-kfold", "folds": 3}
OK = {"status": "ok", "reason": "", "predictions": predictions_of_mcc(0.5)}
ONE_CLASS = "one class is predicted"


def cells_of(store: Store, toy: Toy, *keys: str) -> pd.DataFrame:
    """The cells of these keys, whose models have the same names."""
    return cells_frame([cell_in_store(key, key) for key in keys], store, ["mcc"], toy())


def put(
    store: Store, key: str, unit: dict[str, Any], capped: int = 0, **result: Any
) -> str:
    return keep(
        store,
        key,
        OK | ({"solvers": {"capped": capped}} if capped else {}) | result,
        **unit,
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    grids = [
        put(store, f"g{i}", {"kind": "grid", "grid": GRID}, capped)
        for i, capped in enumerate((3, 0, 6))
    ]
    put(
        store,
        "choice",
        {"kind": "choice", "grid": GRID, "evaluated": grids, "given": None},
    )
    put(
        store,
        "search",
        {"kind": "search", "grid": GRID, "inner": INNER, "given": None},
        9,
    )
    put(store, "divergence", {"kind": "divergence", "grid": GRID, "given": None}, 1)
    put(
        store,
        "by-dcs",
        {"kind": "choice", "grid": GRID, "evaluated": ["divergence"], "given": None},
    )
    return store


def cell_of(
    chosen: str | None, max_iter: int | None = 100, **result: Any
) -> dict[str, Any]:
    params = {} if max_iter is None else {"max_iter": max_iter}
    needs = [] if chosen is None else [chosen]
    return {
        "unit": unit_of(params=params, chosen=chosen),
        "needs": needs,
        "result": OK | result,
    }


@pytest.mark.parametrize(
    ("chosen", "share"),
    [
        ("choice", 9 / 18),
        ("search", 9 / 18),
        ("by-dcs", 1 / 6),
        ("g0", 3 / 6),
        ("g1", 0),
    ],
)
def test_the_share_is_of_all_fits_of_the_search(
    store: Store, chosen: str, share: float
) -> None:
    assert capped_fits(store)(cell_of(chosen)) == {
        "capped": 0.0,
        "search_capped": share,
    }


def test_searches_that_lead_to_one_another_count_together(store: Store) -> None:
    put(
        store,
        "second",
        {
            "kind": "search",
            "grid": {"C": [1, 2]},
            "inner": INNER | {"folds": 2},
            "given": "search",
        },
        2,
    )
    assert capped_fits(store)(cell_of("second"))["search_capped"] == (9 + 2) / (18 + 4)


def test_a_fit_of_its_own_and_models_that_nothing_stops(store: Store) -> None:
    fits = capped_fits(store)
    assert fits(cell_of(None, solvers={"capped": 1})) == pytest.approx(
        {"capped": 1.0, "search_capped": float("nan")}, nan_ok=True
    )
    assert fits(cell_of("search", None)) == {}
    assert fits(cell_of("search", -1)) == {}
    assert fits(cell_of("search", 0)) == {}
    assert fits(cell_of("search", status="timeout")) == {}


def test_columns_are_there_only_where_a_model_may_be_stopped(
    store: Store, toy: Toy
) -> None:
    put(store, "svm", cell_of("search")["unit"], 1)
    put(store, "elm", cell_of("search", None)["unit"])
    assert not set(CAPPED) & set(cells_of(store, toy, "elm").columns)
    both = cells_of(store, toy, "elm", "svm").set_index("model")
    assert both.loc["svm", list(CAPPED)].tolist() == [1.0, 0.5]
    assert both.loc["elm", list(CAPPED)].isna().all()


def test_a_note_for_each_selection_names_the_data_with_most_stopped_fits(
    toy: Toy,
) -> None:
    cells = pd.DataFrame(
        [
            *folds("SVM", 1, 1, capped=0.0, search_capped=0.1),
            *folds("SVM", 1, 1, capped=1.0, search_capped=0.3, dataset="heart"),
            *folds("SVM", 1, 1, capped=0.0, search_capped=0.2, select="oracle"),
            *folds("SVM", 1, 1, capped=1.0, search_capped=1.0, reading="order=stored"),
            *folds("other", 1, 1, capped=0.0, search_capped=0.0),
            *folds("ELM", 1, 1),
        ]
    )
    stopped = sentence("report.notes.fits-stopped-early")
    assert [note.text for note in capped_notes(cells)] == [
        sentence("report.notes.fits-of-nested-selection", stopped=stopped),
        sentence("report.notes.fits-of-oracle-selection", stopped=stopped),
    ]
    alone = cells.drop(columns="search_capped").assign(search_capped=float("nan"))
    assert [note.text for note in capped_notes(alone)] == [
        f"SVM, nested: 50% of the fits shown {stopped}"
    ]
    few = pd.DataFrame(folds("SVM", 1, 1, capped=0.004, search_capped=0.0))
    assert [note.text for note in capped_notes(few)] == [
        sentence("report.notes.few-fits-stopped", stopped=stopped)
    ]
    assert list(capped_notes(cells.drop(columns=list(CAPPED)))) == []
    assert notes_of(table_of(toy(), folds("ELM", 1, 1))) == ()


@pytest.mark.parametrize(
    ("warnings", "expected"),
    [
        ([f"UserWarning: {ONE_CLASS}"], [ONE_CLASS]),
        (["UserWarning: a", "UserWarning: b"], ["a; b"]),
        (
            [
                "UserWarning: two\nSee https://...",
                "ConvergenceWarning: stopped",
                "DeprecationWarning: old",
            ],
            ["two"],
        ),
    ],
)
def test_warnings_of_the_model_are_kept_for_successful_cells(
    tmp_path: Path, toy: Toy, warnings: list[str], expected: list[str]
) -> None:
    store = Store(tmp_path)
    keep(store, "ok", OK | {"warnings": warnings})
    keep(store, "diverged", OK | {"status": "diverged", "warnings": warnings})
    cells = cells_of(store, toy, "ok", "diverged")
    assert cells.get(WARNING, pd.Series(dtype=object)).dropna().tolist() == expected


def test_the_column_is_there_only_where_a_model_has_warned(
    tmp_path: Path, toy: Toy
) -> None:
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


def test_a_warning_is_noted_once_with_all_its_models_and_data_sets(toy: Toy) -> None:
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
        sentence("report.notes.warned-on-two-data-sets", warning=ONE_CLASS),
        sentence("report.notes.warned-on-one-data-set", warning="another thing"),
    ]
    assert [note.text for note in warning_notes(pd.DataFrame(lines))] == expected
    resolved = toy()
    cells = frame(resolved, lines).assign(warning=[line.get(WARNING) for line in lines])
    notes = notes_of(table_from(cells, resolved))
    assert [note for note in notes if "warned" in note] == expected
    assert not any("warned" in note for note in notes_of(table_of(resolved, lines)))
