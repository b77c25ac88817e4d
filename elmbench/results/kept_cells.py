"""The cells of a `cells.csv` that a run keeps although its store lacks them, such as the committed
ones in a fresh clone.

Each kept cell names the record of `environment.json` that describes it: the commands, checksums
and versions of the run that computed it stay as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

#: The columns of the cells that share a protocol, a grid, data and a model version.
_GROUP = ["dataset", "model", "select", "reading"]


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
        """Return the cells of the store, a line for each, followed by these.

        An unavailable cell of the store is left out if kept cells are of its group. `cells`: those
        of the store, with the columns of `cells.csv`; returned unchanged if no cell is kept, else a
        new frame with a new index.
        """
        if self.cells.empty:
            return cells
        kept_groups = _groups(self.cells)
        gives_way = _are_in_groups(cells, kept_groups) & ~_have_run(cells)
        new = cells[~gives_way]
        if new.empty:
            return self.cells.reset_index(drop=True)
        return pd.concat([new, self.cells], ignore_index=True)


def find_kept_cells(
    folder: Path,
    cells: pd.DataFrame,
    resolved: Resolved,
    store: Store,
    origin: Mapping[str, Any],
) -> KeptCells:
    """Return the cells of an earlier `cells.csv` that a run keeps.

    These are the cells that neither the store nor a new result replaces. `folder`: that of the
    table. `cells`: those of the store, with the columns of `cells.csv`. `origin`: their provenance.
    A cell of a group that has new cells is dropped unless the specification, the data and the
    model version are the same; cells of groups without new ones always stay. If `cells.csv` is
    missing or damaged, none are kept.
    """
    try:
        earlier = read_cells(folder / "cells.csv")
    except ElmbenchError:
        # Nothing can be kept of a missing or damaged file.
        return KeptCells(cells.iloc[:0])
    records = _records(read_json(folder / ENVIRONMENT))
    numbers = _record_numbers(earlier, len(records))
    candidates = _not_replaced(earlier, cells, store, resolved)
    new_groups = _groups(cells[_have_run(cells)])
    is_same = [
        group not in new_groups or _is_same_task(records[number], origin, group)
        for group, number in zip(_group_of_each(earlier), numbers, strict=True)
    ]
    is_kept = candidates & pd.Series(is_same, index=earlier.index)
    is_dropped = candidates & ~is_kept
    return replace(
        _kept_cells(earlier[is_kept], numbers[is_kept], records),
        n_dropped=int(is_dropped.sum()),
    )


def _kept_cells(
    cells: pd.DataFrame, numbers: pd.Series[int], records: Sequence[Mapping[str, Any]]
) -> KeptCells:
    """Return cells, with their number in the column `record`, and the records that they use.

    `cells`: lines of `cells.csv`, perhaps none. `numbers`: the position of the record of each cell
    in `records`, from 0, with the index of `cells`. Records that no cell uses are left out, and the
    others are numbered from 1. Each record gets the key `cells`, its number of cells.
    """
    used = sorted(set(numbers))
    positions = {number: i for i, number in enumerate(used, start=1)}
    new_numbers = numbers.map(positions).astype("Int64")
    counts = new_numbers.value_counts()
    described = [
        {"cells": int(counts[position]), **records[number]}
        for number, position in positions.items()
    ]
    return KeptCells(cells.assign(**{RECORD: new_numbers}), tuple(described))


def _have_run(cells: pd.DataFrame) -> pd.Series[bool]:
    """Return a mask, True for each cell that is not `unavailable`."""
    return cells["status"] != "unavailable"


def _record_numbers(cells: pd.DataFrame, n_records: int) -> pd.Series[int]:
    """Return the position of the record that describes each cell, from 0.

    0 is the record of the last store, for cells without a number; those of kept cells follow.
    Numbers outside of 0 to `n_records` - 1 become the nearest of these.
    """
    if RECORD not in cells:
        return pd.Series(0, index=cells.index)
    return cells[RECORD].fillna(0).astype(int).clip(0, n_records - 1)


def outdated_models(
    cells: pd.DataFrame, environment: Mapping[str, Any], resolved: Resolved
) -> dict[str, str]:
    """Return the models of kept cells that this installation has in a different version.

    They are {column of the table: name and version in the record of its cells, such as `eem,
    version 1`}. The dict is empty if no cell is kept. `cells`: lines of `cells.csv`; in the column
    `record`, kept cells have the number of their record, from 1, and others none. `environment`:
    the content of `environment.json`.
    """
    if RECORD not in cells:
        return {}
    outdated = {}
    records = _kept_records(environment)
    columns = ["dataset", "model", RECORD]
    is_kept = cells[RECORD].notna()
    kept = cells[is_kept].drop_duplicates(columns)
    for dataset, column, number in kept[columns].itertuples(index=False):
        record = records[number - 1] if 0 < number <= len(records) else {}
        model = str(_description_of(record, "models", column) or "")
        if _is_outdated(model, dataset, resolved):
            outdated[str(column)] = model
    return outdated


def _is_outdated(model: str, dataset: str, resolved: Resolved) -> bool:
    """Return True if this installation has a different version of a model.

    `model`: its name and version, such as `eem, version 1`. An unknown name is not outdated.
    `dataset`: one that it was run on, since the version may depend on the task.
    """
    name, _, version = model.partition(", version ")
    entry = registry().get(name)
    if entry is None:
        return False
    return version != model_version(entry, resolved.dataset(dataset).task)


def _kept_records(environment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the records of the cells that earlier runs have kept, from an `environment.json`.

    A record is a dict with the `commands`, `spec_sha256`, `datasets` and `models` of these cells,
    among others. The result is empty if there are none or they are damaged. `environment`: the
    content of the file, in which they are the list `kept`.
    """
    kept = environment.get("kept")
    return (
        [part for part in kept if isinstance(part, dict)]
        if isinstance(kept, list)
        else []
    )


