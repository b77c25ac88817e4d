"""The published values of a table (the lines of `summary.csv` that have one) beside our runs, and
their agreement.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from elmbench.judging.measured_cells import GROUP, ComparedValue, MeasuredCells
from elmbench.judging.value_verdicts import FEWEST_RUNS, judge
from elmbench.judging.verdict_words import COMPARED, verdict_list
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.results import group_by
from elmbench.results.cells import TIMES
from elmbench.specs.measures import FACTS
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import is_quality
from elmbench.tables.number_texts import three_figures


def compared_values(lines: pd.DataFrame, measured: MeasuredCells) -> Iterator[ComparedValue]:
    """Yield the published values that are compared with our runs, without facts of data sets.

    `lines` are those of `summary.csv` that have a published value.
    """
    if not measured.table.has_runs:
        return
    for line in lines[lines["verdict"].isin(COMPARED)].to_dict("records"):
        measures = measured.table.measures(line["dataset"], line["model"])
        measure = next(measure for measure in measures if measure.column == line["metric"])
        if measure.metric not in FACTS:
            group = tuple(line[name] for name in GROUP)
            yield measured.compared_value(group, measure)


@dataclass(frozen=True)
class Agreement:
    """The agreement of one metric of a table with the print, over all its data sets.

    The pairings and the runs that are left out test the rule of the verdicts (docs/trust.md). A
    pairing compares a published value with the runs of *another* model of its row; a run that is
    left out is compared with the other runs of its group of cells.
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
    #: The number of published values.
    n_values: int
    #: The median distance of our mean and the published value; None for times.
    median_difference: float | None = None
    #: For times, the median factor between the measured and the published ratio to the first model.
    median_factor: float | None = None
    #: The mean of Spearman's correlation over the rows that have three models or more.
    rank_correlation: float | None = None
    #: The number of rows (data sets) of two models or more.
    rows: int = 0
    #: The number of rows on which the same model is the best.
    same_best: int = 0
    #: The number of pairings that the rule decides.
    pairings: int = 0
    #: The number of these that are `reproduced`.
    pairings_reproduced: int = 0
    #: The number of pairings that the rule does not decide.
    pairings_untold: int = 0
    #: The number of our runs that were compared with the other runs of their group.
    left_out: int = 0
    #: The number of these inside the interval.
    left_out_reproduced: int = 0

    def record(self) -> dict[str, Any]:
        """Return the agreement for JSON."""
        return {
            "metric": self.metric,
            "figures": self.n_values,
            "median_difference": self.median_difference,
            "median_factor": self.median_factor,
            "rank_correlation": self.rank_correlation,
            "rows": self.rows,
            "same_best": self.same_best,
            "pairings": self.pairings,
            "pairings_reproduced": self.pairings_reproduced,
            "pairings_untold": self.pairings_untold,
            "left_out": self.left_out,
            "left_out_reproduced": self.left_out_reproduced,
        }

    @property
    def texts(self) -> list[str]:
        """The numbers in words, one for each of `COLUMNS`."""
        return [
            self.metric,
            self._distance_text(),
            "" if self.rank_correlation is None else f"{self.rank_correlation:.2f}",
            f"{self.same_best}/{self.rows}" if self.rows else "",
            f"{self.pairings_reproduced}/{self.pairings}" if self.pairings else "",
            self._left_out_text(),
        ]

    def _distance_text(self) -> str:
        """Return the median distance, or for times the median factor."""
        if self.median_difference is not None:
            return three_figures(self.median_difference)
        factor = math.nan if self.median_factor is None else self.median_factor
        return f"x {three_figures(factor)}"

    def _left_out_text(self) -> str:
        """Return how many of our runs lie in the interval of the others; empty for no runs."""
        inside = self.left_out_reproduced
        total = self.left_out
        return f"{inside}/{total} {inside / total:.0%}" if total else ""


def agreements(
    compared: Sequence[ComparedValue], lines: pd.DataFrame, resolved: Resolved
) -> list[Agreement]:
    """Return the agreement of each metric of a table with the print.

    `lines` are those of `summary.csv` that have a published value.
    """
    by_metric = group_by(compared, lambda value: value.measure.metric)
    of_metrics = [_agreement(metric, group) for metric, group in by_metric.items()]
    return [*of_metrics, *_agreements_of_times(lines, resolved)]


def error_and_power(agreements: Iterable[Agreement]) -> Counter[str]:
    """Return the sums of own runs and wrong pairs, under the names of the attributes."""
    sums: Counter[str] = Counter()
    for agreement in agreements:
        sums.update(
            pairings=agreement.pairings,
            pairings_reproduced=agreement.pairings_reproduced,
            pairings_untold=agreement.pairings_untold,
            left_out=agreement.left_out,
            left_out_reproduced=agreement.left_out_reproduced,
        )
    return sums


def _agreement(metric: str, compared: Sequence[ComparedValue]) -> Agreement:
    """Return how far the values of one metric agree with the print: verdicts, distances, the same
    best model.
    """
    by_row = group_by(compared, lambda value: (value.dataset, value.measure.column))
    rows = list(by_row.values())
    ranked_rows = [row for row in rows if len(row) > 1] if is_quality(metric) else []
    ours, published = means_and_prints(compared)
    differences = np.abs(np.subtract(ours, published))
    pairings = _verdicts_on_pairings(rows)
    undecided = pairings["consistent"] + pairings["too few runs"]
    left_out = [
        hit
        for value in compared
        if len(value.means) > FEWEST_RUNS
        for hit in value.runs_inside.values()
    ]
    return Agreement(
        metric=metric,
        n_values=len(compared),
        median_difference=float(np.median(differences)),
        rank_correlation=mean_rank_correlation(map(means_and_prints, rows)),
        rows=len(ranked_rows),
        same_best=sum(_is_same_best(metric, row) for row in ranked_rows),
        pairings=pairings.total() - undecided,
        pairings_reproduced=pairings["reproduced"],
        pairings_untold=undecided,
        left_out=len(left_out),
        left_out_reproduced=sum(left_out),
    )


