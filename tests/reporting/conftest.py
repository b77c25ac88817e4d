"""Experiments of the tests' own, as reporting sees them."""

from __future__ import annotations

from made_cells import toy

__all__ = ["toy"]
