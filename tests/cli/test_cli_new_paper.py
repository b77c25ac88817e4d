"""`elmbench new-paper`: a folder that runs as it is, and keys and folders that are refused."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from sentences import sentence

from elmbench.specs import new_paper

ROOT = Path(__file__).parents[2]
FILES = {
    "README.md",
    "elmbench.toml",
    "datasets.yaml",
    "models.py",
    "experiments/miller-2020/paper.yaml",
    "experiments/miller-2020/table1.yaml",
    "experiments/miller-2020/table1.csv",
    ".github/workflows/check.yml",
    ".gitignore",
    ".schemas/datasets.json",
    ".schemas/experiment.json",
    ".schemas/paper.json",
}


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
    }


def commands_in(text: str) -> list[str]:
    """Return the commands of a text, without the comments behind them."""
    lines = re.findall(r"^\s*(?:- run: )?(elmbench .+)$", text, flags=re.M)
    return [line.partition("#")[0].strip() for line in lines]


def run_in(folder: Path, command: str, *, code: int = 0) -> str:
    """Run a command in a process of its own, since it loads the plug-in of the folder."""
    program, *words = command.split()
    assert program == "elmbench"
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ELMBENCH_")
    }
    done = subprocess.run(
        [sys.executable, "-m", "elmbench", *words],
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def new_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new paper after the printed commands, whose output is in
    `said.json` beside it.
    """
    parent = tmp_path_factory.mktemp("papers")
    printed = run_in(parent, "elmbench new-paper miller-2020")
    folder = parent / "miller-2020"
    assert files_below(folder) == FILES
    assert [path.name for path in parent.iterdir()] == ["miller-2020"]
    assert "  cd miller-2020\n" in printed
    assert [command.split()[1] for command in commands_in(printed)] == [
        "validate",
        "run",
        "check",
    ]
    said = {command: run_in(folder, command) for command in commands_in(printed)}
    (parent / "said.json").write_text(json.dumps(said), "utf-8")
    return folder


def test_the_printed_commands_judge_a_real_run(new_folder: Path) -> None:
    said = json.loads((new_folder.parent / "said.json").read_text("utf-8"))
    assert said["elmbench validate"].startswith("valid: 1 data set, 1 experiment\n")
    # The rows that each model gets right, of 178, as scikit-learn's leave-one-out counts them.
    results = new_folder / "elmbench-results" / "fast" / "miller-2020" / "table1"
    cells = pd.read_csv(results / "cells.csv")
    assert set(cells["status"]) == {"ok"}
    right = (cells.set_index("model")["accuracy"] * 178).round(9)
    assert right.to_dict() == {"1NN": 170, "LDA": 176, "QDA": 177}
    text = said["elmbench check --against published"]
    assert "miller-2020: Table 1 holds." in text
    assert "4 published values: 2 = exact, 1 ≈ close, 1 – no data." in text


@pytest.mark.exhaustive
def test_all_commands_of_the_folder_run_and_a_strict_check_fails_on_another_print(
    new_folder: Path,
) -> None:
    readme = (new_folder / "README.md").read_text("utf-8")
    commands = {*commands_in(readme)}
    assert "elmbench table miller-2020/table1" in commands
    for command in sorted(commands):
        assert run_in(new_folder, command)
    # With the values of two models exchanged in print, the command of the workflow fails.
    table = new_folder / "experiments" / "miller-2020" / "table1.csv"
    content = table.read_text("utf-8")
    values = pd.read_csv(table, index_col="model", keep_default_na=False)
    values.loc[["LDA", "1NN"], "value"] = values.loc[["1NN", "LDA"], "value"].to_numpy()
    values.to_csv(table)
    run_in(new_folder, "elmbench check --strict", code=1)
    table.write_text(content, "utf-8")

    # The site is about this paper alone.
    site = new_folder / "elmbench-results" / "site"
    first_page = (site / "index.html").read_text("utf-8")
    assert sentence("cli.new-paper.site-of-one-paper") in first_page
    assert "Aeberhard et al. 1992" in first_page
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for words in ("xtreme learning", "ELM", "hidden node"):
            assert words not in text, page
    data_page = (site / "datasets.html").read_text("utf-8")
    assert "Wines of three cultivators" in data_page
    assert "Sylva" not in data_page


