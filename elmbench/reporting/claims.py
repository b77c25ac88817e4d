"""Sentences of a paper about a table, tested on the results (docs/claims.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.layouts import layout_of
from elmbench.layouts.table import COMPLETE, Note
from elmbench.reporting.cells import TIMES
from elmbench.reporting.comparisons import LEVEL, Finding, Region, corrected_t, sign, signed_rank, together, welch
from elmbench.reporting.summary import TOLD, is_other_data, share_of_test_rows
from elmbench.reporting.verdicts import FEWEST_RUNS, draws_of
from elmbench.specs.experiments import ALL_OF_THEM, MOST, Claim
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

ClaimVerdict = Literal["holds", "does not hold", "undecided", "not comparable"]
#: Every verdict on a claim.
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
#: Columns of `claims.csv`.
COLUMNS = ["says", "dataset", "metric", "model", "is", "than", "verdict", "test", "estimate", "low", "high", "p"]
COLUMNS += ["n", "of", "remark"]
#: What is said of a claim on times.
_ONE_MACHINE = "times of one machine"
_NOT_THE_PAPERS = "the rows are not all of the paper's, or not the paper's"
_MISSING = "cells are missing"


@dataclass(frozen=True)
class ClaimOutcome(Note):
    """What the results say of a claim.

    Attributes
    ----------
    claim : Claim
    verdict : {"holds", "does not hold", "undecided", "not comparable"}
    others : tuple of str
        The columns that it compares with.
    finding : Finding or None
        Of the test that decides; None if nothing was tested.
    p : float or None
        The probability of data that speak for the verdict as ours do if the contrary is right (of a claim that is not
        decided: for the claim).
    place : str
        The column and, of a claim on all data sets, the data set that decides; empty if there is one only.
    figures : tuple of float
        The means of the two columns, of a single data set.
    remark : str
        What else must be said.
    """

    kind = "claim"
    claim: Claim
    verdict: ClaimVerdict
    others: tuple[str, ...] = ()
    finding: Finding | None = None
    p: float | None = None
    place: str = ""
    figures: tuple[float, ...] = ()
    remark: str = ""

    @property
    def text(self) -> str:
        said = f'claim "{self.claim.says}" ({_where(self.claim)}): {self.verdict}; {self.compared}'
        return "; ".join(filter(None, (said, self._tested(), self.remark)))

    @property
    def compared(self) -> str:
        """What is compared, such as `mcc of ELM above 0.5 times K-ELM`."""
        return f"{self.claim.metric.column} of {self.claim.model} {self._relation()} {self._than()}"

    def _relation(self) -> str:
        claim = self.claim
        how = f"within {claim.within:g} of" if claim.relation == "close" else claim.relation
        return f"{how} {claim.factor:g} times" if claim.factor != 1 else how

    def _than(self) -> str:
        of_other = f"{self.claim.than_metric.column} of " if self.claim.than_metric else ""
        return of_other + ", ".join(self.others)

    def _tested(self) -> str:
        found = self.finding
        if found is None or self.p is None:
            return ""
        figures = " against ".join(f"{figure:.4g}" for figure in self.figures)
        interval = "" if found.low is None else f" [{found.low:.3g}, {found.high:.3g}]"
        name, before = self._estimated(found), f"{self.place}: " if self.place else ""
        shown = f"{before}{figures}{', ' if figures else ''}{name} {found.estimate:.3g}{interval}"
        return f"{shown}, {found.test}, p = {self.p:.2g}, n = {found.n} {found.of}"

    def _estimated(self, found: Finding) -> str:
        if found.test == "sign test":
            return f"on {round(found.estimate * found.n)} of {found.n} data sets, share"
        if self.claim.metric.metric in TIMES:
            return "ratio"
        return "median difference" if found.of == "data sets" else "difference"

    def record(self) -> dict[str, Any]:
        """Return the line of `claims.csv`, None for what is missing."""
        found = self.finding
        claim = self.claim.model_dump(by_alias=True, mode="json")
        line = {name: claim[name] for name in ("says", "dataset", "metric", "model")}
        tested = {name: getattr(found, name, None) for name in ("test", "estimate", "low", "high", "n", "of")}
        remark = "; ".join(filter(None, (self.place, self.remark)))
        line |= {"is": self._relation(), "than": self._than(), "verdict": self.verdict, "p": self.p, "remark": remark}
        return {name: (line | tested)[name] for name in COLUMNS}


def _where(claim: Claim) -> str:
    return f"{claim.dataset} data sets" if claim.dataset in (MOST, ALL_OF_THEM) else claim.dataset


def claims_frame(outcomes: list[ClaimOutcome]) -> pd.DataFrame:
    """Return the outcomes as `claims.csv` has them."""
    return pd.DataFrame([outcome.record() for outcome in outcomes], columns=COLUMNS).astype({"n": "Int64"})


def check_claims(summary: pd.DataFrame, cells: pd.DataFrame, resolved: Resolved) -> Iterator[ClaimOutcome]:
    """Yield the outcome of each claim on data sets that were run, from the default readings and first selection.

    Parameters
    ----------
    summary, cells : DataFrame
        As `summary.csv` and `cells.csv` have them.
    resolved : Resolved
    """
    if not len(summary) or not resolved.file.spec.claims:
        return
    results = _Results(summary, cells, resolved)
    for claim in resolved.file.spec.claims:
        if claim.dataset in (MOST, ALL_OF_THEM):
            # A run of some data sets alone cannot confirm what is said of all.
            every = [name for name in _of_the_paper(resolved) if name not in resolved.spec.other_rows]
            if results.shown:
                yield _check(claim, every if claim.dataset == ALL_OF_THEM else results.shown, results)
        elif claim.dataset in results.shown:
            yield _check(claim, [claim.dataset], results)


def _of_the_paper(resolved: Resolved) -> list[str]:
    """Return the table's data sets without those that stand in for one of the paper's."""
    return [name for name in resolved.file.spec.datasets if name not in resolved.stand_ins]


class _Results:
    """The results that claims are tested on: default readings, first selection."""

    def __init__(self, summary: pd.DataFrame, cells: pd.DataFrame, resolved: Resolved) -> None:
        select = summary["select"].iloc[0]
        own = summary[(summary["reading"] == "") & (summary["select"] == select)]
        # If a limit stopped some cells or they have not run, those that are left may be the easier folds.
        whole = (own["ended"] == COMPLETE) & own["mean"].notna()
        self._whole = set(zip(*(own.loc[whole, name] for name in ("dataset", "model", "metric")), strict=True))
        self.resolved, self.layout = resolved, layout_of(resolved)
        entries = self.layout.entries_of(cells, resolved)
        ok = (entries["reading"] == "") & (entries["select"] == select) & (entries["status"] == COMPLETE)
        self._entries = entries[ok].reset_index(drop=True)
        told = self._entries[[name for name in TOLD if name in entries]]
        self._groups = dict(tuple(told.groupby(["dataset", "model"], sort=False)))
        self._measured: dict[Measure, NDArray[np.float64]] = {}
        names = dict.fromkeys(own["dataset"])
        self.shown = [name for name in names if name in _of_the_paper(resolved)]

    def cells(self, dataset: str, model: str, measure: Measure) -> pd.DataFrame | None:
        """Return the cells of a column on a data set; None unless all of them are there and have the measure.

        They have the columns that a verdict hangs on; what they measured is `measured`.
        """
        return self._groups.get((dataset, model)) if (dataset, model, measure.column) in self._whole else None

    def is_comparable(self, dataset: str) -> bool:
        """Tell whether the rows are all of the paper's, and no others."""
        own = [group for (name, _), group in self._groups.items() if name == dataset]
        return self.resolved.compares(dataset) and not any(map(is_other_data, own))

    def measured(self, cells: pd.DataFrame, measure: Measure) -> NDArray[np.float64]:
        """Return the value of each cell, NaN if it has none: of all cells they are taken once."""
        if measure not in self._measured:
            found: NDArray[np.float64] = np.asarray(self.layout.values_of(self._entries, measure), dtype=np.float64)
            self._measured[measure] = found
        return self._measured[measure][cells.index.to_numpy()]

    def values(self, cells: pd.DataFrame, measure: Measure) -> pd.Series[float]:
        """Return the values of cells by run and fold."""
        keys = pd.MultiIndex.from_arrays([cells["run"].astype(int), cells["fold"].astype(int)])
        return pd.Series(self.measured(cells, measure), index=keys).dropna()


