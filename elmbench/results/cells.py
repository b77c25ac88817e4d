"""`cells.csv`, one line for each cell, and `environment.json`, the origin of its numbers: both are
from the store.
"""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.evaluation.stored_predictions import StoredPredictions, metric_columns
from elmbench.execution.store import Store
from elmbench.files import write_atomically
from elmbench.metrics import COUNTS, REGISTRY, find_metric, metrics_taking
from elmbench.specs.measures import FACTS
from elmbench.specs.profiles import COMPARE, Resolved, command_for, comparison_record
from elmbench.specs.protocol import MEASURES
from elmbench.tasks import work_from
from elmbench.tasks.plan import Cell

CELL_NAMES = ["dataset", "model", "run", "fold", "select", "reading"]
TIMES = ["fit_seconds", "search_seconds", "predict_seconds"]
SELECTIONS = ("published", "nested", "oracle")
#: 1 if the fit of a cell was stopped at `max_iter`, and the share of stopped fits of its search.
CAPPED = ("capped", "search_capped")
#: Warnings of a model, such as that it can only predict one class.
WARNING = "warning"
#: Remarks on the data, such as that they are not the public file.
REMARKS = "data"
#: Time limits that stopped a cell: its own, or that of the search before it.
LIMITS = ("fit_limit", "search_limit")
#: The key of the record of a cell in the store: two commands may compare the same data under the
#: same name at the same time, by other folds or searches. Only comparisons have it.
KEY = "key"
#: Columns that `cells.csv` has if they hold something.
_OPTIONAL = (*CAPPED, WARNING, REMARKS, *LIMITS)
#: All columns except measures.
NO_METRICS = (
    *CELL_NAMES,
    "status",
    "reason",
    "params",
    "n_units",
    "n_test",
    "condition",
    *TIMES,
    *_OPTIONAL,
    KEY,
)
_USER_WARNING = "UserWarning: "
#: The folders of an absolute path.
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"]+/)+(?=[^\s/])")
#: Endings of a cell.
_STATUSES = ("ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable")
_TEXT = ["dataset", "model", "select", "reading", "status", "reason", "params", KEY]
_WHOLE = ["run", "fold", "n_units", "n_test", *COUNTS, *FACTS]


def cells_frame(
    planned: list[Cell], store: Store, values: list[str], resolved: Resolved
) -> pd.DataFrame:
    """Return the planned cells that have ended, with the columns of `cells.csv`.

    `values` are the columns of measured values. Optional columns are left out if they hold nothing.
    """
    lines: list[dict[str, Any]] = []
    capped_values = capped_fits(store)

    def read_predictions() -> Iterator[StoredPredictions | None]:
        """Add the line of each cell and yield its predictions: one record is held at a time."""
        for cell in planned:
            if cell.unavailable:
                lines.append(_line(cell, {"status": "unavailable", "reason": cell.unavailable}))
                yield None
            elif (record := store.get(cell.key)) is not None:
                lines.append(
                    _line(cell, record["result"]) | _limits(record, store) | capped_values(record)
                )
                yield stored_predictions_of(record["result"])

    metric_names = {*REGISTRY, *({*resolved.spec.protocol.metrics} - {*MEASURES})}
    metrics = [find_metric(name) for name in values if name in metric_names]
    for name, column in metric_columns(read_predictions(), metrics).items():
        for line, value in zip(lines, column, strict=True):
            if value is not None:
                line.setdefault(name, value)
    lines.sort(key=order_of(resolved))
    optional = [name for name in _OPTIONAL if any(line.get(name) is not None for line in lines)]
    columns = [
        *CELL_NAMES,
        "status",
        "reason",
        "params",
        *values,
        *TIMES,
        "n_units",
        "condition",
        "n_test",
        *optional,
        *([KEY] if resolved.profile == COMPARE else []),
    ]
    frame = pd.DataFrame(lines, columns=columns)
    return _mark_overflow(frame.astype({name: "Int64" for name in _WHOLE if name in columns}))


def _mark_overflow(cells: pd.DataFrame) -> pd.DataFrame:
    """Mark cells with an infinite error as diverged; those of new runs already are (see
    `stored_predictions`).
    """
    errors = [
        name for name in map(str, cells) if name.partition("@")[0] in metrics_taking("values")
    ]
    infinite = cells[errors].astype(float).isin([math.inf, -math.inf]).any(axis=1)
    cells.loc[infinite, ["status", "reason"]] = [
        "diverged",
        "an error of the predictions is infinite",
    ]
    return cells


