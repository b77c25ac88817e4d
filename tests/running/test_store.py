"""The store: written whole or not at all, damaged parts count as missing, what is stale goes and what is not stays."""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.files import WriteError
from elmbench.running.store import Store
from elmbench.work.base import Grid
from elmbench.work.choice import Choice
from elmbench.work.plan import Cell

WORK = Choice(Grid({"C": [1.0]}), None, ("a",))
KEY = WORK.key
RESULT = {"status": "ok", "reason": "", "metrics": {"mcc": 0.25}, "warnings": ["ü"]}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def in_a_child(action: Callable[[], None]) -> int:
    """Run something in a forked process; return its number."""
    process = os.fork()
    if process == 0:
        try:
            action()
        finally:
            os._exit(0)
    return process


# --- Parts -----------------------------------------------------------------------------------------------------------


def test_what_is_put_is_there(store: Store) -> None:
    assert store.get(KEY) is None
    assert store.result(KEY) is None
    store.put(WORK, RESULT, "e1")
    assert store.get(KEY) == {"key": KEY, "unit": WORK.content(), "result": RESULT, "environment": "e1"}
    assert Store(store.root.parent).result(KEY) == RESULT
    store.put(WORK, RESULT | {"status": "failed"}, "e2")
    assert store.result(KEY) == RESULT | {"status": "failed"}


def part(store: Store) -> Path:
    (path,) = (store.root / "units").rglob("*.json")
    return path


