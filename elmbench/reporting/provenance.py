"""The origin of a table's numbers: its `environment.json`, written from the store."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from elmbench.reporting.cells import records_below
from elmbench.running.store import Store
from elmbench.specs.profiles import COMPARE, Resolved, comparison_record
from elmbench.work.plan import Cell


def provenance(resolved: Resolved, planned: list[Cell], store: Store, commands: list[str]) -> dict[str, Any]:
    """Return the data, models, software and commands behind the numbers of a table."""
    datasets: dict[str, set[str]] = {}
    models: dict[str, str] = {}
    environments: Counter[str] = Counter()
    solvers: Counter[str] = Counter()
    for cell in planned:
        record = store.get(cell.key) if cell.key else None
        if record is None:
            continue
        environments[record["environment"]] += 1
        # Work that only combines results of other work has no data of its own.
        units = (one["unit"] for one in records_below([cell.key], store))
        unit: dict[str, Any] = next((unit for unit in units if "dataset" in unit), {})
        if unit:
            datasets.setdefault(cell.dataset, set()).add(unit["dataset"]["identity"])
        if "model" in unit:
            models[cell.model] = f"{unit['model']}, version {unit['version']}"
    # Each candidate on each fold counts once; "bound failed" and "... given up" count those that then used another.
    for record in records_below((cell.key for cell in planned if cell.key), store):
        solvers.update(record["result"].get("solvers", {}))
    spec = json.dumps(resolved.file.content, sort_keys=True, default=str)
    remarks = {cell.dataset: cell.remarks for cell in planned if cell.remarks}
    return {
        "experiment": resolved.file.id,
        "profile": resolved.profile,
        "commands": commands,
        "spec_sha256": hashlib.sha256(spec.encode()).hexdigest(),
        "datasets": {name: sorted(checksums) for name, checksums in datasets.items()},
        **({"remarks": remarks} if remarks else {}),
        "models": models,
        "environments": [{"cells": n, **store.environment(name)} for name, n in environments.items()],
        "solvers": dict(solvers),
        **(comparison_record(resolved) if resolved.profile == COMPARE else {}),
    }


def read_environment(folder: Path) -> dict[str, Any]:
    """Return the content of a table's `environment.json`; empty if it is missing or damaged."""
    try:
        record = json.loads((folder / "environment.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
