"""The cells of a `cells.csv` that a run keeps although its store lacks them, such as the committed
ones in a fresh clone.

Each kept cell names the record of `environment.json` that describes it: the commands, checksums
and versions of the run that computed it stay as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.execution.store import Store
from elmbench.files import read_json
from elmbench.registry import model_version, registry
from elmbench.results.cells import RECORD, read_cells
from elmbench.results.folders import ENVIRONMENT
from elmbench.specs.profiles import Resolved
from elmbench.tasks.plan import Cell

#: The columns of the cells that share a protocol, a grid, data and a model version.
_ENTRY = ["dataset", "model", "select", "reading"]


@dataclass(frozen=True)
class KeptCells:
    """Cells of an earlier `cells.csv`, and the records of `environment.json` that describe them.

    The column `RECORD` of a cell is the number of its record, counted from 1.
    """

    cells: pd.DataFrame
    records: tuple[dict[str, Any], ...] = ()
    #: The number of cells that were dropped since their protocol, data or model has changed.
    n_dropped: int = 0

    def add_to(self, cells: pd.DataFrame) -> pd.DataFrame:
        """Return the cells of the store with these; cells without data give way to kept ones."""
        if not len(self.cells):
            return cells
        is_kept = [entry in _entries(self.cells) for entry in _entry_of_each(cells)]
        is_new = (cells["status"] != "unavailable") | ~pd.Series(is_kept, index=cells.index)
        frames = [frame for frame in (cells[is_new], self.cells) if len(frame)]
        return pd.concat(frames, ignore_index=True)


def find_kept_cells(
    folder: Path, cells: pd.DataFrame, resolved: Resolved, store: Store, origin: Mapping[str, Any]
) -> KeptCells:
    """Return the cells of the `cells.csv` in a folder that neither the store nor a new result
    replaces.

    `cells`, `origin`: the cells of the store and their provenance. A cell of an entry that has new
    cells is dropped unless the specification, the data and the model version are the same; cells
    of entries without new ones always stay.
    """
    try:
        earlier = read_cells(folder / "cells.csv")
    except ElmbenchError:
        # Nothing can be kept of a missing or damaged file.
        return KeptCells(cells.iloc[:0])
    records = _records(read_json(folder / ENVIRONMENT))
    if RECORD in earlier:
        numbers = earlier[RECORD].fillna(0).astype(int).clip(0, len(records) - 1)
    else:
        numbers = pd.Series(0, index=earlier.index)
    candidates = _not_replaced(earlier, cells, store, resolved)
    new_entries = _entries(cells[cells["status"] != "unavailable"])
    is_same = [
        entry not in new_entries or _is_same_work(records[number], origin, entry)
        for entry, number in zip(_entry_of_each(earlier), numbers, strict=True)
    ]
    is_kept = candidates & pd.Series(is_same, index=earlier.index)
    used = sorted(set(numbers[is_kept]))
    positions = {number: i for i, number in enumerate(used, start=1)}
    kept = earlier[is_kept].assign(**{RECORD: numbers[is_kept].map(positions).astype("Int64")})
    counts = kept[RECORD].value_counts()
    described = tuple(
        {"cells": int(counts[positions[number]])} | records[number] for number in used
    )
    return KeptCells(kept, described, n_dropped=int((candidates & ~is_kept).sum()))


def outdated_models(
    cells: pd.DataFrame, environment: Mapping[str, Any], resolved: Resolved
) -> dict[str, str]:
    """Return the models of kept cells that this installation has in another version, by column, as
    their records name them, such as `eem, version 1`.
    """
    if RECORD not in cells:
        return {}
    outdated = {}
    kept = cells[cells[RECORD].notna()].drop_duplicates(["dataset", "model", RECORD])
    records = _kept_records(environment)
    for dataset, column, number in kept[["dataset", "model", RECORD]].itertuples(index=False):
        record = records[number - 1] if 0 < number <= len(records) else {}
        description = _part(record, "models", column)
        name, _, version = str(description or "").partition(", version ")
        entry = registry().get(name)
        if entry and version != model_version(entry, resolved.dataset(dataset).task):
            outdated[str(column)] = str(description)
    return outdated


def _kept_records(environment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the records of the cells that earlier runs have kept."""
    kept = environment.get("kept")
    return [part for part in kept if isinstance(part, dict)] if isinstance(kept, list) else []


def all_commands(environment: Mapping[str, Any]) -> list[str]:
    """Return the commands that computed the cells, those of kept cells first, each once."""
    parts = [*_kept_records(environment), environment]
    commands = [str(command) for part in parts for command in part.get("commands", ())]
    return list(dict.fromkeys(commands))


def _records(environment: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the record of the cells of the last store, then those of the cells kept before."""
    of_store = {name: value for name, value in environment.items() if name != "kept"}
    records = [of_store, *_kept_records(environment)]
    return [
        {name: value for name, value in record.items() if name != "cells"} for record in records
    ]


def _not_replaced(
    earlier: pd.DataFrame, cells: pd.DataFrame, store: Store, resolved: Resolved
) -> pd.Series[bool]:
    """Return True for each earlier cell that neither a new result nor the store's own history
    replaces.
    """
    new = cells[cells["status"] != "unavailable"]
    replaced = set(_positions(new)) | _stale_positions(store, resolved)
    is_replaced = [position in replaced for position in _positions(earlier)]
    # Data that were missing are there now, or still missing.
    has_run = earlier["status"] != "unavailable"
    is_without_data = ~has_run & earlier["dataset"].isin(cells["dataset"])
    return ~pd.Series(is_replaced, index=earlier.index) & ~is_without_data


def _stale_positions(store: Store, resolved: Resolved) -> set[tuple[Any, ...]]:
    """Return the positions of cells that the store has had under keys that no longer count."""
    table = (resolved.profile, resolved.file.id)
    current = {cell.key for cell in store.cells(*table)}
    requested = (cell for cells, _ in store.requests(*table) for cell in cells)
    return {_position(cell) for cell in requested if cell.key and cell.key not in current}


def _is_same_work(
    record: Mapping[str, Any], origin: Mapping[str, Any], entry: tuple[str, ...]
) -> bool:
    """Return True if the cells of an entry in two runs have the same specification, data and
    model.
    """
    dataset, model, _, _ = entry
    return (
        record.get("spec_sha256") == origin["spec_sha256"]
        and _part(record, "datasets", dataset) == _part(origin, "datasets", dataset)
        and _part(record, "models", model) == _part(origin, "models", model)
    )


def _part(record: Mapping[str, Any], kind: str, name: str) -> Any:
    """Return the description of a data set or model in a record; None without one."""
    parts = record.get(kind)
    return parts.get(name) if isinstance(parts, dict) else None


def _entries(cells: pd.DataFrame) -> set[tuple[str, ...]]:
    """Return the entries of cells."""
    return set(_entry_of_each(cells))


def _entry_of_each(cells: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the entry of each cell."""
    entries: Iterator[tuple[str, ...]] = cells[_ENTRY].itertuples(index=False, name=None)
    return entries


def _positions(cells: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    """Return the name of each cell."""
    return [
        (*texts, int(run), int(fold))
        for *texts, run, fold in cells[[*_ENTRY, "run", "fold"]].itertuples(index=False, name=None)
    ]


def _position(cell: Cell) -> tuple[Any, ...]:
    return (cell.dataset, cell.model, cell.select, cell.reading, cell.run, cell.fold)
