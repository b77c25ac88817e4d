"""A command does what its arguments name, or says why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elmbench.running.store import Store
from elmbench.work.plan import Cell


def test_a_named_data_set_that_is_not_here_ends_in_2(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy(datasets=["wdbc", "sylva"])
    result = elmbench("run", "one", "--profile", "paper", "-d", "sylva")
    assert result.code == 2
    assert result.err.startswith("error: the data set 'sylva' is not here")
    assert "elmbench data fetch sylva" in result.err
    assert elmbench("run", "one", "--profile", "paper", "-q").code == 0


def test_printed_hyperparameters_that_nobody_printed(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    result = elmbench("run", "one", "--profile", "ci", "--select", "published")
    assert result.code == 2
    assert "no printed hyperparameters" in result.err
    assert "--select nested" in result.err


@pytest.mark.parametrize("other", [["--all"], ["--paper", "toy"]])
def test_a_name_beside_all_is_refused(elmbench: Callable, toy: Callable, other: list[str]) -> None:
    toy()
    result = elmbench("run", "one", *other)
    assert result.code == 2
    assert f"one is named beside {' '.join(other)}" in result.err


def test_a_whole_request_is_all_that_a_table_has(tmp_path: Path) -> None:
    one, two = (Cell("d", model, 0, 0, "nested", "", model, "f") for model in ("ELM", "SVM"))
    store = Store(tmp_path)
    store.add_cells("fast", "a/b", [one], "first", whole=True)
    store.add_cells("fast", "a/b", [two], "second", whole=True)
    assert store.cells("fast", "a/b") == [two]
    assert Store(tmp_path).commands("fast", "a/b") == ["second"]
    store.add_cells("fast", "a/b", [one, two], "third", whole=True)
    assert store.cells("fast", "a/b") == [one, two]


def test_a_check_is_about_what_was_run(elmbench: Callable, real: Path) -> None:
    result = elmbench("check", "--results-dir", real, "--json")
    assert result.code in (0, 1), result.err
    assert {line["experiment"] for line in result.json} <= {"kos-elm/table2", "kos-elm/table4", "kos-elm/table7"}
    alone = elmbench("check", "kos-elm/table3", "--results-dir", real)
    assert alone.code == 3


@pytest.mark.parametrize(("name", "what"), [("", "empty"), ("file", "not a folder")])
def test_a_results_folder_that_can_be_none(elmbench: Callable, name: str, what: str) -> None:
    Path("file").write_text("")
    result = elmbench("status", "--results-dir", name)
    assert result.code == 2
    assert f"--results-dir is {name!r}, which is {what}" in result.err


def test_a_terminal_of_few_signs() -> None:
    code = "from elmbench.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    print('0.9 ± 0.1')"
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("0.9 ? 0.1\n")
