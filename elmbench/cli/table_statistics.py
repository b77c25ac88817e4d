"""Tables in the requested format, and comparisons of models over data sets, for the terminal."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from rich.console import Group, RenderableType

from elmbench.cli.options import state
from elmbench.errors import ElmbenchError
from elmbench.files import write_atomically
from elmbench.judging.rank_statistics import (
    Statistics,
    compare_models,
    draw_critical_differences,
)
from elmbench.lazy import load_object
from elmbench.report.table_results import Results
from elmbench.report.writers import FORMATS, TableFormat
from elmbench.report.writers.text import Text, lines_text
from elmbench.results.cells import csv
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import kind_of_table
from elmbench.tables.drawing import title_of
from elmbench.tables.result_table import Column, Note, ResultTable, Section


def format_table(
    form: TableFormat,
    table: ResultTable,
    frame: pd.DataFrame,
    commands: Sequence[str],
    picture: Path | None = None,
    resolved: Resolved | None = None,
) -> str:
    """Return the text of a table in a format for a file or another program.

    `form`: "csv", which writes `frame` and ignores all else; or "md" or "latex", which write
    `table` and ignore `frame`. `commands`: those that made the table. `picture`: its figure; None
    if it has none. `resolved`: the experiment, by which LaTeX gives the table the shape of the
    paper's; None for a table as it is.
    """
    if form == "csv":
        return csv(frame)
    return str(load_object(FORMATS[form])(table, commands, picture, resolved))


def show_statistics(
    results: Results, diagram: Path | None = None, form: TableFormat = "text"
) -> None:
    """Print the statistical comparisons of the models over the data sets of a table.

    `diagram`: a .png, .svg or .pdf file for the critical differences of the first comparison; None
    for none. `form`: "text" for the terminal, or "csv", "md" or "latex"; --json overrides it.
    Raises ElmbenchError unless two models have results on the same two data sets.
    """
    resolved = results.resolved
    comparisons = compare_models(results.summary, resolved)
    if not comparisons:
        raise _nothing_to_compare(resolved)
    if diagram is not None:
        kind = diagram.suffix.lower().removeprefix(".")
        title = title_of(resolved)
        picture = draw_critical_differences(comparisons[0], title, kind)
        write_atomically(diagram, picture)
        state.remark(f"written to {diagram}")
    if form != "text" and not state.as_json:
        _write_statistics(comparisons, results, form)
        return
    parts: list[RenderableType] = []
    for comparison in comparisons:
        heading = Text(f"\n{comparison.heading}")
        table = lines_text(
            comparison.columns,
            comparison.rows,
            right=comparison.columns[1:],
            whole=("model",),
        )
        parts += [heading, table, Text(comparison.differences)]
    json_dicts = [comparison.to_json_dict() for comparison in comparisons]
    state.emit(json_dicts, Group(*parts))


def _nothing_to_compare(resolved: Resolved) -> ElmbenchError:
    """Return the error for a table without two models on the same two data sets.

    Its next step is to run the table if it is a comparison, or its spec has several models and data
    sets; or else to look for another one.
    """
    spec = resolved.file.spec
    kind = kind_of_table(resolved)
    has_several = len(spec.datasets) > 1 and len(spec.models) > 1
    if kind.ranks or (kind.shows_metrics and has_several):
        lacking = "no two models on the same two data sets to be compared"
        profile = "fast" if resolved.profile == "ci" else resolved.profile
        next_step = command_for(profile, resolved.file.id)
    else:
        lacking = "no models to be compared over data sets"
        next_step = "elmbench list experiments"
    return ElmbenchError(
        f"{resolved.file.id} ({spec.title}) has {lacking}",
        expected="metrics of several models on several data sets",
        next_step=next_step,
    )


def _write_statistics(
    comparisons: Sequence[Statistics], results: Results, form: TableFormat
) -> None:
    """Print statistical comparisons as one table with a section and a note for each.

    `comparisons`: at least one, all with the same columns. `results`: of the table that they belong
    to. `form`: "csv", "md" or "latex".
    """
    names = comparisons[0].columns
    columns = tuple(Column(name, name, numeric=name != "model") for name in names)
    sections = []
    notes = []
    for comparison in comparisons:
        lines = [dict(zip(names, row, strict=True)) for row in comparison.rows]
        sections.append(Section(comparison.heading, (), tuple(lines)))
        text = f"{comparison.source}: {comparison.differences}"
        notes.append(Note("statistics", text))
    table = replace(
        results.table,
        columns=columns,
        sections=tuple(sections),
        notes=tuple(notes),
    )
    frames = [
        comparison.frame.assign(source=comparison.source) for comparison in comparisons
    ]
    text = format_table(form, table, pd.concat(frames), results.commands)
    state.write(text)
