"""The store: nothing damaged is believed, nothing is lost beside others, what is stale goes and what is not stays."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_store import lines_of, log_files
from random_examples import examples

from elmbench.errors import ElmbenchError
from elmbench.files import WriteError
from elmbench.running import records
from elmbench.running.store import Store
from elmbench.work.base import Grid
from elmbench.work.choice import Choice
from elmbench.work.plan import Cell

WORK = Choice(Grid({"C": [1.0]}), None, ("a",))
OTHER = Choice(Grid({"C": [2.0]}), None, ("a",))
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


# --- Records ---------------------------------------------------------------------------------------------------------


def test_what_is_put_is_there(store: Store) -> None:
    assert store.get(KEY) is None
    assert store.result(KEY) is None
    store.put(WORK, RESULT, "e1")
    assert store.get(KEY) == {"key": KEY, "unit": WORK.content(), "result": RESULT, "environment": "e1"}
    assert Store(store.root.parent).result(KEY) == RESULT
    store.put(WORK, RESULT | {"status": "failed"}, "e2")
    assert store.result(KEY) == RESULT | {"status": "failed"}


def log(store: Store) -> Path:
    (path,) = log_files(store)
    return path


def again(store: Store) -> Store:
    """The store as another process opens it."""
    return Store(store.root.parent)


def test_a_truncated_record_counts_as_missing(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    path = log(store)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert again(store).result(KEY) is None, length
        # Its writer was killed: that is no damage.
        assert again(store).damaged == 0, length
    path.write_bytes(whole)
    assert again(store).result(KEY) == RESULT


@examples(60)
@given(data=st.data())
def test_no_flipped_bit_is_believed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Every other record stands; what is damaged is missing and told of, set aside once, and can be put anew."""
    store = Store(tmp_path_factory.mktemp("flipped"))
    others = [Choice(Grid({"C": [float(i)]}), None, ("a",)) for i in (2, 3)]
    for work in (others[0], WORK, others[1]):
        store.put(work, RESULT, "e")
    path = log(store)
    content = bytearray(path.read_bytes())
    lines = content.splitlines(keepends=True)
    # The ends of lines too, but not that of the last one: there nothing was written after.
    place = data.draw(st.integers(len(lines[0]), len(lines[0]) + len(lines[1]) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    found = again(store)
    assert found.result(KEY) is None
    assert found.damaged >= 1
    assert found.result(others[0].key) == RESULT
    if place < len(lines[0]) + len(lines[1]) - 1:
        assert found.result(others[1].key) == RESULT
    assert found.mend() == 0
    assert (found.root / "damaged").stat().st_size >= len(lines[1])
    assert again(store).damaged == 0
    found.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


@pytest.mark.parametrize(
    "content", [b"\x00" * 100, b"\xff\xfe\n", b"[]\n\n\n", b"\n", b"x" * 200 + b"\n", b"0" * 64 + b" a {}\n"]
)
def test_a_file_of_something_else(store: Store, content: bytes) -> None:
    store.put(WORK, RESULT, "e")
    log(store).write_bytes(content)
    assert again(store).get(KEY) is None
    store = again(store)
    store.put(WORK, RESULT, "e")
    assert again(store).result(KEY) == RESULT


def test_damage_that_comes_while_the_store_is_open(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    reader = again(store)
    assert reader.damaged == 0
    path = log(store)
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.75"))
    assert reader.result(KEY) is None
    assert reader.damaged == 1


def test_mending_waits_until_no_other_run_is_at_work(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    store.close()
    log(store).write_bytes(b"x" * 100 + b"\n" + log(store).read_bytes())
    with store.leases():
        assert again(store).mend() == 1
    assert again(store).mend() == 0
    assert again(store).result(KEY) == RESULT


def test_one_who_reads_while_another_mends(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    store.close()
    log(store).write_bytes(b"x" * 100 + b"\n" + log(store).read_bytes())
    reader = again(store)
    assert reader.damaged == 1
    again(store).mend()
    assert reader.result(KEY) == RESULT


def test_nothing_in_the_store_can_run_code(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    store.put_environment({"python": "3"})
    store.add_cells("ci", "toy/one", [cell()], "run")
    assert [path for path in store.root.rglob("*") if path.is_file()] == [log(store)]
    for line in lines_of(store, ""):
        json.loads(line.split(b" ", 2)[2])


# --- The disk, and writes that fail ----------------------------------------------------------------------------------


def test_one_wait_for_the_disk_for_several_results(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    monkeypatch.setattr(records, "SYNC_EVERY", 3600.0)
    for i in range(50):
        store.put(Choice(Grid({"C": [float(i)]}), None, ("a",)), RESULT, "e")
        # There for everyone, also after a kill.
        assert len(lines_of(store)) == i + 1
    assert len(waits) == 2  # the first record and the name of the file
    assert store.unsynced
    store.sync()
    assert len(waits) == 3
    assert not store.unsynced
    store.sync()
    assert len(waits) == 3


@pytest.mark.parametrize("call", ["fsync", "write"])
@pytest.mark.parametrize(
    ("number", "reason"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system")]
)
def test_a_write_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, number: int, reason: str
) -> None:
    store.put(WORK, RESULT, "e")
    store.close()

    def fail(*args: Any, **how: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(WriteError, match=reason) as error:
            store.put(OTHER, RESULT, "e")
    assert str(store.root / "records") in error.value.found
    assert "--results-dir" in str(error.value.next_step)
    assert again(store).result(KEY) == RESULT
    assert again(store).damaged == 0


def test_a_disk_that_fills(store: Store, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the write fails half-way, and the half is taken back."""
    told = tmp_path / "told"

    def write_more() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        store.put(WORK, RESULT, "e")
        try:
            store.put(OTHER, RESULT | {"metrics": {str(i): 0.5 for i in range(1000)}}, "e")
        except WriteError as error:
            told.write_text(str(error))

    os.waitpid(in_a_child(write_more), 0)
    assert "cannot write" in told.read_text()
    assert "File too large" in told.read_text()
    assert store.result(KEY) == RESULT
    assert len(lines_of(store)) == 1
    assert log(store).stat().st_size == len(lines_of(store)[0])


def test_a_results_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    assert store.result(KEY) is None
    with pytest.raises(WriteError, match=r"cannot write .*: Not a directory|File exists"):
        store.put(WORK, RESULT, "e")
    with pytest.raises(WriteError, match="cannot write"):
        store.add_cells("ci", "toy/one", [cell()], "run")
    with pytest.raises(WriteError, match="cannot write"), store.leases():
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_results_folder(store: Store) -> None:
    store.put(WORK, RESULT, "e")
    store.close()
    folder = log(store).parent
    folder.chmod(0o500)
    try:
        with pytest.raises(WriteError, match="Permission denied"):
            store.put(WORK, RESULT | {"status": "failed"}, "e")
        assert again(store).result(KEY) == RESULT
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("anew", [False, True])
def test_a_store_that_is_deleted_while_it_is_in_use(store: Store, anew: bool) -> None:
    store.put(WORK, RESULT, "e")
    reader = again(store)
    assert reader.damaged == 0
    shutil.rmtree(store.root)
    if anew:
        again(store).put(OTHER, RESULT, "e")
    for use in (lambda: store.put(OTHER, RESULT, "e"), lambda: reader.result(KEY)):
        with pytest.raises(ElmbenchError, match="has been deleted while it was in use") as error:
            use()
        assert "run again" in str(error.value.next_step)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_honour_the_umask(store: Store, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        with store.leases() as leases, store.writing_tables():
            leases.take(["a"])
            store.put(WORK, RESULT, "e")
            files = [path for path in store.root.rglob("*") if path.is_file()]
            assert len(files) == 4
            assert {path.stat().st_mode & 0o777 for path in files} == {mode}
    finally:
        os.umask(before)


# --- Several processes -----------------------------------------------------------------------------------------------


def test_what_others_store_is_seen_and_nothing_of_it_lost(store: Store) -> None:
    """Five processes add results and cells at the same time."""
    assert store.cells("ci", "toy/one") == []
    works = [Choice(Grid({"C": [float(i)]}), None, ("a",)) for i in range(50)]

    def add(number: int) -> None:
        own = again(store)
        for work in works[number::5]:
            own.put(work, RESULT | {"reason": str(number)}, "e")
            place = cell(model=f"M{number}", run=works.index(work), key=work.key)
            own.add_cells("ci", "toy/one", [place], f"run {number}")

    children = [in_a_child(partial(add, number)) for number in range(5)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
    assert not store.arrived([works[0].key, "another"])
    assert store.arrived(work.key for work in works)
    assert {entry.key for entry in store.cells("ci", "toy/one")} == {work.key for work in works}
    assert sorted(store.commands("ci", "toy/one")) == [f"run {number}" for number in range(5)]
    for i, work in enumerate(works):
        assert store.result(work.key) == RESULT | {"reason": str(i % 5)}


def test_the_last_result_of_a_unit_counts_whoever_stored_it(store: Store) -> None:
    for i in range(12):
        one = again(store)
        one.put(WORK, RESULT | {"reason": str(i)}, "e")
        one.close()
        assert again(store).result(KEY) == RESULT | {"reason": str(i)}


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


def test_a_request_that_changes_nothing_is_not_written_again(store: Store) -> None:
    kept(store, cells(2), cells(1))
    before = log(store).read_bytes()
    kept(store, cells(2), cells(1))
    assert log(store).read_bytes() == before
    store.add_cells("ci", "toy/one", cells(1), "another")
    assert len(log(store).read_bytes()) > len(before)


def test_one_damaged_line_loses_no_cells(store: Store) -> None:
    kept(store, cells(1))
    store.add_cells("ci", "toy/one", cells(1, model="K-ELM"), "another")
    path = log(store)
    whole = path.read_bytes()
    expected = store.cells("ci", "toy/one")
    for line in lines_of(store, "table:"):
        path.write_bytes(whole.replace(line, line.replace(b"wdbc", b"wdbd"), 1))
        found = again(store)
        assert found.cells("ci", "toy/one") == expected
        assert found.commands("ci", "toy/one") == ["run", "another"]
        assert found.damaged == 1
