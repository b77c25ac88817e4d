"""Results of several machines joined: what was computed anywhere is in one store, and in one table.

What belongs together says so itself. The cells of one entry of a table share a hash of their protocol, grid, data and
model version; a result has the software that it was computed with. What differs is refused by name, before anything is
written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.reporting.results import Results, write_results
from elmbench.running.store import CLEAN, Store
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.work import work_from
from elmbench.work.plan import Cell

#: How far two machines may differ in what both have computed.
_SAME = 1e-8
#: More of what is refused is counted, not named.
_NAMED = 12
#: What of a result is of the machine, or of the moment.
_TIMES = ("fit_seconds", "search_seconds", "predict_seconds", "seconds", "condition", "warnings", "traceback", CLEAN)

Table = tuple[str, str]


@dataclass(frozen=True)
class Merged:
    """What a merge has done.

    Attributes
    ----------
    results : int
        How many results came from the other folders.
    tables : list of Results
        Those that were written.
    unknown : list of str
        Ids of tables that no experiment here has, so that they were not written.
    """

    results: int
    tables: list[Results]
    unknown: list[str]


def merge(folders: list[Path], into: Path) -> Merged:
    """Join the results of some folders in another one, which may hold results already, and write the tables.

    A result that ended ok takes the place of one that did not.

    Raises
    ------
    ElmbenchError
        If a folder holds no results; if results are of other specs, data or versions, or if two that should be equal
        are not. Nothing is written then.
    """
    sources = [folder for folder in folders if folder.resolve() != into.resolve()]
    stores = [_opened(folder) for folder in sources]
    target = Store(into)
    found = list(_refusals([(into, target), *zip(sources, stores, strict=True)]))
    if found:
        more = f"\n... and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise ElmbenchError(
            "these results do not belong together:\n" + "\n".join(found[:_NAMED]) + more,
            expected="results of the same specs, data and versions, equal where several folders have them",
            next_step="update elmbench and its packages on all machines and run again there, or leave a folder out",
        )
    try:
        count = sum(_copy(store, target) for store in stores)
        tables, unknown = _write(target, into)
    finally:
        target.close()
    return Merged(count, tables, unknown)


def _opened(folder: Path) -> Store:
    store = Store(folder)
    if not store.tables():
        raise ElmbenchError(
            f"{folder} holds no results of a run",
            expected="results folders, each with its .store",
            next_step="copy the whole folder from the other machine, .store included",
        )
    return store


# --- What does not belong together


def _refusals(places: list[tuple[Path, Store]]) -> Iterator[str]:
    """Yield, of each folder and those before it, what differs; each once."""
    entries: dict[tuple[Any, ...], tuple[Cell, Path, Store]] = {}
    results: dict[str, tuple[Path, dict[str, Any]]] = {}
    software: dict[str, tuple[Path, set[str]]] = {}
    said: set[str] = set()
    for folder, store in places:
        found = [*_other_entries(folder, store, entries), *_other_results(folder, store, results)]
        found += _other_software(folder, store, software)
        for text in found:
            if text not in said:
                said.add(text)
                yield f"- {text}"


def _other_entries(folder: Path, store: Store, known: dict[tuple[Any, ...], tuple[Cell, Path, Store]]) -> Iterator[str]:
    """Yield the entries of tables that are of another protocol, grid, data or model version than those known."""
    for (experiment, profile), cell in _cells(store):
        entry = (experiment, profile, cell.dataset, cell.model, cell.select, cell.reading)
        other, place, source = known.setdefault(entry, (cell, folder, store))
        if other.family != cell.family:
            what = _difference(source, other.key, store, cell.key)
            name = f"{experiment} ({profile}) {cell.dataset} {cell.model}, {cell.select}"
            yield f"{name}: {folder} and {place} differ in {what}"


def _difference(one: Store, first: str, other: Store, second: str) -> str:
    """Return in words what two pieces of work differ in that stand for the same entry of a table."""
    a, b = (_unit(store, key) for store, key in ((one, first), (other, second)))
    if not a or not b:
        return "protocol, grid, data or version of the model"
    words = []
    if a.get("dataset") != b.get("dataset"):
        sums = [str(unit.get("dataset", {}).get("identity", ""))[:12] for unit in (b, a)]
        words.append(f"the data (checksums {' and '.join(sums)})")
    if a.get("version") != b.get("version"):
        words.append(f"the version of the model ({b.get('version')} and {a.get('version')})")
    places = ("dataset", "version", "run", "fold", "chosen", "given", "evaluated")
    names = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name) and name not in places)
    words += [f"the spec ({', '.join(names)})"] if names else []
    return ", ".join(words) or "the spec (grid or search)"


def _unit(store: Store, key: str) -> dict[str, Any]:
    record = store.get(key)
    return record["unit"] if record else {}


def _other_results(folder: Path, store: Store, known: dict[str, tuple[Path, dict[str, Any]]]) -> Iterator[str]:
    """Yield what was computed in another folder too, with another outcome."""
    for key, record in _records(store).items():
        place, result = known.setdefault(key, (folder, record["result"]))
        if not _replaces(record["result"], result) and not _replaces(result, record["result"]):
            differs = [name for name in record["result"].keys() | result.keys() if name not in _TIMES]
            differs = [name for name in differs if not _same(record["result"].get(name), result.get(name))]
            if differs:
                work = work_from(record["unit"])
                unit = record["unit"]
                name = f"{work.model_name} on {work.data.name}" if work.data is not None else unit["kind"]
                where = f"run {unit.get('run', 0)}, fold {unit.get('fold', 0)}"
                yield f"{name}, {where}: {folder} and {place} have other {', '.join(sorted(differs))} ({key[:12]})"
        elif _replaces(record["result"], result):
            known[key] = (folder, record["result"])


def _replaces(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Tell whether a result takes the place of another one: it ended ok and that did not."""
    return bool(new["status"] == "ok" and old["status"] != "ok")


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values of results are the same but for round-off."""
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _other_software(folder: Path, store: Store, known: dict[str, tuple[Path, set[str]]]) -> Iterator[str]:
    """Yield the packages of which a folder has a version that the first folder with any results does not have."""
    own: dict[str, set[str]] = {}
    for name in {record["environment"] for record in _records(store).values()}:
        environment = store.environment(name)
        for package, version in {"python": environment.get("python"), **environment.get("packages", {})}.items():
            if version:
                own.setdefault(package, set()).add(".".join(version.split(".")[:2]) if package == "python" else version)
    for package, versions in own.items():
        place, others = known.setdefault(package, (folder, versions))
        if strange := versions - others:
            yield f"{package}: {folder} has {', '.join(sorted(strange))}, {place} has {', '.join(sorted(others))}"


# --- What is copied


def _cells(store: Store) -> Iterator[tuple[Table, Cell]]:
    """Yield the cells of each table that can run."""
    for table in sorted(store.tables()):
        for cell in store.cells(table[1], table[0]):
            if cell.key:
                yield table, cell


def _records(store: Store) -> dict[str, dict[str, Any]]:
    """Return the records that the cells of the tables rest on, by key."""
    found: dict[str, dict[str, Any]] = {}
    ahead = [cell.key for _, cell in _cells(store)]
    seen = set(ahead)
    while ahead:
        key = ahead.pop()
        record = store.get(key)
        if record is None:
            continue
        found[key] = record
        new = set(work_from(record["unit"]).needs) - seen
        seen |= new
        ahead += new
    return found


def _copy(source: Store, target: Store) -> int:
    """Add what a store has to another one; return the number of results that were new there."""
    count = 0
    for key, record in _records(source).items():
        known = target.result(key)
        if known is None or _replaces(record["result"], known):
            environment = target.put_environment(source.environment(record["environment"]))
            target.put_record(record | {"environment": environment})
            count += 1
    for experiment, profile in sorted(source.tables()):
        for cells, command in source.requests(profile, experiment):
            target.add_cells(profile, experiment, cells, command)
    return count


def _write(store: Store, folder: Path) -> tuple[list[Results], list[str]]:
    """Write the tables of a store; return them and the names of those that no experiment here has."""
    catalogue = load_catalogue()
    tables, unknown = [], []
    with store.writing_tables():
        for experiment, profile in sorted(store.tables()):
            if experiment in catalogue:
                tables.append(write_results(resolve(catalogue[experiment], profile), store, folder))
            else:
                unknown.append(experiment)
    return tables, unknown
