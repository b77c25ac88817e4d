"""The comparison of the cells that two kernels of OpenBLAS give."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tools.blas_kernels import OUTCOME, compare

CELLS = OUTCOME.parents[1] / "paper" / "kos-elm" / "table4" / "cells.csv"


def test_cells_that_differ_are_counted(tmp_path: Path) -> None:
    folders = [tmp_path / name / "ci" / "kos-elm" / "table4" for name in "ab"]
    for folder in folders:
        folder.mkdir(parents=True)
        shutil.copy(CELLS, folder)
    cells = pd.read_csv(CELLS)
    cells.loc[0, "mcc"] += 0.25
    # Round-off, and a time.
    cells.loc[1, "mcc"] *= 1 + 1e-9
    cells.loc[1, "fit_seconds"] += 1
    cells.to_csv(folders[0] / "cells.csv", index=False)
    lines = {
        line["metric"]: line
        for line in compare(tmp_path / "a", tmp_path / "b", "Haswell")
    }
    assert lines["mcc"] == {
        "table": "kos-elm/table4", "kernel": "Haswell", "metric": "mcc", "cells": len(cells),
        "differ": 1,
        "largest": pytest.approx(0.25),
    }  # fmt: skip
    assert "fit_seconds" not in lines
    assert {line["differ"] for metric, line in lines.items() if metric != "mcc"} == {0}
