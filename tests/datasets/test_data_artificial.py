"""Artificial problems: their known error rate, their density, their streams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from elmbench.datasets.checksums import identify
from elmbench.datasets.generators import MIXED, base_waves, sparse_rows, waveform
from elmbench.datasets.load import load_dataset
from elmbench.datasets.status import status
from elmbench.specs.datasets import load_dataset_specs


def bayes_classes(X: np.ndarray) -> np.ndarray:
    """The class of the largest density, integrated over u on a grid: what no classifier can beat."""
    waves, grid = base_waves(), np.linspace(0, 1, 101)[:, None]
    distances = np.stack(
        [
            ((X[:, None, :] - (grid * waves[first] + (1 - grid) * waves[second])[None]) ** 2).sum(axis=2)
            for first, second in MIXED
        ]
    )
    # One offset a row for all classes keeps the exponentials from vanishing and the comparison true.
    nearest = distances.min(axis=(0, 2), keepdims=True)
    return np.argmax(np.exp(-0.5 * (distances - nearest)).mean(axis=2), axis=0)


def test_waveforms_have_the_known_bayes_rate() -> None:
    X, y = waveform("waveform-generated", 0, rows=4000)
    assert X.shape == (4000, 21)
    np.testing.assert_allclose(np.bincount(y) / 4000, 1 / 3, atol=0.03)
    # Breiman et al.: 14 % of the rows are misclassified at best; 4 standard deviations of 4,000 rows are 2.2 %.
    assert (bayes_classes(X) != y).mean() == pytest.approx(0.14, abs=0.022)


@pytest.mark.parametrize("name", ["waveform-generated", "sparse-10k"])
def test_rows_are_redrawn_every_run_and_the_same_in_each(name: str) -> None:
    first, again, other = (load_dataset(name, run=run) for run in (0, 0, 1))
    assert first.checksum == again.checksum != other.checksum


@pytest.mark.parametrize("density", [0.1, 0.001, 0.6])
def test_sparse_rows_have_the_density(density: float) -> None:
    X, y = sparse_rows("sparse-10k", 0, rows=50, features=10_000, density=density)
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
    assert (named.name, named.source) == ("sparse-10k[density=0.01]", "generator sparse (density 0.01)")
    assert (chosen.source, chosen.X.nnz, (chosen.y == 1).sum()) == (named.source, 600 * 100, 300)
    assert (named.X != chosen.X).nnz == 0
    assert named.checksum == chosen.checksum
    specs = load_dataset_specs()
    identities = [identify(specs.find("sparse-10k[density=0.01]"), run=2)]
    assert identities == [identify(specs["sparse-10k"], run=2, options={"density": 0.01})]


def test_a_file_of_ones_own_has_the_option_in_its_name(tmp_path: Path) -> None:
    X, y = sparse_rows("sparse-10k", 0, rows=600, features=10_000, density=0.001)
    dump_svmlight_file(X, y, str(tmp_path / "sparse-10k[density=0.6].svm"), zero_based=False)
    assert load_dataset("sparse-10k[density=0.6]", tmp_path).X.nnz == X.nnz
    assert load_dataset("sparse-10k[density=0.01]", tmp_path).X.nnz == 600 * 100
    (there,) = status(["sparse-10k[density=0.6]"], tmp_path)
    assert (there.name, there.state) == ("sparse-10k[density=0.6]", "file")
    (drawn,) = status(["sparse-10k[density=0.01]"], tmp_path)
    assert (drawn.name, drawn.state) == ("sparse-10k[density=0.01]", "generated")
