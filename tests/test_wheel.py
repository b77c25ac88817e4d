"""docs/add-a-paper.md with the built wheel, in an environment and a folder outside of the checkout:
its files are written, and its commands run, in their order.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "add-a-paper.md").read_text("utf-8")
#: Blocks of code with their language, and commands that stand alone.
PARTS = re.findall(
    r"^```(\w*)\n(.*?)^```$|^    ((?:elmbench|python) [^\n]*)$",
    GUIDE,
    flags=re.M | re.S,
)
#: The first line of a block that is a file.
FILE_NAME = re.compile(r"# (\S+)\n")
#: The files whose blocks are further entries.
EXTENDED = ("datasets.yaml", "models.py")

pytestmark = pytest.mark.exhaustive


def output_of(command: list[str], folder: Path) -> str:
    """Run a command, which must succeed, and return its output without trailing spaces."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ELMBENCH_", "PYTHON", "COLUMNS"))
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=inherited | {"PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return without_trailing_spaces(done.stdout)


def without_trailing_spaces(text: str) -> str:
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a new environment with the wheel.

    Its dependencies are the packages that run this test.
    """
    folder = tmp_path_factory.mktemp("wheel")
    hatchling = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    output_of([*hatchling, "-d", str(folder / "wheels")], ROOT)
    (wheel,) = (folder / "wheels").glob("elmbench-*.whl")
    environment = folder / "environment"
    output_of([sys.executable, "-m", "venv", "--without-pip", str(environment)], folder)
    variables = {"base": str(environment), "platbase": str(environment)}
    paths = sysconfig.get_paths(scheme="venv", vars=variables)
    # Python adds this path without the `.pth` files in it, and so without the checkout.
    dependencies = Path(paths["purelib"]) / "dependencies.pth"
    dependencies.write_text(sysconfig.get_paths()["purelib"] + "\n", "utf-8")
    python = Path(paths["scripts"]) / Path(sys.executable).name
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    options = ["--no-deps", "--no-index", "--no-compile", "--ignore-installed"]
    output_of([*pip, *options, str(wheel)], folder)
    code = "import elmbench; print(elmbench.__file__)"
    package = Path(output_of([str(python), "-c", code], folder).strip())
    assert package.is_relative_to(environment)
    return python.parent


@dataclass
class Walk:
    """The steps of the guide in a folder."""

    scripts: Path
    folder: Path
    #: The output of each command.
    outputs: dict[str, str] = field(default_factory=dict)

    def take(self, language: str, block: str, command: str) -> None:
        """Run commands, write a file, or compare a text with the output of the commands so far."""
        name = FILE_NAME.match(block)
        if not language:
            for line in (block or command).splitlines():
                self._run(line)
        elif language == "text":
            assert block in "".join(self.outputs.values())
        elif language == "markdown":
            assert block in (self.folder / "README.md").read_text("utf-8")
        else:
            assert name is not None, f"neither a file nor a command: {block}"
            self._write(name[1], block.removeprefix(name[0]))

    def _run(self, line: str) -> None:
        program, *words = shlex.split(line)
        if program == "cd":
            self.folder = self.folder / words[0]
        else:
            path = self.scripts / program
            self.outputs[line] = output_of([str(path), *words], self.folder)

    def _write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in EXTENDED:
            content = path.read_text("utf-8") + content
        path.write_text(content, "utf-8")


@pytest.fixture(scope="module")
def walk(scripts: Path, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """The walk after its last step."""
    walk = Walk(scripts, tmp_path_factory.mktemp("empty"))
    for part in PARTS:
        walk.take(*part)
    return walk


def test_all_commands_of_the_guide_run_with_the_wheel(walk: Walk) -> None:
    assert len(walk.outputs) == 22
    assert walk.outputs["elmbench validate"].startswith("valid: 2 data sets")
    metrics = walk.outputs["elmbench list metrics"]
    (cost,) = re.findall(r"^cost .*", metrics, flags=re.M)
    assert cost.split() == ["cost", "classification", "less", "counts"]
    checked = walk.outputs["elmbench check jones/table1 --print-only"]
    assert checked.strip() == "0 findings in 2 published values of 1 table."


def test_the_table_of_the_guide_has_all_models_and_readings(walk: Walk) -> None:
    table = walk.folder / "elmbench-results" / "paper" / "jones" / "table1"
    cells = pd.read_csv(table / "cells.csv", keep_default_na=False)
    assert (cells["status"] == "ok").all()
    assert set(cells["n_test"]) == {40}
    assert set(cells["model"]) == {"SVM", "ridge", "nearest-mean"}
    assert set(cells["reading"]) == {"", "scaling=train"}
    text = (table / "table.md").read_text("utf-8")
    # Two measures in a row, the published one beside its own.
    for part in ("accuracy", "f1", "0.975", "kernels help"):
        assert part in text
    assert "corrected resampled t-test, p = " in text


@pytest.mark.parametrize(
    ("table", "n_test"),
    [
        # The rows that the file names.
        ("table2", [4, 3]),
        ("table3", [30] * 4),
        # Half of the rows, ten times.
        ("table4", [60] * 10),
    ],
)
def test_the_splits_of_the_guide_test_the_named_rows(
    walk: Walk, table: str, n_test: list[int]
) -> None:
    folder = walk.folder / "elmbench-results" / "paper" / "jones" / table
    cells = pd.read_csv(folder / "cells.csv")
    assert set(cells["status"]) == {"ok"}
    for _, cells_of_model in cells.groupby("model"):
        assert cells_of_model.sort_values("fold")["n_test"].tolist() == n_test


def test_the_kind_of_table_of_the_guide_draws_curves(walk: Walk) -> None:
    figure = walk.folder / "elmbench-results" / "ci" / "jones" / "figure1"
    curves = pd.read_csv(figure / "figure.csv")
    assert sorted(set(curves["value"])) == [10, 20, 40, 80]
    assert set(curves["model"]) == {"SVM", "ridge"}
    assert (figure / "figure.png").read_bytes().startswith(b"\x89PNG")
    of_svm = curves[curves["model"] == "SVM"].sort_values("value")["mean"]
    assert of_svm.iloc[-1] > of_svm.iloc[0]
    environment = json.loads((figure / "environment.json").read_text("utf-8"))
    assert environment["experiment"] == "jones/figure1"


def test_a_figure_that_differs_from_its_baseline_is_found(walk: Walk) -> None:
    baseline = walk.folder / "experiments" / "jones" / "figure1.baseline.csv"
    content = baseline.read_text("utf-8")
    baseline.write_text(re.sub(r"0\.\d+", "0.123", content, count=1), "utf-8")
    words = ["check", "jones/figure1"]
    with pytest.raises(AssertionError, match=r"0\.123"):
        output_of([str(walk.scripts / "elmbench"), *words], walk.folder)
    baseline.write_text(content, "utf-8")
