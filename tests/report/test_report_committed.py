"""The committed results: verdicts computed a second time, figures drawn again."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_cells import RESULTS
from PIL import Image
from scipy.stats import t
from sentences import pattern

from elmbench.errors import ElmbenchError
from elmbench.report.checks.published_tables import check_published
from elmbench.report.result_files import rewrite_results
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
    assert len(paper.tables[0].judged.published_values) > 3
    for line in paper.tables[0].judged.published_values.to_dict("records"):
        part = cells[
            (cells["dataset"] == line["dataset"]) & (cells["model"] == line["model"])
        ]
        part = part[part["select"] == line["select"]]
        if line["verdict"] == "no data":
            assert (part["status"] != "ok").any()
            continue
        runs = part.groupby("run")[metric].mean().to_numpy(float)
        figure = resolved.published[line["dataset"], line["model"], metric]
        published = float(figure.value)
        in_paper = resolved.published_in_paper[line["dataset"], metric]
        others = [
            abs(other - published)
            for model, other in in_paper
            if model != line["model"]
        ]
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
            is_near = (
                distance <= margin + 0.5 * 10.0 ** figure.value.as_tuple().exponent
            )
            if distance <= half:
                expected = "reproduced" if is_narrow else "consistent"
            else:
                expected = "close" if is_near else "differs"
            assert (line["low"], line["high"]) == pytest.approx((low, high))
        assert line["verdict"] == expected, line


@pytest.mark.parametrize(
    ("table", "from_cells"),
    # The data of the figure of rkelm follow from the cells; those of kos-elm come from the outputs of
    # models, so they stay.
    [("rkelm/figure2", True), ("kos-elm/figure3", False)],
)
def test_a_figure_is_drawn_again(tmp_path: Path, table: str, from_cells: bool) -> None:
    folder = tmp_path / "fast" / table
    shutil.copytree(RESULTS / "fast" / table, folder)
    data = pd.read_csv(folder / "figure.csv")
    (folder / PICTURE).write_bytes(b"of before")
    if from_cells:
        (folder / "figure.csv").write_bytes(b"of before")
    resolved = resolve(find_experiment(table), "fast")
    rewrite_results(resolved, tmp_path, "svg")
    assert f"]({PICTURE})" in (folder / "table.md").read_text("utf-8")
    assert (folder / "figure.svg").read_bytes().startswith(b"<?xml")
    assert not (folder / "figure.pdf").exists()
    (folder / "figure.svg").write_bytes(b"of before")
    rewrite_results(resolved, tmp_path, "pdf")
    # A format of an earlier run does not show an earlier figure.
    assert (folder / "figure.svg").read_bytes().startswith(b"<?xml")
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
    with Image.open(folder / PICTURE) as picture:
        assert picture.mode == "P"
        assert picture.size[0] > 1000
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure.csv"), data)


def test_damaged_data_of_a_figure_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "fast/kos-elm/figure3"
    shutil.copytree(RESULTS / "fast/kos-elm/figure3", folder)
    (folder / "figure.csv").write_text("model,recall\nELM,1\n")
    with pytest.raises(
        ElmbenchError, match=pattern("report.results.data-of-figure-missing")
    ) as error:
        rewrite_results(resolve(find_experiment("kos-elm/figure3"), "fast"), tmp_path)
    assert "elmbench run kos-elm/figure3" in str(error.value)
