"""The results that a table shows: the user's, completed by the committed ones."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.judging.measured_cells import GROUP
from elmbench.report.table_results import Committed, Results, results_of_table
from elmbench.results.cells import TIMES, sort_cells
from elmbench.results.folders import ResultsDirs, has_results
from elmbench.specs.profiles import Resolved


def shown_results(
    resolved: Resolved, dirs: ResultsDirs, metrics: Sequence[str] = ()
) -> Results:
    """Return the results of a table from the user's folder, completed by the committed ones.

    A group of cells (data set, model, selection, reading) is the user's if one of its cells has run
    there, else the committed one, so that no mean is over cells of both. With results in one folder
    only, they are returned as they are. `metrics`: more metrics to show; if the committed results
    lack them, the user's alone are returned. Raises ElmbenchError if neither folder has results.
    """
    table = (resolved.profile, resolved.file.id)
    folders = [folder for folder in dirs.folders if has_results(folder, *table)]
    if len(folders) < 2:
        return results_of_table(resolved, folders[0] if folders else dirs.user, metrics)
    user = results_of_table(resolved, dirs.user, metrics)
    try:
        committed = results_of_table(resolved, folders[1], metrics)
    except ElmbenchError:
        # Committed results have no predictions, from which another metric could be computed.
        if not metrics:
            raise
        return user
    return _complete(user, committed)


def _complete(user: Results, committed: Results) -> Results:
    """Return the user's results, completed by committed groups of cells.

    They are those that did not run in the user's folder. A group is (data set, model, selection,
    reading); it did not run if all of its cells are `unavailable`. If no group of the user's has
    run, the committed results are returned as they are; if nothing is missing, the user's.
    """
    has_run = user.cells["status"] != "unavailable"
    user_groups = _groups_of_cells(user.cells)
    own_groups = set(user_groups[has_run])
    if not own_groups:
        return committed
    groups = _groups_of_cells(committed.cells)
    is_added = ~groups.isin(own_groups)
    if not is_added.any():
        return user
    added = committed.cells[is_added]
    remaining = user.cells[has_run | ~user_groups.isin(set(groups))]
    both = pd.concat([remaining, _without_times(added, remaining)], ignore_index=True)
    return replace(
        user,
        cells=sort_cells(both, user.resolved),
        committed=Committed(committed, frozenset(groups[is_added])),
        left_out=user.left_out or committed.left_out,
    )


def _groups_of_cells(cells: pd.DataFrame) -> "pd.Series[Any]":
    """Return the tuple (data set, model, selection, reading) of each cell, as a series.

    It has the index of `cells`, a frame of `cells.csv`.
    """
    groups = list(cells[GROUP].itertuples(index=False, name=None))
    return pd.Series(groups, index=cells.index, dtype=object)


def _without_times(committed: pd.DataFrame, user: pd.DataFrame) -> pd.DataFrame:
    """Return committed cells with NaN in place of times that would stand beside the user's.

    These are the times on each data set, under each selection and reading, for which the user has a
    cell that ended ok: times of two machines have no meaningful ratio. Neither frame is changed.
    """
    shared = ["dataset", "select", "reading"]
    is_ok = user["status"] == "ok"
    sections_of_user = pd.MultiIndex.from_frame(user.loc[is_ok, shared])
    sections = pd.MultiIndex.from_frame(committed[shared])
    beside_users = sections.isin(sections_of_user)
    times = [name for name in TIMES if name in committed]
    masked = committed.copy()
    for name in times:
        masked[name] = committed[name].mask(beside_users)
    return masked
