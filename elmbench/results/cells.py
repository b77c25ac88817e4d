"""`cells.csv`, one line for each cell, and `environment.json`, the origin of its numbers: both are
from the store.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from elmbench.errors import ElmbenchError
from elmbench.evaluation.stored_predictions import StoredPredictions, metric_columns
from elmbench.execution.store import Store
from elmbench.files import check_regular, write_atomically
from elmbench.metrics import COUNTS, REGISTRY, metrics_taking
from elmbench.registry.scorers import find_metric
from elmbench.results import group_by
from elmbench.specs.measures import FACTS, MEASURES
from elmbench.specs.profiles import COMPARE, Resolved, command_for, comparison_json_dict
from elmbench.tasks.plan import Cell

CELL_NAMES = ["dataset", "model", "run", "fold", "select", "reading"]
TIMES = ["fit_seconds", "search_seconds", "predict_seconds"]
SELECTIONS = ("published", "nested", "once", "oracle")
#: 1 if the fit of a cell was stopped at `max_iter`, and the share of stopped fits of its search.
CAPPED = ("capped", "search_capped")
#: Warnings of a model, such as that it can only predict one class.
WARNING = "warning"
#: Remarks on the data, such as that they are not the public file.
REMARKS = "data"
#: Time limits that stopped a cell: its own, or that of the search before it.
LIMITS = ("fit_limit", "search_limit")
#: The number of the record in `environment.json` that describes a cell which the store lacks.
RECORD = "record"
#: The key of the record of a cell in the store: two commands may compare the same data under the
#: same name at the same time, by other folds or searches. Only comparisons have it.
KEY = "key"
#: Columns that `cells.csv` has if they hold something.
_OPTIONAL = (*CAPPED, WARNING, REMARKS, *LIMITS, RECORD)
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
#: The type of columns of text. Arrow, the default of pandas, takes many times as long to select a
#: few lines.
TEXT_TYPE = pd.StringDtype("python", na_value=math.nan)
#: Endings of a cell.
_STATUSES = ("ok", "diverged", "timeout", "out-of-memory", "failed", "unavailable")
_TEXT = ["dataset", "model", "select", "reading", "status", "reason", "params", KEY]
_WHOLE = ["run", "fold", "n_units", "n_test", RECORD, *COUNTS, *FACTS]


def cells_frame(
    planned: list[Cell], store: Store, values: list[str], resolved: Resolved
) -> pd.DataFrame:
    """Return a data frame with the content of `cells.csv`: a line for each planned cell.

    Cells that have not ended are left out, but not those that cannot run, which are `unavailable`.
    The lines are sorted (see `order_of`). `values`: the columns of measured values, such as `mcc`
    or `gmean@h=50`. The other columns are those that identify a cell, its status, reason,
    parameters, size, condition and times; optional ones, such as warnings, are left out if they
    hold nothing. Metrics are computed from the stored predictions of a cell if it has any.
    """
    lines: list[dict[str, Any]] = []
    capped_values = capped_fits(store)

    def read_predictions() -> Iterator[StoredPredictions | None]:
        """Yield the predictions of each cell that has a line, or None, and add the line to `lines`.

        It is a generator, so that one record is held at a time.
        """
        for cell in planned:
            if cell.unavailable:
                lines.append(
                    _line(cell, {"status": "unavailable", "reason": cell.unavailable})
                )
                yield None
            elif (record := store.get(cell.key)) is not None:
                line = _line(cell, record["result"]) | _measured_values(
                    record["result"], values
                )
                lines.append(
                    line | _limit_columns(record, store) | capped_values(record)
                )
                yield stored_predictions_of(record["result"])

    metric_names = {*REGISTRY, *({*resolved.spec.protocol.all_metrics} - {*MEASURES})}
    metrics = [find_metric(name) for name in values if name in metric_names]
    for name, column in metric_columns(read_predictions(), metrics).items():
        for line, value in zip(lines, column, strict=True):
            if value is not None:
                line.setdefault(name, value)
    lines.sort(key=order_of(resolved))
    optional = [
        name for name in _OPTIONAL if any(line.get(name) is not None for line in lines)
    ]
    columns = [*columns_of_cells(values), *optional]
    if resolved.profile == COMPARE:
        columns.append(KEY)
    frame = pd.DataFrame(lines, columns=columns)
    return _mark_overflow(
        frame.astype({name: "Int64" for name in _WHOLE if name in columns})
    )


def columns_of_cells(values: Iterable[str]) -> list[str]:
    """Return the columns that each `cells.csv` has, in their order.

    `values`: the columns of measured values, which follow the parameters.
    """
    description = [*CELL_NAMES, "status", "reason", "params"]
    return [*description, *values, *TIMES, "n_units", "condition", "n_test"]


def _mark_overflow(cells: pd.DataFrame) -> pd.DataFrame:
    """Set the status `diverged` of cells with an infinite error, in place, and return all cells.

    `cells`: a line for each, with the columns of `cells.csv`. New runs already mark them (see
    `Predictions.have_diverged`).
    """
    error_metrics = metrics_taking("values")
    is_infinite = np.zeros(len(cells), dtype=bool)
    for name in map(str, cells):
        metric, _, _ = name.partition("@")
        if metric in error_metrics:
            is_infinite |= np.isinf(cells[name].to_numpy(dtype=float, na_value=np.nan))
    if not is_infinite.any():
        return cells
    cells.loc[is_infinite, ["status", "reason"]] = [
        "diverged",
        "an error of the predictions is infinite",
    ]
    return cells


def _line(cell: Cell, result: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of one cell that are not measured values: {column: value}.

    `params` is JSON with sorted keys, and folders in `reason` are replaced by `...`. If the result
    is that of a search (it has `scores`), its `seconds` are the `search_seconds`. `result`: the
    stored result of its task, with `status` and `reason`; all other keys are optional. A column
    without a value is None.
    """
    line = {name: getattr(cell, name) for name in CELL_NAMES}
    for name in ("status", *TIMES, "n_units", "condition", "n_test"):
        line[name] = result.get(name)
    if "scores" in result:
        # In a table of hyperparameters a cell is the search itself.
        line["search_seconds"] = result["seconds"]
    line[WARNING] = _user_warnings(result)
    # Results are the same on every machine.
    line["reason"] = _FOLDERS.sub(".../", result["reason"])
    line["params"] = json.dumps(result.get("params", {}), sort_keys=True)
    line[REMARKS] = cell.remarks or None
    line[KEY] = cell.key
    return line