def all_commands(environment: Mapping[str, Any]) -> list[str]:
    """Return the distinct commands behind a table's cells; those of kept cells come first.

    `environment`: the content of its `environment.json`.
    """
    parts = [*_kept_records(environment), environment]
    commands = [str(command) for part in parts for command in part.get("commands", ())]
    return list(dict.fromkeys(commands))


def _records(environment: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records in the content of an `environment.json`, without their numbers of cells.

    The first one is that of the cells of the last store; those of the cells kept before follow.
    """
    of_store = _without("kept", environment)
    records = [of_store, *_kept_records(environment)]
    return [_without("cells", record) for record in records]


def _without(name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a record without the key `name`, which it may lack."""
    return {key: value for key, value in record.items() if key != name}


def _not_replaced(
    earlier: pd.DataFrame, cells: pd.DataFrame, store: Store, resolved: Resolved
) -> pd.Series[bool]:
    """Return a mask of the earlier cells, True for each that no new result replaces.

    Cells that are stale in the store (see `_stale_positions`) count as replaced. A cell also counts
    as replaced if it is `unavailable` and a new cell takes its place. `earlier`, `cells`: lines of
    the earlier `cells.csv`, and those of the store; the mask has the index of `earlier`.
    """
    replaced = set(_positions(cells[_have_run(cells)]))
    replaced |= _stale_positions(store, resolved)
    is_replaced = _are_at(earlier, replaced) | _are_without_data(earlier, cells)
    return ~is_replaced


def _are_without_data(earlier: pd.DataFrame, cells: pd.DataFrame) -> pd.Series[bool]:
    """Return a mask of the earlier cells, True for each `unavailable` one that a new cell replaces.

    The data set is there now, or the new cell lacks it as well. `earlier`, `cells`: the earlier and
    the new lines of `cells.csv`; the mask has the index of `earlier`.
    """
    present = cells.loc[_have_run(cells), "dataset"]
    is_replaced = earlier["dataset"].isin(present)
    is_replaced |= _are_at(earlier, set(_positions(cells)))
    return ~_have_run(earlier) & is_replaced


def _are_at(cells: pd.DataFrame, positions: set[tuple[Any, ...]]) -> pd.Series[bool]:
    """Return a mask, True for each cell whose position is among these.

    A position is (data set, model, selection, reading, run, fold).
    """
    return pd.Series(
        [position in positions for position in _positions(cells)], index=cells.index
    )


def _stale_positions(store: Store, resolved: Resolved) -> set[tuple[Any, ...]]:
    """Return the positions of cells that the store has under keys that no longer count.

    They are those of earlier requests of the table whose key has changed since. A position is (data
    set, model, selection, reading, run, fold).
    """
    table = (resolved.profile, resolved.file.id)
    current_keys = {cell.key for cell in store.cells(*table)}
    positions = set()
    for cells, _ in store.requests(*table):
        for cell in cells:
            if cell.key and cell.key not in current_keys:
                positions.add(cell.position)
    return positions


def _is_same_task(
    record: Mapping[str, Any], origin: Mapping[str, Any], group: tuple[str, ...]
) -> bool:
    """Return True if the cells of a group in two runs have the same specification, data and model.

    `record`, `origin`: the provenance of the two runs, with `spec_sha256`, `datasets` ({name:
    checksums}) and `models` ({column: name and version}). What both of them lack counts as the
    same. `group`: (data set, model, selection, reading).
    """
    dataset, model, _, _ = group
    return (
        record.get("spec_sha256") == origin["spec_sha256"]
        and _description_of(record, "datasets", dataset)
        == _description_of(origin, "datasets", dataset)
        and _description_of(record, "models", model)
        == _description_of(origin, "models", model)
    )


def _description_of(record: Mapping[str, Any], kind: str, name: str) -> Any:
    """Return the description of a data set or model in a record; None without one.

    It is a list of checksums for a data set, and a text such as `eem, version 1` for a model.
    `kind`: `datasets` or `models`, the key of {name: description} in the record. `name`: that of
    the data set, or of the column of the table.
    """
    parts = record.get(kind)
    return parts.get(name) if isinstance(parts, dict) else None


def _groups(cells: pd.DataFrame) -> set[tuple[str, ...]]:
    """Return the distinct groups of cells: (data set, model, selection, reading)."""
    return set(_group_of_each(cells))


def _are_in_groups(
    cells: pd.DataFrame, groups: set[tuple[str, ...]]
) -> pd.Series[bool]:
    """Return a mask, True for each cell whose group is among these.

    A group is (data set, model, selection, reading). `cells`: lines of `cells.csv`; the mask has
    their index.
    """
    is_in_groups = [group in groups for group in _group_of_each(cells)]
    return pd.Series(is_in_groups, index=cells.index)


def _group_of_each(cells: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """Yield the group of each cell: (data set, model, selection, reading).

    `cells`: lines of `cells.csv`, whose order the groups have.
    """
    groups: Iterator[tuple[str, ...]] = cells[_GROUP].itertuples(index=False, name=None)
    return groups


def _positions(cells: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    """Return the position of each cell: (data set, model, selection, reading, run, fold)."""
    return [
        (*texts, int(run), int(fold))
        for *texts, run, fold in cells[[*_GROUP, "run", "fold"]].itertuples(
            index=False, name=None
        )
    ]
