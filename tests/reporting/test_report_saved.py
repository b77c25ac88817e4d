"""`elmbench.read_results`: what a run has written, as data frames."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pandas as pd
import pytest
from made_cells import RESULTS

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.reporting.cells import read_cells


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def as_written(frame: pd.DataFrame) -> list[dict[str, str]]:
    """The lines of a frame as the file has them."""
    texts = frame.astype(object).where(frame.notna(), "")
    return [{name: str(value) for name, value in line.items()} for line in texts.to_dict("records")]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    for table in ("fast/kos-elm/table4", "paper/eem/table4"):
        shutil.copytree(RESULTS / table, tmp_path / "results" / table)
    (tmp_path / "results" / ".store" / "fast" / "x" / "y").mkdir(parents=True)
    (tmp_path / "results" / ".store" / "fast" / "x" / "y" / "cells.csv").write_text("no table of results\n")
    return tmp_path / "results"


def test_each_frame_is_the_file_that_was_written(two: Path) -> None:
    result = elmbench.read_results(two)
    assert list(result) == ["fast/kos-elm/table4", "paper/eem/table4"]
    for name, table in result.items():
        for frame, file in ((table.summary, "summary.csv"), (table.claims, "claims.csv")):
            assert as_written(frame) == lines(two / name / file), (name, file)
        pd.testing.assert_frame_equal(table.cells, read_cells(two / name / "cells.csv"))
    assert as_written(result["paper/eem/table4"].optimism) == lines(two / "paper/eem/table4/optimism.csv")
    assert result["fast/kos-elm/table4"].optimism.empty
    assert result["fast/kos-elm/table4"].figure is None
    assert result["fast/kos-elm/table4"].environment["experiment"] == "kos-elm/table4"


def test_all_tables_are_one_frame_with_their_place(two: Path) -> None:
    result = elmbench.read_results(two)
    assert list(result.summary.columns[:4]) == ["profile", "paper", "table", "dataset"]
    for name, frame in (("cells", result.cells), ("summary", result.summary), ("claims", result.claims)):
        assert len(frame) == sum(len(getattr(table, name)) for table in result.values()), name
    group = result.summary.query("profile == 'paper' and paper == 'eem'")
    pd.testing.assert_series_equal(
        group["mean"].reset_index(drop=True), result["paper/eem/table4"].summary["mean"], check_names=False
    )
    assert set(result.optimism["paper"]) == {"eem"}


@pytest.mark.parametrize("part", ["fast", "fast/kos-elm", "fast/kos-elm/table4"])
def test_a_part_of_the_results_is_named_as_in_the_whole(two: Path, part: str) -> None:
    assert list(elmbench.read_results(two / part)) == ["fast/kos-elm/table4"]


def test_words_are_words_where_all_are_missing(two: Path) -> None:
    summary = elmbench.read_results(two)["fast/kos-elm/table4"].summary
    assert set(summary[summary["metric"] == "fit_seconds"]["verdict"]) == {""}
    assert str(summary["runs_to_tell"].dtype) == "Int64"


def test_what_is_not_there_is_said(tmp_path: Path, two: Path) -> None:
    with pytest.raises(ElmbenchError, match="does not exist"):
        elmbench.read_results(tmp_path / "elsewhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ElmbenchError, match="holds no table"):
        elmbench.read_results(tmp_path / "empty")
    (two / "fast/kos-elm/table4/summary.csv").write_bytes(b"")
    with pytest.raises(ElmbenchError, match=r"cannot read .*summary\.csv"):
        _ = elmbench.read_results(two).summary
