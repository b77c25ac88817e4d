"""Imports of the commands: those that look something up import no more than they need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "pandas", "scipy", "sklearn", "matplotlib", "numba", "openml", "pyarrow", "jinja2")
ROOT = Path(__file__).parents[2]


def imported(command: str, folder: Path) -> set[str]:
    """The modules that a process has imported once the command has ended."""
    code = (
        "import sys\nfrom elmbench.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
        "print('modules:', *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()],
        cwd=folder, env=os.environ | {"ELMBENCH_RESULTS_DIR": str(ROOT / "results")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize(
    "command",
    [
        "--version", "--help", "list experiments", "list models", "list datasets", "list readings",
        "status", "show table4", "show eem/table4", "validate",
    ],
)  # fmt: skip
def test_what_needs_no_data_frame_imports_none(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    modules = imported(command, tmp_path)
    assert not modules & {"elmbench.running.engine", "elmbench.running.planning"}
    if command in ("--version", "--help", "status"):
        assert not modules & {*HEAVY, "yaml", "elmbench.specs.files"}
    # Experiment files name metrics, whose registry holds functions of arrays.
    assert not modules & {*HEAVY} - {"numpy"}


@pytest.mark.parametrize("command", ["table table4", "table table4 --format csv"])
def test_a_table_is_printed_without_what_made_it(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    modules = imported(command, tmp_path)
    assert "pandas" in modules
    assert not modules & {"sklearn", "scipy.stats", "scipy.sparse", "matplotlib", "numba", "openml"}
    assert not {name for name in modules if name.startswith(("elmbench.models.", "elmbench.running.engine"))}


def test_a_stored_comparison_is_shown_without_scikit_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    command = f"--results-dir {tmp_path / 'results'} compare sklearn:iris -m ridge --folds 2"
    modules = imported(command, tmp_path)
    assert "sklearn" in modules
    assert "matplotlib" not in modules
    modules = imported(command, tmp_path)
    assert not modules & {"sklearn", "matplotlib", "numba", "joblib"}


def test_only_the_worker_of_a_comparison_imports_scikit_learn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("a,b,y\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(60)))
    modules = imported(f"--results-dir {tmp_path / 'results'} compare mine.csv -m ridge --folds 2", tmp_path)
    assert "elmbench.running.engine" in modules
    assert not modules & {"sklearn", "scipy.stats", "matplotlib", "numba"}
