"""The published figures of a table (the lines of `summary.csv` that have one) beside our runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.layouts.table import COMPARED, SIGNS, VERDICTS
from elmbench.reporting.cells import TIMES
from elmbench.reporting.summary import ENTRY, MeasuredCells, printed_of
from elmbench.reporting.verdicts import FEWEST_RUNS, Draws, Printed, draws_of, draws_of_means, run_means
from elmbench.specs.measures import FACTS, Measure


@dataclass(frozen=True)
class ComparedFigure:
    """A published figure and our runs of the same model on the same data set.

    `dataset` is the suite's name, `printed_dataset` the paper's: a stand-in has the same one as the data set that it
    stands for. `runs` and `means` are the numbers of our runs and their means.
    """

    dataset: str
    printed_dataset: str
    model: str
    measure: Measure
    runs: NDArray[np.int64]
    means: NDArray[np.float64]
    draws: Draws
    printed: Printed

    @cached_property
    def left_out(self) -> dict[int, bool]:
        """True for each run that lies in the interval of the other runs, as if it were the published figure."""
        n = len(self.means)
        if n < FEWEST_RUNS:
            return {}
        others = np.tile(self.means, (n, 1))[~np.eye(n, dtype=bool)].reshape(n, n - 1)
        half_widths = [draws_of_means(row, self.draws.least).half_width() for row in others]
        hits = np.abs(self.means - others.mean(axis=1)) <= np.multiply(half_widths, 1 + 1e-9)
        return dict(zip(self.runs.tolist(), hits.tolist(), strict=True))


def compared_figures(figures: pd.DataFrame, measured: MeasuredCells) -> Iterator[ComparedFigure]:
    """Yield the figures that are compared with our runs, without facts of data sets."""
    resolved, layout = measured.resolved, measured.layout
    if not layout.has_runs:
        return
    for line in figures[figures["verdict"].isin(COMPARED)].to_dict("records"):
        dataset, model, column = line["dataset"], line["model"], line["metric"]
        measure = next(one for one in layout.measures(resolved, dataset, model) if one.column == column)
        if measure.metric in FACTS:
            continue
        entry = tuple(line[name] for name in ENTRY)
        columns, values = measured.columns(entry), measured.values(entry, measure)
        runs = np.unique(columns["run"][~np.isnan(values)])
        means, draws = run_means(values, columns["run"]), draws_of(values, columns, measure)
        paper = resolved.published[dataset, model, column]
        printed = printed_of(dataset, paper, layout, resolved)
        yield ComparedFigure(dataset, paper.dataset, model, measure, runs, means, draws, printed)


def verdict_counts(figures: Iterable[Mapping[Any, Any]]) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of figures and of facts of data sets with each verdict; the empty one does not count."""
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for line in figures:
        if line["verdict"]:
            counts[line["metric"] in FACTS][line["verdict"]] += 1
    return counts


def missing_runs(figures: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the models that have too few runs for an interval, with the runs that they lack.

    `minutes` is the time of these runs on one core if they take as long as the first ones.
    """
    columns = ["dataset", "model", "reading"]  # a run computes the cells of all selections
    lines = figures[figures["verdict"] == "too few runs"].drop_duplicates(columns)
    seconds = cells.groupby(columns)[TIMES].sum().sum(axis="columns")
    missing = []
    for line in lines.to_dict("records"):
        runs, total = int(line["runs"]), float(seconds[tuple(line[name] for name in columns)])
        more = FEWEST_RUNS - runs
        missing.append((line["dataset"], line["model"], more, more * total / runs / 60))
    return pd.DataFrame(missing, columns=["dataset", "model", "more_runs", "minutes"])


def counts_text(figures: Iterable[Mapping[Any, Any]], missing: pd.DataFrame) -> str:
    """Return the sentences that count verdicts of figures and of facts, and the missing runs (see `missing_runs`)."""
    counts, facts = verdict_counts(figures)
    of_facts = facts_sentence(facts)
    if not counts:
        return of_facts or "No published figure to judge."
    listed = ", ".join(f"{counts[verdict]} {SIGNS[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    text = f"{counts.total()} published figure{'s' * (counts.total() > 1)}: {listed}."
    if len(missing):
        fewest, most = missing["more_runs"].min(), missing["more_runs"].max()
        more = str(most) if fewest == most else f"{fewest} to {most}"
        minutes = missing["minutes"].sum()
        duration = f"about {minutes:.0f} min" if minutes < 120 else f"about {minutes / 60:.0f} h"
        text += f" An interval needs {FEWEST_RUNS} runs, {more} more than there are: "
        text += f"{duration if minutes >= 1 else 'less than a minute'}."
    return f"{text} {of_facts}".rstrip()


def facts_sentence(counts: Mapping[str, int]) -> str:
    """Return the sentence on the facts of data sets, from their numbers by verdict; empty if none was compared."""
    compared = counts["reproduced"] + counts["differs"]
    if not compared:
        return ""
    return f"{counts['reproduced']} of {compared} facts of the data sets (rows, columns, classes) are as printed."