def _measured_values(
    result: dict[str, Any], columns: Iterable[str]
) -> dict[str, float | None]:
    """Return the measured values of a stored result that are among `columns`, by column.

    If it has predictions, metrics that can be computed from them are left out. `result`: its values
    are under `measured`, {name: number}.
    """
    wanted = set(columns) - set(NO_METRICS)
    if result.get("predictions"):
        wanted -= set(REGISTRY)
    return {
        name: value
        for name, value in result.get("measured", {}).items()
        if name in wanted
    }


def _user_warnings(result: dict[str, Any]) -> str | None:
    """Return the first lines of the warnings of a model, joined by semicolons.

    `result`: has `status` and perhaps `warnings`, a list of texts "CATEGORY: TEXT". It is None if
    the stored result has none or did not end ok. Warnings of other categories than UserWarning are
    left out: some depend on the versions of libraries.
    """
    if result["status"] != "ok":
        return None
    warnings = [
        text.removeprefix(_USER_WARNING).partition("\n")[0]
        for text in result.get("warnings", ())
        if text.startswith(_USER_WARNING)
    ]
    return "; ".join(warnings) or None


def _limit_columns(record: dict[str, Any], store: Store) -> dict[str, float | None]:
    """Return the time limit that stopped a cell: {"fit_limit" or "search_limit": seconds}.

    It is the limit of the cell itself, or that of the search before it. `record`: that of the cell
    in the store. The dict is empty if the cell did not end by `timeout`; the seconds of
    `search_limit` are None if no limit is recorded. `store`: has the records of the searches.
    """
    if record["result"]["status"] != "timeout":
        return {}
    fit_column, search_column = LIMITS
    records = needed_records([record["key"]], store)
    fit_limit, *search_limits = (part["result"].get("limit") for part in records)
    if fit_limit is not None:
        return {fit_column: fit_limit}
    search_limit = next(filter(None, search_limits), None)
    return {search_column: search_limit}


