"""Models by their address, and what an error says of one that cannot be used."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_model import MODEL

from elmbench.errors import ElmbenchError
from elmbench.registry import find_model, make_model, model_version
from elmbench.registry import plugins as module
from elmbench.registry.plugins import load_plugin
from elmbench.specs.grids import read_all_grids

MODELS = (
    MODEL
    + """
class Half(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self
limit = 3
"""
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in a folder of its own, and forget what was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(module, "_by_address", {})
    monkeypatch.setattr(module, "_declared", {})
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("own_", "elmbench_plugin")):
            del sys.modules[name]


def test_a_class_of_the_folder_one_is_in(folder: Path) -> None:
    (folder / "own_models.py").write_text(MODELS)
    entry = find_model("own_models:Mine")
    assert (entry.name, entry.title, entry.regression) == ("own_models:Mine", "My model.", None)
    assert make_model("own_models:Mine", depth=4).depth == 4
    assert len(model_version(entry, "classification")) == 12


def test_a_class_that_is_installed() -> None:
    entry = find_model("sklearn.tree:DecisionTreeRegressor")
    assert entry.classification is None
    assert entry.factory("regression").__name__ == "DecisionTreeRegressor"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("own_models:Mien", r"has no 'Mien' \(did you mean 'Mine'\?\)"),
        ("own_nothing:Mine", "'own_nothing' .* cannot be imported: ModuleNotFoundError"),
        ("own_broken:Mine", "cannot be imported: SyntaxError: .*own_broken.py, line 2"),
        ("own_models:Half", "which has no predict$"),
        ("own_models:limit", "is 3"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, address: str, message: str) -> None:
    (folder / "own_models.py").write_text(MODELS)
    (folder / "own_broken.py").write_text("x = 1\ndef (:\n")
    with pytest.raises(ElmbenchError) as caught:
        find_model(address)
    import re

    assert re.search(message, caught.value.found)
    assert caught.value.next_step


def test_a_plugin_may_import_its_neighbour_and_its_error_names_the_line(tmp_path: Path) -> None:
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "own_neighbour.py").write_text(MODELS)
    (folder / "mine.py").write_text("from own_neighbour import Mine\nMODELS = {'mine': Mine}\n")
    assert load_plugin(folder / "mine.py") == ["mine"]
    (folder / "bad.py").write_text("import math\n\nmath.sqrt(-1)\n")
    with pytest.raises(ElmbenchError, match=r"ValueError: .* \(bad\.py, line 3: math\.sqrt\(-1\)\)"):
        load_plugin(folder / "bad.py")


def test_grids_as_they_are_typed() -> None:
    assert read_all_grids(["k-elm: {C: [1, 10], gamma: 2}"]) == {"k-elm": {"C": [1, 10], "gamma": [2]}}
    assert read_all_grids(["own.models:Mine: {depth: {from: 1, to: 3, step: 1}}"]) == {
        "own.models:Mine": {"depth": {"from": 1, "to": 3, "step": 1}}
    }
    assert list(read_all_grids(["a: {C: [1]}", "b: {C: [1]}"])) == ["a", "b"]
