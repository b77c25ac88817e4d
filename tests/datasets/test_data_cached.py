"""Fetched data sets in the cache: complete or not there, known by their hash; the closed network."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback import Page, Server, toy

from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load_dataset
from elmbench.datasets.status import status
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs

Use = Callable[[dict[str, Any]], DatasetSpecs]
N = 100
TEXT = "".join(f"{1 if row % 2 else -1} 1:{row} 3:0.5\n" for row in range(N)).encode()


def libsvm(url: str, **source: Any) -> dict[str, Any]:
    shape = {"instances": N, "features": 3, "classes": {-1: N // 2, 1: N // 2}}
    return toy({"kind": "libsvm", "url": url, **source}, shape=shape)


@pytest.fixture
def fetched(server: Server, use_specs: Use, tmp_path: Path) -> Path:
    """The file in the cache of a data set that was fetched."""
    use_specs(libsvm(f"{server.url}/toy"))
    server.pages["/toy"] = server.pages["/new"] = Page(TEXT)
    assert fetch("toy").downloaded
    (path,) = (tmp_path / "cache" / "datasets" / "toy").iterdir()
    return path


def test_a_fetched_set_is_not_fetched_again_unless_it_is_forced(fetched: Path, server: Server) -> None:
    assert not fetch("toy").downloaded
    assert server.paths() == ["/toy"]
    assert fetch("toy", force=True).downloaded
    assert server.paths() == ["/toy"] * 2
    np.testing.assert_array_equal(load_dataset("toy").X[:, 0], np.arange(N))
    (entry,) = status(["toy"])
    assert entry.state == "fetched"
    assert entry.where.startswith("LIBSVM toy, fetched 20")


def test_another_address_is_another_source(fetched: Path, server: Server, use_specs: Use) -> None:
    use_specs(libsvm(f"{server.url}/new"))
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")
    use_specs(libsvm(f"{server.url}/toy", note="another note is the same source"))
    assert not fetch("toy").downloaded


def test_a_cached_file_that_was_changed(fetched: Path, server: Server) -> None:
    fetched.write_bytes(TEXT.replace(b"1:7 ", b"1:8 "))
    with pytest.raises(ElmbenchError, match="has been changed: its SHA-256 is") as error:
        load_dataset("toy")
    assert not isinstance(error.value, DataUnavailableError)
    assert "the file that was fetched" in str(error.value.expected)
    assert error.value.next_step == "elmbench data fetch toy"
    assert status(["toy"])[0].state == "bad"
    assert fetch("toy").downloaded
    assert load_dataset("toy").X[7, 0] == 7


def test_a_new_version_takes_the_place_of_the_old_one(fetched: Path, server: Server) -> None:
    server.pages["/toy"] = Page(TEXT.replace(b"1:7 ", b"1:8 "))
    fetch("toy", force=True)
    assert load_dataset("toy").X[7, 0] == 8
    assert len(list(fetched.parent.iterdir())) == 1


def test_one_part_of_two_is_not_the_data_set(fetched: Path, server: Server, use_specs: Use) -> None:
    content = libsvm("")
    content["toy"]["shape"]["split"] = [60, 40]
    content["toy"]["sources"] = [{"kind": "libsvm", "train": f"{server.url}/train", "test": f"{server.url}/test"}]
    use_specs(content)
    lines = TEXT.splitlines(keepends=True)
    server.pages["/train"], server.pages["/test"] = Page(b"".join(lines[:60])), Page(b"".join(lines[60:]))
    fetch("toy")
    splits = load_dataset("toy").splits
    assert splits is not None
    assert [len(rows) for rows in splits.values()] == [60, 40]
    next(fetched.parent.glob("*.test.*")).unlink()
    with pytest.raises(DataUnavailableError):
        load_dataset("toy")


def test_old_downloads_are_swept(fetched: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "downloads"
    (folder / "old").mkdir()
    (folder / "old" / "half").write_text("half")
    (folder / "new").mkdir()
    os.utime(folder / "old", (time.time() - 90_000,) * 2)
    fetch("toy", force=True)
    assert [path.name for path in folder.iterdir()] == ["new"]
