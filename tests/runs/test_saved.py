"""Results of earlier runs from Python."""

import shutil
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
import yaml
from made_cells import RESULTS, committed

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.results.cells import read_cells


@pytest.fixture
def two(tmp_path: Path) -> Path:
    for table in ("fast/kos-elm/table4", "paper/eem/table4"):
        shutil.copytree(RESULTS / table, tmp_path / "results" / table)
    hidden = tmp_path / "results" / ".store" / "fast" / "x" / "y"
    hidden.mkdir(parents=True)
    (hidden / "cells.csv").write_text("no table of results\n")
    return tmp_path / "results"


def test_each_table_is_that_of_the_command_and_its_frames_are_the_lines_of_its_files(
    two: Path,
) -> None:
    result = elmbench.read_results(two)
    assert list(result) == ["fast/kos-elm/table4", "paper/eem/table4"]
    assert len(result) == 2
    for name, table in result.items():
        assert table.folder == two / name
        files = {"summary.csv": table.summary, "claims.csv": table.claims}
        if len(table.optimism):
            files["optimism.csv"] = table.optimism
        for file, frame in files.items():
            written = pd.read_csv(two / name / file)
            pd.testing.assert_frame_equal(
                pd.read_csv(StringIO(frame.to_csv(index=False))), written, rtol=1e-12
            )
        pd.testing.assert_frame_equal(
            table.cells[[*pd.read_csv(two / name / "cells.csv")]],
            read_cells(two / name / "cells.csv"),
        )
    table = result["fast/kos-elm/table4"]
    assert table is result["fast/kos-elm/table4"]
    assert table.text == committed("fast/kos-elm/table4").text
    assert table.environment["experiment"] == "kos-elm/table4"
    assert str(table.summary["runs_to_tell"].dtype) == "Int64"


def test_all_tables_are_one_frame_with_profile_and_experiment(two: Path) -> None:
    result = elmbench.read_results(two)
    assert list(result.summary.columns[:4]) == ["profile", "paper", "table", "dataset"]
    for name, frame in (
        ("cells", result.cells),
        ("summary", result.summary),
        ("claims", result.claims),
    ):
        assert len(frame) == sum(
            len(getattr(table, name)) for table in result.values()
        ), name
    group = result.summary.query("profile == 'paper' and paper == 'eem'")
    pd.testing.assert_series_equal(
        group["mean"].reset_index(drop=True),
        result["paper/eem/table4"].summary["mean"],
        check_names=False,
    )
    assert set(result.optimism["paper"]) == {"eem"}


@pytest.mark.parametrize("part", ["fast", "fast/kos-elm", "fast/kos-elm/table4"])
def test_a_part_of_the_results_is_named_as_in_the_whole(two: Path, part: str) -> None:
    assert list(elmbench.read_results(two / part)) == ["fast/kos-elm/table4"]


def test_missing_results_are_named(tmp_path: Path, two: Path) -> None:
    for path in (tmp_path / "elsewhere", two / "fast/kos-elm/table4/cells.csv"):
        with pytest.raises(ElmbenchError, match="is not a folder"):
            elmbench.read_results(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ElmbenchError, match="holds no table"):
        elmbench.read_results(tmp_path / "empty")
    (two / "fast/kos-elm/table4/cells.csv").write_bytes(b"")
    with pytest.raises(ElmbenchError, match=r"cannot read .*cells\.csv"):
        _ = elmbench.read_results(two).summary


#: A table that no installation has.
TABLE = {
    "datasets": ["wdbc"],
    "protocol": {
        "scale": {"range": [0, 1]},
        "outer": {"kind": "stratified-kfold", "folds": 10},
        "inner": {"kind": "kfold", "folds": 2},
        "select": "nested",
        "metrics": ["mcc"],
    },
    "models": {"ELM": {"model": "elm", "search": {"C": [1, 8]}}},
}


def test_the_specs_of_own_tables_are_named(two: Path, tmp_path: Path) -> None:
    own = two / "fast" / "own" / "mine"
    own.mkdir(parents=True)
    cells = pd.read_csv(two / "fast/kos-elm/table4/cells.csv")
    is_own = (
        (cells["model"] == "ELM")
        & (cells["dataset"] == "wdbc")
        & cells["reading"].isna()
    )
    cells[is_own & (cells["select"] == "nested")].to_csv(own / "cells.csv", index=False)
    saved = elmbench.read_results(two)
    assert len(saved["paper/eem/table4"].summary)
    with pytest.raises(
        ElmbenchError, match="holds own/mine, which is not a table of"
    ) as caught:
        _ = saved.summary
    assert 'spec_dirs=["FOLDER"]' in str(caught.value)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "mine.yaml").write_text(yaml.safe_dump(TABLE))
    saved = elmbench.read_results(two, spec_dirs=[tmp_path / "specs"])
    assert set(saved.summary["table"]) == {"mine", "table4"}
