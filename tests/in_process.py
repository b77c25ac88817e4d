"""A fixture that runs comparisons and runs in the process of the test."""

import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from toy_data import forget_data

from elmbench.execution.attempt import attempt
from elmbench.execution.executors import Answer, PackedTask
from elmbench.execution.executors.limited_worker import LimitedWorker
from elmbench.specs.limits import Limits
from elmbench.tasks.base import Context


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Use an empty cache and folder, do work in this process, and forget the rows at the end."""
    monkeypatch.setenv("ELMBENCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def here(self: LimitedWorker, packed: PackedTask, limits: Limits) -> Answer:
        began = time.monotonic()
        return Answer(
            attempt(pickle.loads(packed.pickled_task), packed.inputs, Context()),
            time.monotonic() - began,
        )

    monkeypatch.setattr(LimitedWorker, "ask", here)
    yield
    forget_data()
