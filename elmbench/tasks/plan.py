"""The cells that a user requests, and the work that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmbench.specs.protocol import Selection
    from elmbench.tasks.base import Work


@dataclass(frozen=True)
class Cell:
    """One model on one data set in one run and one outer fold, as a table shows it.

    `dataset`, `model`: the suite's name of the data set; the column. `run`, `fold`: counted from 0.
    `key`: of the work that computes it; empty for a cell that cannot run. `family`: hash of the
    settings that all cells of a table entry share; cells of another family are stale.
    `unavailable`: the reason why it cannot run. `remarks`: assumptions about the data, or that they
    are not the public file; mostly empty.
    """

    dataset: str
    model: str
    run: int
    fold: int
    select: str
    reading: str
    key: str
    family: str
    unavailable: str = ""
    remarks: str = ""


@dataclass
class Plan:
    """The requested cells and all the work that they need.

    `works`: by key; work follows the work that it needs.
    """

    cells: list[Cell] = field(default_factory=list)
    works: dict[str, Work] = field(default_factory=dict)

    def add(self, work: Work) -> str:
        """Add work, once, and return its key."""
        self.works.setdefault(work.key, work)
        return work.key


@dataclass(frozen=True)
class RunRequest:
    """A user's request, besides the experiment, profile and readings.

    `datasets`, `models`: only these; all if empty. A model may be a column, or any name of the
    registry, which adds a column. `select`, `runs`: replace those of the profile. `with_baselines`:
    add the registry's baselines as columns. `grids`: grids of added models, as in an experiment
    file. `other_data`: accept files whose rows are not those of the public file.
    """

    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    select: tuple[Selection, ...] = ()
    runs: int | None = None
    with_baselines: bool = False
    other_data: bool = False
    grids: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
