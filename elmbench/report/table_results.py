"""The results of a table: its cells, and what follows from them."""

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group, RenderableType

from elmbench.errors import ElmbenchError, ElmbenchWarning
from elmbench.execution.store import Store
from elmbench.files import read_json
from elmbench.judging import value_agreement
from elmbench.judging.claim_outcomes import ClaimOutcome, claims_frame
from elmbench.judging.claims import check_claims
from elmbench.judging.measured_cells import GROUP, ComparedValue, MeasuredCells
from elmbench.judging.summary import (
    PUBLISHED_KEY,
    drop_stand_ins,
    optimism,
    summary_frame,
    summary_lines,
)
from elmbench.judging.summary_line import SummaryLine
from elmbench.judging.table_verdicts import TableVerdict, judge_table
from elmbench.registry.scorers import find_metric
from elmbench.report.build_table import build_table
from elmbench.report.notes import remarks_of
from elmbench.report.writers.html import html
from elmbench.report.writers.text import MARKS, WIDTH, Text, as_text, table_text
from elmbench.results.cells import (
    CELL_NAMES,
    KEY,
    REMARKS,
    TIMES,
    cells_frame,
    order_of,
    read_cells,
)
from elmbench.results.folders import (
    ENVIRONMENT,
    PICTURE,
    results_folder,
)
from elmbench.results.kept_cells import all_commands
from elmbench.specs.profiles import Resolved, command_for
from elmbench.tables import add_metrics, kind_of_table
from elmbench.tables.result_table import COMMITTED_SIGN, Note, ResultTable, Section
from elmbench.tasks.plan import Cell

