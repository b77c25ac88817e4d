"""Figures of the committed results, drawn again from their cells."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
from PIL import Image

import elmbench
from elmbench.reporting.folders import PICTURE
from elmbench.reporting.results import rewrite_results
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import resolve

RESULTS = Path(elmbench.__file__).parents[1] / "results"


def copy_of(table: str, folder: Path) -> Path:
    part = folder / "fast" / table
    shutil.copytree(RESULTS / "fast" / table, part)
    return part


def test_a_figure_follows_from_the_cells(tmp_path: Path) -> None:
    folder = copy_of("rkelm/figure2", tmp_path)
    data = pd.read_csv(folder / "figure.csv")
    for name in (PICTURE, "figure.csv"):
        (folder / name).write_bytes(b"of before")
    rewrite_results(resolve(find_experiment("rkelm/figure2"), "fast"), tmp_path)
    with Image.open(folder / PICTURE) as picture:
        assert picture.mode == "P"
        assert picture.size[0] > 1000
    pd.testing.assert_frame_equal(pd.read_csv(folder / "figure.csv"), data)
    assert f"]({PICTURE})" in (folder / "table.md").read_text("utf-8")


def test_a_figure_of_what_models_have_put_out_stays(tmp_path: Path) -> None:
    folder = copy_of("kos-elm/figure3", tmp_path)
    for name in (PICTURE, "figure.csv"):
        (folder / name).write_bytes(b"of before")
    rewrite_results(resolve(find_experiment("kos-elm/figure3"), "fast"), tmp_path)
    assert {(folder / name).read_bytes() for name in (PICTURE, "figure.csv")} == {b"of before"}
    assert f"]({PICTURE})" in (folder / "table.md").read_text("utf-8")
