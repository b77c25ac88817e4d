"""The number of cells of each table that have ended, from the store."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from elmbench.running.store import Store


@dataclass(frozen=True)
class TableStatus:
    """The state of the cells of one table under one profile.

    Attributes
    ----------
    ended : mapping of str to int
        The number of cells by status; `missing` for those that have not run.
    reasons : mapping of str to int
        Why cells did not end ok, and how many.
    """

    experiment: str
    profile: str
    planned: int
    ended: Mapping[str, int]
    reasons: Mapping[str, int]


def table_status(store: Store, experiment: str | None = None) -> list[TableStatus]:
    """Return the status of a table (by its id), or of every one, under each profile with which it was run."""
    lines = []
    for name, profile in sorted(store.tables(), key=_as_counted):
        if experiment not in (None, name):
            continue
        ended: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for cell in store.cells(profile, name):
            absent = {"status": "unavailable", "reason": cell.unavailable}
            result = absent if cell.unavailable else store.result(cell.key)
            ending = result["status"] if result else "missing"
            ended[ending] += 1
            if result and ending != "ok":
                # Missing data are not a fault of the model.
                what = cell.dataset if ending == "unavailable" else f"{cell.dataset} {cell.model}"
                reason, _, _ = result["reason"].strip().partition("\n")
                reasons[f"{what} {ending}: {reason}"] += 1
        if ended:
            lines.append(TableStatus(name, profile, ended.total(), dict(ended), dict(reasons)))
    return lines


def _as_counted(table: tuple[str, str]) -> list[tuple[str, int]]:
    """Return a sort key that puts table10 after table9."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", " ".join(table))]
