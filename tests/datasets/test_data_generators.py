"""Generated data: known error rates, densities and streams, and a series of the same numbers
everywhere.
"""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from elmbench.datasets.find import dataset_statuses
from elmbench.datasets.generators import (
    MIXED,
    base_waves,
    clean_series,
    draw_sparse_rows,
    waveform,
)
from elmbench.datasets.load import identify, load_dataset
from elmbench.specs.datasets import load_dataset_specs

CLEAN = "32a67e4d47a087bbbfebdc0c699137892dd7c8806205ffe41357a38170e1a33a"
MACKEY_GLASS = load_dataset_specs()["mackey-glass"]


def bayes_classes(X: np.ndarray) -> np.ndarray:
    """The class of the largest density, integrated over u on a grid: what no classifier can
    beat.
    """
    waves, grid = base_waves(), np.linspace(0, 1, 101)[:, None]
    distances = np.stack(
        [
            (
                (
                    X[:, None, :]
                    - (grid * waves[first] + (1 - grid) * waves[second])[None]
                )
                ** 2
            ).sum(axis=2)
            for first, second in MIXED
        ]
    )
    # One offset a row for all classes keeps the exponentials from vanishing and the comparison
    # true.
    nearest = distances.min(axis=(0, 2), keepdims=True)
    return np.argmax(np.exp(-0.5 * (distances - nearest)).mean(axis=2), axis=0)


def test_waveforms_have_the_known_bayes_rate() -> None:
    X, y = waveform("waveform-generated", 0, rows=4000)
    assert X.shape == (4000, 21)
    np.testing.assert_allclose(np.bincount(y) / 4000, 1 / 3, atol=0.03)
    # Breiman et al.: 14 % of the rows are misclassified at best; 4 standard deviations of 4,000
    # rows are 2.2 %.
    assert (bayes_classes(X) != y).mean() == pytest.approx(0.14, abs=0.022)


@pytest.mark.parametrize("name", ["waveform-generated", "sparse-10k"])
def test_rows_are_redrawn_every_run_and_the_same_in_each(name: str) -> None:
    first, again, other = (load_dataset(name, run=run) for run in (0, 0, 1))
    assert first.checksum == again.checksum != other.checksum


@pytest.mark.parametrize("density", [0.1, 0.001, 0.6])
def test_sparse_rows_have_the_density(density: float) -> None:
    X, y = draw_sparse_rows("sparse-10k", 0, rows=50, features=10_000, density=density)
    assert sp.issparse(X)
    assert X.nnz == 50 * round(density * 10_000)
    np.testing.assert_array_equal(np.diff(X.indptr), round(density * 10_000))
    assert X.data.min() > 0
    assert X.data.max() <= 1
    assert np.unique(X.indices).size > 0.9 * 10_000 * min(1, 50 * density)
    assert sorted(y) == [-1] * 25 + [1] * 25


def test_a_name_with_an_option_holds_the_rows_of_that_option() -> None:
    named = load_dataset("sparse-10k[density=0.01]", run=2)
    chosen = load_dataset("sparse-10k", run=2, options={"density": 0.01})
    assert (named.name, named.source) == (
        "sparse-10k[density=0.01]",
        "generator sparse (density 0.01)",
    )
    assert (chosen.source, chosen.X.nnz, (chosen.y == 1).sum()) == (
        named.source,
        600 * 100,
        300,
    )
    assert (named.X != chosen.X).nnz == 0
    assert named.checksum == chosen.checksum
    specs = load_dataset_specs()
    identities = [identify(specs.find("sparse-10k[density=0.01]"), run=2)]
    assert identities == [
        identify(specs["sparse-10k"].with_options({"density": 0.01}), run=2)
    ]


def test_a_file_of_ones_own_has_the_option_in_its_name(tmp_path: Path) -> None:
    X, y = draw_sparse_rows("sparse-10k", 0, rows=600, features=10_000, density=0.001)
    dump_svmlight_file(
        X, y, str(tmp_path / "sparse-10k[density=0.6].svm"), zero_based=False
    )
    assert load_dataset("sparse-10k[density=0.6]", tmp_path).X.nnz == X.nnz
    assert load_dataset("sparse-10k[density=0.01]", tmp_path).X.nnz == 600 * 100
    (there,) = dataset_statuses(["sparse-10k[density=0.6]"], tmp_path)
    assert (there.name, there.state) == ("sparse-10k[density=0.6]", "file")
    (drawn,) = dataset_statuses(["sparse-10k[density=0.01]"], tmp_path)
    assert (drawn.name, drawn.state) == ("sparse-10k[density=0.01]", "generated")


def test_the_series_solves_the_equation() -> None:
    # An independent integration by Heun's method, with a coarser step, before the chaos has grown.
    step, delay = 0.05, 600
    x = [0.9] * (delay + 1)
    for _ in range(int(60 / step)):
        late, now = x[-1 - delay], x[-1]
        drive = 0.2 * late / (1 + late**10)
        slope = drive - 0.1 * now
        x.append(now + step * (slope + drive - 0.1 * (now + step * slope)) / 2)
    np.testing.assert_allclose(clean_series(11), x[delay :: int(6 / step)], atol=4e-3)


def test_rows_are_seven_samples_and_the_next_one() -> None:
    data = load_dataset("Mackey-Glass", options={"noise_variance": 0})
    series = clean_series(20_007)
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
        # One noise a sample, not one a use.
        np.testing.assert_array_equal(data.X[1:, -1], data.y[:-1])
    assert not np.array_equal(runs[0].y, runs[1].y)
    assert np.abs(np.corrcoef(runs[0].y - clean.y, runs[1].y - clean.y)[0, 1]) < 0.03
    np.testing.assert_array_equal(runs[1].y, load_dataset("mackey-glass", run=1).y)
    doubled = load_dataset("mackey-glass", options={"noise_variance": 2e-4})
    np.testing.assert_allclose(
        doubled.y - clean.y, (runs[0].y - clean.y) * np.sqrt(4 / 3), atol=1e-12
    )


def test_checksums_with_and_without_drawing_cover_options_and_run() -> None:
    cases = [(run, variance) for run in (0, 1) for variance in (0, 1e-4)]
    checksums = {
        load_dataset("mackey-glass", run=r, options={"noise_variance": v}).checksum
        for r, v in cases
    }
    identities = {
        identify(MACKEY_GLASS.with_options({"noise_variance": v}), run=r)
        for r, v in cases
    }
    assert len(checksums) == len(identities) == 4
    assert identify(MACKEY_GLASS) == identify(
        MACKEY_GLASS.with_options({"noise_variance": 1.5e-4})
    )


def test_the_clean_series_is_the_same_everywhere() -> None:
    assert (
        hashlib.sha256(clean_series(20_007).astype("<f8").tobytes()).hexdigest()
        == CLEAN
    )