@dataclass(frozen=True)
class _Pair:
    """The values of the two columns of a comparison on one data set."""

    dataset: str
    other: str
    one: pd.Series[float]
    two: pd.Series[float]
    least: float

    @property
    def means(self) -> tuple[float, float]:
        return float(self.one.mean()), float(self.two.mean())


def _check(claim: Claim, datasets: list[str], results: _Results) -> ClaimOutcome:
    outcome = ClaimOutcome(claim, "undecided", _others(claim, datasets, results.resolved))
    if claim.metric.metric in TIMES:
        outcome = replace(outcome, remark=_ONE_MACHINE)
    whole = [dataset for dataset in datasets if results.is_comparable(dataset)]
    if not whole or (claim.dataset != MOST and len(whole) < len(datasets)):
        return replace(outcome, verdict="not comparable", remark=_NOT_THE_PAPERS)
    found = {dataset: _pairs(claim, dataset, results) for dataset in whole}
    rows = {dataset: pairs for dataset, pairs in found.items() if pairs}
    if not rows:
        return replace(outcome, remark=_MISSING)
    if claim.dataset == MOST:
        return _over(outcome, rows)
    outcome = _each(outcome, rows, results)
    # Those that are there can contradict a claim on all data sets, not confirm it.
    if len(rows) < len(datasets) and outcome.verdict != "does not hold":
        return _remarked(replace(outcome, verdict="undecided"), _MISSING)
    return outcome