def stored_predictions_of(result: dict[str, Any] | None) -> StoredPredictions | None:
    """Return the predictions in a stored result; None if it has none, or if there is no result."""
    return (
        StoredPredictions(result["predictions"])
        if result and result.get("predictions")
        else None
    )


def needed_records(keys: Iterable[str], store: Store) -> Iterator[dict[str, Any]]:
    """Yield the records of tasks and of all tasks that they need, each once, the nearest first.

    `keys`: those of the tasks, which come before the tasks that they need. Tasks without a record
    in the store, and what only they need, are skipped.
    """
    queue = deque(keys)
    visited = set()
    while queue:
        key = queue.popleft()
        record = store.get(key) if key not in visited else None
        visited.add(key)
        if record is not None:
            yield record
            queue += record["needs"]


def order_of(resolved: Resolved) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that computes the sort key of a line of `cells.csv`.

    Default readings come first, then the table's own selection, then the table's order. Data sets
    and models that the table does not have come last, by name. The function takes a mapping with
    the columns dataset, model, select and reading, and perhaps run and fold.
    """
    selections = _positions((*resolved.spec.protocol.selections, *SELECTIONS))
    datasets = _positions(resolved.file.spec.datasets)
    models = _positions(resolved.file.spec.models)

    def key(line: Any) -> tuple[Any, ...]:
        """Return the sort key of a line, a mapping with the columns of `cells.csv`."""
        reading = line["reading"]
        dataset = line["dataset"]
        model = line["model"]
        return (
            reading != "",
            reading,
            selections[line["select"]],
            datasets.get(dataset, len(datasets)),
            dataset,
            models.get(model, len(models)),
            model,
            line.get("run", 0),
            line.get("fold", 0),
        )

    return key


def sort_cells(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return cells, with the columns of `cells.csv`, in the order of a table, with a new index.

    Data sets and models that the table does not have come last. Default readings come first, then
    the table's own selection, then the table's order of data sets and models.
    """
    position = order_of(resolved)
    lines = cells[CELL_NAMES].to_dict("records")
    numbers = sorted(range(len(lines)), key=lambda number: position(lines[number]))
    return cells.iloc[numbers].reset_index(drop=True)


def _positions(names: Iterable[str]) -> dict[str, int]:
    """Return {name: position} of the distinct names in `names`, from 0 in their order."""
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def capped_fits(store: Store) -> Callable[[dict[str, Any]], dict[str, float]]:
    """Return a function that computes the columns `capped` and `search_capped` of a cell.

    The function takes the record of the cell in the store and returns {column: value}. `capped` is
    1.0 if its own fit stopped at `max_iter`, else 0.0; `search_capped` is the share of such fits in
    its searches, NaN without searches. The dict is empty for a model without a positive `max_iter`
    and for a cell that did not end ok. The searches that cells share are looked up once.
    """

    def count_stopped(record: dict[str, Any]) -> int:
        """Return the number of fits in the record of a task that stopped at `max_iter`."""
        return int(record["result"].get("solvers", {}).get("capped", 0))

    @cache
    def search_share(*keys: str) -> float:
        """Return the share of stopped fits in the searches with these keys.

        All tasks that they need count too. NaN without fits.
        """
        searches = list(needed_records(keys, store))
        fits = sum(record["fits"] or 0 for record in searches)
        return sum(map(count_stopped, searches)) / fits if fits else math.nan

    def capped_values(record: dict[str, Any]) -> dict[str, float]:
        """Return the columns `capped` and `search_capped` of a cell from its record, or {}."""
        most_steps = record["unit"].get("params", {}).get("max_iter")
        is_limited = isinstance(most_steps, int) and most_steps > 0
        if not is_limited or record["result"]["status"] != "ok":
            return {}
        fit_column, search_column = CAPPED
        return {
            fit_column: float(count_stopped(record) > 0),
            search_column: search_share(*record["needs"]),
        }

    return capped_values


