"""Sentences of a paper about a table, tested on the results (docs/claims.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from elmbench.layouts.table import COMPLETE
from elmbench.reporting.cells import TIMES
from elmbench.reporting.claim_outcomes import ClaimOutcome, ClaimVerdict, is_of_ratios
from elmbench.reporting.claim_terms import columns_compared, datasets_claimed, is_borne_out, is_true, region_of
from elmbench.reporting.comparisons import LEVEL, Finding, corrected_t, sign, signed_rank, together, welch
from elmbench.reporting.summary import MeasuredCells, is_other_data, share_of_test_rows
from elmbench.reporting.verdicts import FEWEST_RUNS, draws_of
from elmbench.specs.experiments import MOST, Claim
from elmbench.specs.measures import Measure

#: The fewest data sets on which a test can reach the level: all of them must agree.
FEWEST_DATASETS = math.ceil(-math.log2(LEVEL))
_ONE_MACHINE = "times of one machine"
_NOT_THE_PAPERS = "the rows are not all of the paper's, or not the paper's"
_MISSING = "cells are missing"


def check_claims(summary: pd.DataFrame, measured: MeasuredCells) -> Iterator[ClaimOutcome]:
    """Yield the outcome of each claim on models that were run, from the default readings and first selection."""
    claims = measured.resolved.file.spec.claims
    if not len(summary) or not claims:
        return
    results = _Results(summary, measured)
    for claim in claims:
        if any(results.shows(one) for one in claim.comparisons):
            yield _outcome(claim, results)


class _Results:
    """The results that claims are tested on: default readings, first selection."""

    def __init__(self, summary: pd.DataFrame, measured: MeasuredCells) -> None:
        self.resolved = measured.resolved
        self._select = str(summary["select"].iloc[0])
        lines = summary[(summary["reading"] == "") & (summary["select"] == self._select)]
        # If some cells were stopped or have not run, the remaining ones may be the easier folds.
        complete = lines[(lines["ended"] == COMPLETE) & lines["mean"].notna()]
        self._complete = set(complete[["dataset", "model", "metric"]].itertuples(index=False, name=None))
        self._cells = measured
        self._run = set(lines["dataset"])
        self._models = set(zip(lines["dataset"], lines["model"], strict=True))

    def shows(self, claim: Claim) -> bool:
        """Return True if the column of a comparison and another one that it names were run on a data set."""
        return any(
            (dataset, claim.model) in self._models and (dataset, column) in self._models
            for dataset in datasets_claimed(claim, self.resolved)
            for column in columns_compared(claim, dataset, self.resolved)
        )

    def datasets(self, claim: Claim) -> list[str]:
        """Return the data sets of a comparison; for `most`, those that were run."""
        names = datasets_claimed(claim, self.resolved)
        # A run of some data sets cannot confirm a claim about all.
        return [name for name in names if name in self._run] if claim.dataset == MOST else names

    def is_comparable(self, dataset: str) -> bool:
        """Return True if the rows are all of the paper's, and no others."""
        entries = [key for key in self._cells.lines if (key[0], *key[2:]) == (dataset, self._select, "")]
        return self.resolved.compares(dataset) and not any(is_other_data(self._cells.columns(key)) for key in entries)

    def values(self, dataset: str, model: str, measure: Measure) -> pd.Series[float] | None:
        """Return the values of a column by run and fold; None unless every cell ended ok and has the measure."""
        if (dataset, model, measure.column) not in self._complete:
            return None
        cells = self._cells.columns(key := (dataset, model, self._select, ""))
        keys = list(zip(cells["run"].tolist(), cells["fold"].tolist(), strict=True))
        return pd.Series(self._cells.values(key, measure), index=pd.Index(keys, tupleize_cols=False)).dropna()

    def least(self, dataset: str, model: str, measure: Measure) -> float:
        """Return the least half width of an interval of a column on a data set."""
        key = (dataset, model, self._select, "")
        return draws_of(self._cells.values(key, measure), self._cells.columns(key), measure).least


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


@dataclass(frozen=True)
class _Test:
    """A test that a claim must pass, with its data set, model, column and metric."""

    finding: Finding
    about: tuple[str, str, str, str]
    means: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Tests:
    """The tests of a comparison; `verdict` and `remark` give the reason if they cannot confirm it."""

    tests: list[_Test] = field(default_factory=list)
    verdict: ClaimVerdict = "undecided"
    remark: str = ""


def _outcome(claim: Claim, results: _Results) -> ClaimOutcome:
    others = []
    for one in claim.comparisons:
        columns = (columns_compared(one, name, results.resolved) for name in results.datasets(one))
        others.append(tuple(dict.fromkeys(column for names in columns for column in names)))
    parts = [_tests(one, results) for one in claim.comparisons]
    blocked = next((one for one in parts if one.verdict != "undecided"), None)
    remarks = (blocked.remark if blocked else "", _ONE_MACHINE if claim.metric.metric in TIMES else "")
    outcome = ClaimOutcome(claim, blocked.verdict if blocked else "undecided", tuple(others))
    outcome = replace(outcome, in_print=is_borne_out(claim, results.resolved), remark="; ".join(filter(None, remarks)))
    tests = [test for one in parts for test in one.tests]
    return _decide(outcome, tests) if tests else outcome


