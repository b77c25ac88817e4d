"""Loading by name: which source wins, what comes out, and what it is identified by."""

from __future__ import annotations

import gzip
import lzma
from typing import TYPE_CHECKING

import numpy as np
import pytest

from elmbench.datasets.dataset import array_checksum
from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError

if TYPE_CHECKING:
    from pathlib import Path


def test_wdbc_without_any_file() -> None:
    data = load_dataset("WDBC")
    assert data.name == "wdbc"
    assert data.X.shape == (569, 30)
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int8
    assert (data.y == 1).sum() == 212  # malignant
    assert (data.y == -1).sum() == 357
    assert data.classes == ("1", "2")
    assert data.source == "scikit-learn load_breast_cancer"


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_file_comes_before_the_bundled_set(folder: Path, wdbc_lines: list[str], suffix: str) -> None:
    text = "\n".join([wdbc_lines[0], "0" + wdbc_lines[1][wdbc_lines[1].index(",") :], *wdbc_lines[2:]]).encode()
    packed = {"": text, ".gz": gzip.compress(text), ".xz": lzma.compress(text)}[suffix]
    (folder / f"wdbc.csv{suffix}").write_bytes(packed)
    data = load_dataset("wdbc", folder, other_data=True)
    assert data.X[0, 0] == 0
    assert data.checksum != load_dataset("wdbc").checksum


def test_the_data_directory_may_come_from_the_environment_and_its_files_may_be_links(
    folder: Path, tmp_path: Path, wdbc_lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere.csv").write_text("\n".join(wdbc_lines))
    (folder / "wdbc.csv").symlink_to(tmp_path / "elsewhere.csv")
    monkeypatch.setenv("ELMBENCH_DATA_DIR", str(folder))
    data = load_dataset("wdbc")
    assert data.source == str(folder / "wdbc.csv")
    assert data.checksum == load_dataset("wdbc", tmp_path / "data").checksum
    assert data.feature_names[0] == "V1"


def test_a_known_set_without_a_reachable_source_is_unavailable(folder: Path) -> None:
    with pytest.raises(DataUnavailableError, match="'sylva' is not here") as error:
        load_dataset("Sylva", folder)
    assert "elmbench data fetch sylva" in str(error.value.next_step)
    assert "sylva[.train|.test].<csv|" in str(error.value.expected)


def test_checksum_sees_every_part_and_no_layout() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([1, -1, 1], dtype=np.int8)
    first = array_checksum(X, y)
    assert array_checksum(np.asfortranarray(X), y) == first
    assert array_checksum(X.astype(">f8"), y.astype(np.int64)) == first
    assert array_checksum(np.where(X == 0, -0.0, X), y) == first
    changed = X.copy()
    changed[2, 1] = np.nextafter(5.0, 6.0)
    assert len({first, array_checksum(changed, y), array_checksum(X, -y), array_checksum(X.reshape(2, 3), y)}) == 4
    assert array_checksum(X, y, "run 1") != first