def test_a_truncated_part_counts_as_missing(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    path = part(store)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.result(KEY) is None, length
    path.write_bytes(whole)
    assert store.result(KEY) == RESULT


@pytest.mark.parametrize(
    "content",
    [
        b"\x00" * 100, b"\xff\xfe", b"[]", b"3", b"null", b"{}", b'{"result": {"status": "ok"}}',
        json.dumps({"key": KEY, "result": None}).encode(),
        json.dumps({"key": KEY, "result": {}}).encode(),
        json.dumps({"key": "another", "result": RESULT}).encode(),
    ],
)  # fmt: skip
def test_a_damaged_part_counts_as_missing(store: Store, content: bytes) -> None:
    store.put(WORK, RESULT, "e")
    part(store).write_bytes(content)
    assert store.get(KEY) is None
    store.put(WORK, RESULT, "e")
    assert store.result(KEY) == RESULT


def test_nothing_in_the_store_can_run_code(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    store.put_environment({"python": "3"})
    store.add_cells("ci", "toy/one", [cell()], "run")
    for path in store.root.rglob("*"):
        if path.is_file():
            json.loads(path.read_text())


# --- Writes that fail ------------------------------------------------------------------------------------------------


def test_what_a_killed_write_leaves_is_no_part(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    path = part(store)
    path.with_name(f".{path.name}.7.abc123.part").write_text('{"key":')
    assert store.result(KEY) == RESULT


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("number", "reason"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")]
)
def test_a_write_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, number: int, reason: str
) -> None:
    store.put(WORK, RESULT, "e")

    def fail(*args: Any, **how: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(WriteError, match=reason) as error:
            store.put(WORK, RESULT | {"status": "failed"}, "e")
    assert str(part(store)) in error.value.found
    assert "--results-dir" in str(error.value.next_step)
    assert store.result(KEY) == RESULT
    assert [p.name for p in part(store).parent.iterdir()] == [f"{KEY}.json"]


def test_a_disk_that_fills(store: Store, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails half-way."""
    store.put(WORK, RESULT, "e")
    log = tmp_path / "log"

    def write_more() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        try:
            store.put(WORK, RESULT | {"metrics": {str(i): 0.5 for i in range(1000)}}, "e")
        except WriteError as error:
            log.write_text(str(error))

    os.waitpid(in_a_child(write_more), 0)
    assert "cannot write" in log.read_text()
    assert "File too large" in log.read_text()
    assert store.result(KEY) == RESULT
    assert [p.name for p in part(store).parent.iterdir()] == [f"{KEY}.json"]


def test_a_results_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    assert store.result(KEY) is None
    with pytest.raises(WriteError, match=r"cannot write .*: Not a directory|File exists"):
        store.put(WORK, RESULT, "e")
    with pytest.raises(WriteError, match="cannot write"):
        store.add_cells("ci", "toy/one", [cell()], "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_results_folder(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    folder = part(store).parent
    folder.chmod(0o500)
    try:
        with pytest.raises(WriteError, match="Permission denied"):
            store.put(WORK, RESULT | {"status": "failed"}, "e")
        assert store.result(KEY) == RESULT
    finally:
        folder.chmod(0o700)


# --- Environments ----------------------------------------------------------------------------------------------------


def test_environments_are_kept_once(store: Store) -> None:
    first = store.put_environment({"python": "3.11", "cores": 2})
    assert store.put_environment({"cores": 2, "python": "3.11"}) == first
    assert store.put_environment({"python": "3.12", "cores": 2}) != first
    assert store.environment(first) == {"python": "3.11", "cores": 2}
    assert store.environment("lost") == {"hash": "lost"}


# --- What belongs to a table -----------------------------------------------------------------------------------------


def cell(**changes: Any) -> Cell:
    entry = Cell("wdbc", "ELM", 0, 0, "nested", "", key="k0", family="f1")
    return replace(entry, **changes)


def cells(n_runs: int, **changes: Any) -> list[Cell]:
    return [cell(run=run, fold=fold, key=f"{changes.get('family', 'f1')}-{run}-{fold}", **changes)
            for run in range(n_runs) for fold in range(2)]  # fmt: skip


MISSING = {"key": "", "family": "unavailable", "unavailable": "not here"}


def missing(n_runs: int) -> list[Cell]:
    return [replace(entry, **MISSING) for entry in cells(n_runs)]


def kept(store: Store, *requests: list[Cell]) -> list[Cell]:
    for request in requests:
        store.add_cells("ci", "toy/one", request, "run")
    return store.cells("ci", "toy/one")


def test_cells_add_up(store: Store) -> None:
    assert kept(store) == []
    assert kept(store, cells(1)) == cells(1)
    other = cells(1, model="K-ELM")
    assert kept(store, other) == cells(1) + other
    assert kept(store, cells(3)) == cells(1) + other + cells(3)[2:]
    assert kept(store, cells(1)) == cells(1) + other + cells(3)[2:]


def test_tables_and_profiles_are_apart(store: Store) -> None:
    store.add_cells("ci", "toy/one", cells(1), "run")
    assert store.cells("fast", "toy/one") == []
    assert store.cells("ci", "toy/two") == []


@pytest.mark.parametrize("place", [{"dataset": "x"}, {"model": "x"}, {"select": "oracle"}, {"reading": "a=b"}])
def test_another_entry_displaces_nothing(store: Store, place: dict[str, str]) -> None:
    other = cells(1, family="f2", **place)
    assert kept(store, cells(2), other) == cells(2) + other


def test_cells_of_an_entry_that_has_changed_are_dropped(store: Store) -> None:
    """Also those of runs that are not asked for now: another protocol's must not be averaged with them."""
    changed = cells(1, family="f2")
    other = cells(1, model="K-ELM")
    assert kept(store, cells(3) + other, changed) == other + changed


def test_data_that_are_not_here_displace_nothing(store: Store) -> None:
    assert kept(store, cells(1), missing(1)) == cells(1)
    # Nor where more runs are asked for than there are results of.
    assert kept(store, missing(3)) == cells(1) + missing(3)[2:]
    # And nothing of it stays when the data are here again.
    assert kept(store, cells(2)) == cells(2)


def test_absent_data_are_replaced_by_results(store: Store) -> None:
    assert kept(store, missing(2)) == missing(2)
    assert kept(store, cells(1)) == cells(1)


def test_commands_stand_once_the_last_at_the_end(store: Store) -> None:
    for command in ("a", "b", "a", "c"):
        store.add_cells("ci", "toy/one", cells(1), command)
    assert store.commands("ci", "toy/one") == ["b", "a", "c"]


@pytest.mark.parametrize("content", ["", "[", "[]", "{}", '{"commands": [], "rows": [{"a": 1}]}', '{"commands": 3}'])
def test_a_damaged_list_of_cells_is_told_with_the_way_out(store: Store, content: str) -> None:
    kept(store, cells(1))
    (path,) = (store.root / "index").rglob("*.json")
    path.write_text(content)
    with pytest.raises(ElmbenchError, match="cannot read") as error:
        store.cells("ci", "toy/one")
    assert str(path) in error.value.found
    assert "delete that file" in str(error.value.next_step)
    path.unlink()
    assert kept(store, cells(1)) == cells(1)
