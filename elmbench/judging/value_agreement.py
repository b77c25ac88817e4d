"""The published values of a table (the lines of `summary.csv` that have one) beside our runs, and
their agreement. Their verdicts are decided in `cell_verdicts` and `value_verdicts`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from elmbench.judging.measured_cells import ComparedValue, MeasuredCells
from elmbench.judging.summary_line import SummaryLine
from elmbench.judging.value_verdicts import FEWEST_RUNS
from elmbench.judging.verdict_words import COMPARED, verdict_list
from elmbench.numerics.significance import without_round_off
from elmbench.results.cells import TIMES
from elmbench.specs.measures import FACTS
from elmbench.specs.profiles import Resolved


def compared_values(
    lines: Iterable[SummaryLine], measured: MeasuredCells
) -> Iterator[ComparedValue]:
    """Yield the published values that are compared with our runs, without facts of data sets.

    They are those whose verdict is one of `COMPARED`, so that values without enough cells are left
    out. There are none for a kind of table without runs. `lines`: those of `summary.csv` that have
    a published value.
    """
    if not measured.table.has_runs:
        return
    for line in lines:
        if line.verdict in COMPARED and line.measure.metric not in FACTS:
            yield measured.compared_value(line.group, line.measure)


@dataclass(frozen=True)
class TimesAgreement:
    """The agreement of one kind of time with the print.

    Times are compared as ratios over the first model of each data set: the print is from another
    machine.
    """

    metric: str
    #: The number of published times.
    n: int
    #: The median factor between our ratio and the published one, 1 or more.
    median_factor: float
    #: The mean of Spearman's correlation over the data sets with three models or more.
    rank_correlation: float | None


def agreements_of_times(
    lines: pd.DataFrame, resolved: Resolved
) -> Iterator[TimesAgreement]:
    """Yield the agreement of each kind of time with the published times of a table.

    Times are compared as ratios over the first model of each data set. `lines`: a frame with the
    columns of `summary.csv`, in which `mean` is our time. A kind without two comparable models on a
    data set is left out.
    """
    if not lines["metric"].isin(TIMES).any():
        return
    lines = _comparable_times(lines, resolved)
    for metric in TIMES:
        times = lines[lines["metric"] == metric]
        if times["dataset"].duplicated().any():
            yield _agreement_of_times(metric, times)


def _comparable_times(lines: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return the lines with our time and a published one above 0 that can be compared.

    `lines`: a frame with the columns of `summary.csv`, in which `mean` is our time. Lines whose
    cells did not all end ok, columns with a stand-in for the paper's model, and data sets whose
    rows differ from the paper's are left out.
    """
    ended_ok = lines["ended"] == "ok"
    is_published = lines["published"] > 0
    has_mean = lines["mean"].notna()
    lines = lines[ended_ok & is_published & has_mean]
    is_compared = []
    for model, dataset in zip(lines["model"], lines["dataset"], strict=True):
        stand_in = resolved.stand_in(model, dataset)
        is_compared.append(stand_in is None and resolved.compares(dataset))
    mask = np.array(is_compared, dtype=bool)
    return lines[mask]


def _agreement_of_times(metric: str, times: pd.DataFrame) -> TimesAgreement:
    """Return the agreement of one kind of time, `metric`, with the print.

    It has the number of published times, the median factor between our ratios and the published
    ones (at least 1), and the mean rank correlation over the data sets with three models or more;
    None without any. `times`: lines of `summary.csv` as a frame, in which `mean` is our time and
    `published` that of the paper. The first line of each data set is the model that ratios are
    over; some data set must have two.
    """
    # The ratios of two machines' times have no factor between the machines.
    columns = ["mean", "published"]
    rows = times.groupby("dataset", sort=False)[columns]
    ratios = times[columns] / rows.transform("first")
    is_first = ~times["dataset"].duplicated()
    logarithms = np.log(ratios[~is_first])
    differences = logarithms["mean"] - logarithms["published"]
    factors = np.exp(differences.abs())
    pairs = []
    for _, row in rows:
        ours = row["mean"].tolist()
        published = row["published"].tolist()
        pairs.append((ours, published))
    return TimesAgreement(
        metric=metric,
        n=len(times),
        median_factor=float(np.median(factors)),
        rank_correlation=mean_rank_correlation(pairs),
    )


def count_own_runs_inside(compared: Iterable[ComparedValue]) -> tuple[int, int]:
    """Return how many of our runs lie in the interval of the other runs of their model.

    The second number is that of all runs that were checked: those of models with more than
    `FEWEST_RUNS` runs.
    """
    hits = [
        hit
        for value in compared
        if len(value.means) > FEWEST_RUNS
        for hit in value.runs_inside.values()
    ]
    return sum(hits), len(hits)