def _decide(outcome: ClaimOutcome, tests: Sequence[_Test]) -> ClaimOutcome:
    """Return the outcome by the tests; the claim must pass all of them."""
    decisive, confirming, contradicting = together([test.finding for test in tests])
    test = next(test for test in tests if test.finding is decisive)
    varies = [len(set(values)) > 1 for values in zip(*(test.about for test in tests), strict=True)]
    about = ", ".join(name for name, several in zip(test.about, varies, strict=True) if several and name)
    outcome = replace(outcome, finding=decisive, about=about, means=test.means)
    # Tests of a part of the claim can contradict it but not confirm it.
    if contradicting <= LEVEL:
        return replace(outcome, verdict="does not hold", p=contradicting)
    holds = outcome.verdict == "undecided" and confirming <= LEVEL
    return replace(outcome, verdict="holds" if holds else outcome.verdict, p=confirming)


def _tests(claim: Claim, results: _Results) -> _Tests:
    datasets = results.datasets(claim)
    comparable = [dataset for dataset in datasets if results.is_comparable(dataset)]
    if not comparable or (claim.dataset != MOST and len(comparable) < len(datasets)):
        return _Tests(verdict="not comparable", remark=_NOT_THE_PAPERS)
    rows = [pairs for dataset in comparable if (pairs := _pairs(claim, dataset, results))]
    if not rows:
        return _Tests(verdict="incomplete", remark=_MISSING)
    if claim.dataset == MOST:
        return _on_most(claim, rows)
    pairs = [pair for row in rows for pair in row]
    if min(len(values) for pair in pairs for values in (pair.one, pair.two)) < FEWEST_RUNS:
        return _Tests(verdict="too few runs", remark=f"fewer than {FEWEST_RUNS} folds or runs")
    metric = claim.metric.column
    tests = [
        _Test(_on_one(claim, pair, results), (pair.dataset, claim.model, pair.other, metric), pair.means)
        for pair in pairs
    ]
    return _Tests(tests) if len(rows) == len(datasets) else _Tests(tests, "incomplete", _MISSING)


def _pairs(claim: Claim, dataset: str, results: _Results) -> list[_Pair]:
    """Return the values of a claim's column beside those of each other one; empty unless all are complete."""
    one = results.values(dataset, claim.model, claim.metric)
    columns = columns_compared(claim, dataset, results.resolved)
    others = [results.values(dataset, column, claim.than_metric or claim.metric) for column in columns]
    known = [other for other in others if other is not None]
    if one is None or len(known) < len(others):
        return []
    least = results.least(dataset, claim.model, claim.metric)
    return [_Pair(dataset, column, one, other, least) for column, other in zip(columns, known, strict=True)]


def _on_one(claim: Claim, pair: _Pair, results: _Results) -> Finding:
    """Return the test of a claim on one data set; ratios are tested by their logarithm."""
    of_ratios = is_of_ratios(claim)
    one, two = (pair.one.map(math.log), pair.two.map(math.log)) if of_ratios else (pair.one, pair.two)
    region = region_of(claim)
    least, share = 0.0 if of_ratios else pair.least, share_of_test_rows(pair.dataset, results.resolved)
    if share is None:
        finding = welch(one, two, region, least)
    else:
        of = "folds" if len(one) > len({run for run, _ in one.index}) else "runs"
        finding = corrected_t((one - two).dropna(), share, region, least, of)
    return _as_ratio(finding) if of_ratios else finding


def _as_ratio(finding: Finding) -> Finding:
    low, high = (None if end is None else math.exp(end) for end in (finding.low, finding.high))
    return replace(finding, estimate=math.exp(finding.estimate), low=low, high=high)


def _on_most(claim: Claim, rows: list[list[_Pair]]) -> _Tests:
    """Return the tests of a claim over data sets."""
    if claim.relation == "close" or is_of_ratios(claim) or claim.test == "sign":
        n_true = sum(all(is_true(claim, *pair.means) for pair in row) for row in rows)
        tests = [_Test(sign(n_true, len(rows)), (MOST, claim.model, "", claim.metric.column))]
    else:
        columns: dict[str, list[float]] = {}
        for pair in (pair for row in rows for pair in row):
            columns.setdefault(pair.other, []).append(pair.means[0] - pair.means[1])
        tests = [
            _Test(signed_rank(differences, region_of(claim)), (MOST, claim.model, column, claim.metric.column))
            for column, differences in columns.items()
        ]
    if len(rows) < FEWEST_DATASETS:
        return _Tests(tests, "too few data sets", f"{len(rows)} comparable, {FEWEST_DATASETS} needed")
    return _Tests(tests)
