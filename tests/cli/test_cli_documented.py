"""The commands of docs/own-data.md run as printed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from added_specs import forget_added
from sklearn.datasets import load_iris

from elmbench.registry import plugins

DOCUMENT = Path(__file__).parents[2] / "docs" / "own-data.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT.read_text("utf-8"), flags=re.M | re.S)


@pytest.fixture
def folder(elmbench: Callable, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the files of the document: those whose first line is their name, and the flowers."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    words = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    X.assign(species=words).to_csv("flowers.csv", index=False)
    for _, text in BLOCKS:
        named = re.match(r"# (\S+\.\w+)\n", text)
        if named:
            Path(named[1]).parent.mkdir(exist_ok=True)
            Path(named[1]).write_text(text)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(plugins, "_by_address", {})
    yield
    sys.modules.pop("my_models", None)
    forget_added()


@pytest.mark.parametrize("block", [text for kind, text in BLOCKS if kind == "sh"])
@pytest.mark.usefixtures("folder", "worker")
def test_the_commands_of_a_block_run_one_after_the_other(elmbench: Callable, block: str) -> None:
    for command in block.splitlines():
        name, *words = shlex.split(command)
        assert name == "elmbench"
        found = elmbench(*words)
        assert found.code == 0, found.err
        assert found.out


@pytest.mark.usefixtures("folder")
def test_the_programs_run(worker: dict, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for kind, text in BLOCKS:
        if kind == "python" and not text.startswith("#"):
            exec(text, names)
    said = capsys.readouterr().out
    assert "Comparison: data.parquet" in said
    assert "'kelmclassifier__C'" in said
    assert "landmarks: [" in said
    assert "rows kept: 150" in said