#: The cells of a table, from which most of its other files follow.
CELLS = "cells.csv"
#: The column of a summary that is True for a value of the committed results; it is there if other
#: values are the user's.
COMMITTED = "committed"


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
        """The explanation of the sign of a committed value."""
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
    """

    folder: Path
    cells: pd.DataFrame
    resolved: Resolved
    #: A sentence on cells that are left out, because this installation lacks their data set.
    left_out: str = field(default="", kw_only=True)
    #: The committed results that complete these; None if all cells are from one folder.
    committed: Committed | None = field(default=None, kw_only=True)

    @cached_property
    def measured(self) -> MeasuredCells:
        """The cells, prepared for judging."""
        return MeasuredCells(self.cells, self.resolved)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The lines of `summary.csv`, with the column `REMARKS` if there are remarks on the rows of
        a data set.
        """
        return self._with_origin(summary_frame(self._lines))

    @cached_property
    def interval_texts(
        self,
    ) -> dict[tuple[str, str], dict[tuple[str, str, str], str]]:
        """The 95 % intervals as texts, such as "0.91 to 0.93": by section, (reading, selection),
        and then by value, (data set, model, column of the measure).
        """
        texts: dict[tuple[str, str], dict[tuple[str, str, str], str]] = {}
        for line in self._lines:
            of_section = texts.setdefault((line.reading, line.select), {})
            if line.low is not None and line.high is not None:
                value = (line.dataset, line.model, line.measure.column)
                of_section[value] = f"{line.low:.4g} to {line.high:.4g}"
        return texts

    @cached_property
    def _lines(self) -> list[SummaryLine]:
        """The lines of the summary."""
        return summary_lines(self.measured)

    @cached_property
    def _published_lines(self) -> list[SummaryLine]:
        """The lines of the summary under the default readings that have a published value or
        belong to a claim.
        """
        return summary_lines(self.measured, published_only=True)

    @cached_property
    def _published_summary(self) -> pd.DataFrame:
        """The frame of `_published_lines`."""
        return self._with_origin(summary_frame(self._published_lines))

    def _with_origin(self, summary: pd.DataFrame) -> pd.DataFrame:
        """Return lines of the summary with the column `REMARKS` if data sets have remarks, and the
        column `COMMITTED` if committed results complete the user's.
        """
        remarks = remarks_of(self.cells)
        if remarks:
            by_line = summary["dataset"].map(remarks)
            summary = summary.assign(**{REMARKS: by_line})
        if self.committed is not None:
            groups = summary[GROUP].itertuples(index=False, name=None)
            is_committed = [group in self.committed.groups for group in groups]
            summary = summary.assign(**{COMMITTED: is_committed})
        return summary

    @cached_property
    def optimism(self) -> pd.DataFrame:
        """The lines of `optimism.csv`; none unless both selections were run."""
        return optimism(self.cells, self.resolved)

    @property
    def default_optimism(self) -> pd.DataFrame:
        """The optimism under the default readings."""
        return self.optimism[self.optimism["reading"] == ""]

    @cached_property
    def claim_outcomes(self) -> list[ClaimOutcome]:
        """The outcome of each claim of the paper about the table."""
        return list(check_claims(self._published_summary, self.measured))

    @property
    def claims(self) -> pd.DataFrame:
        """The lines of `claims.csv`."""
        return claims_frame(self.claim_outcomes)

    @cached_property
    def table(self) -> ResultTable:
        """The table with its notes, those on the origin of the cells first."""
        table = build_table(
            self._lines,
            self.cells,
            self.optimism,
            self.claim_outcomes,
            resolved=self.resolved,
            committed=frozenset() if self.committed is None else self.committed.groups,
        )
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
    def published_values(self) -> pd.DataFrame:
        """The line of each published value in the summary, under the default readings and the
        first selection.

        A data set that stands in for another one is left out if that one was measured.
        """
        lines = self._published_summary
        lines = lines[lines["published"].notna()]
        return drop_stand_ins(lines.drop_duplicates(PUBLISHED_KEY), self.resolved)

    @cached_property
    def compared_values(self) -> list[ComparedValue]:
        """The published values that are compared with our runs."""
        lines = [self._published_lines[i] for i in self.published_values.index]
        return list(value_agreement.compared_values(lines, self.measured))

    @cached_property
    def verdicts(self) -> list[TableVerdict]:
        """The verdicts on the table, one for each metric with published values."""
        return judge_table(self.compared_values, self.resolved)

    @cached_property
    def times(self) -> list[value_agreement.TimesAgreement]:
        """The agreement of our times with the published ones, one for each metric of times."""
        return list(
            value_agreement.agreements_of_times(self.published_values, self.resolved)
        )

    @cached_property
    def environment(self) -> dict[str, Any]:
        """The content of `environment.json`; empty if the file is missing."""
        return read_json(self.folder / ENVIRONMENT)

    @property
    def commands(self) -> list[str]:
        """The commands that made the results."""
        commands = all_commands(self.environment)
        if self.committed is None:
            return commands
        return list(dict.fromkeys([*commands, *self.committed.results.commands]))

    @property
    def picture(self) -> Path | None:
        """The picture of the figure, if there is one; its data are beside it, as CSV.

        The picture of the committed results, if these complete a user's, shows more data sets.
        """
        if self.committed is not None and self.committed.results.picture is not None:
            return self.committed.results.picture
        path = self.folder / PICTURE
        return path if path.is_file() else None

    @property
    def picture_legend(self) -> str:
        """The marks of the figure in a sentence; empty if it has none."""
        return kind_of_table(self.resolved).figure_legend

    @cached_property
    def _default_sections(self) -> tuple[Section, ...]:
        """The sections of the default readings; all sections if these have no values of ours."""
        all_sections = self.table.sections
        sections = tuple(section for section in all_sections if not section.readings)
        for section in sections:
            if any(entry.mean is not None for entry in section.entries):
                return sections
        return all_sections

    @property
    def default_table(self) -> ResultTable:
        """The table under the default readings alone, if there are values of them."""
        return replace(self.table, sections=self._default_sections)

    @property
    def n_other_readings(self) -> int:
        """The number of choices of readings that `renderable` leaves out without `readings`."""
        left_out = self.table.sections[len(self._default_sections) :]
        return len({section.readings for section in left_out})

    def renderable(
        self, width: int = WIDTH, hidden: Collection[str] = (), *, readings: bool = True
    ) -> RenderableType:
        """Return the table as rich prints it in lines of `width` characters, with a last line that
        counts verdicts.

        `hidden`: kinds of notes that are left out. `readings`: False for the default readings
        alone, if there are values of them.
        """
        shown = self.table if readings else self.default_table
        table = table_text(shown, self.resolved, width, hidden)
        has_published = self.resolved.file.spec.published is not None
        if not has_published:
            return table
        parts = [table, Text("")]
        published_values = self.published_values
        if len(published_values):
            parts.append(Text(MARKS, style="dim"))
        values, facts = value_agreement.verdict_counts(published_values)
        missing = value_agreement.missing_runs(published_values, self.cells)
        counts = value_agreement.counts_text(values, facts, missing)
        parts.append(Text(counts))
        return Group(*parts)

    @property
    def text(self) -> str:
        """The table as a terminal of 80 columns shows it."""
        return as_text(self.renderable())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.strip("\n")

    def _repr_html_(self) -> str:
        return html(self.table)


