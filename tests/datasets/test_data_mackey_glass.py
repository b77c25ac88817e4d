"""The Mackey-Glass series: the same numbers everywhere, noise of its own every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from elmbench.datasets import generators
from elmbench.datasets.checksums import identify
from elmbench.datasets.load import load_dataset
from elmbench.specs.datasets import load_dataset_specs

if TYPE_CHECKING:
    from pathlib import Path

SPEC = load_dataset_specs()["mackey-glass"]
CLEAN = "32a67e4d47a087bbbfebdc0c699137892dd7c8806205ffe41357a38170e1a33a"


def test_checksum_of_the_clean_series() -> None:
    series = generators.clean_series(20_007)
    assert generators.series_sha256(series) == CLEAN


def test_the_series_solves_the_equation() -> None:
    # An independent integration by Heun's method, with a coarser step, before the chaos has grown.
    step, delay = 0.05, 600
    x = [0.9] * (delay + 1)
    for _ in range(int(60 / step)):
        late, now = x[-1 - delay], x[-1]
        drive = 0.2 * late / (1 + late**10)
        slope = drive - 0.1 * now
        x.append(now + step * (slope + drive - 0.1 * (now + step * slope)) / 2)
    np.testing.assert_allclose(generators.clean_series(11), x[delay :: int(6 / step)], atol=4e-3)


def test_rows_are_seven_samples_and_the_next_one() -> None:
    data = load_dataset("Mackey-Glass", options={"noise_variance": 0})
    series = generators.clean_series(20_007)
    assert data.X.shape == (20_000, 7)
    assert data.y.dtype == np.float64
    np.testing.assert_array_equal(data.X[0], series[:7])
    np.testing.assert_array_equal(data.X[-1], series[-8:-1])
    np.testing.assert_array_equal(data.y, series[7:])


def test_noise_is_added_to_the_series_and_redrawn_every_run() -> None:
    clean = load_dataset("mackey-glass", options={"noise_variance": 0})
    runs = [load_dataset("mackey-glass", run=run) for run in (0, 1)]
    for data in runs:
        assert np.var(data.y - clean.y) == pytest.approx(1.5e-4, rel=0.05)
        np.testing.assert_array_equal(data.X[1:, -1], data.y[:-1])  # one noise a sample, not one a use
    assert not np.array_equal(runs[0].y, runs[1].y)
    assert np.abs(np.corrcoef(runs[0].y - clean.y, runs[1].y - clean.y)[0, 1]) < 0.03
    np.testing.assert_array_equal(runs[1].y, load_dataset("mackey-glass", run=1).y)
    doubled = load_dataset("mackey-glass", options={"noise_variance": 2e-4})
    np.testing.assert_allclose(doubled.y - clean.y, (runs[0].y - clean.y) * np.sqrt(4 / 3), atol=1e-12)


def test_checksums_with_and_without_drawing_cover_options_and_run() -> None:
    cases = [(run, variance) for run in (0, 1) for variance in (0, 1e-4)]
    checksums = {load_dataset("mackey-glass", run=r, options={"noise_variance": v}).checksum for r, v in cases}
    identities = {identify(SPEC, None, r, {"noise_variance": v}) for r, v in cases}
    assert len(checksums) == len(identities) == 4
    assert identify(SPEC) == identify(SPEC, None, 0, {"noise_variance": 1.5e-4})


def test_the_clean_series_is_kept_and_checked(tmp_path: Path) -> None:
    generators.clean_series(20_007)
    (cached,) = (tmp_path / "cache").iterdir()
    assert cached.suffix == ".npy"
    for bad in (b"", cached.read_bytes()[:1000], cached.read_bytes()[:-8] + bytes(8)):
        cached.write_bytes(bad)
        assert generators.series_sha256(generators.clean_series(20_007)) == CLEAN
        assert [path.name for path in cached.parent.iterdir()] == [cached.name]