def test_the_guide_starts_with_the_printed_commands(elmbench: Callable) -> None:
    printed = elmbench("new-paper", "miller").out.partition("next:\n")[2]
    commands = "".join(line.removeprefix("  ") + "\n" for line in printed.splitlines())
    guide = (ROOT / "docs" / "add-a-paper.md").read_text("utf-8")
    assert f"```\nelmbench new-paper miller\n{commands}```" in guide


def test_the_workflow_has_the_action_of_this_version(elmbench: Callable) -> None:
    elmbench("new-paper", "miller")
    workflow = yaml.safe_load(
        Path("miller/.github/workflows/check.yml").read_text("utf-8")
    )
    steps = workflow["jobs"]["check"]["steps"]
    gate = (ROOT / ".github" / "workflows" / "gate.yml").read_text("utf-8")
    checkout, check = (step["uses"] for step in steps)
    assert checkout in gate
    version = elmbench("--version").out.split()[1]
    folder = check.removeprefix("elmbench/elmbench/").removesuffix(f"@v{version}")
    assert (ROOT / folder / "action.yml").is_file()
    assert "actions/workflows/check.yml/badge.svg" in Path(
        "miller/README.md"
    ).read_text("utf-8")


def test_an_empty_folder_is_filled_and_json_names_the_files(elmbench: Callable) -> None:
    Path("miller-2020").mkdir()
    record = json.loads(elmbench("new-paper", "miller-2020", "--json").out)
    assert {
        Path(file).relative_to("miller-2020").as_posix() for file in record["files"]
    } == FILES
    assert record["folder"] == "miller-2020"
    assert record["next"] == list(new_paper.COMMANDS)
    # The placeholders of the templates are filled in.
    for file in record["files"]:
        assert not re.search(r"\b(KEY|VERSION)\b", Path(file).read_text("utf-8")), file


@pytest.mark.parametrize(
    "key",
    [
        "Miller",
        "miller_2020",
        "miller/2020",
        "..",
        "miller-",
        "a--b",
        "",
        "ünal",
        "m" * 61,
    ],
)
def test_a_key_that_is_not_valid_is_refused(elmbench: Callable, key: str) -> None:
    error = elmbench("new-paper", key, code=2).err
    assert error.startswith("error: '")
    assert sentence("cli.new-paper.key-with-wrong-characters") in error
    assert sentence("cli.new-paper.next-valid-key", key="miller-2020") in error
    assert list(Path().iterdir()) == []


def test_the_name_of_tables_without_a_paper_is_refused(elmbench: Callable) -> None:
    error = elmbench("new-paper", "own", code=2).err
    assert error.startswith(sentence("cli.new-paper.reserved-key", key="own"))
    assert list(Path().iterdir()) == []


def test_a_folder_with_files_is_refused(elmbench: Callable) -> None:
    Path("miller").mkdir()
    Path("miller/notes.txt").write_text("mine")
    error = elmbench("new-paper", "miller", code=2).err
    assert error == sentence("cli.new-paper.folder-not-empty", folder="miller")
    assert files_below(Path()) == {"miller/notes.txt"}


def test_a_file_of_that_name_is_refused(elmbench: Callable) -> None:
    Path("miller").write_text("mine")
    error = elmbench("new-paper", "miller", code=2).err
    assert error.startswith(
        sentence("cli.new-paper.file-in-place-of-folder", folder="miller")
    )
    assert Path("miller").read_text() == "mine"


def test_a_disk_that_fills_up_leaves_nothing(
    elmbench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def fill_up(path: Path, content: bytes) -> int:
        if path.name == "table1.csv":
            raise OSError(28, "No space left on device", str(path))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    assert "No space left on device" in elmbench("new-paper", "miller", code=2).err
    assert list(Path().iterdir()) == []
