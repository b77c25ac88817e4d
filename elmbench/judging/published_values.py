"""The published figures of a table (the lines of `summary.csv` that have one) beside our runs, and
their agreement.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.judging.summary import ENTRY, MeasuredCells, printed_of
from elmbench.judging.value_verdicts import (
    FEWEST_RUNS,
    Draws,
    Printed,
    draws_of,
    draws_of_means,
    judge,
    run_means,
)
from elmbench.judging.verdict_words import COMPARED, verdict_list
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.results import group_by
from elmbench.results.cells import TIMES
from elmbench.specs.measures import FACTS, Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality
from elmbench.tables.number_texts import three_figures


@dataclass(frozen=True)
class ComparedValue:
    """A published figure and our runs of the same model on the same data set.

    `dataset` is the suite's name. `runs` and `means` are the numbers of our runs and their means.
    """

    profile: str
    dataset: str
    model: str
    measure: Measure
    runs: NDArray[np.int64]
    means: NDArray[np.float64]
    draws: Draws
    printed: Printed

    @cached_property
    def runs_inside(self) -> dict[int, bool]:
        """For each run, True if its mean lies in the interval of the other runs, as if it were the
        published figure.
        """
        hits = {}
        for i, run in enumerate(self.runs.tolist() if len(self.runs) >= FEWEST_RUNS else ()):
            rest = draws_of_means(np.delete(self.means, i), self.draws.least_half_width)
            hits[run] = bool(abs(self.means[i] - rest.mean) <= rest.half_width() * (1 + 1e-9))
        return hits


def compared_values(figures: pd.DataFrame, measured: MeasuredCells) -> Iterator[ComparedValue]:
    """Yield the figures that are compared with our runs, without facts of data sets."""
    resolved = measured.resolved
    layout = measured.layout
    if not layout.has_runs:
        return
    for line in figures[figures["verdict"].isin(COMPARED)].to_dict("records"):
        dataset = line["dataset"]
        model = line["model"]
        column = line["metric"]
        measure = next(
            measure
            for measure in layout.measures(resolved, dataset, model)
            if measure.column == column
        )
        if measure.metric in FACTS:
            continue
        entry = tuple(line[name] for name in ENTRY)
        columns = measured.columns(entry)
        values = measured.values(entry, measure)
        runs = np.unique(columns["run"][~np.isnan(values)])
        means = run_means(values, columns["run"])
        draws = draws_of(values, columns, measure)
        printed = printed_of(dataset, resolved.published[dataset, model, column], layout, resolved)
        yield ComparedValue(resolved.profile, dataset, model, measure, runs, means, draws, printed)


@dataclass(frozen=True)
class Agreement:
    """The agreement of one metric of a table with the print, over all its data sets.

    `median_difference` is the median distance of mean and published figure; for times,
    `median_factor` is the median factor between the measured and the published ratio to the first
    model. `rank_correlation` is the mean of Spearman's correlation over the rows that have three
    models or more. `rows` counts the rows (data sets) of two models or more, and `same_best` those
    on which the same model is the best.

    The other numbers test the rule (docs/trust.md). A pairing compares a published figure with the
    runs of *another* model of its row: `pairings` counts those that the rule decides,
    `pairings_reproduced` those of them that are `reproduced`, and `pairings_untold` the undecided
    ones. `left_out` counts our runs that were compared with the other runs of their entry, and
    `left_out_reproduced` those of them inside the interval.
    """

    #: The columns of `texts`, and what they mean.
    COLUMNS: ClassVar = (
        "metric",
        "median apart",
        "rank corr.",
        "same best",
        "wrong pairs",
        "own runs",
    )
    LEGEND: ClassVar = (
        "median apart: abs(ours - published); for times, the factor between our ratio to the first "
        "model and the "
        "printed one. rank corr.: Spearman's correlation of the models. same best: data sets on "
        "which the best model "
        "in print is our best one. wrong pairs: published figures compared with another model's "
        "runs; those called "
        "reproduced, of those that the rule decides. own runs: each of our runs compared with the "
        "others; the share "
        "inside the interval should be near 95 %."
    )

    metric: str
    figures: int
    median_difference: float | None = None
    median_factor: float | None = None
    rank_correlation: float | None = None
    rows: int = 0
    same_best: int = 0
    pairings: int = 0
    pairings_reproduced: int = 0
    pairings_untold: int = 0
    left_out: int = 0
    left_out_reproduced: int = 0

    @property
    def texts(self) -> list[str]:
        """The numbers in words, one for each of `COLUMNS`."""
        part = self.left_out_reproduced
        whole = self.left_out
        difference = self.median_difference
        return [
            self.metric,
            f"x {three_figures(self.median_factor or math.nan)}"
            if difference is None
            else three_figures(difference),
            "" if self.rank_correlation is None else f"{self.rank_correlation:.2f}",
            f"{self.same_best}/{self.rows}" if self.rows else "",
            f"{self.pairings_reproduced}/{self.pairings}" if self.pairings else "",
            f"{part}/{whole} {part / whole:.0%}" if whole else "",
        ]


def agreements(
    compared: Sequence[ComparedValue], figures: pd.DataFrame, resolved: Resolved
) -> list[Agreement]:
    """Return the agreement of each metric of a table with the print; `figures` has the lines of
    `summary.csv`.
    """
    by_metric = group_by(compared, lambda figure: figure.measure.metric)
    scores = [_agreement(metric, group) for metric, group in by_metric.items()]
    return [*scores, *_agreements_of_times(figures, resolved)]


def error_and_power(agreements: Iterable[Agreement]) -> Counter[str]:
    """Return the sums of own runs and wrong pairs, under the names of the attributes."""
    names = (
        "pairings",
        "pairings_reproduced",
        "pairings_untold",
        "left_out",
        "left_out_reproduced",
    )
    return sum(
        (Counter({name: getattr(one, name) for name in names}) for one in agreements),
        Counter[str](),
    )


def _agreement(metric: str, figures: Sequence[ComparedValue]) -> Agreement:
    """Return how far the figures of one metric agree with the print: verdicts, distances, the same
    best model.
    """
    rows = list(group_by(figures, lambda figure: (figure.dataset, figure.measure.column)).values())
    several = [row for row in rows if len(row) > 1] if is_quality(metric) else []
    pick = min if less_is_better(metric) else max
    # Several models may have the best published value.
    best = (
        (pick(row, key=lambda figure: figure.draws.mean), pick(f.printed.value for f in row))
        for row in several
    )
    pairs = (pair for row in rows for pair in permutations(row, 2))
    wrong = Counter(
        judge(f.draws, replace(wrong.printed, gap=f.printed.gap)).verdict for f, wrong in pairs
    )
    left_out = [
        hit
        for figure in figures
        if len(figure.means) > FEWEST_RUNS
        for hit in figure.runs_inside.values()
    ]
    undecided = wrong["consistent"] + wrong["too few runs"]
    return Agreement(
        metric,
        len(figures),
        float(np.median(np.abs(np.subtract(*means_and_prints(figures))))),
        rank_correlation=mean_rank_correlation(map(means_and_prints, rows)),
        rows=len(several),
        same_best=sum(figure.printed.value == value for figure, value in best),
        pairings=wrong.total() - undecided,
        pairings_reproduced=wrong["reproduced"],
        pairings_untold=undecided,
        left_out=len(left_out),
        left_out_reproduced=sum(left_out),
    )


def _agreements_of_times(figures: pd.DataFrame, resolved: Resolved) -> Iterator[Agreement]:
    """Yield the agreement of each kind of time, as ratios over the first model of each data set."""
    lines = figures[(figures["ended"] == "ok") & (figures["published"] > 0)].dropna(subset=["mean"])
    lines = lines[lines["dataset"].map(resolved.compares).astype(bool)]
    for metric in TIMES:
        times = lines[lines["metric"] == metric]
        first = times.groupby("dataset")[["mean", "published"]].transform("first")
        ratios = np.log(times["mean"] / first["mean"]) - np.log(
            times["published"] / first["published"]
        )
        distances = np.abs(ratios[times["dataset"].duplicated()])
        if len(distances):
            rows = times.groupby("dataset", sort=False)
            pairs = ((row["mean"].tolist(), row["published"].tolist()) for _, row in rows)
            factor = float(np.median(np.exp(distances)))
            correlation = mean_rank_correlation(pairs)
            yield Agreement(metric, len(times), median_factor=factor, rank_correlation=correlation)


def means_and_prints(figures: Sequence[ComparedValue]) -> tuple[list[float], list[float]]:
    """Return our means and the printed values."""
    return [figure.draws.mean for figure in figures], [figure.printed.value for figure in figures]


def mean_rank_correlation(rows: Iterable[tuple[Sequence[float], Sequence[float]]]) -> float | None:
    """Return the mean of Spearman's correlation over rows; None if no row has one.

    A row of fewer than three values, or of equal ones, has none.
    """
    correlations = [
        np.corrcoef([pd.Series(without_round_off(values)).rank() for values in row])[0, 1]
        for row in rows
        if len(row[0]) > 2 and all(len(set(values)) > 1 for values in row)
    ]
    return float(np.mean(correlations)) if correlations else None


def verdict_counts(figures: pd.DataFrame) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of figures and of facts of data sets with each verdict; the empty one does
    not count.
    """
    lines = figures[figures["verdict"] != ""]
    is_fact = lines["metric"].isin(FACTS)
    return Counter(lines["verdict"][~is_fact]), Counter(lines["verdict"][is_fact])


