"""Folders of the tests: a cache of their own, and the real files where `ELMBENCH_DATA_DIR` names them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

GIVEN = os.environ.get("ELMBENCH_DATA_DIR")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ELMBENCH_DATA_DIR", raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real files."""
    if not GIVEN:
        pytest.skip("needs ELMBENCH_DATA_DIR: a folder with the public files")
    return Path(GIVEN)


@pytest.fixture(scope="session")
def wdbc_lines() -> list[str]:
    """The lines of wdbc.csv, header first, from what scikit-learn brings along."""
    bunch = load_breast_cancer()
    header = ",".join([f"V{place}" for place in range(1, 31)] + ["target"])
    labels = np.where(bunch.target == 0, 2, 1)
    rows = [",".join([*(f"{v:.6f}" for v in row), str(label)]) for row, label in zip(bunch.data, labels, strict=True)]
    return [header, *rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty data directory."""
    path = tmp_path / "data"
    path.mkdir()
    return path
