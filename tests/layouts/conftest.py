"""Experiments of the tests' own, as layouts sees them, and plans of tables."""

from __future__ import annotations

from typing import Any

import pytest
from made_cells import toy
from toy_plans import plan_table, plan_toy

from elmbench.layouts import curves, figures, precision_recall, surface, weight_paths

__all__ = ["plan_table", "plan_toy", "toy"]


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The matplotlib figures that are drawn in a test; none is written as PNG."""
    made: list[Any] = []
    for module in (figures, curves, precision_recall, surface, weight_paths):
        monkeypatch.setattr(module, "png", lambda figure: made.append(figure) or b"")
    return made
