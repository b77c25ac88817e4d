"""The store on disk: when it waits for the disk, and what it leaves where a write fails."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path
from typing import Any

import pytest
from made_store import KEY, OTHER, RESULT, WORK, again, in_a_child, lines_of, log

from elmbench.files import WriteError
from elmbench.running import records
from elmbench.running.store import Store
from elmbench.work.base import Grid
from elmbench.work.choice import Choice


def test_one_wait_for_the_disk_for_several_results(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(os, "fsync", waits.append)
    monkeypatch.setattr(records, "SYNC_EVERY", float("inf"))
    for i in range(50):
        store.put(Choice(Grid({"C": [float(i)]}), None, ("a",)), RESULT, "e")
        # There for everyone, also after a kill.
        assert len(lines_of(store)) == i + 1
    assert len(waits) == 1
    store.sync()
    assert len(waits) == 2
    store.sync()
    assert len(waits) == 2


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
    message = tmp_path / "message"

    def write_more() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        store.put(WORK, RESULT, "e")
        try:
            store.put(OTHER, RESULT | {"measured": {str(i): 0.5 for i in range(1000)}}, "e")
        except WriteError as error:
            message.write_text(str(error))

    os.waitpid(in_a_child(write_more), 0)
    assert "cannot write" in message.read_text()
    assert "File too large" in message.read_text()
    assert store.result(KEY) == RESULT
    assert len(lines_of(store)) == 1
    assert log(store).stat().st_size == len(lines_of(store)[0])