def missing_runs(figures: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the models that have too few runs for an interval, with the runs that they lack.

    `minutes` is the time of these runs on one core if they take as long as the first ones.
    """
    columns = ["dataset", "model", "reading"]  # a run computes the cells of all selections
    seconds = cells.groupby(columns)[TIMES].sum().sum(axis="columns").rename("seconds")
    lines = (
        figures[figures["verdict"] == "too few runs"]
        .drop_duplicates(columns)
        .join(seconds, on=columns)
    )
    runs = lines["runs"].astype(int)
    rest = FEWEST_RUNS - runs
    return lines[["dataset", "model"]].assign(
        more_runs=rest, minutes=rest * lines["seconds"].astype(float) / runs / 60
    )


def counts_text(counts: Counter[str], facts: Counter[str], missing: pd.DataFrame) -> str:
    """Return the sentences on the numbers of figures and facts with each verdict, and on
    `missing_runs`.
    """
    of_facts = facts_sentence(facts)
    if not counts:
        return of_facts or "No published figure to judge."
    text = (
        f"{counts.total()} published figure{'s' * (counts.total() > 1)}: "
        f"{verdict_list(counts, signs=True)}."
    )
    if len(missing):
        smallest = missing["more_runs"].min()
        largest = missing["more_runs"].max()
        number = str(largest) if smallest == largest else f"{smallest} to {largest}"
        minutes = missing["minutes"].sum()
        duration = f"about {minutes:.0f} min" if minutes < 120 else f"about {minutes / 60:.0f} h"
        text += f" An interval needs {FEWEST_RUNS} runs, {number} more than there are, which take "
        text += f"{duration if minutes >= 1 else 'less than a minute'} on one core."
    return f"{text} {of_facts}".rstrip()


def facts_sentence(counts: Mapping[str, int]) -> str:
    """Return the sentence on the facts of data sets, from their numbers by verdict; empty if none
    was compared.
    """
    compared = counts["reproduced"] + counts["differs"]
    if not compared:
        return ""
    return (
        f"{counts['reproduced']} of {compared} facts of the data sets (rows, columns, classes) are "
        "as printed."
    )
