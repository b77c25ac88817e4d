"""Experiments of the tests' own, as reporting sees them."""

from made_cells import toy

__all__ = ["toy"]
