"""cells.csv: its columns and order, the cells that it leaves out; what a run has written, as data
frames.
"""

import itertools
import math
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_cells import Toy, cell, cell_in_store, keep, predictions, value_columns
from sentences import pattern
from sklearn import metrics as sk

from elmbench.errors import ElmbenchError
from elmbench.evaluation.stored_predictions import _pack
from elmbench.execution.store import Store
from elmbench.results.cells import cells_frame, provenance, read_cells, write_frame
from elmbench.tasks.base import Context, Result, Task
from elmbench.tasks.plan import Cell

COUNTS = {"tn": 118, "fp": 1, "fn": 5, "tp": 66}
TRUE = [0] * 119 + [1] * 71
PREDICTED = [0] * 118 + [1] + [0] * 5 + [1] * 66
METRICS = {
    "mcc": sk.matthews_corrcoef(TRUE, PREDICTED),
    "gmean": math.sqrt(118 / 119 * 66 / 71),
    "accuracy": 184 / 190,
    "precision": 66 / 67,
    "recall": 66 / 71,
    "f1": 132 / 138,
}


@dataclass(frozen=True)
class Constant(Task):
    """A task without data, which may combine other tasks."""

    kind = "constant"
    combines: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        return self.combines

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        return {}


def result(status: str = "ok", **values: Any) -> dict[str, Any]:
    """Return the record of a cell in the store."""
    if status != "ok":
        return {"status": status, "reason": f"it was {status}", "warnings": []} | values
    times = {"fit_seconds": 0.1, "search_seconds": 2.5, "predict_seconds": 1e-3}
    sizes = {"n_units": 100, "condition": 1.5e6, "n_train": 379, "n_test": 190}
    params = {"n_hidden": 100, "C": 8.0}
    return {
        "status": "ok",
        "reason": "",
        "params": params,
        "predictions": predictions(TRUE, PREDICTED),
        **times,
        **sizes,
    } | values


def row(model: str = "ELM", run: int = 0, fold: int = 0, **values: str) -> Cell:
    key = (
        ""
        if values.get("unavailable")
        else "-".join([model, str(run), str(fold), *values.values()])
    )
    return cell_in_store(key, model, run, fold, **values)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def written(toy: Toy, store: Store) -> Callable[..., pd.DataFrame]:
    """Return the table of cells of these rows, whose results are stored as given."""

    def make(
        rows: list[Cell], results: dict[str, dict[str, Any]] | None = None
    ) -> pd.DataFrame:
        resolved = toy()
        for one in rows:
            if one.key and (results is None or one.key in results):
                keep(store, one.key, results[one.key] if results else result())
        return cells_frame(rows, store, value_columns(resolved), resolved)

    return make


def test_the_limit_that_stopped_a_cell_or_its_search(
    written: Callable[..., pd.DataFrame], store: Store
) -> None:
    stop = {"status": "timeout", "reason": "> 2 h"}
    keep(
        store,
        "choice",
        stop | {"limit": 7200.0},
        kind="choice",
        given=None,
        evaluated=[],
    )
    rows = [row(), row("K-ELM"), row("OS-ELM")]
    keep(store, rows[0].key, stop, chosen="choice")
    cells = written(
        rows, {rows[1].key: result("timeout", limit=600.0), rows[2].key: result()}
    )
    assert cells[["fit_limit", "search_limit"]].fillna(0.0).to_numpy().tolist() == [
        [0, 7200],
        [600, 0],
        [0, 0],
    ]


def test_a_line_holds_what_the_cell_gave(written: Callable[..., pd.DataFrame]) -> None:
    line = written([row()]).iloc[0].to_dict()
    metrics = METRICS | COUNTS
    assert {name: line[name] for name in metrics} == pytest.approx(metrics)
    assert line["params"] == '{"C": 8.0, "n_hidden": 100}'
    assert (
        line["fit_seconds"],
        line["search_seconds"],
        line["n_units"],
        line["n_test"],
    ) == (
        0.1,
        2.5,
        100,
        190,
    )


def test_measured_values_replace_no_column_and_no_metric_of_the_predictions(
    written: Callable[..., pd.DataFrame],
) -> None:
    packed = _pack(np.array([0, 1, 1]), "|u1")
    perfect = {"classes": 2, "true": packed, "predicted": packed}
    measured = {
        "mcc": 0.5,
        "run": 7.0,
        "fold": 1.5,
        "dataset": 1.0,
        "key": 1.0,
        "n_units": 9.0,
    }
    cells = written(
        [row()], {"ELM-0-0": result(measured=measured, predictions=perfect, n_test=3)}
    )
    (line,) = cells.to_dict("records")
    assert (line["mcc"], line["run"], line["fold"], line["n_units"]) == (1.0, 0, 0, 100)
    assert line["dataset"] == "wdbc"