def remarks_of(cells: pd.DataFrame) -> dict[str, str]:
    """Return the remarks on the data of cells: {data set: its distinct remarks, joined by "; "}.

    Data sets without a remark are left out; the dict is empty if `cells` lack the column `data`.
    """
    if REMARKS not in cells.columns:
        return {}
    lines = cells.loc[cells[REMARKS].notna(), ["dataset", REMARKS]].drop_duplicates()
    return {
        str(name): "; ".join(map(str, group))
        for name, group in lines.groupby("dataset", sort=False)[REMARKS]
    }


def csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV, with a header and without its index; floats keep every digit."""
    return frame.to_csv(index=False, lineterminator="\n")


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a data frame as CSV, whole or not at all, with a header and without its index."""
    write_atomically(path, csv(frame))


def read_cells(path: Path) -> pd.DataFrame:
    """Return the content of a `cells.csv` or of a baseline.

    The columns are those of `cells_frame`, and `reason`, which is empty for a baseline. Missing
    texts are empty, counts have a nullable integer type, and cells with an infinite error are
    `diverged`. Raises ElmbenchError, whose next step is the command of the table, if the file is
    missing or is not such a table.
    """
    expected = "a table that elmbench wrote"
    try:
        check_regular(path)
        types = dict.fromkeys(_TEXT, TEXT_TYPE) | dict.fromkeys(_WHOLE, "Int64")
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
        texts = [name for name in _TEXT if name in frame and frame[name].hasnans]
        frame = frame.assign(**{name: frame[name].fillna("") for name in texts})
        if (damage := _damage(frame)) is None:
            return _mark_overflow(
                frame if "reason" in frame else frame.assign(reason="")
            )
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
    """Return the first fault of a `cells.csv` that was changed by hand; None if there is none.

    It is a text such as `line 3: run is '-1'`, on a missing column, then a wrong value, then a
    duplicate cell. `frame`: a line for each cell; line 1 of the file is the heading.
    """
    required = (*CELL_NAMES, "status", "params", "n_units")
    missing = [name for name in required if name not in frame]
    if missing:
        return f"it lacks the columns {', '.join(missing)}"
    for name, is_wrong in _masks_of_wrong_values(frame).items():
        if is_wrong.any():
            position = _first_position(is_wrong)
            value = str(frame[name].iloc[position])
            return f"line {position + 2}: {name} is {value!r}"
    duplicated = frame.duplicated(CELL_NAMES)
    if duplicated.any():
        return f"line {_first_position(duplicated) + 2}: duplicate cell"
    return None


def _first_position(is_wrong: pd.Series[bool]) -> int:
    """Return the position of the first True, from 0; also 0 if there is none."""
    return int(is_wrong.to_numpy(bool).argmax())


def _masks_of_wrong_values(frame: pd.DataFrame) -> dict[str, pd.Series[bool]]:
    """Return {column: mask}, True for the lines with a wrong value, for columns that can be wrong.

    `frame`: with the columns of `cells.csv`. Wrong are texts in columns of numbers, an unknown
    status or selection, a run or fold that is missing or negative, an empty data set or model, and
    parameters that are no JSON object.
    """
    are_texts = {*_TEXT, WARNING, REMARKS}
    no_numbers = [
        name
        for name in sorted(map(str, frame))
        if name not in are_texts and not is_numeric_dtype(frame[name].dtype)
    ]
    # Many cells have the same parameters.
    mappings = [text for text in frame["params"].unique() if _is_mapping(text)]
    return {
        **{name: _are_no_numbers(frame[name]) for name in no_numbers},
        "status": ~frame["status"].isin(_STATUSES),
        "select": ~frame["select"].isin(SELECTIONS),
        "run": _are_no_counts(frame["run"]),
        "fold": _are_no_counts(frame["fold"]),
        "dataset": frame["dataset"] == "",
        "model": frame["model"] == "",
        "params": ~frame["params"].isin(mappings),
    }


def _are_no_counts(numbers: pd.Series[int]) -> pd.Series[bool]:
    """Return a mask, True for each number that is missing or negative."""
    return numbers.isna() | (numbers < 0)


