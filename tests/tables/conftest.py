"""Experiments of the tests' own, as layouts sees them, and plans of tables."""

from made_cells import toy
from toy_plans import plan_table, plan_toy

__all__ = ["plan_table", "plan_toy", "toy"]
