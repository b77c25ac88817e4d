"""A check of tables against their papers, which the cache keeps for the same results."""

import json
import shutil
from pathlib import Path

import pytest

from elmbench.errors import ElmbenchWarning
from elmbench.report.checks import published_tables
from elmbench.report.checks.published_check import recall_check
from elmbench.results.folders import ResultsDirs

RESULTS = Path(__file__).parents[2] / "results"
TABLE = "kos-elm/table4"


@pytest.fixture
def dirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultsDirs:
    """Results of one table, and a cache of their own."""
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(RESULTS / "fast" / TABLE, tmp_path / "results/fast" / TABLE)
    return ResultsDirs(tmp_path / "results")


def refuse(*_: object) -> None:
    raise AssertionError("the check was computed again")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_same_check_comes_from_the_cache(
    dirs: ResultsDirs, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    computed = recall_check([TABLE], None, dirs, as_json=as_json)
    assert computed.compared
    assert bool(computed.json_dicts) is as_json
    assert bool(computed.blocks) is not as_json
    monkeypatch.setattr(published_tables, "check_published", refuse)
    assert recall_check([TABLE], None, dirs, as_json=as_json) == computed
    with pytest.raises(AssertionError):
        recall_check([TABLE], None, dirs, as_json=not as_json)
    with pytest.raises(AssertionError):
        recall_check([TABLE], "fast", dirs, as_json=as_json)


def test_a_check_of_other_results_or_another_folder_is_computed(
    dirs: ResultsDirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall_check([TABLE], None, dirs)
    shutil.copytree(tmp_path / "results", tmp_path / "copy")
    cells = dirs.user / "fast" / TABLE / "cells.csv"
    lines = cells.read_text().splitlines(keepends=True)
    cells.write_text("".join(lines[:-1]))
    monkeypatch.setattr(published_tables, "check_published", refuse)
    for changed in (dirs, ResultsDirs(tmp_path / "copy")):
        with pytest.raises(AssertionError):
            recall_check([TABLE], None, changed)


def test_a_check_that_warned_warns_again(dirs: ResultsDirs) -> None:
    cells = dirs.user / "fast" / TABLE / "cells.csv"
    text = cells.read_text()
    cells.write_text(text.replace("sylva", "unheard-of"))
    for _ in range(2):
        with pytest.warns(ElmbenchWarning, match="unheard-of"):
            recall_check([TABLE], None, dirs)


def test_the_json_of_a_check_has_numbers_for_decimals(dirs: ResultsDirs) -> None:
    check = recall_check([TABLE], None, dirs, as_json=True)
    (table,) = check.json_dicts or ()
    assert {type(value["published"]) for value in table["values"]} == {float}
    json.dumps(check.json_dicts)
