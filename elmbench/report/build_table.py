"""The table of an experiment, built from its summary and its cells."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from elmbench.errors import amount
from elmbench.judging.judged_results import JudgedResults
from elmbench.judging.measured_cells import GROUP, Key
from elmbench.judging.summary_line import SummaryLine
from elmbench.judging.verdict_words import COMPLETE, NOT_MEASURED
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.report.notes import table_notes
from elmbench.report.selections import selection_text
from elmbench.results import group_by
from elmbench.results.cells import LIMITS
from elmbench.specs.measures import MEASURES, is_quality, log2_of
from elmbench.specs.profiles import Resolved
from elmbench.tables import kind_of_table
from elmbench.tables.base import TableKind
from elmbench.tables.number_texts import ending_text, quantity, three_digits
from elmbench.tables.result_table import COMMITTED_SIGN, Entry, ResultTable, Section


def build_table(judged: JudgedResults) -> ResultTable:
    """Return the table of judged results: title, columns, a section for each selection, and notes.

    There is a section for each pair of readings and selection, in the order of the lines of the
    summary: the default readings and the table's own selection come first. If the kind of table has
    no column of optimism, neither the sections nor the notes show it.
    """
    resolved = judged.resolved
    cells = judged.cells
    lines = judged.lines
    optimism = judged.optimism
    kind = kind_of_table(resolved)
    columns = kind.columns(list(dict.fromkeys(cells["dataset"])))
    if all(column.name != "optimism" for column in columns):
        optimism = optimism.iloc[:0]
    sections = _Sections(cells, optimism, kind, judged.committed)
    by_section = group_by(lines, lambda line: (line.reading, line.select))
    spec = resolved.file.spec
    datasets = {*cells["dataset"], *(line.dataset for line in lines)} or set(
        resolved.datasets
    )
    notes = table_notes(cells, optimism, judged.claim_outcomes, datasets, resolved)
    return ResultTable(
        title=f"{spec.label}: {spec.title}",
        subtitle=_subtitle(kind, cells),
        columns=columns,
        sections=tuple(
            sections.section(reading, select, of_section)
            for (reading, select), of_section in by_section.items()
        ),
        notes=tuple(notes),
    )


def _subtitle(kind: TableKind, cells: pd.DataFrame) -> str:
    """Return the text below the title: the paper's citation and the profile with its departures.

    Some kinds of table have only the profile's name. For a comparison on a user's data, which has
    no paper, the text describes the protocol. `cells`: the frame of `cells.csv`, whose runs are
    counted.
    """
    resolved = kind.experiment
    paper = resolved.file.paper
    if not paper.authors:  # a user's data
        return _protocol_in_words(resolved)
    profile = (
        _profile_sentence(resolved, cells)
        if kind.shows_profile
        else f"Profile {resolved.profile}."
    )
    return f"{paper.citation}. {profile}"


def _protocol_in_words(resolved: Resolved) -> str:
    """Return a sentence on the splits and the search of a comparison on a user's data.

    It is such as "5 outer folds (stratified-kfold); hyperparameters are searched on each training
    part, in 3 inner folds." A single split is "one held-out test part". The number of runs, if
    there are several, and limits of rows are given too. Without a search, the sentence ends with ";
    no hyperparameters are searched."
    """
    protocol = resolved.spec.protocol
    outer = protocol.outer
    rows = resolved.settings.tune_rows
    runs = f", {outer.runs} runs" if outer.runs > 1 else ""
    searched = (
        f"at most {rows} rows of each training part, in "
        if rows
        else "each training part, in "
    )
    folds = protocol.inner.folds
    inner = f"{folds} inner folds" if folds > 1 else "a held-out part"
    kinds = sorted(
        {outer.split(spec.name, spec.task).kind for spec in resolved.datasets.values()}
    )
    parts = (
        f"{outer.folds} outer folds ({', '.join(kinds)})"
        if outer.folds > 1
        else "one held-out test part"
    )
    if resolved.settings.test_rows:
        parts += f", tested on at most {resolved.settings.test_rows} random rows each"
    if "inner" not in protocol.model_fields_set:
        return f"{parts}{runs}; no hyperparameters are searched."
    return f"{parts}{runs}; hyperparameters are searched on {searched}{inner}."


def _profile_sentence(resolved: Resolved, cells: pd.DataFrame) -> str:
    """Return a sentence with the profile of a table, its runs and its departures from the print.

    The runs are those of the models that have cells, a range if they differ. Departures are fewer
    runs, stand-ins for data, fewer rows or folds, and thinned grids; for profile `paper`, only the
    runs are given, out of the planned ones if some are missing. `cells`: the frame of `cells.csv`;
    without a line, the sentence says that no cell has ended.
    """
    runs = cells.groupby(["dataset", "model"])["run"].nunique()
    if not len(runs):
        return f"Profile {resolved.profile}: no cell has ended yet."
    smallest = int(runs.min())
    largest = int(runs.max())
    ran = (
        amount(largest, "run")
        if smallest == largest
        else f"{smallest} to {largest} runs"
    )
    if resolved.profile == "paper":
        planned = resolved.spec.protocol.outer.runs
        if smallest < planned:
            ran += f" of {planned}"
        return f"Profile paper: the protocol as printed, {ran}."
    settings = resolved.settings
    printed_runs = resolved.file.spec.protocol.outer.runs
    if largest < printed_runs:
        number = str(largest) if smallest == largest else f"{smallest} to {largest}"
        ran = f"fewer runs than the paper: {number} of {printed_runs}"
    departures = {
        f"{', '.join(settings.stand_ins)} in place of the paper's data": settings.stand_ins,
        f"at most {settings.rows} rows of a data set": settings.rows,
        f"{settings.folds} folds": settings.folds,
        "thinned grids": (settings.thin_grids or 1) > 1,
    }
    return f"Profile {resolved.profile}: {'; '.join([ran, *filter(departures.get, departures)])}."


def _columns_with_our_parameters(resolved: Resolved) -> list[str]:
    """Return the model columns that have parameters of our own in place of the paper's.

    A text is the column, such as "SVM", or "SVM on heart, iris" if only these data sets have them.
    """
    names: list[str] = []
    for column in resolved.spec.models:
        replaced = [
            dataset
            for dataset in resolved.spec.datasets
            if _has_our_parameters(column, dataset, resolved)
        ]
        if len(replaced) == len(resolved.spec.datasets):
            names.append(column)
        elif replaced:
            names.append(f"{column} on {', '.join(replaced)}")
    return names


def _has_our_parameters(column: str, dataset: str, resolved: Resolved) -> bool:
    """Return True if a model column has parameters of our own, not the paper's, on a data set.

    It is False if our model, rather than its parameters, replaces the paper's.
    """
    stand_in = resolved.stand_in(column, dataset)
    return stand_in is not None and bool(stand_in.parameters)


class _Sections:
    """The sections of one table, built from its cells.

    Parameters
    ----------
    cells : DataFrame
        The lines of `cells.csv`.
    optimism : DataFrame
        The lines of `optimism.csv`; none if the table does not show optimism.
    kind : TableKind
        The kind of table, with its experiment.
    committed : collection of tuple
        The groups of cells (data set, model, selection, reading) of the committed results, whose
        values get a sign.
    """

    def __init__(
        self,
        cells: pd.DataFrame,
        optimism: pd.DataFrame,
        kind: TableKind,
        committed: Collection[Key],
    ) -> None:
        self._cells = cells
        self._optimism = optimism
        self._kind = kind
        self._experiment = kind.experiment
        self._committed = committed
        # Hyperparameters that the paper prints as powers.
        self._powers = {
            metric
            for (_, _, metric), value in self._experiment.published.items()
            if "^" in value.text
        }

    def section(
        self, reading: str, select: str, lines: Sequence[SummaryLine]
    ) -> Section:
        """Return the section of one selection under one choice of readings.

        `reading`: as in `cells.csv`, "id=value;id=value"; empty for the default ones. `select`:
        such as "nested" or "oracle". `lines`: the lines of `summary.csv` with this reading and
        selection; each becomes an entry.
        """
        entries = tuple(self._entries(reading, select, lines))
        return Section(
            explanation=self._explanation(select),
            readings=self._experiment.file.paper.read_label(reading),
            lines=tuple(self._kind.lines(entries)),
            select=select,
            entries=entries,
        )

    def _explanation(self, select: str) -> str:
        """Return the heading of a section: how its hyperparameters are chosen.

        A kind of table that chooses none has its own heading. `select`: the selection, such as
        "nested". Columns that have parameters of our own are named at the end.
        """
        text = self._kind.heading()
        if not text:
            text = f"{select}: {selection_text(select, self._experiment)}"
        replacing = _columns_with_our_parameters(self._experiment)
        if replacing:
            columns = ", ".join(replacing)
            text += f"; our parameters: {columns}"
        return text

    def _entries(
        self, reading: str, select: str, lines: Sequence[SummaryLine]
    ) -> Iterator[Entry]:
        """Yield an entry for each line of the summary: our value as text beside the published one.

        `lines`: those of `reading` and `select`. The best of the means, and of the published
        values, of several models on a data set are marked (see `_best_of_rows`). A table that ranks
        models also gets their most common hyperparameters (`chosen`), and the section of `oracle`
        the optimism of the selection. The order is that of `lines`.
        """
        optimism = self._optimism_under(reading, select)
        params = _common_params(self._cells) if self._kind.ranks else {}
        is_best = _best_of_rows(lines, self._experiment)
        for line, (best, best_published) in zip(lines, is_best, strict=True):
            key = (line.dataset, line.model)
            places = self._kind.places(line.measure, line.published)
            yield Entry(
                dataset=line.dataset,
                model=line.model,
                measure=line.measure,
                mean=line.mean,
                shown=self._shown_text(line, places),
                published=line.published,
                verdict=line.verdict,
                rows_off=line.rows_off,
                optimism=optimism.get(key),
                chosen=params.get(key, ""),
                best=best,
                best_published=best_published,
            )

    def _optimism_under(self, reading: str, select: str) -> dict[Any, float]:
        """Return the optimism of models under a reading: {(data set, model): optimism}.

        It is only for the section of the selection `oracle`: empty for others, and without both
        selections. `reading`: as in `cells.csv`; empty for the default ones.
        """
        if select != "oracle" or self._optimism.empty:
            return {}
        lines = self._optimism[self._optimism["reading"] == reading]
        optimism: dict[Any, float] = lines.set_index(["dataset", "model"])[
            "optimism"
        ].to_dict()
        return optimism

    def _shown_text(self, line: SummaryLine, places: int | None) -> str:
        """Return the mean or the ending of a line as the table shows it.

        A value of the committed results has their sign. `places`: decimals to show; None for three
        significant figures. The text is empty if there is neither a mean nor an ending to show.
        """
        text = self._mean_or_ending(line, places)
        is_committed = line.group in self._committed
        return f"{text} {COMMITTED_SIGN}" if text and is_committed else text

    def _mean_or_ending(self, line: SummaryLine, places: int | None) -> str:
        """Return the mean of a line as text, such as "0.93 ± 0.012", or how its cells ended.

        If some cells did not end ok, the number of the others follows ("0.93 (3 ok)"), unless
        `places` is None. A power of two is shown as the paper prints it ("2^-5"). `places`:
        decimals to show; None for three significant figures, which times far below the printed ones
        have too. The text is empty if the suite does not run the model, or all cells ended ok
        without a value.
        """
        status = line.ended
        if line.mean is not None:
            exponent = log2_of(line.mean)
            is_power = exponent is not None and not line.std
            if is_power and line.measure.metric in self._powers:
                return f"2^{exponent}"
            is_time = line.measure.metric.endswith("_seconds")
            if is_time and places is not None and line.mean < 10 ** (1 - places):
                # Fewer than two digits would be left of a time far below the printed one.
                places = None
            return quantity(
                line.mean,
                std=line.std,
                places=places,
                ok=None if status == COMPLETE else line.n,
            )
        if status in (COMPLETE, NOT_MEASURED):
            return ""
        return self._timeout_text(line) if status == "timeout" else ending_text(status)

    def _timeout_text(self, line: SummaryLine) -> str:
        """Return the limit that the searches or fits of a line reached, such as "> 600 s".

        If they reached different limits, it is that of the first fit. It is "search > 600 s" if
        only searches reached one and have a limit of their own, and "timeout" if `cells.csv` has no
        limit.
        """
        names = [*GROUP, "status"]
        values = [*line.group, line.ended]
        is_of_line = self._cells[names] == values
        cells = self._cells[is_of_line.all(axis=1)]
        limits = {}
        for name in LIMITS:
            if name not in cells:
                continue
            known = cells[name].dropna()
            if len(known):
                limits[name] = known.iloc[0]
        if not limits:
            return "timeout"
        seconds = next(iter(limits.values()))
        # A search that was stopped counts as a fit, unless searches may take longer than fits.
        has_search_limit = bool(self._experiment.spec.search_limit)
        is_of_search = "fit_limit" not in limits and has_search_limit
        return f"search > {seconds:g} s" if is_of_search else f"> {seconds:g} s"


def _best_of_rows(lines: Sequence[SummaryLine], resolved: Resolved) -> list[list[bool]]:
    """Return booleans [our mean is best, published value is best] for each line of a summary.

    The lines with the same data set and measure, one for each model, are compared; ties (up to
    round-off) are all best. A value is not best if it is the only one of its kind, nor are times
    and sizes. Our mean is not compared if some of its cells did not end ok.
    """
    user_metrics = {*resolved.spec.protocol.all_metrics} - {*MEASURES}
    values = []
    signs = []
    positions: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, line in enumerate(lines):
        row = positions[line.dataset, line.measure.column]
        row.append(position)
        values.append(_compared_numbers(line))
        signs.append(_sign_of(line.measure.metric, user_metrics))
    columns = np.array(signs)[:, np.newaxis]
    scores = without_round_off(np.array(values) * columns)
    is_best = np.zeros(scores.shape, dtype=bool)
    for row in positions.values():
        # A column of our means and one of published values, with NaN for missing ones.
        compared = scores[row]
        has_rivals = np.sum(~np.isnan(compared), axis=0) > 1
        largest = np.fmax.reduce(compared, axis=0)
        is_best[row] = (compared == largest) & has_rivals
    best: list[list[bool]] = is_best.tolist()
    return best


def _sign_of(metric: str, user_metrics: Collection[str]) -> float:
    """Return 1 for a metric of which more is better, -1 for an error, and NaN for times and sizes.

    `user_metrics`: the metrics of the table that the suite does not know; they are metrics, not
    sizes.
    """
    if not is_quality(metric) and metric not in user_metrics:
        return np.nan
    return -1.0 if less_is_better(metric) else 1.0


def _compared_numbers(line: SummaryLine) -> tuple[float, float]:
    """Return our mean and the published value of a line as floats; NaN for a missing one.

    Our mean is NaN, too, if not all cells of the line ended ok: the others may be the easier folds.
    """
    is_complete = line.ended == COMPLETE
    mean = line.mean if is_complete and line.mean is not None else math.nan
    published = math.nan if line.published is None else line.published.number
    return mean, published


def _common_params(cells: pd.DataFrame) -> dict[Any, str]:
    """Return the most common hyperparameters of models: {(data set, model): text}.

    A text is such as "C=1 gamma=2 (3 of 5)", 3 of 5 folds; the count is left out if all folds have
    them. `cells`: the frame of `cells.csv`; those that did not end ok are not counted. The folds of
    all selections and readings count together.
    """
    is_complete = cells["status"] == COMPLETE
    groups = cells[is_complete].groupby(["dataset", "model"])
    return {key: _most_common_params(choices) for key, choices in groups["params"]}


def _most_common_params(choices: "pd.Series[str]") -> str:
    """Return the most common hyperparameters of some folds, such as "C=1 gamma=2 (3 of 5)".

    `choices`: the hyperparameters of each fold as JSON, at least one; the first of equally common
    ones is taken. The count is left out if all folds have them.
    """
    counts = Counter(choices)
    ((most_common, count),) = counts.most_common(1)
    params = json.loads(most_common)
    parts = [f"{name}={_param_text(value)}" for name, value in params.items()]
    n_folds = len(choices)
    if count < n_folds:
        parts.append(f"({count} of {n_folds})")
    return " ".join(parts)


def _param_text(value: Any) -> str:
    """Return the value of a hyperparameter as text; positive floats have three digits."""
    return three_digits(value) if isinstance(value, float) and value > 0 else str(value)
