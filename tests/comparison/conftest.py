"""Work in the process of the test, in an empty folder."""

from pathlib import Path

import pytest
from in_process import alone

__all__ = ["alone"]


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
