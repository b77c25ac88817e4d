"""Data sets and tables of a user's own, beside the suite's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from elmbench.datasets.load import load_dataset
from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.datasets import load_dataset_specs
from elmbench.work.plan import Request
from elmbench.workflow.prepare import RunOptions, prepare
from elmbench.workflow.user_specs import add_spec_dir, add_table

TABLE: dict[str, Any] = {
    "datasets": ["my-notes"],
    "protocol": {
        "scale": {"range": [0, 1]},
        "outer": {"kind": "stratified-kfold", "folds": 3},
        "inner": {"kind": "kfold", "folds": 2},
        "select": "nested",
        "metrics": ["mcc"],
    },
    "models": {"Mine": {"model": "ridge", "search": {"C": [1, 8]}}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    (tmp_path / "rows").mkdir()
    frame = pd.DataFrame(random.normal(size=(40, 3)), columns=list("abc")).assign(forged=["yes", "no"] * 20)
    frame.to_csv(tmp_path / "rows" / "my-notes.csv", index=False)
    entry = {"sources": [{"kind": "file", "path": "rows/my-notes.csv", "target": "forged"}]}
    (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": entry}))
    (tmp_path / "my-table.yaml").write_text(yaml.safe_dump(TABLE))
    return tmp_path


def cells(name: str, results: Path, **asked: Any) -> set[tuple[str, str]]:
    run = prepare(RunOptions(experiments=(name,), profile="fast", request=Request(**asked)), results)
    assert not any(cell.unavailable for _, plan in run.tables for cell in plan.cells)
    return {(cell.dataset, cell.model) for _, plan in run.tables for cell in plan.cells}


def test_a_folder_of_data_sets_and_tables(folder: Path, tmp_path: Path) -> None:
    add_spec_dir(folder)
    spec = load_dataset_specs().find("my-notes")
    assert (spec.task, spec.shape.instances, spec.positive) == ("classification", 40, ("yes",))
    assert load_dataset("my-notes").X.shape == (40, 3)
    assert cells("own/my-table", tmp_path) == {("my-notes", "Mine")}
    # Any data set of any table whose task fits.
    asked = cells("table4", tmp_path, datasets=("my-notes",), models=("ELM", "K-ELM"))
    assert asked == {("my-notes", "ELM"), ("my-notes", "K-ELM")}
    add_spec_dir(folder)  # a second time, as two calls from Python do


def test_a_table_by_its_file(folder: Path, tmp_path: Path) -> None:
    assert cells(str(folder / "my-table.yaml"), tmp_path) == {("my-notes", "Mine")}


def test_a_file_is_read_as_its_entry_says(folder: Path) -> None:
    entry = {"kind": "file", "path": "rows/my-notes.csv", "target": "forged", "drop": ["b"]}
    (folder / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": {"sources": [entry]}}))
    add_spec_dir(folder)
    assert load_dataset("my-notes").feature_names == ("a", "c")


def test_a_file_may_be_described_in_full(folder: Path) -> None:
    entry = yaml.safe_load((folder / "datasets.yaml").read_text())["my-notes"]
    whole = entry | {
        "title": "Bank notes", "task": "classification", "citation": "mine", "positive": ["no"],
        "shape": {"instances": 41, "features": 3, "classes": {"yes": 20, "no": 21}},
    }  # fmt: skip
    (folder / "datasets.yaml").write_text(yaml.safe_dump({"my-notes": whole}))
    add_spec_dir(folder)
    with pytest.raises(ElmbenchError, match="40 rows") as caught:
        load_dataset("my-notes")
    assert "41 rows" in str(caught.value.expected)


def test_a_folder_of_a_paper(folder: Path, tmp_path: Path) -> None:
    paper = folder / "experiments" / "mine"
    paper.mkdir(parents=True)
    (paper / "paper.yaml").write_text(
        yaml.safe_dump({"key": "mine", "title": "T", "authors": "A", "year": 2020, "doi": "x"})
    )
    (paper / "table1.yaml").write_text(yaml.safe_dump(TABLE | {"id": "mine/table1", "label": "I", "title": "t"}))
    add_spec_dir(folder)
    assert find_experiment("mine/table1").paper.authors == "A"
    assert cells("mine/table1", tmp_path) == {("my-notes", "Mine")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"Mine": {"modle": "ridge"}}}, r"my-table.yaml: unknown key 'models.Mine.modle'"),
        ({"aliases": ["table4"]}, "the name 'table4' is taken by kos-elm/table4"),
        ({"readings": ["order"]}, "no paper.yaml defines them"),
        ({"id": "kos-elm/table4"}, "is taken by kos-elm/table4"),
    ],
)
def test_tables_are_checked_like_ours(folder: Path, change: dict[str, Any], message: str) -> None:
    (folder / "my-table.yaml").write_text(yaml.safe_dump(TABLE | change))
    with pytest.raises(ElmbenchError, match=message):
        add_spec_dir(folder)


def test_what_is_not_there_or_has_a_name_of_ours_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="nowhere is not there"):
        add_spec_dir(tmp_path / "nowhere")
    with pytest.raises(ElmbenchError, match="holds no specs"):
        add_spec_dir(folder / "rows")
    with pytest.raises(ElmbenchError, match=r"cannot read .*other\.yaml"):
        add_table(folder / "other.yaml")
    (folder / "datasets.yaml").write_text((folder / "datasets.yaml").read_text().replace("my-notes:", "wdbc:", 1))
    with pytest.raises(ElmbenchError, match="'wdbc' has the name of one of the suite"):
        add_spec_dir(folder)
