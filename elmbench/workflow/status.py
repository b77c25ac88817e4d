"""How many cells of each table have ended, from the store."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from elmbench.running.estimates import Estimates, Like
from elmbench.running.store import Cost, Store
from elmbench.work.plan import Cell


@dataclass(frozen=True)
class TableStatus:
    """The state of the cells of one table under one profile.

    Attributes
    ----------
    ended : mapping of str to int
        The number of cells by status; `running` for those that a run computes now, `missing` for those that have not
        run.
    reasons : mapping of str to int
        Why cells did not end ok, and how many.
    seconds : float
        What the work that is left takes on one core, by what other work of the table has taken.
    """

    experiment: str
    profile: str
    planned: int
    ended: Mapping[str, int]
    reasons: Mapping[str, int]
    seconds: float


def table_status(store: Store, experiment: str | None = None) -> list[TableStatus]:
    """Return the status of a table (by its id), or of every one, under each profile with which it was run."""
    lines = []
    running = store.under_way()
    for name, profile in sorted(store.tables(), key=_as_counted):
        if experiment not in (None, name):
            continue
        ended: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        cells = store.cells(profile, name)
        for cell in cells:
            absent = {"status": "unavailable", "reason": cell.unavailable}
            result = absent if cell.unavailable else store.result(cell.key)
            found = result["status"] if result else "running" if cell.key in running else "missing"
            ended[found] += 1
            if result and found != "ok":
                # Missing data are not a fault of the model.
                what = cell.dataset if found == "unavailable" else f"{cell.dataset} {cell.model}"
                said, _, _ = result["reason"].strip().partition("\n")
                reasons[f"{what} {found}: {said}"] += 1
        if ended:
            seconds = _left(store, cells, store.costs(profile, name))
            lines.append(TableStatus(name, profile, ended.total(), dict(ended), dict(reasons), seconds))
    return lines


def _left(store: Store, cells: list[Cell], costs: Mapping[str, Cost]) -> float:
    """Return the seconds of the work that some cells lack."""
    likes = {key: Like("", cost.model, cost.dataset) for key, cost in costs.items()}
    estimates = Estimates({key: cost.seconds for key, cost in costs.items()}, likes)
    missing: set[str] = set()
    ahead = [cell.key for cell in cells if not cell.unavailable]
    while ahead:
        key = ahead.pop()
        record = store.get(key)
        if key not in costs or key in missing:
            continue
        if record is None:
            missing.add(key)
            ahead += costs[key].needs
        else:
            estimates.note_stored(key, record)
    return sum(map(estimates.seconds, missing))


def _as_counted(table: tuple[str, str]) -> list[tuple[str, int]]:
    """Return a sort key that puts table10 after table9."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", " ".join(table))]
