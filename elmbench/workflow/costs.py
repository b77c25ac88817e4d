"""What tables would take, as `elmbench show` says it: `python -m elmbench.workflow.costs` writes those of the suite."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from elmbench.files import write_atomically
from elmbench.specs.catalogue import ExperimentFile, load_catalogue
from elmbench.specs.files import spec_root

#: Digits of what is written, of seconds that are estimates.
_DIGITS = 4


def costs(file: ExperimentFile) -> dict[str, float]:
    """Return the seconds that all cells of a table take on one core, by profile, with all data at hand.

    Planning a table takes up to seconds: of the suite's own they are written beside the specs. Of a table that was
    changed since they are planned anew.
    """
    known = _written().get(file.id, {})
    if known.get("content") == _content(file):
        seconds: dict[str, float] = known["seconds"]
        return seconds
    return planned_costs(file)


def planned_costs(file: ExperimentFile) -> dict[str, float]:
    """Return the same from the plans of the table."""
    from elmbench.layouts.planning import make_plan
    from elmbench.specs.limits import parse_limits
    from elmbench.specs.profiles import resolve
    from elmbench.work.plan import Request

    plans = {name: make_plan(resolve(file, name), Request(without_data=True)) for name in file.profiles}
    memory = parse_limits(file.spec.limit).memory
    seconds = {name: sum(work.seconds_within(memory) for work in plan.works.values()) for name, plan in plans.items()}
    return {name: float(f"{value:.{_DIGITS}g}") for name, value in seconds.items()}


def _content(file: ExperimentFile) -> str:
    """Return a hash of what a table's file says, with that of the table that it is based on."""
    return hashlib.sha256(json.dumps(file.content, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _written() -> dict[str, Any]:
    """Return what was written of each table, by id; nothing where it cannot be read."""
    try:
        found: dict[str, Any] = json.loads((spec_root() / "experiments" / "costs.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def write_costs() -> None:
    """Plan every table of the suite and write what it takes to `experiments/costs.json`."""
    found = {file.id: {"content": _content(file), "seconds": planned_costs(file)} for file in load_catalogue().values()}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in found.items())
    write_atomically(spec_root() / "experiments" / "costs.json", f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    write_costs()