def part_of(results: Results, cells: Iterable[Cell]) -> Results:
    """Return results with only the groups of cells (data set, model, selection, reading) that some
    planned cells belong to.
    """
    groups = {(cell.dataset, cell.model, cell.select, cell.reading) for cell in cells}
    lines = results.cells[GROUP].itertuples(index=False, name=None)
    is_part = pd.Series([line in groups for line in lines], dtype=bool)
    return replace(results, cells=results.cells[is_part].reset_index(drop=True))


def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the lines of a data frame as dictionaries, None for what is missing."""
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


def in_order(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return cells in the order of a table (see `order_of`), with a new index."""
    position = order_of(resolved)
    lines = cells[CELL_NAMES].to_dict("records")
    numbers = sorted(range(len(lines)), key=lambda number: position(lines[number]))
    return cells.iloc[numbers].reset_index(drop=True)


def results_of_table(
    resolved: Resolved, results_dir: Path, metrics: Sequence[str] = ()
) -> Results:
    """Return the results of an earlier run, from its `cells.csv`.

    `metrics`: more metrics to show; those that `cells.csv` lacks are computed from the predictions
    in the store. Cells of unknown data sets are left out, with a warning. Raises ElmbenchError if
    there is no `cells.csv`, or neither it nor the store has the predictions for a metric.
    """
    folder = results_folder(results_dir, resolved.profile, resolved.file.id)
    cells = read_cells(folder / CELLS)
    left_out = ""
    if unknown := [
        name
        for name in cells["dataset"].unique()
        if not is_known_dataset(name, resolved)
    ]:
        cells = cells[~cells["dataset"].isin(unknown)].reset_index(drop=True)
        left_out = (
            f"cells.csv: cells of {', '.join(unknown)} are not comparable and left out: this "
            "installation lacks "
        )
        left_out += "the data set (elmbench list datasets)"
        warnings.warn(f"{folder}/{left_out}", ElmbenchWarning, stacklevel=2)
    if metrics:
        resolved = add_metrics(resolved, metrics)
        missing = [name for name in metrics if name not in cells]
        cells = cells.join(_stored_metrics(cells, missing, resolved, results_dir))
    # The specification may have more measures than at the time of the run.
    names = [*(measure.column for measure in kind_of_table(resolved).values()), *TIMES]
    if lacking := [name for name in names if name not in cells]:
        cells = cells.reindex(columns=[*cells, *lacking])
    return Results(folder, cells, resolved, left_out=left_out)


def is_known_dataset(dataset: str, resolved: Resolved) -> bool:
    """Return True if this installation has a data set of this name."""
    try:
        return bool(resolved.dataset(dataset))
    except ElmbenchError:
        return False


def _stored_metrics(
    cells: pd.DataFrame, names: Sequence[str], resolved: Resolved, results_dir: Path
) -> pd.DataFrame:
    """Return a column for each metric, computed from the stored predictions of cells.

    It has the lines of `cells`; NaN for cells without predictions. Raises ElmbenchError if the
    store lacks the predictions of a cell that ended ok.
    """
    store = Store(results_dir)
    profile = resolved.profile
    experiment = resolved.file.id
    if not names:
        planned = []
    elif KEY in cells:
        # The last command that requested cells may not be the one that wrote these.
        lines = (
            cells.loc[cells[KEY] != "", [*CELL_NAMES, KEY]]
            .assign(family="")
            .astype(object)
        )
        planned = [Cell(*line) for line in lines.itertuples(index=False)]
    else:
        planned = store.cells(profile, experiment)
    stored = cells_frame(planned, store, [*names], resolved)
    metrics = cells[CELL_NAMES].merge(
        stored[[*CELL_NAMES, *names]], "left", CELL_NAMES, indicator="origin"
    )
    tasks = cells["dataset"].map(lambda name: resolved.dataset(name).task)
    is_needed = (cells["status"] == "ok") & tasks.isin(
        [find_metric(name).task for name in names]
    )
    if missing := int((is_needed & (metrics["origin"] == "left_only")).sum()):
        raise ElmbenchError(
            f"cells.csv of {experiment} ({profile}) has no column {', '.join(names)}, and "
            f"{store.root} lacks the "
            f"predictions of {missing} of {len(cells)} cells",
            expected="the store of the run that wrote cells.csv",
            next_step=f"{command_for(profile, experiment)}, then this command again",
        )
    return metrics[[*names]].astype(float)
