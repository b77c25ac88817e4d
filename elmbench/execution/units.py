"""Units of work, the cells that they lead to, and what a user asks for.

A unit is a plain dictionary of what determines its value; the hash of that is its key. So two tables that need the
same cell share it, and whatever a reading does not touch is not computed again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from elmbench.specs.protocol import Selection

Unit = dict[str, Any]

#: Raised when the meaning of a stored result changes without anything in its unit changing.
FORMAT = 1


def key_of(content: Any) -> str:
    """Return the key of a unit: 32 hexadecimal digits of the SHA-256 of its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Row:
    """A cell as a table shows it, and the unit that it is computed by.

    Attributes
    ----------
    dataset, model : str
        The suite's name of the data set; the column.
    run, fold : int
        Counted from 0.
    select, reading : str
    key : str
        Of the unit; empty for a cell that cannot run.
    family : str
        Hash of all that the cells of one table entry share; a change of it makes older ones stale.
    unavailable : str
        Why it cannot run.
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


@dataclass
class Plan:
    """The cells that were asked for and every unit that they need.

    Attributes
    ----------
    rows : list of Row
    units : dict of str to dict
        By key; a unit stands after those that it needs.
    """

    rows: list[Row] = field(default_factory=list)
    units: dict[str, Unit] = field(default_factory=dict)

    def add(self, unit: Unit) -> str:
        key = key_of(unit)
        self.units.setdefault(key, unit)
        return key


@dataclass(frozen=True)
class Request:
    """What a user asks for, besides the experiment, profile and readings.

    Attributes
    ----------
    datasets, models : tuple of str
        Names to keep; all when empty. A model may be a column, or any name of the registry, which adds a column.
    select : tuple of str
        Selections in place of the profile's.
    runs : int or None
        Runs in place of the profile's.
    with_baselines : bool
        Add the registry's baselines as columns.
    data_dir : str or None
    paths : bool
        False fits every candidate of a search by itself, also where the model shares work between them.
    without_data : bool
        Plan as if every data set were here, without loading any: for what a table would cost, never for a run.
    """

    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    select: tuple[Selection, ...] = ()
    runs: int | None = None
    with_baselines: bool = False
    data_dir: str | None = None
    paths: bool = True
    without_data: bool = False


def needs(unit: Unit) -> list[str]:
    """Return the keys of the units whose results this one takes."""
    return [*unit.get("evaluated", ()), *(unit[k] for k in ("given", "chosen") if unit.get(k))]
