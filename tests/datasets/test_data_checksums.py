"""Checksums without rows: what `load` gives, kept from one process to the next, and never that of other rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Page, Server

from elmbench.datasets import checksums
from elmbench.datasets.checksums import identify
from elmbench.datasets.fetch import fetch
from elmbench.datasets.load import load, load_checked
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import DatasetSpecs, load_dataset_specs

WDBC = load_dataset_specs()["wdbc"]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the data sets that are loaded for a checksum from now on."""
    names: list[str] = []

    def note(spec: Any, *args: Any) -> Any:
        names.append(spec.name)
        return load_checked(spec, *args)

    monkeypatch.setattr(checksums, "load_checked", note)
    return names


def in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this process knows."""
    monkeypatch.setattr(checksums, "_known", {})


@pytest.fixture
def own_file(folder: Path, wdbc_lines: list[str]) -> Path:
    path = folder / "wdbc.csv"
    path.write_text("\n".join(wdbc_lines))
    return path


def test_the_second_call_loads_nothing(own_file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = identify(WDBC, own_file.parent)
    assert first.checksum == load(WDBC, own_file.parent).checksum
    assert identify(WDBC, own_file.parent) == first
    in_another_process(monkeypatch)
    assert identify(WDBC, own_file.parent) == first
    assert loaded == ["wdbc"]
    assert identify(WDBC) == first  # the bundled rows are others that happen to be the same
    assert loaded == ["wdbc"] * 2


WITHOUT_FILES = ["wdbc", "waveform", "waveform-generated", "mackey-glass", "sparse-10k", "sparse-10k[density=0.01]"]


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_data_without_files(name: str, loaded: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = load_dataset_specs().find(name)
    try:
        expected = load(spec).checksum
    except DataUnavailableError:
        with pytest.raises(DataUnavailableError, match="is not here"):
            identify(spec)
        return
    first = identify(spec)
    in_another_process(monkeypatch)
    assert identify(spec) == first
    if spec.redraw:
        assert loaded == []
        assert identify(spec, run=1) != first
    else:
        assert first.checksum == expected
        assert loaded == [name]


def test_a_file_that_changed_is_loaded_again(
    own_file: Path, wdbc_lines: list[str], loaded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, times = identify(WDBC, own_file.parent), own_file.stat()
    changed = "\n".join([wdbc_lines[0], wdbc_lines[1].replace("17.990000", "17.990001"), *wdbc_lines[2:]])
    assert len(changed) == times.st_size
    own_file.write_text(changed)
    second = identify(WDBC, own_file.parent)
    assert second.checksum == load(WDBC, own_file.parent).checksum != first.checksum
    os.utime(own_file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    in_another_process(monkeypatch)
    assert identify(WDBC, own_file.parent) == second
    assert loaded == ["wdbc"] * 3
    own_file.write_text("\n".join(wdbc_lines[:-1]))
    with pytest.raises(ElmbenchError, match="568 rows"):
        identify(WDBC, own_file.parent)
    assert len(json.loads((Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json").read_text())) == 1


@pytest.mark.parametrize("what", ["spec", "loader", "packages"])
def test_whatever_else_the_rows_depend_on(
    own_file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    identify(WDBC, own_file.parent)
    assert identify(WDBC.model_copy(update={"title": "another", "notes": ()}), own_file.parent)
    assert loaded == ["wdbc"]
    spec = WDBC
    if what == "spec":
        spec = WDBC.model_copy(update={"positive": ("1",), "fingerprint": None})
    elif what == "loader":
        monkeypatch.setattr(checksums, "LOADER_VERSION", 0)
    else:
        monkeypatch.setattr(checksums, "_packages", lambda: {"numpy": "0"})
    assert identify(spec, own_file.parent).checksum == load(spec, own_file.parent).checksum
    assert loaded == ["wdbc"] * 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"wdbc": 3}', None])
def test_a_damaged_index_is_built_again(
    own_file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    first = identify(WDBC, own_file.parent)
    index = Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json"
    if content is None:
        ((place, entry),) = json.loads(index.read_text()).items()
        content = json.dumps({place: [*entry[:2], None]}).encode()
    index.write_bytes(content)
    for _ in range(2):
        in_another_process(monkeypatch)
        assert identify(WDBC, own_file.parent) == first
    assert loaded == ["wdbc"] * 2


def test_a_cache_that_cannot_be_written_costs_time_only(
    own_file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in the way").write_text("")
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "in the way"))
    assert identify(WDBC, own_file.parent) == identify(WDBC, own_file.parent)
    assert loaded == ["wdbc"]
    in_another_process(monkeypatch)
    identify(WDBC, own_file.parent)
    assert loaded == ["wdbc"] * 2


def test_fetched_files(
    server: Server,
    use_specs: Callable[[dict[str, Any]], DatasetSpecs],
    loaded: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = {"instances": 3, "features": 2, "classes": {-1: 1, 1: 2}}
    source = {"kind": "libsvm", "url": f"{server.url}/toy"}
    entry = {"title": "Toy", "task": "classification", "shape": shape, "sources": [source], "citation": "none"}
    spec = use_specs({"toy": entry})["toy"]
    with pytest.raises(DataUnavailableError):
        identify(spec)
    server.pages["/toy"] = Page(b"1 1:3\n-1 2:1\n1 1:1\n")
    fetch("toy")
    first = identify(spec)
    assert first.checksum == load(spec).checksum
    in_another_process(monkeypatch)
    assert identify(spec) == first
    assert loaded == ["toy"]
    (path,) = Path(os.environ["ELMBENCH_CACHE_DIR"]).rglob("*.svm")
    path.unlink()
    with pytest.raises(DataUnavailableError):
        identify(spec)
