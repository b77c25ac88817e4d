"""The number of cells of each table that have ended, from the store."""

from collections import Counter, defaultdict
from statistics import fmean
from typing import Any

from elmbench.execution.store import Store
from elmbench.files import counting_order
from elmbench.specs.comparison_ids import is_id_of

_TIMES = ("search_seconds", "fit_seconds", "predict_seconds")


def table_status(store: Store, experiment: str | None = None) -> list[dict[str, Any]]:
    """Return the status of a table (by its id or alias), or of every one, under each profile with
    which it was run.

    `ended`: the number of cells by status; `missing` for those that have not run. `reasons`: why
    cells did not end ok, and how many. `seconds_left`: duration of the missing cells on one worker,
    by the cells of the same model and data that have ended ok. `unknown`: the models of missing
    cells without such cells, whose durations are not counted. `command`: the last one that ran the
    table.
    """
    tables = sorted(store.tables(), key=lambda table: counting_order(" ".join(table)))
    if experiment is not None:
        tables = _named(experiment, tables)
    lines = []
    for name, profile in tables:
        ended: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        durations: defaultdict[Any, list[float]] = defaultdict(list)
        missing: Counter[Any] = Counter()
        for cell in store.cells(profile, name):
            absent = {"status": "unavailable", "reason": cell.unavailable}
            result = absent if cell.unavailable else store.result(cell.key) or {"status": "missing"}
            ending = result["status"]
            entry = (cell.dataset, cell.model, cell.select)
            ended[ending] += 1
            if ending == "missing":
                missing[entry] += 1
            elif ending == "ok":
                durations[entry].append(
                    sum((float(result.get(time) or 0.0) for time in _TIMES), 0.0)
                )
            else:
                # Missing data are not a fault of the model.
                subject = (
                    cell.dataset if ending == "unavailable" else f"{cell.dataset} {cell.model}"
                )
                reason, _, _ = result["reason"].strip().partition("\n")
                reasons[f"{subject} {ending}: {reason}"] += 1
        if ended:
            seconds = sum(
                (n * fmean(durations[entry]) for entry, n in missing.items() if entry in durations),
                0.0,
            )
            line = {
                "experiment": name,
                "profile": profile,
                "planned": ended.total(),
                "ended": ended,
            }
            line |= {
                "reasons": reasons,
                "seconds_left": seconds,
                "command": store.commands(profile, name)[-1],
            }
            lines.append(
                line
                | {"unknown": sorted({model for _, model, _ in missing.keys() - durations.keys()})}
            )
    return lines


def _named(experiment: str, tables: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the tables with an id or alias, or all comparisons with this name before their
    digests.
    """
    if named := [table for table in tables if is_id_of(experiment, table[0])]:
        return named
    # Reading all experiment files takes a while.
    from elmbench.specs.catalogue import find_experiment

    id = find_experiment(experiment).id
    return [table for table in tables if table[0] == id]
