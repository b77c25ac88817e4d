"""The committed results: verdicts computed a second time, figures drawn again."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_cells import RESULTS
from PIL import Image
from scipy.stats import t

from elmbench.report.checks import check_published
from elmbench.report.results import rewrite_results
from elmbench.results.folders import PICTURE, ResultsDirs
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve

#: Tables of the profile `paper` and what a printed mean of theirs is over.
TABLES = {
    "kos-elm/table4": ("mcc", 20),
    "eem/table4": ("gmean", 1),
    "rkelm/table5": ("accuracy", 20),
}


@pytest.mark.parametrize("table", TABLES)
def test_each_verdict_by_hand(table: str) -> None:
    (paper,) = check_published([table], "paper", ResultsDirs(RESULTS))
    metric, mean_of = TABLES[table]
    cells = pd.read_csv(
        RESULTS / "paper" / table / "cells.csv", keep_default_na=False, na_values=[""]
    )
    cells = cells[cells["reading"].isna()]
    resolved = resolve(find_experiment(table), "paper")
    assert len(paper.tables[0].published_values) > 3
    for line in paper.tables[0].published_values.to_dict("records"):
        part = cells[(cells["dataset"] == line["dataset"]) & (cells["model"] == line["model"])]
        part = part[part["select"] == line["select"]]
        if line["verdict"] == "no data":
            assert (part["status"] != "ok").any()
            continue
        runs = part.groupby("run")[metric].mean().to_numpy(float)
        figure = resolved.published[line["dataset"], line["model"], metric]
        published = float(figure.value)
        in_paper = resolved.printed_in_paper[line["dataset"], metric]
        others = [abs(other - published) for model, other in in_paper if model != line["model"]]
        if len(runs) < 3:
            expected = "too few runs"
        else:
            half = (
                t.ppf(0.975, len(runs) - 1)
                * runs.std(ddof=1)
                * np.sqrt(1 / mean_of + 1 / len(runs))
            )
            # At least the weight of one test row.
            half = max(half, 1 / part.groupby("run")["n_test"].sum().mean())
            half += 0.5 * 10.0 ** figure.value.as_tuple().exponent
            distance = abs(published - runs.mean())
            low = max(runs.mean() - half, -1 if metric == "mcc" else 0)
            high = min(runs.mean() + half, 1)
            margin = 0.02 if metric == "mcc" else 0.01
            is_narrow = high - low <= min(margin, np.median(others))
            is_near = distance <= margin + 0.5 * 10.0 ** figure.value.as_tuple().exponent
            if distance <= half:
                expected = "reproduced" if is_narrow else "consistent"
            else:
                expected = "close" if is_near else "differs"
            assert (line["low"], line["high"]) == pytest.approx((low, high))
        assert line["verdict"] == expected, line


@pytest.mark.parametrize(
    ("table", "from_cells"),
    # The figure of rkelm follows from the cells; that of kos-elm shows what models have put out, so
    # it stays.
    [("rkelm/figure2", True), ("kos-elm/figure3", False)],
)
def test_a_figure_is_drawn_again_if_it_follows_from_the_cells(
    tmp_path: Path, table: str, from_cells: bool
) -> None:
    folder = tmp_path / "fast" / table
    shutil.copytree(RESULTS / "fast" / table, folder)
    data = pd.read_csv(folder / "figure.csv")
    for name in (PICTURE, "figure.csv"):
        (folder / name).write_bytes(b"of before")
    rewrite_results(resolve(find_experiment(table), "fast"), tmp_path)
    assert f"]({PICTURE})" in (folder / "table.md").read_text("utf-8")
    if not from_cells:
        assert {(folder / name).read_bytes() for name in (PICTURE, "figure.csv")} == {b"of before"}
        return
    with Image.open(folder / PICTURE) as picture:
        assert picture.mode == "P"
        assert picture.size[0] > 1000
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure.csv"), data)
