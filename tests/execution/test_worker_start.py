"""How a worker process starts, whatever folder it starts in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.execution.sandbox import Sandbox
from elmbench.execution.units import Plan


@pytest.fixture
def unit(plan_table: Callable[..., Plan]) -> dict[str, Any]:
    plan = plan_table("table4", datasets=("wdbc",), models=("K-ELM",), select=("published",))
    return next(unit for unit in plan.units.values() if unit["kind"] == "cell")


def test_files_of_the_folder_are_not_taken_for_modules(
    unit: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "signal.py").write_text("raise RuntimeError('not the real one')")
    monkeypatch.chdir(tmp_path)
    box = Sandbox()
    try:
        assert box.run(unit, {})["status"] == "ok"
    finally:
        box.stop()


def test_the_last_words_of_a_worker_that_ends_by_itself(
    unit: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.exit('nothing works here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    box = Sandbox()
    result = box.run(unit, {})
    box.stop()
    assert result["status"] == "failed"
    assert "nothing works here" in result["reason"]


def test_data_that_changed_since_the_plan_fail_the_cell(unit: dict[str, Any]) -> None:
    box = Sandbox()
    try:
        result = box.run(unit | {"dataset": unit["dataset"] | {"identity": "0" * 64}}, {})
        assert result["status"] == "failed"
        assert "wdbc has changed since the run was planned" in result["reason"]
    finally:
        box.stop()
