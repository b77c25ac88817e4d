"""The progress of a command that goes through many tables."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from elmbench.cli import progress
from elmbench.cli.state import state
from elmbench.specs.catalogue import load_catalogue


@pytest.mark.parametrize("silent", ["", "quiet", "as_json"])
def test_a_line_now_and_then_tells_the_time_left(
    silent: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in vars(type(state)()).items():
        monkeypatch.setattr(state, name, name == silent or value)
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    tables = list(load_catalogue().values())[:6]
    seen = []
    for table in progress.watched(tables):
        seen.append(table)
        now[0] += 3.0
    assert seen == tables
    lines = ["2/6 tables, about 12 s left", "4/6 tables, about 6 s left"]
    assert capsys.readouterr().err.splitlines() == ([] if silent else lines)
