"""The progress of a command that goes through many tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from elmbench.cli import progress
from elmbench.cli.progress import watched
from elmbench.cli.state import state
from elmbench.specs.catalogue import ExperimentFile, load_catalogue


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """A clock that stands still until it is told to go on."""
    now = 100.0

    def go_on(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(progress, "time", type("clock", (), {"monotonic": staticmethod(lambda: now)}))
    for name, value in vars(type(state)()).items():
        monkeypatch.setattr(state, name, value)
    yield go_on
    assert progress.time is not time


@pytest.fixture
def tables() -> list[ExperimentFile]:
    return list(load_catalogue().values())[:6]


def test_a_line_now_and_then_tells_the_time_left(
    tables: list[ExperimentFile], clock: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []
    for table in watched(tables):
        seen.append(table)
        clock(3.0)
    assert seen == tables
    assert capsys.readouterr().err.splitlines() == ["2/6 tables, about 12 s left", "4/6 tables, about 6 s left"]


@pytest.mark.parametrize("option", ["quiet", "as_json"])
def test_nothing_is_said_where_nobody_looks(
    option: str,
    tables: list[ExperimentFile],
    clock: Callable[[float], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(state, option, True)
    for _ in watched(tables):
        clock(100.0)
    assert capsys.readouterr().err == ""
