"""`elmbench data`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from elmbench.datasets import fetch as fetching
from elmbench.datasets.fetch import Fetched
from elmbench.errors import DataUnavailableError


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def wdbc(tmp_path: Path) -> Path:
    """A file of WDBC as its public source has it."""
    bunch = load_breast_cancer()
    path = tmp_path / "mine.csv"
    header = ",".join([*(f"V{i}" for i in range(1, 31)), "target"])
    rows = np.column_stack([bunch.data, np.where(bunch.target == 0, 2, 1)])
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt=["%.6f"] * 30 + ["%d"])
    return path


def test_every_data_set_says_where_it_comes_from(elmbench: Callable) -> None:
    result = elmbench("data", "status", "--json").json
    states = {entry["name"]: entry["state"] for entry in result}
    assert (states["wdbc"], states["mackey-glass"], states["sylva"]) == ("bundled", "generated", "to fetch")
    assert all(entry["where"] for entry in result)
    assert all(
        entry["next_step"] == f"elmbench data fetch {n}" for entry in result if states[n := entry["name"]] == "to fetch"
    )
    shown = elmbench("data", "status", "sylva", "WDBC")
    assert "1 to fetch; next: elmbench data fetch" in shown.out


def test_import_puts_a_file_where_it_is_found(elmbench: Callable, wdbc: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    result = elmbench("data", "import", "wdbc", wdbc, "--data-dir", folder, "--json")
    assert (result.json["rows"], result.json["columns"]) == (569, 30)
    assert [path.name for path in folder.iterdir()] == ["wdbc.csv"]
    (entry,) = elmbench("data", "status", "wdbc", "--data-dir", folder, "--json").json
    assert entry["state"] == "file"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up server, which has one data set."""

    def fetch(name: str, *, progress: object = None, force: bool = False) -> Fetched:
        if name != "sonar":
            raise DataUnavailableError(f"{name} cannot be reached", next_step="a network")
        return Fetched(name, "made up", True)

    monkeypatch.setattr(fetching, "fetch", fetch)


def test_fetch_says_what_it_brings(elmbench: Callable, server: None) -> None:
    result = elmbench("data", "fetch", "sonar")
    assert result.out.splitlines() == ["sonar: fetched (made up)"]
    assert elmbench("data", "fetch", "sonar", "--json").json == [
        {"name": "sonar", "origin": "made up", "downloaded": True}
    ]


def test_one_that_cannot_be_fetched_does_not_stop_the_others(elmbench: Callable, server: None) -> None:
    result = elmbench("data", "fetch", "heart", "sonar", code=2)
    assert "error: heart: heart cannot be reached" in result.err
    assert "sonar: fetched (made up)" in result.out
