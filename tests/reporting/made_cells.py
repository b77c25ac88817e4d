"""Cells and experiments made by hand, small enough to know what must come out."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from elmbench.reporting.cells import PLACE, TIMES
from elmbench.reporting.layouts import value_columns
from elmbench.reporting.summary import summarise
from elmbench.reporting.tables import Section, Table, build_table
from elmbench.specs.profiles import Resolved


def cell(model: str = "ELM", run: int = 0, fold: int = 0, **values: Any) -> dict[str, Any]:
    """One line of cells.csv: ok on wdbc by nested selection, unless `values` say otherwise."""
    line: dict[str, Any] = {"dataset": "wdbc", "model": model, "run": run, "fold": fold, "select": "nested"}
    line |= {"reading": "", "status": "ok", "reason": "", "n_test": 190, "fit_seconds": 0.5, "n_units": 10}
    line["params"] = json.dumps(values.pop("params", {}), sort_keys=True)
    return line | values


def folds(model: str, *mcc: float, **values: Any) -> list[dict[str, Any]]:
    """A run of as many folds as there are figures."""
    return [cell(model, fold=i, mcc=value, **values) for i, value in enumerate(mcc)]


def frame(resolved: Resolved, lines: list[dict[str, Any]]) -> pd.DataFrame:
    """The lines as a table of cells of this experiment."""
    values = value_columns(resolved)
    columns = [*PLACE, "status", "reason", "params", *values, *TIMES, "n_units", "condition", "n_test"]
    table = pd.DataFrame(lines, columns=columns)
    return table.astype(dict.fromkeys([*values, *TIMES, "condition"], float))


def entry(resolved: Resolved, lines: list[dict[str, Any]], metric: str = "mcc", **place: str) -> dict[str, Any]:
    """The line of summary.csv for a metric, of the only entry that fits `place`."""
    summary = summarise(frame(resolved, lines), resolved)
    found = summary[summary["metric"] == metric]
    for name, value in place.items():
        found = found[found[name] == value]
    (line,) = found.to_dict("records")
    return line


def table_of(resolved: Resolved, lines: list[dict[str, Any]]) -> Table:
    """The table that these cells make."""
    cells = frame(resolved, lines)
    return build_table(summarise(cells, resolved), cells, resolved)


def row(section: Section, model: str, measure: str | None = None) -> dict[str, str]:
    """A model's row in a section."""
    (found,) = [r for r in section.rows if r["model"] == model and measure in (None, r.get("measure"))]
    return found
