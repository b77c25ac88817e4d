"""Experiments of the tests' own, as layouts sees them, and plans of tables."""

from __future__ import annotations

import pytest
from made_cells import toy
from toy_plans import plan_table, plan_toy

__all__ = ["plan_table", "plan_toy", "toy"]


@pytest.fixture(autouse=True)
def _no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """WDBC comes with scikit-learn, whatever files a developer has."""
    monkeypatch.delenv("ELMBENCH_DATA_DIR", raising=False)