def mean_rank_correlation(
    rows: Iterable[tuple[Sequence[float], Sequence[float]]],
) -> float | None:
    """Return the mean of Spearman's correlation over rows; None if no row has one.

    `rows`: pairs of (ours, published), each a list with one number for each model. A row of fewer
    than three values, or with all values equal on one side, has none.
    """
    correlations = []
    for ours, published in rows:
        n_distinct = min(len(set(ours)), len(set(published)))
        if len(ours) < 3 or n_distinct == 1:
            continue
        our_ranks = pd.Series(without_round_off(ours)).rank()
        published_ranks = pd.Series(without_round_off(published)).rank()
        matrix = np.corrcoef(our_ranks, published_ranks)
        correlations.append(matrix[0, 1])
    if not correlations:
        return None
    return float(np.mean(correlations))


class VerdictCounts(NamedTuple):
    """The numbers of published values, and of facts of data sets, with each verdict."""

    values: Counter[str]
    facts: Counter[str]


def verdict_counts(lines: pd.DataFrame) -> VerdictCounts:
    """Return the number of lines with each verdict, apart for values and facts of data sets.

    `lines`: a frame with the columns of `summary.csv`; those without a verdict do not count.
    """
    verdicts = lines["verdict"]
    is_fact = lines["metric"].isin(FACTS)
    has_verdict = verdicts != ""
    return VerdictCounts(
        values=Counter(verdicts[has_verdict & ~is_fact]),
        facts=Counter(verdicts[has_verdict & is_fact]),
    )


def missing_runs(lines: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the models that have too few runs for an interval, a line for each, as a frame.

    A line is of a model on a data set and reading; there may be none. The columns are `dataset`,
    `model`, `more_runs` (the runs that they lack) and `minutes` (the time of these runs on one core
    if they take as long as the first ones). `lines`: those of `summary.csv`; a model lacks runs if
    a verdict is `too few runs`. `cells`: the frame of `cells.csv`.
    """
    # A run computes the cells of all selections.
    model = ["dataset", "model", "reading"]
    lacks_runs = lines["verdict"] == "too few runs"
    too_few = lines[lacks_runs].drop_duplicates(model)
    if too_few.empty:
        return pd.DataFrame(columns=["dataset", "model", "more_runs", "minutes"])
    is_needed = cells["dataset"].isin(too_few["dataset"])
    times = cells[is_needed].groupby(model)[TIMES].sum()
    seconds = times.sum(axis="columns")
    too_few = too_few.join(seconds.rename("seconds"), on=model)
    runs = too_few["runs"].astype(int)
    more_runs = FEWEST_RUNS - runs
    seconds_of_run = too_few["seconds"].astype(float) / runs
    minutes = more_runs * seconds_of_run / 60
    models = too_few[["dataset", "model"]]
    return models.assign(more_runs=more_runs, minutes=minutes)


def counts_text(
    counts: Counter[str], facts: Counter[str], missing: pd.DataFrame
) -> str:
    """Return the sentences on the numbers of published values and of facts with each verdict.

    `counts`, `facts`: the numbers by verdict. `missing`: the models that lack runs, with the
    columns of the function `missing_runs`; a sentence tells how many runs they lack, none if it is
    empty. Without published values, only the sentence on the facts is returned, or "No published
    value to judge."
    """
    of_facts = facts_sentence(facts)
    total = counts.total()
    if not total:
        return of_facts or "No published value to judge."
    noun = "published value" if total == 1 else "published values"
    sentences = [f"{total} {noun}: {verdict_list(counts, signs=True)}."]
    if len(missing):
        sentences.append(_missing_runs_sentence(missing))
    if of_facts:
        sentences.append(of_facts)
    return " ".join(sentences)


def _missing_runs_sentence(missing: pd.DataFrame) -> str:
    """Return the sentence on how many more runs the intervals need, and how long they take.

    The runs are from the smallest to the largest number of a model; the time is the sum of all.
    `missing`: a line, at least one, for each model on a data set that lacks runs, with the columns
    `more_runs` (up to `FEWEST_RUNS`) and `minutes` (of these runs on one core).
    """
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
    """Return the sentence on the facts of data sets; empty if none was compared.

    `counts`: their numbers, with the verdicts `reproduced` and `differs`.
    """
    compared = counts["reproduced"] + counts["differs"]
    if not compared:
        return ""
    return (
        f"{counts['reproduced']} of {compared} facts of the data sets (rows, columns, classes) are "
        "as printed."
    )
