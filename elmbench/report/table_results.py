"""The results of a table: its cells, and what follows from them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Group, RenderableType

from elmbench.files import read_json
from elmbench.judging.claim_outcomes import claims_frame
from elmbench.judging.judged_results import JudgedResults
from elmbench.judging.measured_cells import GROUP
from elmbench.report.build_table import build_table
from elmbench.report.writers.html import html
from elmbench.report.writers.text import MARKS, WIDTH, Text, as_text, table_text
from elmbench.results.earlier_cells import read_earlier_cells
from elmbench.results.folders import ENVIRONMENT, PICTURE
from elmbench.results.kept_cells import all_commands
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import kind_of_table
from elmbench.tables.result_table import COMMITTED_SIGN, Note, ResultTable, Section
from elmbench.tasks.plan import Cell


@dataclass(frozen=True)
class Committed:
    """The part of the committed results that completes the results of a user.

    Attributes
    ----------
    results : Results
        All of them.
    groups : frozenset of tuple
        The groups of cells that are shown.
    """

    results: "Results"
    groups: frozenset[tuple[str, ...]]

    @property
    def note(self) -> Note:
        """The note that explains the sign of a committed value, with the command to rerun."""
        resolved = self.results.resolved
        command = command_for(resolved.profile, resolved.file.id)
        text = (
            f"{COMMITTED_SIGN} committed results, without times on data sets that you have run; "
            f"your own: {command}"
        )
        return Note("committed", text)


@dataclass(frozen=True, repr=False)
class Results:
    """The results of one table under one profile.

    Attributes
    ----------
    folder : path
        The folder of their files.
    cells, summary, claims, optimism : DataFrame
        The lines of `cells.csv`, `summary.csv`, `claims.csv` and `optimism.csv`.
    resolved : Resolved
        The experiment under this profile.
    """

    folder: Path
    cells: pd.DataFrame
    resolved: Resolved
    #: A sentence on cells that are left out, because this installation lacks their data set.
    left_out: str = field(default="", kw_only=True)
    #: The committed results that complete these; None if all cells are from one folder.
    committed: Committed | None = field(default=None, kw_only=True)

    @cached_property
    def judged(self) -> JudgedResults:
        """The verdicts on these results, and the lines of their summary; computed on first use."""
        committed = frozenset() if self.committed is None else self.committed.groups
        return JudgedResults(self.cells, self.resolved, committed)

    @property
    def summary(self) -> pd.DataFrame:
        """The lines of `summary.csv`: one for each group of cells and metric (`summary_lines`)."""
        return self.judged.summary

    @property
    def optimism(self) -> pd.DataFrame:
        """The lines of `optimism.csv`; none unless nested and oracle selection were both run."""
        return self.judged.optimism

    @property
    def claims(self) -> pd.DataFrame:
        """The lines of `claims.csv`, one for each claim of the paper about the table."""
        return claims_frame(self.judged.claim_outcomes)

    @cached_property
    def table(self) -> ResultTable:
        """The table with its notes, those on the origin of the cells first.

        They explain the sign of committed values, and name models of an older version and cells
        that are left out.
        """
        table = build_table(self.judged)
        notes = []
        if self.committed is not None:
            notes.append(self.committed.note)
        # As of the last run: the versions of this installation would need all estimators.
        outdated = self.environment.get("outdated")
        if outdated and isinstance(outdated, dict):
            columns = ", ".join(f"{name} ({model})" for name, model in outdated.items())
            notes.append(
                Note("data", f"cells of an older version of the model: {columns}")
            )
        if self.left_out:
            notes.append(Note("data", self.left_out))
        return replace(table, notes=(*notes, *table.notes)) if notes else table

    @cached_property
    def environment(self) -> dict[str, Any]:
        """The content of `environment.json`; empty if the file is missing or damaged.

        It has the `commands`, `datasets`, `models` and `environments` behind the cells, among
        others, and under `kept` those of earlier cells.
        """
        return read_json(self.folder / ENVIRONMENT)

    @property
    def commands(self) -> list[str]:
        """The commands that made the results, each once; those of committed results come last."""
        commands = all_commands(self.environment)
        if self.committed is None:
            return commands
        return list(dict.fromkeys([*commands, *self.committed.results.commands]))

    @property
    def picture(self) -> Path | None:
        """The path of the figure as PNG, None if there is none; its data are beside it, as CSV.

        The figure of the committed results, if they complete a user's, is preferred: it shows more
        data sets.
        """
        if self.committed is not None and self.committed.results.picture is not None:
            return self.committed.results.picture
        path = self.folder / PICTURE
        return path if path.is_file() else None

    @property
    def picture_legend(self) -> str:
        """The marks of the figure in a sentence; empty if the figure has none."""
        return kind_of_table(self.resolved).figure_legend

    @cached_property
    def _default_sections(self) -> tuple[Section, ...]:
        """The sections of the default readings; all sections if these have no mean of ours."""
        all_sections = self.table.sections
        sections = tuple(section for section in all_sections if not section.readings)
        for section in sections:
            if any(entry.mean is not None for entry in section.entries):
                return sections
        return all_sections

    @property
    def default_table(self) -> ResultTable:
        """The table under the default readings alone; the whole one if they have no means."""
        return replace(self.table, sections=self._default_sections)

    @property
    def n_other_readings(self) -> int:
        """The number of choices of readings that are left out if only the default ones are shown.

        It is 0 if the default ones have no values of ours, since all are shown then.
        """
        left_out = self.table.sections[len(self._default_sections) :]
        return len({section.readings for section in left_out})

    def renderable(
        self, width: int = WIDTH, hidden: Collection[str] = (), *, readings: bool = True
    ) -> RenderableType:
        """Return the table for rich to print in lines of `width` characters.

        If the table has published values, the last lines explain the marks and count the verdicts.
        `hidden`: kinds of notes that are left out, such as "claim"; none by default. `readings`:
        True for the sections of all choices of readings; False for the default readings alone, or
        all sections if these have no value.
        """
        shown = self.table if readings else self.default_table
        table = table_text(shown, self.resolved, width, hidden)
        has_published = self.resolved.file.spec.published is not None
        if not has_published:
            return table
        parts = [table, Text("")]
        if len(self.judged.published_values):
            parts.append(Text(MARKS, style="dim"))
        parts.append(Text(self.judged.counts_text))
        return Group(*parts)

    @property
    def text(self) -> str:
        """The whole table with its notes, as a terminal of 80 columns shows it, without colours."""
        return as_text(self.renderable())

    def __str__(self) -> str:
        """Return the whole table as a terminal of 80 columns shows it."""
        return self.text

    def __repr__(self) -> str:
        """Return the table without the empty lines around it."""
        return self.text.strip("\n")

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        return html(self.table)


def part_of(results: Results, cells: Iterable[Cell]) -> Results:
    """Return results with only those groups of cells that some of the planned cells belong to.

    A group is (data set, model, selection, reading), so a group with one planned cell is complete.
    `cells`: the planned ones. The results are returned as they are if all groups are planned; else
    a copy, whose summary and verdicts are computed anew from its cells.
    """
    planned = {cell.group for cell in cells}
    groups = results.cells[GROUP].itertuples(index=False, name=None)
    is_planned = np.array([group in planned for group in groups], dtype=bool)
    if is_planned.all():
        return results
    part = results.cells[is_planned].reset_index(drop=True)
    return replace(results, cells=part)


def frame_json_dicts(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the lines of a data frame as dicts {column: value}, None for missing values."""
    columns = {}
    for name in frame:
        values = frame[name].tolist()
        is_missing = frame[name].isna().tolist()
        columns[name] = [
            None if missing else value
            for value, missing in zip(values, is_missing, strict=True)
        ]
    lines = zip(*columns.values(), strict=True)
    return [dict(zip(columns, line, strict=True)) for line in lines]


def results_of_table(
    resolved: Resolved, results_dir: Path, metrics: Sequence[str] = ()
) -> Results:
    """Return the results of an earlier run of a table, from its `cells.csv` in `results_dir`.

    `metrics`: more metrics to show; those that `cells.csv` lacks are computed from the predictions
    in the store. Cells of unknown data sets are left out, with a warning. Raises ElmbenchError if
    there is no `cells.csv`, or nothing to compute a metric from.
    """
    earlier = read_earlier_cells(resolved, results_dir, metrics)
    return Results(
        earlier.folder, earlier.cells, earlier.resolved, left_out=earlier.left_out
    )
