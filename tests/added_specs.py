"""Data sets and tables of one's own are known to the process; tests forget them."""

from __future__ import annotations

from elmbench.specs import catalogue, datasets


def forget_added() -> None:
    """Forget what was added to the suite's data sets and tables."""
    datasets._added.clear()
    datasets.load_dataset_specs.cache_clear()
    catalogue._added.clear()
    catalogue.load_catalogue.cache_clear()