def _remarked(outcome: ClaimOutcome, remark: str) -> ClaimOutcome:
    return replace(outcome, remark="; ".join(filter(None, (remark, outcome.remark))))


def _others(claim: Claim, datasets: list[str], resolved: Resolved) -> tuple[str, ...]:
    than = [_than(claim, dataset, resolved) for dataset in datasets]
    return tuple(dict.fromkeys(column for columns in than for column in columns))


def _than(claim: Claim, dataset: str, resolved: Resolved) -> list[str]:
    """Return the columns that a claim compares with.

    `others` leaves out a column for which the paper prints no figure: the paper says nothing about it.
    """
    if claim.than != "others":
        return list(claim.than)
    left_out = {
        column
        for (place, column, metric), figure in resolved.published.items()
        if (place, metric) == (dataset, claim.metric.column) and figure.value is None
    }
    return [column for column in resolved.file.spec.models if column != claim.model and column not in left_out]


def _pairs(claim: Claim, dataset: str, results: _Results) -> list[_Pair]:
    """Return the values of a claim's column beside those of each other one; nothing unless all are there."""
    own = results.cells(dataset, claim.model, claim.metric)
    if own is None:
        return []
    one, pairs = results.values(own, claim.metric), []
    least = draws_of(results.measured(own, claim.metric), own, claim.metric).least
    measure = claim.than_metric or claim.metric
    for column in _than(claim, dataset, results.resolved):
        other = results.cells(dataset, column, measure)
        if other is None:
            return []
        pairs.append(_Pair(dataset, column, one, results.values(other, measure), least))
    return pairs


