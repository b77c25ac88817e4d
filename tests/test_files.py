"""Files are written whole or not at all, however the writer ends."""

import errno
import os
import signal
import time
from pathlib import Path

import pytest

from elmbench.files import WriteError, read_json, replace_file, sweep, write_atomically


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_writing_leaves_nothing_else_behind_and_honours_the_umask(
    tmp_path: Path, umask: int, mode: int
) -> None:
    path = tmp_path / "a" / "b" / "x.csv"
    before = os.umask(umask)
    try:
        write_atomically(path, "α\r\nβ\n")
        assert path.read_bytes() == "α\r\nβ\n".encode()
        write_atomically(path, b"\x00\xff")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"\x00\xff"
    assert [p.name for p in path.parent.iterdir()] == ["x.csv"]
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("moment", [0.002, 0.01, 0.02, 0.04, 0.05])
def test_a_kill_in_the_middle_of_writing_leaves_the_old_or_the_new(
    tmp_path: Path, moment: float
) -> None:
    path = tmp_path / "x.json"
    texts = [letter * 3_000_000 for letter in "ab"]
    write_atomically(path, texts[0])
    process = os.fork()
    if process == 0:
        try:
            while True:
                for text in texts:
                    write_atomically(path, text)
        finally:
            os._exit(0)
    time.sleep(moment)
    os.kill(process, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(process, 0)[1])
    assert path.read_text() in texts


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, "old")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(WriteError, match=r"cannot write .*x\.json: No space left") as error:
            write_atomically(path, "new")
        assert "--results-dir" in str(error.value.next_step)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def write_half() -> None:
        with replace_file(path) as partial:
            partial.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_json_file_that_is_missing_or_damaged_is_empty(
    tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "x.json").write_text(content)
    assert read_json(tmp_path / "x.json") == {}


def test_what_is_half_written_is_swept_after_a_day(tmp_path: Path) -> None:
    for name, age in ((".old.7.ab.part", 90_000), (".new.8.cd.part", 100), ("whole.part", 90_000)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    sweep(tmp_path.parent)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new.8.cd.part", "whole.part"]
