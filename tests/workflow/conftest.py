"""Fixtures of comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from toy_data import forget_data

from elmbench.running.attempt import attempt
from elmbench.running.executors.sandbox import Sandbox
from elmbench.work.base import Context, Work


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Use an empty cache and folder, do work in this process, and forget the rows at the end."""
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def here(self: Sandbox, work: Work, inputs: Mapping[str, Any], limits: Any = None) -> Any:
        return attempt(work, inputs, Context())

    monkeypatch.setattr(Sandbox, "run", here)
    yield
    forget_data()
