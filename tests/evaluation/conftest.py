"""Small data sets in place of the real ones, and work on them."""

from made_cells import toy
from toy_data import add_model, make_unit, toys

__all__ = ["add_model", "make_unit", "toy", "toys"]