def _are_no_numbers(values: pd.Series[Any]) -> pd.Series[bool]:
    """Return a mask, True for each value that is neither missing nor a number."""
    converted = pd.to_numeric(values, errors="coerce")
    return values.notna() & converted.isna()


def _is_mapping(text: str) -> bool:
    """Return True for the JSON text of an object: a valid content of the column `params`."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def provenance(
    resolved: Resolved, planned: list[Cell], store: Store, commands: list[str]
) -> dict[str, Any]:
    """Return the data, models, software and commands behind the numbers of a table, for JSON.

    This is the content of `environment.json`, without kept cells. Its keys are `experiment`,
    `profile`, `commands`, `spec_sha256`, `datasets`, `remarks` (if there are any), `models`,
    `environments` and `solvers`; a comparison also has its specification, `spec`. `planned`: the
    cells, of which those without a result count only for the remarks.
    """
    keys = (cell.key for cell in planned if cell.key)
    records = {record["key"]: record for record in needed_records(keys, store)}
    cells = [cell for cell in planned if cell.key in records]
    units = [_unit_with_data(cell.key, records) for cell in cells]
    environments = Counter(records[cell.key]["environment"] for cell in cells)
    origin: dict[str, Any] = {
        "experiment": resolved.file.id,
        "profile": resolved.profile,
        "commands": commands,
        "spec_sha256": _checksum(resolved.file.content),
        "datasets": _identities(cells, units),
    }
    remarks = {cell.dataset: cell.remarks for cell in planned if cell.remarks}
    if remarks:
        origin["remarks"] = remarks
    origin["models"] = _described_models(cells, units)
    origin["environments"] = [
        {"cells": n, **store.environment(name)} for name, n in environments.items()
    ]
    origin["solvers"] = _solvers(records.values())
    if resolved.profile == COMPARE:
        origin.update(comparison_json_dict(resolved))
    return origin


def _checksum(content: Any) -> str:
    """Return the SHA-256 of some content as hexadecimal digits.

    It is that of its canonical JSON; values that JSON cannot hold count by their texts.
    """
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _unit_with_data(key: str, records: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the content of a task, from `unit` of its record, that names its data.

    If the task only combines results, return the content of the first task that it needs and that
    has data. `records`: by key. The result is empty without a record.
    """
    if key not in records:
        return {}
    record = records[key]
    unit: dict[str, Any] = record["unit"]
    if not unit or "dataset" in unit:
        return unit
    needed = (_unit_with_data(need, records) for need in record["needs"])
    return next((content for content in needed if "dataset" in content), unit)


def _identities(
    cells: Iterable[Cell], units: Iterable[dict[str, Any]]
) -> dict[str, list[str]]:
    """Return the distinct checksums of the rows of each data set, sorted, by its name.

    `units`: the content of the task of each cell, in the order of the cells. Tasks without data
    are left out.
    """
    checksums = [
        (cell.dataset, unit["dataset"]["identity"])
        for cell, unit in zip(cells, units, strict=True)
        if "dataset" in unit
    ]
    by_name = group_by(checksums, lambda pair: pair[0])
    return {
        name: sorted({checksum for _, checksum in pairs})
        for name, pairs in by_name.items()
    }


def _described_models(
    cells: Iterable[Cell], units: Iterable[dict[str, Any]]
) -> dict[str, str]:
    """Return the model of each column, such as `eem, version 1`, by the name of the column.

    `units`: the content of the task of each cell, in the order of the cells. Of several versions in
    a column, that of the last cell counts; a column whose tasks have no model is left out.
    """
    models = {}
    for cell, unit in zip(cells, units, strict=True):
        if "model" in unit:
            models[cell.model] = f"{unit['model']}, version {unit['version']}"
    return models


def _solvers(records: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Return how often each solver was used in the results of these records, by its name.

    `records`: from the store, as from `needed_records`. The form is {name of the solver: number};
    records of fits without a count have none. Each candidate on each fold counts once; "bound
    failed" and "... given up" count those that then used another solver.
    """
    solvers: Counter[str] = Counter()
    for record in records:
        solvers.update(record["result"].get("solvers", {}))
    return dict(solvers)
