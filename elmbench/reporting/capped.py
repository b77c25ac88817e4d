"""How many fits were stopped at `max_iter` before they had converged: of those shown, and of the searches before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from elmbench.running.store import Store
from elmbench.work import work_from

#: Columns of `cells.csv`: whether the fit of a cell was stopped, and the share of the fits of its search.
CAPPED = ("capped", "search_capped")


class CappedFits:
    """Reads from the store how many fits of a cell's model were stopped.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counted: dict[str, tuple[int, int]] = {}

    def of(self, record: dict[str, Any]) -> dict[str, float]:
        """Return the values of the columns `CAPPED` for a cell; nothing for a model that no limit of steps stops.

        Parameters
        ----------
        record : dict
            What the store holds of the cell: `unit` and `result`.
        """
        if record["unit"].get("params", {}).get("max_iter", -1) < 0 or record["result"]["status"] != "ok":
            return {}
        found = {"capped": float(_stopped(record) > 0)}
        stopped, fits = map(sum, zip((0, 0), *self._searched(record["unit"]), strict=True))
        return found | ({"search_capped": stopped / fits} if fits else {})

    def _searched(self, unit: dict[str, Any]) -> Iterator[tuple[int, int]]:
        """Yield how many fits of each search before a unit were stopped, and how many there were."""
        for key in work_from(unit).needs:
            if key not in self._counted:
                record = self._store.get(key)
                if record is None:
                    continue
                before = list(self._searched(record["unit"]))
                own = (_stopped(record), work_from(record["unit"]).number_of_fits)
                stopped, fits = map(sum, zip(own, *before, strict=True))
                self._counted[key] = (stopped, fits)
            yield self._counted[key]


def _stopped(record: dict[str, Any]) -> int:
    return int(record["result"].get("solvers", {}).get("capped", 0))


def capped_notes(cells: pd.DataFrame) -> list[str]:
    """Return a note for each model and selection of which fits were stopped: the share, and where it was largest.

    Parameters
    ----------
    cells : DataFrame
        As `cells.csv` has them; other than default readings are left out.
    """
    if not set(CAPPED) <= set(cells.columns):
        return []
    own = cells[(cells["reading"] == "") & cells["capped"].notna()]
    notes = []
    for (model, select), group in own.groupby(["model", "select"], sort=False):
        shares = group.groupby("dataset", sort=False)[list(CAPPED)].mean().astype(float)
        if not (shares > 0).any(axis=None):
            continue
        shown, searched = (float(group[name].astype(float).mean()) for name in CAPPED)
        text = f"{model}, {select}: {shown:.0%} of the fits shown were stopped at max_iter before they had converged"
        if searched == searched:
            worst = shares["search_capped"].idxmax()
            text += f", {searched:.0%} of those of the searches (most on {worst}: {shares['search_capped'].max():.0%})"
        notes.append(text)
    return notes
