"""The files of a developer are not those that are fed."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELMBENCH_DATA_DIR", raising=False)
