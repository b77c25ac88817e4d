"""The versions of elmbench and of the models that computed the committed results."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.errors import amount
from elmbench.registry import TASKS, model_version, registry
from elmbench.report.writers.markdown import pipe_rows
from elmbench.results import group_by
from elmbench.results.cells import RECORD

#: The profiles whose results are committed.
_PROFILES = ("fast", "paper")


@dataclass(frozen=True)
class ComputedBy:
    """The versions that computed the results of a table under one profile."""

    #: The table, such as `rkelm/table3`.
    table: str
    profile: str
    #: The versions of elmbench; empty if the table needs no run.
    suite: frozenset[str]
    #: The models, each with its version, such as `eem, version 2`.
    models: frozenset[str]


def read_versions(results: Path) -> list[ComputedBy]:
    """Return the versions that computed each table below a folder of results."""
    return [
        _computed_by(path, profile)
        for profile in _PROFILES
        for path in sorted((results / profile).glob("*/*/environment.json"))
    ]


def _computed_by(path: Path, profile: str) -> ComputedBy:
    environment = json.loads(path.read_text("utf-8"))
    # The records of kept cells are those of earlier runs.
    records = [environment, *environment.get("kept", ())]
    columns_of = _columns_by_record(path.with_name("cells.csv"), len(records))
    models = {
        model
        for columns, record in zip(columns_of, records, strict=True)
        for column, model in record["models"].items()
        if column in columns
    }
    return ComputedBy(
        table=f"{path.parent.parent.name}/{path.parent.name}",
        profile=profile,
        suite=frozenset(
            version for record in records for version in _suite_versions(record)
        ),
        models=frozenset(models),
    )


def _columns_by_record(path: Path, n_records: int) -> list[set[str]]:
    """Return the columns of a table that have cells of each record; the first is the last run."""
    cells = pd.read_csv(path, usecols=lambda name: name in ("model", RECORD))
    if RECORD not in cells:
        return [set(cells["model"])] + [set()] * (n_records - 1)
    numbers = cells[RECORD].fillna(0)
    return [set(cells.loc[numbers == number, "model"]) for number in range(n_records)]


def _suite_versions(record: Mapping[str, Any]) -> Iterator[str]:
    for environment in record["environments"]:
        yield environment["packages"]["elmbench"]


def outdated_models(computed: ComputedBy) -> list[str]:
    """Return the models of a table that now have another version."""
    return sorted(model for model in computed.models if _is_outdated(model))


def _is_outdated(model: str) -> bool:
    name, _, version = model.partition(", version ")
    return version not in present_versions(name)


def present_versions(model: str) -> set[str]:
    """Return the version of a model, for each task that it has an estimator for."""
    entry = registry()[model]
    return {
        model_version(entry, task) for task in TASKS if getattr(entry, task) is not None
    }


def versions_text(results: Path) -> str:
    """Return how many tables each version of elmbench computed, and the models that have changed
    since.
    """
    tables = read_versions(results)
    counts = Counter(
        " and ".join(sorted(table.suite)) for table in tables if table.suite
    )
    by_version = ", ".join(
        f"{n} by version {versions}" for versions, n in sorted(counts.items())
    )
    outdated = [(model, table) for table in tables for model in outdated_models(table)]
    n_outdated = len({(table.table, table.profile) for _, table in outdated})
    n_present = counts.total() - n_outdated
    sentences = (
        f"{amount(counts.total(), 'table')} and figures, one for each profile, were computed: "
        f"{by_version}. In {n_present} of them, every model still has the version that computed "
        "its cells."
    )
    if not outdated:
        return sentences
    rows = [["model of the cells", "version now", "tables"]]
    for model, pairs in sorted(group_by(outdated, lambda pair: pair[0]).items()):
        name, _, _ = model.partition(", version ")
        versions = " or ".join(sorted(present_versions(name)))
        ids = dict.fromkeys(table.table for _, table in pairs)
        rows.append([model, versions, ", ".join(sorted(ids))])
    return f"{sentences}\n\n{pipe_rows(rows)}"