def _line(cell: Cell, result: dict[str, Any]) -> dict[str, Any]:
    """Return the line of `cells.csv` of one cell, from its stored result."""
    line = {name: getattr(cell, name) for name in CELL_NAMES} | result.get("measured", {})
    line |= {
        name: result.get(name) for name in ("status", *TIMES, "n_units", "condition", "n_test")
    }
    if "scores" in result:
        # In a table of hyperparameters a cell is the search itself.
        line["search_seconds"] = result["seconds"]
    # Warnings of other kinds are left out: some depend on the versions of libraries.
    shown = (
        text
        for text in result.get("warnings", ())
        if text.startswith(_USER_WARNING) and result["status"] == "ok"
    )
    warnings = (text.removeprefix(_USER_WARNING).partition("\n")[0] for text in shown)
    return line | {
        WARNING: "; ".join(warnings) or None,
        # Results are the same on every machine.
        "reason": _FOLDERS.sub(".../", result["reason"]),
        "params": json.dumps(result.get("params", {}), sort_keys=True),
        REMARKS: cell.remarks or None,
        KEY: cell.key,
    }


def _limits(record: dict[str, Any], store: Store) -> dict[str, float | None]:
    """Return the columns `LIMITS` of a cell: the time limit that it reached itself, or in the
    search before it.
    """
    if record["result"]["status"] != "timeout":
        return {}
    limit, *needed = (
        part["result"].get("limit") for part in needed_records([record["key"]], store)
    )
    return (
        {LIMITS[0]: limit} if limit is not None else {LIMITS[1]: next(filter(None, needed), None)}
    )


def stored_predictions_of(result: dict[str, Any] | None) -> StoredPredictions | None:
    """Return the predictions of a result; None if it has none."""
    return (
        StoredPredictions(result["predictions"]) if result and result.get("predictions") else None
    )


def needed_records(keys: Iterable[str], store: Store) -> Iterator[dict[str, Any]]:
    """Yield the records of some work and of all the work that it needs, each once, the nearest
    first.
    """
    queue = deque(keys)
    visited = set()
    while queue:
        key = queue.popleft()
        record = store.get(key) if key not in visited else None
        visited.add(key)
        if record is not None:
            yield record
            queue += work_from(record["unit"]).needs


def order_of(resolved: Resolved) -> Callable[[Any], tuple[Any, ...]]:
    """Return the sort key of lines: default readings first, then the table's own selection, then
    the table's order.

    Data sets and models that the table does not have come last, by name.
    """
    selections = list(dict.fromkeys((*resolved.spec.protocol.selections, *SELECTIONS)))
    spec = resolved.file.spec
    datasets, models = (
        {name: i for i, name in enumerate(names)} for names in (spec.datasets, spec.models)
    )

    def key(line: Any) -> tuple[Any, ...]:
        reading = line["reading"]
        dataset = line["dataset"]
        model = line["model"]
        section = reading != "", reading, selections.index(line["select"])
        entry = datasets.get(dataset, len(datasets)), dataset, models.get(model, len(models)), model
        return *section, *entry, line.get("run", 0), line.get("fold", 0)

    return key


