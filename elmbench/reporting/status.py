"""How far each table is, from the store."""

from __future__ import annotations

from collections import Counter
from typing import Any

from elmbench.running.store import Store
from elmbench.specs.catalogue import PROFILES


def table_status(store: Store, experiments: list[str]) -> list[dict[str, Any]]:
    """Return a line for each table and profile of which cells were asked for.

    Parameters
    ----------
    store : Store
    experiments : list of str
        Ids.

    Returns
    -------
    list of dict
        `experiment`, `profile`, `planned`, `ended` (cells by status; `pending` for those that have not run) and
        `reasons` (why cells did not end ok, with how many).
    """
    lines = []
    for experiment in experiments:
        for profile in PROFILES:
            rows = store.cells(profile, experiment)
            if not rows:
                continue
            ended: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            for row in rows:
                result = (
                    {"status": "unavailable", "reason": row.unavailable} if row.unavailable else store.result(row.key)
                )
                found = result["status"] if result else "pending"
                ended[found] += 1
                if result and found != "ok":
                    # Absent data are no fault of a model.
                    what = row.dataset if found == "unavailable" else f"{row.dataset} {row.model}"
                    reasons[f"{what} {found}: {result['reason'].splitlines()[0]}"] += 1
            lines.append(
                {
                    "experiment": experiment,
                    "profile": profile,
                    "planned": len(rows),
                    "ended": dict(ended),
                    "reasons": dict(reasons),
                }
            )
    return lines
