"""Files are written whole or not at all, however the writer ends."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from platforms import UNIX_PROCESSES

from elmbench import files
from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.execution.store import Store
from elmbench.files import (
    WriteError,
    check_outputs,
    counting_order,
    delete_abandoned,
    expand_home,
    lock_file,
    partial_path,
    read_json,
    real_path,
    replace_file,
    write_atomically,
)
from elmbench.registry.plugins import load_plugin
from elmbench.report.site.folder import SiteFolder


@pytest.mark.parametrize(
    ("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)]
)
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


@UNIX_PROCESSES
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
def test_a_full_disk_keeps_the_old_file_and_names_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, "old")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(
            WriteError, match=r"cannot write .*x\.json: No space left"
        ) as error:
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


def write_half(path: Path) -> str:
    """Kill a process in the middle of writing a file; return the name of the unfinished file."""
    code = (
        "import os, pathlib, signal, sys; from elmbench.files import replace_file\n"
        "with replace_file(pathlib.Path(sys.argv[1])) as partial:\n"
        "    partial.write_text('half'); print(partial.name, flush=True)\n"
        "    os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 9, done.stderr
    return done.stdout.strip()


def test_the_next_writer_of_a_folder_deletes_the_unfinished_files_of_a_killed_one(
    tmp_path: Path,
) -> None:
    name = write_half(tmp_path / "old\n.csv")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    write_atomically(tmp_path / "new.csv", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_an_unfinished_folder_of_a_killed_process_is_deleted(tmp_path: Path) -> None:
    name = write_half(tmp_path / "download")
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    (tmp_path / name / "half").write_text("half")
    delete_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_files_of_running_writers_and_of_others_stay(tmp_path: Path) -> None:
    others = [
        ".part",
        ".x.part",
        ".x.machine-7.part",
        "x.machine-7.0123abcd.part",
        ".x.y.part",
    ]
    for name in others:
        (tmp_path / name).write_text("of another program")
    with replace_file(tmp_path / "x") as partial:
        partial.write_text("half")
        delete_abandoned(tmp_path)
        delete_abandoned(tmp_path / "missing")
        assert sorted(os.listdir(tmp_path)) == sorted([*others, partial.name])
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "x"])


def test_a_new_process_with_the_number_of_a_killed_one_does_not_keep_its_file(
    tmp_path: Path,
) -> None:
    path = partial_path(tmp_path / "x")
    path.write_text("half")
    delete_abandoned(tmp_path)
    assert path.exists()
    before_the_start = psutil.Process().create_time() - 3600
    os.utime(path, (before_the_start, before_the_start))
    delete_abandoned(tmp_path)
    assert not path.exists()


def test_an_unfinished_file_of_another_machine_is_deleted_after_a_day(
    tmp_path: Path,
) -> None:
    old, new = (
        tmp_path / f".{name}.elsewhere-1.0123abcd.part" for name in ("old", "new")
    )
    for path, age in ((old, 90_000), (new, 80_000)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    delete_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [new]


@pytest.mark.parametrize(
    "link", ["same", "dots", "symbolic", "hard", "folder", "dangling"]
)
def test_no_link_leads_from_an_output_to_an_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("rows.csv")
    path.write_text("rows")
    if link == "dots":
        path = tmp_path / "." / "x" / ".." / "rows.csv"
        (tmp_path / "x").mkdir()
    elif link == "symbolic":
        path = Path("link")
        path.symlink_to("rows.csv")
    elif link == "hard":
        path = Path("link")
        path.hardlink_to("rows.csv")
    elif link == "folder":
        Path("folder").symlink_to(".")
        path = Path("folder", "rows.csv")
    elif link == "dangling":
        path = Path("link")
        path.symlink_to("rows.csv")
        Path("rows.csv").unlink()
    for output, source in ((path, "rows.csv"), (Path("rows.csv"), path)):
        with pytest.raises(
            ElmbenchError, match=r"--save would write .*, which is the input "
        ):
            check_outputs(
                [("--html", Path("page")), ("--save", output)], ["", "iris", source]
            )
    with pytest.raises(
        ElmbenchError, match=r"--save would write .*, which is the file of"
    ):
        check_outputs([("--html", path), ("--save", Path("rows.csv"))], [])


def test_a_file_is_one_file_in_every_spelling_that_the_file_system_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file system of this test may distinguish capital letters; that of a Mac does not."""
    (tmp_path / "rows.csv").write_text("rows")
    with monkeypatch.context() as patch:
        stat = Path.stat
        patch.setattr(
            Path,
            "stat",
            lambda path, **how: stat(path.with_name(path.name.lower()), **how),
        )
        with pytest.raises(ElmbenchError, match="which is the input"):
            check_outputs([("--save", tmp_path / "ROWS.csv")], [tmp_path / "rows.csv"])


def test_outputs_that_differ_from_all_inputs_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("rows")
    shutil.copy(tmp_path / "rows.csv", tmp_path / "copy.csv")
    outputs = [("--save", tmp_path / "copy.csv"), ("--html", tmp_path / "new")]
    check_outputs(outputs, ["", "sklearn:wine", str(tmp_path / "rows.csv")])


def test_names_are_sorted_by_their_numbers_of_any_length() -> None:
    names = ["table9", "table10", "table010x", "table11", f"table{'9' * 5000}", "text"]
    assert sorted(sorted(names), key=counting_order) == names


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Let another process hold the lock of a file."""
    code = (
        "import sys; from pathlib import Path; from elmbench.files import lock_file\n"
    )
    code += "with lock_file(Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield
        process.communicate("")


def test_a_lock_that_another_process_holds_is_announced_and_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tables.lock"
    monkeypatch.setattr(files, "_LOCK_PATIENCE", 0.0)
    monkeypatch.setattr(files, "_LOCK_LIMIT", 0.1)
    with (
        held(path),
        pytest.warns(ElmbenchWarning, match=f"which holds the lock {path}"),
        pytest.raises(
            ElmbenchError, match=f"holds the lock {path} for more than 0.1 s"
        ),
        lock_file(path),
    ):
        pass
    with lock_file(path):  # it is free again
        pass


def test_a_link_to_itself_is_an_error_in_our_words(tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    assert real_path(loop) == loop.absolute()
    with pytest.raises(ElmbenchError, match=r"loop\.py"):
        load_plugin(loop)
    (tmp_path / "dangling").symlink_to(tmp_path / "missing")
    for link in (loop, tmp_path / "dangling"):
        with pytest.raises(ElmbenchError, match=f"{link.name} is not a folder"):
            SiteFolder(link).check()


def test_the_home_of_an_unknown_user_is_a_name() -> None:
    assert expand_home("~/rows") == Path.home() / "rows"
    assert expand_home("~nobody-here/rows") == Path("~nobody-here/rows")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    fifo = tmp_path / "x.json"
    os.mkfifo(fifo)
    assert read_json(fifo) == {}
    problem = r"cannot write .*x\.json: it is not a regular file"
    with pytest.raises(WriteError, match=problem), lock_file(fifo):
        pass
    (tmp_path / ".store" / "records").mkdir(parents=True)
    os.mkfifo(tmp_path / ".store" / "records" / "000001-x.v3.log")
    with pytest.raises(
        ElmbenchError, match=r"000001-x\.v3\.log: it is not a regular file"
    ):
        Store(tmp_path)
    with pytest.raises(
        ElmbenchError, match=r"plug-in .*x\.json: it is not a regular file"
    ):
        load_plugin(fifo)
