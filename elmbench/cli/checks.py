"""Outcomes of `elmbench check`, and comparisons of models over data sets, for the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType

from elmbench.cli.options import state
from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.judging.rank_statistics import compare_models, draw_critical_differences
from elmbench.lazy import load_object
from elmbench.report.checked_prints import CheckedPrint, summary_text
from elmbench.report.table_results import Results
from elmbench.report.writers import FORMATS
from elmbench.report.writers.text import Text, lines_text
from elmbench.results.cells import csv
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import title_of
from elmbench.tables.result_table import Column, Note, ResultTable, Section

#: Differences of a table that are printed.
_SHOWN = 20


def format_table(
    form: str,
    table: ResultTable,
    frame: pd.DataFrame,
    commands: Sequence[str],
    picture: Path | None = None,
    resolved: Resolved | None = None,
) -> str:
    """Return a table as `csv` (the lines of `frame`) or in another format of
    `elmbench.report.writers`.
    """
    if form == "csv":
        return csv(frame)
    return str(load_object(FORMATS[form])(table, commands, picture, resolved))


def show_statistics(
    results: Results, diagram: Path | None = None, form: str = "text"
) -> None:
    """Print the comparison of the models over the data sets, and draw its first diagram.

    Raises ElmbenchError if there are no two models on the same two data sets.
    """
    resolved = results.resolved
    comparisons = compare_models(results.summary, resolved)
    spec = resolved.file.spec
    table_kind = kind_of_table(resolved)
    several = table_kind.shows_metrics and min(len(spec.datasets), len(spec.models)) > 1
    if not comparisons:
        lacking = "no models to be compared over data sets"
        next_step = "elmbench list experiments"
        if several or table_kind.ranks:
            lacking = "no two models on the same two data sets to be compared"
            next_step = command_for(
                "fast" if resolved.profile == "ci" else resolved.profile,
                resolved.file.id,
            )
        problem = f"{resolved.file.id} ({spec.title}) has {lacking}"
        raise ElmbenchError(
            problem,
            expected="metrics of several models on several data sets",
            next_step=next_step,
        )
    if diagram is not None:
        kind = diagram.suffix.lower().removeprefix(".")
        write_atomically(
            diagram, draw_critical_differences(comparisons[0], title_of(resolved), kind)
        )
        state.remark(f"written to {diagram}")
    if form != "text" and not state.as_json:
        names = comparisons[0].columns
        columns = tuple(Column(name, name, numeric=name != "model") for name in names)
        sections = tuple(
            Section(
                c.heading,
                (),
                tuple(dict(zip(names, row, strict=True)) for row in c.rows),
            )
            for c in comparisons
        )
        notes = tuple(
            Note("statistics", f"{c.source}: {c.differences}") for c in comparisons
        )
        whole = replace(results.table, columns=columns, sections=sections, notes=notes)
        frame = pd.concat([c.frame.assign(source=c.source) for c in comparisons])
        state.write(format_table(form, whole, frame, results.commands))
        return
    parts: list[RenderableType] = []
    for comparison in comparisons:
        table = lines_text(
            comparison.columns,
            comparison.rows,
            right=comparison.columns[1:],
            whole=("model",),
        )
        parts += [Text(f"\n{comparison.heading}"), table, Text(comparison.differences)]
    state.emit([comparison.record() for comparison in comparisons], Group(*parts))


def baseline_text(outcomes: Mapping[str, Mapping[str, Any]]) -> RenderableType:
    """Return the number of compared cells of each table, and the first cells that differ."""
    rows = [
        (name, check["compared"], len(check["differences"]))
        for name, check in outcomes.items()
    ]
    counts = ("cells compared", "differ")
    parts: list[RenderableType] = [
        lines_text(("experiment", *counts), rows, right=counts)
    ]
    for name, check in outcomes.items():
        for difference in check["differences"][:_SHOWN]:
            text = "{cell}: {column} is {value}, baseline {baseline} (allowed: {allowed})".format(
                **difference
            )
            parts.append(Text(f"{name}: {text}"))
        if (rest := len(check["differences"]) - _SHOWN) > 0:
            parts.append(Text(f"{name}: and {rest} more; --json has them all"))
    return Group(*parts)


def findings_text(checked: Sequence[CheckedPrint]) -> RenderableType:
    """Return each finding on the print of tables, and their number."""
    parts: list[RenderableType] = []
    for table in checked:
        for finding in table.findings:
            parts.append(Text(f"{table.table}: {finding.subject}: {finding.says}"))
    parts.append(Text(summary_text(checked)))
    return Group(*parts)
