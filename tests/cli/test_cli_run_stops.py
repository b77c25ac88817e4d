"""`elmbench run` that is stopped by a folder that cannot be written or by Ctrl-C."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sentences import sentence

CI = ("run", "one", "--profile", "ci")


def cells() -> pd.DataFrame:
    return pd.read_csv(
        "elmbench-results/ci/toy/one/cells.csv", keep_default_na=False, na_values=[""]
    )


@pytest.mark.parametrize("location", ["below a file", "proc"])
def test_a_results_folder_that_cannot_be_written(
    elmbench: Callable, one: Path, worker: dict, tmp_path: Path, location: str
) -> None:
    (tmp_path / "file").write_text("")
    folder = (
        tmp_path / "file" / "results"
        if location == "below a file"
        else Path("/proc/results")
    )
    result = elmbench(*CI, "--results-dir", folder, code=2)
    error = result.err.splitlines()
    if location == "below a file":  # which `status` must not call an empty folder
        assert elmbench("status", "--results-dir", folder, code=2).err == result.err
        assert (
            error[0] == f"error: cannot read {folder}/.store/records: Not a directory"
        )
    else:
        assert error[0].startswith(f"error: cannot write {folder}/")
        assert error[1].startswith("Expected: a folder that can be written")
    assert "--results-dir" in error[2]
    assert len(error) == 3


def test_an_interrupted_run_keeps_what_has_ended(
    elmbench: Callable, one: Path, worker: dict
) -> None:
    def interrupt(unit: dict[str, Any]) -> dict[str, Any]:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.2)
        return {}

    worker["k-elm"] = interrupt
    result = elmbench(*CI, "-q", code=130)
    assert result.out == ""
    assert result.err == sentence("cli.run.interrupted-work-is-stored")
    assert (
        sentence("cli.run.interrupted-forced-run")
        in elmbench(*CI, "--force", code=130).err
    )
    # The tables are written with what had ended by then.
    assert set(cells()["model"]) == {"ELM"}
    worker.clear()
    again = elmbench(*CI)
    assert "are stored" in again.out
    assert len(cells()) == 12


@pytest.mark.parametrize(
    ("module", "number"),
    [("typer", "SIGINT"), ("elmbench.runs.prepare", "SIGINT"), ("typer", "SIGTERM")],
)
def test_ctrl_c_during_an_import_ends_the_command(
    module: str, number: str, tmp_path: Path
) -> None:
    code = f"""
import contextlib, signal, sys
from elmbench.__main__ import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            with contextlib.suppress(BaseException):  # as some C code does
                signal.raise_signal(signal.{number})

sys.meta_path.insert(0, Interrupting())
main()
"""
    words = ["--results-dir", str(tmp_path), "run", "table4", "-d", "wdbc", "-m", "elm"]
    ended = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 130
    assert ended.stderr == "interrupted\n"