def capped_fits(store: Store) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Return the function that computes the columns `CAPPED` of a cell, its fits that stopped
    early, from its record.

    It returns none for a model without a limit of steps. The searches that cells share are counted
    once.
    """

    def count_stopped(record: dict[str, Any]) -> int:
        return int(record["result"].get("solvers", {}).get("capped", 0))

    @cache
    def search_share(*keys: str) -> float:
        searches = list(needed_records(keys, store))
        fits = sum(work_from(record["unit"]).number_of_fits for record in searches)
        return sum(map(count_stopped, searches)) / fits if fits else math.nan

    def capped_values(record: dict[str, Any]) -> dict[str, float]:
        most_steps = record["unit"].get("params", {}).get("max_iter")
        is_limited = isinstance(most_steps, int) and most_steps > 0
        if not is_limited or record["result"]["status"] != "ok":
            return {}
        values = float(count_stopped(record) > 0), search_share(*work_from(record["unit"]).needs)
        return dict(zip(CAPPED, values, strict=True))

    return capped_values


def csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV without its index; floats keep every digit."""
    return frame.to_csv(index=False, lineterminator="\n")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV, atomically."""
    write_atomically(path, csv(frame))


def read_cells(path: Path) -> pd.DataFrame:
    """Return the content of a `cells.csv` or of a baseline; raise ElmbenchError if the file is not
    such a table.
    """
    expected = "a table that elmbench wrote"
    try:
        types = dict.fromkeys(_TEXT, "str") | dict.fromkeys(_WHOLE, "Int64")
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
        frame = frame.fillna({name: "" for name in _TEXT if name in frame})
        if (damage := _damage(frame)) is None:
            return _mark_overflow(frame if "reason" in frame else frame.assign(reason=""))
        problem = f"{path}: {damage}"
    except (FileNotFoundError, NotADirectoryError):
        problem = f"{path} does not exist"
        expected = "results of an earlier run"
    except (OSError, ValueError, TypeError, OverflowError) as error:
        problem = f"cannot read {path}: {error}"
    paper = path.parent.parent
    table = path.parent.name
    command = command_for(paper.parent.name, f"{paper.name}/{table}")
    raise ElmbenchError(problem, expected=expected, next_step=command)


def _damage(frame: pd.DataFrame) -> str | None:
    """Return the fault of a file that was changed by hand; None if there is none."""
    if missing := [
        name for name in (*CELL_NAMES, "status", "params", "n_units") if name not in frame
    ]:
        return f"it lacks the columns {', '.join(missing)}"
    numbers = frame[frame.columns.difference([*_TEXT, WARNING, REMARKS])]
    wrong = {
        name: numbers[name].notna() & pd.to_numeric(numbers[name], errors="coerce").isna()
        for name in numbers
    }
    wrong |= {
        name: ~frame[name].isin(values)
        for name, values in (("status", _STATUSES), ("select", SELECTIONS))
    }
    wrong |= {name: frame[name].isna() | (frame[name] < 0) for name in ("run", "fold")}
    wrong |= {name: frame[name] == "" for name in ("dataset", "model")}
    wrong["params"] = ~frame["params"].map(_is_mapping)
    for name, lines in wrong.items():
        if lines.any():
            line = int(lines.to_numpy(bool).argmax())
            return f"line {line + 2}: {name} is {str(frame[name].iloc[line])!r}"
    if (duplicated := frame.duplicated(CELL_NAMES)).any():
        return f"line {int(duplicated.to_numpy().argmax()) + 2}: duplicate cell"
    return None


def _is_mapping(text: str) -> bool:
    """Return True for a JSON object of parameters, and for the empty text of a cell without any."""
    try:
        return text == "" or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def provenance(
    resolved: Resolved, planned: list[Cell], store: Store, commands: list[str]
) -> dict[str, Any]:
    """Return the data, models, software and commands behind the numbers of a table."""
    records: dict[str, tuple[dict[str, Any], str]] = {}
    solvers: Counter[str] = Counter()
    # Each candidate on each fold counts once; "bound failed" and "... given up" count those that
    # then used another.
    for record in needed_records((cell.key for cell in planned if cell.key), store):
        records[record["key"]] = record["unit"], record["environment"]
        solvers.update(record["result"].get("solvers", {}))

    def unit_with_data(key: str) -> dict[str, Any]:
        """Return the description of some work, or, if it only combines results, of work that it
        needs.
        """
        unit: dict[str, Any] = records[key][0] if key in records else {}
        needs = work_from(unit).needs if unit and "dataset" not in unit else ()
        return next(filter(None, map(unit_with_data, needs)), unit)

    units = [(cell, unit_with_data(cell.key)) for cell in planned if cell.key in records]
    datasets: defaultdict[str, set[str]] = defaultdict(set)
    for cell, unit in units:
        if "dataset" in unit:
            datasets[cell.dataset].add(unit["dataset"]["identity"])
    environments = Counter(records[cell.key][1] for cell, _ in units)
    spec = json.dumps(resolved.file.content, sort_keys=True, default=str)
    remarks = {cell.dataset: cell.remarks for cell in planned if cell.remarks}
    return {
        "experiment": resolved.file.id,
        "profile": resolved.profile,
        "commands": commands,
        "spec_sha256": hashlib.sha256(spec.encode()).hexdigest(),
        "datasets": {name: sorted(checksums) for name, checksums in datasets.items()},
        **({"remarks": remarks} if remarks else {}),
        "models": {
            c.model: f"{unit['model']}, version {unit['version']}"
            for c, unit in units
            if "model" in unit
        },
        "environments": [
            {"cells": n, **store.environment(name)} for name, n in environments.items()
        ],
        "solvers": dict(solvers),
        **(comparison_record(resolved) if resolved.profile == COMPARE else {}),
    }
