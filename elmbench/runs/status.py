"""The number of cells of each table that have ended, from the store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from elmbench.execution.store import Store
from elmbench.files import counting_order
from elmbench.specs.comparison_ids import is_id_of

if TYPE_CHECKING:
    from elmbench.tasks.plan import Cell

#: The durations in the result of a cell.
_TIMES = ("search_seconds", "fit_seconds", "predict_seconds")


class _CellGroup(NamedTuple):
    """The data set, model and selection of cells, whose durations are alike."""

    dataset: str
    model: str
    select: str


def table_status(store: Store, experiment: str | None = None) -> list[dict[str, Any]]:
    """Return the status of a table, or of all, under each profile with which it was run.

    `experiment`: an id or alias, or a comparison without its digest; None for all tables. They are
    sorted by id, then by profile; tables without cells are left out. Raises ElmbenchError for an
    unknown name.

    Returns
    -------
    list of dict
        One for each table and profile, with these keys:
        `experiment`, `profile`: the id and the profile of the table.
        `planned`: the number of cells.
        `ended`: {status: number of cells}; the status is "missing" for those that have not run.
        `reasons`: {reason why a cell did not end ok: number of cells}.
        `seconds_left`: the duration of the missing cells on one worker, by the cells of the
        same model and data that have ended ok.
        `unknown`: the models of missing cells without such cells; their durations are not
        counted.
        `command`: the last one that ran the table.
    """
    tables = sorted(store.tables(), key=lambda table: counting_order(" ".join(table)))
    if experiment is not None:
        tables = _find_tables(experiment, tables)
    lines = []
    for name, profile in tables:
        line = _table_line(store, name, profile)
        if line["planned"]:
            lines.append(line)
    return lines


def is_known_table(experiment: str, profile: str) -> bool:
    """Return True if a table of a store is a comparison, or a table of this installation.

    `experiment`: its id, not an alias. `profile`: "compare" for a comparison.
    """
    from elmbench.specs.catalogue import load_catalogue
    from elmbench.specs.files import spec_root

    if (
        profile == "compare"
        or (spec_root() / "experiments" / f"{experiment}.yaml").is_file()
    ):
        return True
    # Reading all experiment files takes a while.
    return experiment in load_catalogue()


def _table_line(store: Store, experiment: str, profile: str) -> dict[str, Any]:
    """Return the status of a table under a profile, from the store.

    `experiment`: its id. The keys of the dict are experiment, profile, planned (the number of
    cells), ended ({status: number}), reasons ({reason: number}), seconds_left (of missing cells
    with a known duration), command (empty without cells) and unknown (models of unknown duration).
    """
    ended: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    missing: Counter[_CellGroup] = Counter()
    durations: defaultdict[_CellGroup, list[float]] = defaultdict(list)
    for cell in store.cells(profile, experiment):
        result = _result_of(cell, store)
        status = result["status"]
        group = _CellGroup(dataset=cell.dataset, model=cell.model, select=cell.select)
        ended[status] += 1
        if status == "missing":
            missing[group] += 1
        elif status == "ok":
            seconds = (float(result.get(name) or 0.0) for name in _TIMES)
            durations[group].append(sum(seconds, 0.0))
        else:
            reasons[_reason_text(cell, result)] += 1
    seconds_left = sum(
        (
            count * fmean(durations[group])
            for group, count in missing.items()
            if group in durations
        ),
        0.0,
    )
    return {
        "experiment": experiment,
        "profile": profile,
        "planned": ended.total(),
        "ended": ended,
        "reasons": reasons,
        "seconds_left": seconds_left,
        "command": store.commands(profile, experiment)[-1] if ended else "",
        "unknown": sorted({group.model for group in missing.keys() - durations.keys()}),
    }


def _result_of(cell: Cell, store: Store) -> Mapping[str, Any]:
    """Return the stored result of a cell, which has at least the key `status`.

    Without data, it has the status `unavailable` and a `reason`; without a result, only the status
    `missing`.
    """
    if cell.unavailable:
        return {"status": "unavailable", "reason": cell.unavailable}
    return store.result(cell.key) or {"status": "missing"}


def _reason_text(cell: Cell, result: Mapping[str, Any]) -> str:
    """Return why a cell did not end ok, such as "heart SVM timeout: REASON".

    The model is left out if the data are missing. `result`: has `status` and `reason`, of which
    only the first line is taken.
    """
    status = result["status"]
    subject = (
        cell.dataset if status == "unavailable" else f"{cell.dataset} {cell.model}"
    )
    reason, _, _ = result["reason"].strip().partition("\n")
    return f"{subject} {status}: {reason}"


def _find_tables(name: str, tables: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of some tables that a name stands for: [(id, profile)].

    `name`: an id or alias, or the id of a comparison without its digest, which may stand for
    several. `tables`: [(id, profile)]. The result is [] for a known table that is not among them;
    raises ElmbenchError for an unknown name.
    """
    named = [table for table in tables if is_id_of(name, table[0])]
    if named:
        return named
    # Reading all experiment files takes a while.
    from elmbench.specs.catalogue import find_experiment

    id = find_experiment(name).id
    return [table for table in tables if table[0] == id]