def test_nothing_but_cells_that_have_ended(
    written: Callable[..., pd.DataFrame],
) -> None:
    rows = [row(fold=0), row(fold=1), row(fold=2), row("K-ELM", unavailable="no file")]
    outcome = written(
        rows, {rows[0].key: result(), rows[2].key: result("timeout", reason="> 5 s")}
    )
    assert outcome[["model", "fold", "status", "reason"]].to_numpy().tolist() == [
        ["ELM", 0, "ok", ""],
        ["ELM", 2, "timeout", "> 5 s"],
        ["K-ELM", 0, "unavailable", "no file"],
    ]
    assert outcome["mcc"].isna().tolist() == [False, True, True]
    assert written([rows[1]], {"": {}}).empty


def test_cells_are_sorted_by_reading_selection_model_run_and_fold(
    written: Callable[..., pd.DataFrame],
) -> None:
    entries = itertools.product(
        ("", "order=stored"),
        ("nested", "oracle"),
        ("ELM", "K-ELM", "ridge"),
        (0, 1),
        (0, 1),
    )
    expected = [
        row(m, run, fold, select=select, reading=reading)
        for reading, select, m, run, fold in entries
    ]
    shuffled = random.Random(0).sample(expected, len(expected))
    columns = ["reading", "select", "model", "run", "fold"]
    outcome = written(shuffled)[columns].to_numpy().tolist()
    assert outcome == [[getattr(r, name) for name in columns] for r in expected]


def test_cells_are_read_as_they_were_written(
    written: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    rows = [
        row(fold=0),
        row(fold=1),
        row("NA", run=10),
        row("K-ELM", unavailable='a "quoted", reason'),
    ]
    cells = written(
        rows,
        {
            r.key: result() if i != 1 else result("failed")
            for i, r in enumerate(rows[:3])
        },
    )
    write_frame(cells, tmp_path / "cells.csv")
    again = read_cells(tmp_path / "cells.csv")
    # Every digit is kept, and an empty text is not a missing one.
    pd.testing.assert_frame_equal(again, cells, check_dtype=False, check_exact=True)
    assert again["reading"].tolist() == ["", "", "", ""]
    write_frame(again, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "cells.csv").read_text()


def test_a_cell_with_an_infinite_error_has_diverged(tmp_path: Path) -> None:
    lines = [
        cell(nrmse=math.inf),
        cell(fold=1, nrmse=0.5, condition=math.inf),
        cell(fold=2, log_loss=math.inf),
    ]
    write_frame(pd.DataFrame(lines), tmp_path / "cells.csv")
    assert read_cells(tmp_path / "cells.csv")["status"].tolist() == [
        "diverged",
        "ok",
        "ok",
    ]


def test_no_reason_holds_a_path_of_this_machine(
    written: Callable[..., pd.DataFrame],
) -> None:
    absent = "neither /home/someone/data nor the cache holds it"
    rows = [row(), row("K-ELM", unavailable=absent)]
    outcome = written(
        rows,
        {rows[0].key: result("failed", reason="OSError: no '/home/someone/x.bin'")},
    )
    assert outcome["reason"].tolist() == [
        "OSError: no '.../x.bin'",
        "neither .../data nor the cache holds it",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "> 600 s",
        "a/b/c.csv",
        "https://example.org/a/b.zip",
        "1/2 of the rows",
        "expected (3, 1) and/or (3,)",
    ],
)
def test_texts_with_slashes_that_are_not_paths_are_unchanged(
    written: Callable[..., pd.DataFrame], text: str
) -> None:
    assert written([row(unavailable=text)])["reason"].tolist() == [text]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "does not exist"),
        ("", "cannot read"),
        (
            "a,b\n1,2\n",
            pattern("results.cells.columns-missing"),
        ),
        ('"broken\n', "cannot read"),
        (b"\xff\xfe\x00", "cannot read"),
    ],
)
def test_a_file_that_is_not_a_table_of_cells(
    tmp_path: Path, content: str | bytes | None, words: str
) -> None:
    path = tmp_path / "ci" / "toy" / "one" / "cells.csv"
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ElmbenchError, match=words) as error:
        read_cells(path)
    assert "Next: elmbench run toy/one --profile ci" in str(error.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_a_fifo_is_no_table_of_cells(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cells.csv")
    with pytest.raises(ElmbenchError, match="it is not a regular file"):
        read_cells(tmp_path / "cells.csv")


def test_a_results_folder_below_a_file_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ElmbenchError, match="does not exist"):
        read_cells(tmp_path / "file" / "ci" / "toy" / "one" / "cells.csv")


def test_data_and_model_of_combined_tasks_are_those_of_the_first_with_data(
    toy: Toy, tmp_path: Path
) -> None:
    """A plug-in's task may combine tasks without data and fits."""
    store = Store(tmp_path)
    constant = Constant()
    fit = keep(store, "fit", result(), model="elm")
    combined = Constant(combines=(constant.key, fit))
    for task in (constant, combined):
        store.put(task, {"status": "ok", "reason": ""}, "e")
    planned = Cell("wdbc", "ELM", 0, 0, "nested", "", key=combined.key, family="f")
    origin = provenance(toy(), [planned], store, [])
    assert origin["datasets"] == {"wdbc": ["abc"]}
    assert origin["models"] == {"ELM": "elm, version 3"}
