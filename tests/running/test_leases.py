"""Leases: what one run computes no other begins, as long as the first lives."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elmbench.running.leases import Leases


def in_a_child(action: Callable[[], None]) -> int:
    """Run something in a forked process, which then waits to be killed; return its number once it has been done."""
    done, told = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            action()
            os.write(told, b"x")
            time.sleep(3600)
        finally:
            os._exit(1)
    assert os.read(done, 1) == b"x"
    return process


def end(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def hold(root: Path, *keys: str) -> Callable[[], None]:
    def claim() -> None:
        leases = Leases(root).__enter__()
        assert leases.take(keys) is None

    return claim


def test_what_another_process_has_claimed_is_not_taken_until_it_dies(tmp_path: Path) -> None:
    other = in_a_child(hold(tmp_path, "a", "b"))
    try:
        with Leases(tmp_path) as leases:
            (name,) = leases.others
            assert f"-{other}-" in name
            assert leases.take(["b"]) == name
            assert leases.take(["c", "a"]) == name
            # Of what is refused nothing has been claimed.
            with Leases(tmp_path) as third:
                assert third.take(["c"]) is None
            assert leases.take(["c"]) is None
            end(other)
            assert leases.take(["b"]) is None
            assert leases.others == {}
            assert len(list((tmp_path / "runs").iterdir())) == 1
    finally:
        if Path(f"/proc/{other}").exists():
            end(other)
    assert list((tmp_path / "runs").iterdir()) == []


def test_two_runs_in_one_process(tmp_path: Path) -> None:
    with Leases(tmp_path) as one, Leases(tmp_path) as two:
        assert one.take(["a"]) is None
        assert two.take(["a"]) is not None
        assert two.take(["b"]) is None
        assert one.take(["b"]) is not None
        # Neither has lost its lock by looking at the other.
        other = os.fork()
        if other == 0:
            with Leases(tmp_path) as third:
                os._exit(0 if len(third.others) == 2 and third.take(["a"]) else 1)
        assert os.waitpid(other, 0)[1] == 0
        one.drop(["a"])
        assert one.take(["c"]) is None  # which tells the others
        assert two.take(["a"]) is None


def test_work_is_never_claimed_twice(tmp_path: Path) -> None:
    """Four processes take what they can of a hundred pieces, each in an order of its own; every piece has one owner."""
    keys = [str(i) for i in range(100)]

    def take_some(number: int) -> None:
        with Leases(tmp_path) as leases:
            mine = [key for key in keys[number * 25 :] + keys[: number * 25] if leases.take([key]) is None]
            (tmp_path / f"{number}.taken").write_text(" ".join(mine))
            while len(list(tmp_path.glob("*.taken"))) < 4:
                time.sleep(0.01)

    children = []
    for number in range(4):
        process = os.fork()
        if process == 0:
            try:
                take_some(number)
            finally:
                os._exit(0)
        children.append(process)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    taken = [key for path in tmp_path.glob("*.taken") for key in path.read_text().split()]
    assert sorted(taken) == sorted(keys)


def test_a_file_system_without_locks_claims_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("elmbench.running.leases.lock_descriptor", refuse)
    other = in_a_child(hold(tmp_path, "a"))
    try:
        with Leases(tmp_path) as leases:
            assert leases.take(["a"]) is None
    finally:
        end(other)
