"""Merging of the results of several machines into one store and one table.

The cells of one group share a hash of their protocol, grid, data and model version, and
each result names its software. Results that differ in these are refused before anything is written.
If several folders have the result of a cell, which may differ by round-off, that of the first one
stays.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.execution.store import Store
from elmbench.files import real_path
from elmbench.results.cells import needed_records
from elmbench.results.folders import FigureFormat
from elmbench.runs.write_results import write_results
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.profiles import resolve
from elmbench.tasks.plan import Cell

#: Differences beyond this number are counted, not named.
_MOST_DIFFERENCES = 12


@dataclass(frozen=True, kw_only=True)
class MergedResults:
    """The outcome of a merge.

    Attributes
    ----------
    results : int
        The number of results that are new in the target.
    tables : list of str
        The folders of the tables that were written.
    unknown : list of str
        The ids of the tables that this installation does not have; their results are merged.
    damaged : int
        The number of damaged records in the folders, which are left out.
    """

    results: int
    tables: list[str]
    unknown: list[str]
    damaged: int


def merge_results(
    folders: list[Path], into: Path, figure_format: FigureFormat = "png"
) -> MergedResults:
    """Merge the results of some folders into another one, and write its tables.

    `folders`: results folders with a .store; one that is `into` is skipped. `into`: may not exist
    yet, or hold results already. A result that ended ok replaces one that did not; else, the first
    one stays: that of `into`, then of the folders in order. Raises ElmbenchError, before anything
    is written, if a folder holds no results, or if their specs, data or versions differ.
    """
    target = Store(into)
    sources = {
        folder: Store(folder)
        for folder in folders
        if real_path(folder) != real_path(into)
    }
    for folder, store in sources.items():
        if not store.tables():
            problem = f"{folder} holds no results of a run"
            next_step = "copy the whole folder from the other machine, .store included"
            raise ElmbenchError(
                problem,
                expected="results folders, each with its .store",
                next_step=next_step,
            )
    _check_equal_origin({into: target, **sources})
    catalogue = load_catalogue()
    try:
        count = sum(_copy(store, target) for store in sources.values())
        with target.writing_tables():
            files = [
                (catalogue[name], profile)
                for name, profile in sorted(target.tables())
                if name in catalogue
            ]
            written = [
                write_results(
                    resolve(file, profile), target, into, figure_format=figure_format
                )
                for file, profile in files
            ]
            tables = [str(results.folder) for results in written]
    finally:
        target.close()
    unknown = sorted(name for name, _ in target.tables() if name not in catalogue)
    damaged = sum(store.n_damaged for store in sources.values())
    return MergedResults(results=count, tables=tables, unknown=unknown, damaged=damaged)


def _check_equal_origin(stores: Mapping[Path, Store]) -> None:
    """Raise ElmbenchError if the results of stores differ in specs, data or versions.

    `stores`: by the folder that messages name; the first ones are the reference. The message lists
    at most 12 differences.
    """
    differences = list(dict.fromkeys(_differences(stores)))
    if not differences:
        return
    lines = ["these results do not belong together:", *differences[:_MOST_DIFFERENCES]]
    n_more = len(differences) - _MOST_DIFFERENCES
    if n_more > 0:
        lines.append(f"... and {n_more} more")
    raise ElmbenchError(
        "\n".join(lines),
        expected="results of the same specs, data and versions",
        next_step="update elmbench and its packages on all machines and run again there, or leave "
        "a folder out",
    )


def _differences(stores: Mapping[Path, Store]) -> Iterator[str]:
    """Yield a line "- ..." on each difference of a folder from an earlier one.

    Compared are the protocol, grid, data and model version of cells of the same table, profile,
    data set, model, selection and reading, and the versions of each package. A package differs if a
    later folder has a version more; one less is no difference. `stores`: {folder: store}; a cell or
    package is compared with the first folder that has it. A line may be repeated.
    """
    groups: dict[tuple[str, ...], tuple[str, Path]] = {}
    software: dict[str, tuple[set[str], Path]] = {}
    for folder, store in stores.items():
        for (experiment, profile), cell in _cells(store):
            group = (
                experiment,
                profile,
                cell.dataset,
                cell.model,
                cell.select,
                cell.reading,
            )
            family, origin = groups.setdefault(group, (cell.family, folder))
            if family != cell.family:
                name = f"{experiment} ({profile}) {cell.dataset} {cell.model}, {cell.select}"
                yield (
                    f"- {name}: {folder} and {origin} differ in the protocol, grid, data or "
                    "version of the model"
                )
        for package, versions in _versions(store).items():
            base, origin = software.setdefault(package, (versions, folder))
            extra = versions - base
            if extra:
                yield (
                    f"- {package}: {folder} has {', '.join(sorted(extra))}, {origin} has "
                    f"{', '.join(sorted(base))}"
                )


def _versions(store: Store) -> dict[str, set[str]]:
    """Return {package: versions} of the software that computed the records of a store.

    The key "python" has versions such as "3.11", without the third number.
    """
    versions = defaultdict(set)
    for name in {record["environment"] for record in _records(store).values()}:
        environment = store.environment(name)
        python = ".".join((environment.get("python") or "").split(".")[:2])
        for package, version in {
            "python": python,
            **environment.get("packages", {}),
        }.items():
            if version:
                versions[package].add(version)
    return versions


def _cells(store: Store) -> Iterator[tuple[tuple[str, str], Cell]]:
    """Yield ((experiment, profile), cell) for each planned cell of all tables in a store.

    Cells without a task, because their data are missing, are left out.
    """
    for experiment, profile in sorted(store.tables()):
        yield from (
            ((experiment, profile), cell)
            for cell in store.cells(profile, experiment)
            if cell.key
        )


def _records(store: Store) -> dict[str, dict[str, Any]]:
    """Return {key: record} of the results that the cells of all tables in a store depend on.

    Results that are missing in the store are left out.
    """
    return {
        record["key"]: record
        for record in needed_records((cell.key for _, cell in _cells(store)), store)
    }


def _copy(source: Store, target: Store) -> int:
    """Copy the results of a store and the requests for its tables to another one.

    Return the number of copied results. A result that ended ok replaces one that did not; any other
    result of the target stays. `target` is changed, `source` is not.
    """
    count = 0
    for key, record in _records(source).items():
        current = target.result(key)
        if current is None or (
            record["result"]["status"] == "ok" and current["status"] != "ok"
        ):
            environment = target.put_environment(
                source.environment(record["environment"])
            )
            target.append(f"unit:{key}", record | {"environment": environment})
            count += 1
    for experiment, profile in sorted(source.tables()):
        for cells, command in source.requests(profile, experiment):
            target.add_cells(profile, experiment, cells, command)
    return count
