"""How many cells of each table have ended, from the store."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from elmbench.running.store import Store
from elmbench.specs.catalogue import PROFILES


@dataclass(frozen=True)
class TableStatus:
    """The state of the cells of one table under one profile.

    Attributes
    ----------
    ended : mapping of str to int
        The number of cells by status; `pending` for those that have not run.
    reasons : mapping of str to int
        Why cells did not end ok, and how many.
    """

    experiment: str
    profile: str
    planned: int
    ended: Mapping[str, int]
    reasons: Mapping[str, int]


def table_status(store: Store, experiments: list[str]) -> list[TableStatus]:
    """Return the status of each table (by its id) under each profile with which it was run."""
    lines = []
    for experiment, profile in product(experiments, PROFILES):
        ended: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for cell in store.cells(profile, experiment):
            absent = {"status": "unavailable", "reason": cell.unavailable}
            result = absent if cell.unavailable else store.result(cell.key)
            found = result["status"] if result else "pending"
            ended[found] += 1
            if result and found != "ok":
                # Missing data are not a fault of the model.
                what = cell.dataset if found == "unavailable" else f"{cell.dataset} {cell.model}"
                reasons[f"{what} {found}: {result['reason'].splitlines()[0]}"] += 1
        if ended:
            lines.append(TableStatus(experiment, profile, ended.total(), dict(ended), dict(reasons)))
    return lines
