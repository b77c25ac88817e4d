"""`elmbench merge`, and the options of `run` that come with other machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd


def test_two_folders_become_one_table(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    for folder, model in (("a", "elm"), ("b", "k-elm")):
        assert elmbench("run", "one", "--profile", "ci", "-m", model, "--results-dir", folder).code == 0
    result = elmbench("merge", "a", "b", "--into", "c")
    assert result.code == 0
    assert "12 results joined in c" in result.out
    assert "written to c/ci/toy/one" in result.out
    cells = pd.read_csv("c/ci/toy/one/cells.csv")
    assert cells.groupby("model").size().to_dict() == {"ELM": 3, "K-ELM": 3}
    # Nothing is computed again of what was joined.
    again = elmbench("run", "one", "--profile", "ci", "-m", "elm", "-m", "k-elm", "--results-dir", "c")
    assert "cells to run" not in again.out
    result = elmbench("merge", "a", "--results-dir", "b", "--json").json
    assert (result["results"], result["unknown"]) == (6, [])


def test_clean_times_are_in_the_table_and_the_command(elmbench: Callable, toy: Callable, worker: dict) -> None:
    toy()
    result = elmbench("run", "one", "--profile", "ci", "-m", "elm", "--jobs", 2, "--clean-times")
    assert result.code == 0
    assert "times of fits: all measured one by one" in " ".join(result.out.split())
    assert set(pd.read_csv("elmbench-results/ci/toy/one/cells.csv")["clean_times"]) == {1.0}
    assert "--clean-times" in Path("elmbench-results/ci/toy/one/table.md").read_text()
