"""Checksums without rows: those of `load`, cached from one process to the next, and never those of other rows."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from elmbench.datasets import checksums
from elmbench.datasets.checksums import identify
from elmbench.datasets.load import load, load_checked
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets import load_dataset_specs

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


@pytest.fixture
def file(folder: Path, wdbc_lines: list[str]) -> Path:
    path = folder / "wdbc.csv"
    path.write_text("\n".join(wdbc_lines))
    return path


def test_the_second_call_loads_nothing(file: Path, loaded: list[str]) -> None:
    first = identify(WDBC, file.parent)
    assert first.checksum == load(WDBC, file.parent).checksum
    assert identify(WDBC, file.parent) == first
    checksums._known.clear()  # as in another process
    assert identify(WDBC, file.parent) == first
    assert loaded == ["wdbc"]
    assert identify(WDBC) == first  # the bundled rows are others that happen to be the same
    assert loaded == ["wdbc"] * 2


@pytest.mark.parametrize("name", ["waveform-generated", "mackey-glass", "sparse-10k[density=0.01]"])
def test_redrawn_data_are_not_drawn(name: str, loaded: list[str]) -> None:
    spec = load_dataset_specs().find(name)
    assert identify(spec) == identify(spec) != identify(spec, run=1)
    assert loaded == []


def test_data_that_are_not_here() -> None:
    with pytest.raises(DataUnavailableError, match="is not here"):
        identify(load_dataset_specs()["waveform"])


def test_a_file_that_changed_is_loaded_again(file: Path, wdbc_lines: list[str], loaded: list[str]) -> None:
    first, times = identify(WDBC, file.parent), file.stat()
    changed = "\n".join([wdbc_lines[0], wdbc_lines[1].replace("17.990000", "17.990001"), *wdbc_lines[2:]])
    assert len(changed) == times.st_size
    file.write_text(changed)
    second = identify(WDBC, file.parent)
    assert second.checksum == load(WDBC, file.parent).checksum != first.checksum
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    checksums._known.clear()  # as in another process
    assert identify(WDBC, file.parent) == second
    assert loaded == ["wdbc"] * 3
    file.write_text("\n".join(wdbc_lines[:-1]))
    with pytest.raises(ElmbenchError, match="568 rows"):
        identify(WDBC, file.parent)
    assert len(json.loads((Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json").read_text())) == 1


@pytest.mark.parametrize("what", ["spec", "loader", "packages"])
def test_whatever_else_the_rows_depend_on(
    file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    identify(WDBC, file.parent)
    assert identify(WDBC.model_copy(update={"title": "another", "notes": ()}), file.parent)
    assert loaded == ["wdbc"]
    spec = WDBC
    if what == "spec":
        spec = WDBC.model_copy(update={"positive": ("1",), "fingerprint": None})
    elif what == "loader":
        monkeypatch.setattr(checksums, "LOADER_VERSION", 0)
    else:
        monkeypatch.setattr(checksums, "_packages", lambda: {"numpy": "0"})
    assert identify(spec, file.parent).checksum == load(spec, file.parent).checksum
    assert loaded == ["wdbc"] * 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", None])
def test_a_damaged_index_is_built_again(file: Path, loaded: list[str], content: bytes | None) -> None:
    first = identify(WDBC, file.parent)
    index = Path(os.environ["ELMBENCH_CACHE_DIR"]) / "checksums.json"
    if content is None:
        ((name, entry),) = json.loads(index.read_text()).items()
        content = json.dumps({name: [*entry[:2], None]}).encode()
    index.write_bytes(content)
    for _ in range(2):
        checksums._known.clear()  # as in another process
        assert identify(WDBC, file.parent) == first
    assert loaded == ["wdbc"] * 2


def test_a_cache_that_cannot_be_written_costs_time_only(
    file: Path, loaded: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in the way").write_text("")
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "in the way"))
    assert identify(WDBC, file.parent) == identify(WDBC, file.parent)
    assert loaded == ["wdbc"]
