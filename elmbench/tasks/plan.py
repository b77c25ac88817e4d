"""The cells that a user requests, and the tasks that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmbench.specs.protocol import Selection
    from elmbench.tasks.base import Task


@dataclass(frozen=True)
class Cell:
    """One model on one data set in one run and one outer fold, as a table shows it.

    `dataset`, `model`: the suite's name of the data set; the column of the table. `run`, `fold`:
    counted from 0. `select`: how hyperparameters are chosen, such as "nested". `reading`: name of
    the interpretation of the paper. `key`: of the task that computes it; empty for a cell that
    cannot run. `family`: hash of the settings that all cells of a group share; cells of
    another family are stale. `unavailable`: the reason why it cannot run. `remarks`: assumptions
    about the data, or that they are not the public file; mostly empty.
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

    @property
    def group(self) -> tuple[str, str, str, str]:
        """The data set, model, selection and reading, which identify the group of the cell."""
        return (self.dataset, self.model, self.select, self.reading)

    @property
    def position(self) -> tuple[str, str, str, str, int, int]:
        """The group followed by the run and fold, which identify the cell in its table."""
        return (*self.group, self.run, self.fold)


@dataclass
class Plan:
    """The requested cells and all tasks that they need.

    `tasks`: by key; a task follows the tasks that it needs.
    """

    cells: list[Cell] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)

    def add(self, task: Task) -> str:
        """Add a task, unless one with its key is there, and return its key."""
        self.tasks.setdefault(task.key, task)
        return task.key


@dataclass(frozen=True)
class RunRequest:
    """A user's request, besides the experiment, profile and readings.

    `datasets`, `models`: only these; all if empty. A model may be a column, or any name of the
    registry, which adds a column. `select`, `runs`: replace those of the profile unless empty or
    None. `with_baselines`: add the registry's baselines as columns. `grids`: {model:
    {hyperparameter: values}} of added models, as in an experiment file. `other_data`: accept files
    whose rows are not those of the public file.
    """

    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    select: tuple[Selection, ...] = ()
    runs: int | None = None
    with_baselines: bool = False
    other_data: bool = False
    grids: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
