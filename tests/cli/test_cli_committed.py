"""A user's results stand before the committed ones, and never change them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from elmbench.reporting import folders

CI = ("--profile", "ci")


@pytest.fixture
def committed(real: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results folder of a real run, as the committed one."""
    monkeypatch.setattr(folders, "committed_results", lambda: real)
    return real


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_committed_tables_are_shown_until_the_user_has_run_them(elmbench: Callable, committed: Path) -> None:
    words = ("table", "table4", *CI, "--format", "csv")
    shown = elmbench(*words)
    assert shown.code == 0
    assert shown.err.startswith(f"committed results, {committed}/ci/kos-elm/table4; your own: elmbench run")
    before = content(committed)
    assert elmbench("run", "table4", *CI, "-d", "wdbc", "-m", "elm", "-q").code == 0
    assert content(committed) == before
    mine = elmbench(*words)
    assert mine.err.startswith("your results, elmbench-results/ci/kos-elm/table4; the committed ones: elmbench table")
    assert ",K-ELM," in shown.out
    assert ",K-ELM," not in mine.out
    again = elmbench(*words, "--results-dir", committed)
    assert (again.out, again.err) == (shown.out, "")


def test_a_check_says_whose_results_it_has_compared(elmbench: Callable, committed: Path) -> None:
    shutil.copytree(committed / "ci/kos-elm/table7", "elmbench-results/ci/kos-elm/table7")
    result = elmbench("check", "--against", "published", *CI)
    last = result.err.splitlines()[-1]
    assert last == f"1 tables from your results (elmbench-results), 2 from the committed ones ({committed})"
    lines = elmbench("check", "--against", "published", *CI, "--json").json
    assert {line["experiment"]: line["folder"] for line in lines} == {
        "kos-elm/table2": f"{committed}/ci/kos-elm/table2",
        "kos-elm/table4": f"{committed}/ci/kos-elm/table4",
        "kos-elm/table7": "elmbench-results/ci/kos-elm/table7",
    }


def test_a_report_shows_committed_tables_and_writes_beside_the_users(elmbench: Callable, committed: Path) -> None:
    before = content(committed)
    result = elmbench("report", "-q")
    assert result.code == 0, result.err
    assert content(committed) == before
    assert "elmbench-results/site/index.html" in result.out


def test_the_baseline_is_compared_with_the_users_cells_alone(elmbench: Callable, committed: Path) -> None:
    assert elmbench("check", "table4").code == 3


def test_status_of_a_fresh_clone_names_the_committed_tables(elmbench: Callable, committed: Path) -> None:
    result = elmbench("status")
    words = " ".join(result.out.split())
    assert words.startswith("nothing has been run into elmbench-results; ")
    assert words.endswith("holds 3 committed tables: elmbench table table4")


def test_the_committed_folder_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(folders, "_TOP", tmp_path)
    assert folders.committed_results() is None
    (tmp_path / "datasets.yaml").touch()
    assert folders.committed_results() == tmp_path / "results"
    monkeypatch.chdir(tmp_path)
    assert folders.committed_results() == Path("results")