def _is_same_best(metric: str, row: Sequence[ComparedValue]) -> bool:
    """Return True if our best model of a row is the best in print; several may be."""
    best_of = min if less_is_better(metric) else max
    our_best = best_of(row, key=lambda value: value.draws.mean)
    return our_best.printed.value == best_of(value.printed.value for value in row)


def _verdicts_on_pairings(rows: Iterable[Sequence[ComparedValue]]) -> Counter[str]:
    """Return the number of verdicts on published values beside the runs of another model."""
    verdicts: Counter[str] = Counter()
    for row in rows:
        for ours, another in permutations(row, 2):
            wrong_print = replace(another.printed, gap=ours.printed.gap)
            verdicts[judge(ours.draws, wrong_print).verdict] += 1
    return verdicts


def _agreements_of_times(lines: pd.DataFrame, resolved: Resolved) -> Iterator[Agreement]:
    """Yield the agreement of each kind of time, as ratios over the first model of each data set."""
    ended_ok = lines["ended"] == "ok"
    has_published = lines["published"] > 0
    lines = lines[ended_ok & has_published].dropna(subset=["mean"])
    is_compared = lines["dataset"].map(resolved.compares).astype(bool)
    lines = lines[is_compared]
    for metric in TIMES:
        times = lines[lines["metric"] == metric]
        first = times.groupby("dataset")[["mean", "published"]].transform("first")
        our_ratios = np.log(times["mean"] / first["mean"])
        published_ratios = np.log(times["published"] / first["published"])
        is_not_first = times["dataset"].duplicated()
        distances = np.abs((our_ratios - published_ratios)[is_not_first])
        if len(distances):
            rows = times.groupby("dataset", sort=False)
            pairs = ((row["mean"].tolist(), row["published"].tolist()) for _, row in rows)
            yield Agreement(
                metric=metric,
                n_values=len(times),
                median_factor=float(np.median(np.exp(distances))),
                rank_correlation=mean_rank_correlation(pairs),
            )


def means_and_prints(compared: Sequence[ComparedValue]) -> tuple[list[float], list[float]]:
    """Return our means and the published values."""
    means = [value.draws.mean for value in compared]
    prints = [value.printed.value for value in compared]
    return means, prints


def mean_rank_correlation(rows: Iterable[tuple[Sequence[float], Sequence[float]]]) -> float | None:
    """Return the mean of Spearman's correlation over rows; None if no row has one.

    A row of fewer than three values, or of equal ones, has none.
    """
    correlations = []
    for ours, published in rows:
        if len(ours) < 3 or len(set(ours)) == 1 or len(set(published)) == 1:
            continue
        our_ranks = pd.Series(without_round_off(ours)).rank()
        published_ranks = pd.Series(without_round_off(published)).rank()
        correlations.append(np.corrcoef(our_ranks, published_ranks)[0, 1])
    return float(np.mean(correlations)) if correlations else None


def verdict_counts(lines: pd.DataFrame) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of published values and of facts of data sets with each verdict; the empty
    one does not count.
    """
    lines = lines[lines["verdict"] != ""]
    is_fact = lines["metric"].isin(FACTS)
    return Counter(lines["verdict"][~is_fact]), Counter(lines["verdict"][is_fact])


def missing_runs(lines: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the models that have too few runs for an interval, with the runs that they lack.

    `minutes` is the time of these runs on one core if they take as long as the first ones.
    """
    model = ["dataset", "model", "reading"]  # a run computes the cells of all selections
    seconds = cells.groupby(model)[TIMES].sum().sum(axis="columns").rename("seconds")
    too_few = lines[lines["verdict"] == "too few runs"].drop_duplicates(model)
    too_few = too_few.join(seconds, on=model)
    runs = too_few["runs"].astype(int)
    more_runs = FEWEST_RUNS - runs
    seconds_of_run = too_few["seconds"].astype(float) / runs
    return too_few[["dataset", "model"]].assign(
        more_runs=more_runs, minutes=more_runs * seconds_of_run / 60
    )


def counts_text(counts: Counter[str], facts: Counter[str], missing: pd.DataFrame) -> str:
    """Return the sentences on the numbers of published values and of facts with each verdict, and
    on `missing_runs`.
    """
    of_facts = facts_sentence(facts)
    total = counts.total()
    if not total:
        return of_facts or "No published figure to judge."
    noun = "published figure" if total == 1 else "published figures"
    sentences = [f"{total} {noun}: {verdict_list(counts, signs=True)}."]
    if len(missing):
        sentences.append(_missing_runs_sentence(missing))
    if of_facts:
        sentences.append(of_facts)
    return " ".join(sentences)


def _missing_runs_sentence(missing: pd.DataFrame) -> str:
    """Return how many more runs the intervals need, and how long they take."""
    smallest = missing["more_runs"].min()
    largest = missing["more_runs"].max()
    number = str(largest) if smallest == largest else f"{smallest} to {largest}"
    minutes = missing["minutes"].sum()
    if minutes < 1:
        duration = "less than a minute"
    elif minutes < 120:
        duration = f"about {minutes:.0f} min"
    else:
        duration = f"about {minutes / 60:.0f} h"
    return (
        f"An interval needs {FEWEST_RUNS} runs, {number} more than there are, which take "
        f"{duration} on one core."
    )


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