def _each(outcome: ClaimOutcome, rows: dict[str, list[_Pair]], results: _Results) -> ClaimOutcome:
    """Return the outcome of a claim that must be true of every pair."""
    pairs = [pair for row in rows.values() for pair in row]
    if min(len(values) for pair in pairs for values in (pair.one, pair.two)) < FEWEST_RUNS:
        return _remarked(outcome, "too few runs")
    findings = [_on_one(outcome.claim, pair, results) for pair in pairs]
    decisive, confirming, contradicting = together(findings)
    pair = pairs[findings.index(decisive)]
    place = ", ".join([pair.dataset] * (len(rows) > 1) + [pair.other] * (len(pairs) > len(rows)))
    outcome = _decided(replace(outcome, place=place), decisive, confirming, contradicting)
    return replace(outcome, figures=pair.means)


def _on_one(claim: Claim, pair: _Pair, results: _Results) -> Finding:
    """Return the test of a claim on one data set; of times it is about the logarithm of their ratio."""
    timed = claim.metric.metric in TIMES
    one, two = (pair.one.map(math.log), pair.two.map(math.log)) if timed else (pair.one, claim.factor * pair.two)
    region = _region(claim, math.log(claim.factor) if timed else 0.0)
    least, share = 0.0 if timed else pair.least, share_of_test_rows(pair.dataset, results.resolved)
    if share is None:
        found = welch(one, two, region, least)
    else:
        of = "folds" if len(one) > one.index.get_level_values("run").nunique() else "runs"
        found = corrected_t((one - two).dropna(), share, region, least, of)
    return _as_ratio(found) if timed else found


def _as_ratio(found: Finding) -> Finding:
    low, high = (None if end is None else math.exp(end) for end in (found.low, found.high))
    return replace(found, estimate=math.exp(found.estimate), low=low, high=high)


def _region(claim: Claim, bound: float) -> Region:
    if claim.relation == "close":
        return Region(bound - claim.within, bound + claim.within)
    return Region(low=bound) if claim.relation == "above" else Region(high=bound)


def _over(outcome: ClaimOutcome, rows: dict[str, list[_Pair]]) -> ClaimOutcome:
    """Return the outcome of a claim over data sets."""
    claim = outcome.claim
    counted = claim.relation == "close" or claim.metric.metric in TIMES
    if counted or claim.test == "sign":
        found = sign(sum(all(_is_true(claim, pair) for pair in row) for row in rows.values()), len(rows))
        outcome = _decided(outcome, found, found.confirming, found.contradicting)
    else:
        columns: dict[str, list[float]] = {}
        for pair in (pair for row in rows.values() for pair in row):
            columns.setdefault(pair.other, []).append(_difference(claim, pair))
        findings = [signed_rank(differences, _region(claim, 0.0)) for differences in columns.values()]
        decisive, confirming, contradicting = together(findings)
        place = list(columns)[findings.index(decisive)] if len(columns) > 1 else ""
        outcome = _decided(replace(outcome, place=place), decisive, confirming, contradicting)
    if outcome.verdict == "undecided" and 0.5 ** len(rows) > LEVEL:
        return _remarked(outcome, "too few data sets")
    return outcome


def _difference(claim: Claim, pair: _Pair) -> float:
    own, other = pair.means
    return own - claim.factor * other


def _is_true(claim: Claim, pair: _Pair) -> bool:
    found = _difference(claim, pair)
    if claim.relation == "close":
        return abs(found) <= claim.within
    return found > 0 if claim.relation == "above" else found < 0


def _decided(outcome: ClaimOutcome, found: Finding, confirming: float, contradicting: float) -> ClaimOutcome:
    if confirming <= LEVEL:
        return replace(outcome, verdict="holds", finding=found, p=confirming)
    if contradicting <= LEVEL:
        return replace(outcome, verdict="does not hold", finding=found, p=contradicting)
    return replace(outcome, verdict="undecided", finding=found, p=confirming)
