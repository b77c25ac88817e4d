"""The origin of a table's numbers: its `environment.json`, written from the store."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from elmbench.running.store import Store
from elmbench.specs.profiles import COMPARE, Resolved, comparison_record
from elmbench.work import work_from
from elmbench.work.plan import Cell


def provenance(resolved: Resolved, planned: list[Cell], store: Store, commands: list[str]) -> dict[str, Any]:
    """Return the data, models, software and commands behind the numbers of a table."""
    datasets: dict[str, set[str]] = {}
    models: dict[str, str] = {}
    environments: Counter[str] = Counter()
    for cell in planned:
        record = store.get(cell.key) if cell.key else None
        if record is None:
            continue
        unit = _first_on_data(cell.key, store)
        if "dataset" in unit:
            datasets.setdefault(cell.dataset, set()).add(unit["dataset"]["identity"])
        if "model" in unit:
            models[cell.model] = f"{unit['model']}, version {unit['version']}"
        environments[record["environment"]] += 1
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
        "solvers": _solvers(planned, store),
        **(comparison_record(resolved) if resolved.profile == COMPARE else {}),
    }


def _first_on_data(key: str, store: Store) -> dict[str, Any]:
    """Return the work of a key or, if it only combines results of other work, the first of these."""
    unit: dict[str, Any] = (store.get(key) or {}).get("unit", {})
    needs = work_from(unit).needs if unit and "dataset" not in unit else ()
    return _first_on_data(needs[0], store) if needs else unit


def _solvers(planned: list[Cell], store: Store) -> dict[str, int]:
    """Return the number of uses of each solver for these cells and their searches, each counted once.

    Each candidate on each fold counts once; "bound failed" and "... given up" count those that then used another
    solver.
    """
    total: Counter[str] = Counter()
    seen: set[str] = set()
    ahead = [cell.key for cell in planned if cell.key]
    while ahead:
        key = ahead.pop()
        record = store.get(key) if key not in seen else None
        seen.add(key)
        if record is not None:
            total.update(record["result"].get("solvers", {}))
            ahead += work_from(record["unit"]).needs
    return dict(total)


def read_environment(folder: Path) -> dict[str, Any]:
    """Return the content of a table's `environment.json`; empty if it is missing or damaged."""
    try:
        record = json.loads((folder / "environment.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
