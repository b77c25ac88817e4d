"""The example of docs/add-a-paper.md: its files are written into a copy of the specs, and its
commands run there.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

TOP = Path(__file__).resolve().parents[1]
TEXT = (TOP / "docs" / "add-a-paper.md").read_text("utf-8")
#: Files in the order in which they stand, and after them the commands that follow.
PARTS = re.findall(
    r"```\w+\n# (\S+)\n(.*?)```|^    ((?:elmbench|python|export) [^\n]*)$",
    TEXT,
    flags=re.S | re.M,
)
SPECS = ("datasets.yaml", "experiments")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside specs of its own."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(TOP / "elmbench", folder / "elmbench")
    shutil.copytree(TOP / "experiments", folder / "experiments")
    shutil.copy(TOP / "datasets.yaml", folder)
    return folder


def run(house: Path, command: str, exported: dict[str, str]) -> str:
    program, *words = shlex.split(command)
    if program == "export":
        name, _, value = words[0].partition("=")
        exported[name] = value.replace("$PWD", str(house))
        return ""
    start = (
        ["-c", "from elmbench.cli import main; main()"] if program == "elmbench" else []
    )
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ELMBENCH_")
    }
    done = subprocess.run(
        [sys.executable, *start, *words],
        cwd=house,
        env=inherited | {"PYTHONPATH": str(house)} | exported,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.exhaustive
def test_every_example_of_adding_a_paper_runs(house: Path) -> None:
    said: dict[str, str] = {}
    exported: dict[str, str] = {}
    for name, content, command in PARTS:
        if command:
            said[command] = run(house, command, exported)
            continue
        path = house / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(
            "a" if name == "datasets.yaml" else "w", encoding="utf-8"
        ) as stream:
            stream.write(content)
    assert len([command for _, _, command in PARTS if command]) == len(said) == 15
    assert "valid: 64 data sets" in said["elmbench validate"]
    (cost,) = re.findall(
        r"^cost .*", said["elmbench list metrics --plugin cost.py"], flags=re.M
    )
    assert cost.split() == ["cost", "classification", "less", "counts"]

    table = house / "elmbench-results" / "paper" / "miller" / "table1"
    cells = pd.read_csv(table / "cells.csv", keep_default_na=False)
    assert (cells["status"] == "ok").all()
    assert set(cells["n_test"]) == {40}
    assert set(cells["model"]) == {"K-ELM", "ridge", "nearest-mean"}
    assert set(cells["reading"]) == {"", "scaling=train"}
    text = (table / "table.md").read_text("utf-8")
    # Two measures in a row, the published one beside its own.
    assert "accuracy" in text
    assert "f1" in text
    assert "0.975" in text
    assert "kernels help" in text
    assert "corrected resampled t-test, p = " in text

    figure = house / "elmbench-results" / "ci" / "miller" / "figure1"
    curves = pd.read_csv(figure / "figure.csv")
    assert sorted(set(curves["value"])) == [10, 20, 40, 80]
    assert set(curves["model"]) == {"K-ELM", "ridge"}
    assert (figure / "figure.png").read_bytes().startswith(b"\x89PNG")
    kernel = curves[curves["model"] == "K-ELM"].sort_values("value")["mean"]
    assert kernel.iloc[-1] > kernel.iloc[0]
    assert (
        json.loads((figure / "environment.json").read_text())["experiment"]
        == "miller/figure1"
    )
    baseline = house / "experiments" / "miller" / "figure1.baseline.csv"
    assert baseline.is_file()
    # A figure that is not what the baseline says is found.
    baseline.write_text(re.sub(r"0\.\d+", "0.123", baseline.read_text(), count=1))
    command = "elmbench check miller/figure1 --plugin learning_curve.py"
    with pytest.raises(AssertionError, match=r"0\.123"):
        run(house, command, exported)
