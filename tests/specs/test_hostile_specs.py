"""Specs that cannot be read or would write elsewhere: one message each, which names the right file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.datasets import parse_dataset_specs
from elmbench.specs.files import read_yaml
from elmbench.specs.grids import Grid, candidates
from elmbench.specs.published import read_published

WriteTree = Callable[..., Path]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: !!int abc", "cannot be read"),
        ("a: 2001-99-99", "cannot be read"),
        ("a: !!python/object/apply:os.system [ls]", "constructor"),
    ],
)
def test_yaml_that_is_no_spec(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "hostile.yaml"
    path.write_text(text)
    with pytest.raises(ElmbenchError) as caught:
        read_yaml(path)
    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "grid",
    [
        {"from": 0, "to": 1e9, "step": 1},
        {"powers-of-2": [0, 10**9]},
        {"powers-of-10": [-400, -390]},
    ],
)
def test_a_grid_that_is_too_large(experiment: dict[str, Any], write_tree: WriteTree, grid: dict[str, Any]) -> None:
    experiment["grids"]["C"] = grid
    root = write_tree(experiment)
    with pytest.raises(ElmbenchError, match=r"one\.yaml") as caught:
        load_catalogue(root)
    assert "C" in str(caught.value)


def test_the_largest_grids() -> None:
    assert len(Grid.model_validate({"from": 1, "to": 10_000, "step": 1}).expand()) == 10_000
    assert Grid.model_validate({"powers-of-10": [-300, 300], "step": 300}).expand() == [1e-300, 1.0, 1e300]
    with pytest.raises(ElmbenchError, match="the grids of a, b, c have 1,000,000,000 combinations"):
        candidates({name: list(range(1000)) for name in "abc"})


@pytest.mark.parametrize("base", ["../toy/two", ["two"]])
def test_a_base_is_a_table_of_the_same_folder(experiment: dict[str, Any], write_tree: WriteTree, base: Any) -> None:
    other = {**experiment, "id": "toy/two", "aliases": [], "based-on": "../toy/one"}
    with pytest.raises(ElmbenchError, match="not another table of this paper, or is based on this one"):
        load_catalogue(write_tree({**experiment, "based-on": base}, other))


def test_an_error_in_a_base_names_the_base(experiment: dict[str, Any], write_tree: WriteTree) -> None:
    """The table that is based on it comes first in the order of names."""
    derived = {"id": "toy/a", "title": "Derived", "label": "Table II", "based-on": "one"}
    experiment["grids"]["C"] = "many"
    with pytest.raises(ElmbenchError) as caught:
        load_catalogue(write_tree(experiment, derived))
    assert "one.yaml: 'grids.C'" in str(caught.value)
    assert "a.yaml" not in str(caught.value)
    experiment["grids"]["C"] = [1]
    with pytest.raises(ElmbenchError, match=r"a\.yaml: unknown key 'nothing'"):
        load_catalogue(write_tree(experiment, {**derived, "nothing": 1}))


ENTRY: dict[str, Any] = {
    "title": "T",
    "task": "regression",
    "shape": {"instances": 3, "features": 1},
    "sources": [{"kind": "scikit-learn", "name": "x"}],
    "citation": "C",
}


@pytest.mark.parametrize(
    "entry",
    [
        {"file": "../../x"},
        {"file": "a\0"},
        {"like": ["a"]},
    ],
)
def test_a_data_set_stays_in_its_folder(entry: dict[str, Any]) -> None:
    with pytest.raises(ElmbenchError, match=r"datasets\.yaml.*mine"):
        parse_dataset_specs({"mine": {**ENTRY, **entry}}, "datasets.yaml")


def test_of_many_faults_the_first_are_named() -> None:
    with pytest.raises(ElmbenchError) as caught:
        parse_dataset_specs({"mine": {**ENTRY, "aliases": [0] * 300}}, "datasets.yaml")
    assert "'mine.aliases.19' is 0" in str(caught.value)
    assert "'mine.aliases.20'" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 22
    assert "more\nNext: " in str(caught.value)


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ""])
def test_a_data_set_has_the_name_of_a_file(name: str) -> None:
    with pytest.raises(ElmbenchError):
        parse_dataset_specs({name: ENTRY}, "datasets.yaml")


HEAD = b"dataset,model,metric,value,std,note\n"


@pytest.mark.parametrize(
    "content",
    [
        HEAD + b"wdbc,ELM,mcc,\xe9,,\n",
        HEAD + b"wdbc,ELM,mcc,1e999999,,\n",
    ],
)
def test_published_figures_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ElmbenchError, match=r"table\.csv"):
        read_published(path)
