"""Sentences of a paper about a table, tested on the results and on the published values
(docs/claims.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.judging.claim_outcomes import ClaimOutcome, is_of_ratios
from elmbench.judging.measured_cells import Key, MeasuredCells, is_other_data
from elmbench.judging.value_verdicts import FEWEST_RUNS, draws_of
from elmbench.judging.verdict_words import COMPLETE, ClaimVerdict
from elmbench.metrics import less_is_better
from elmbench.numerics import significance
from elmbench.numerics.significance import LEVEL, Region, SignificanceResult
from elmbench.results import group_by
from elmbench.results.cells import TIMES
from elmbench.specs.claims import ALL_OF_THEM, MOST, Claim
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

#: The fewest data sets on which a test can reach the level: all of them must agree.
FEWEST_DATASETS = math.ceil(-math.log2(LEVEL))
#: Published values at a margin are inside even if their binary approximations are not.
_SLACK = 1e-9


def check_claims(
    summary: pd.DataFrame, measured: MeasuredCells
) -> Iterator[ClaimOutcome]:
    """Yield the outcome of each claim about a table that has a comparison that was run.

    A comparison was run if its model and one of its rivals have cells on a data set. Only the
    default readings and the selection of the first line of the summary count; without lines,
    nothing is yielded. `summary`: a frame with the columns of `summary.csv`. `measured`: the cells
    of the same results.
    """
    claims = measured.resolved.file.spec.claims
    if len(summary) and claims:
        results = _Results(summary, measured)
        yield from (
            _outcome(claim, results)
            for claim in claims
            if any(map(results.shows, claim.comparisons))
        )


class _Values(NamedTuple):
    """The values of a column on a data set, a series with the index (run, fold).

    `least_half_width`: that of an interval of their mean, for round-off or a single test row.
    """

    by_fold: pd.Series[float]
    least_half_width: float = 0.0


class _Results:
    """The results that claims are tested on: default readings, first selection.

    `summary`: a frame with the columns of `summary.csv`, with at least one line, whose selection
    counts. `measured`: the cells of the same results.
    """

    def __init__(self, summary: pd.DataFrame, measured: MeasuredCells) -> None:
        self.resolved = measured.resolved
        self._cells = measured
        self._select = str(summary["select"].iloc[0])
        is_default = summary["reading"] == ""
        is_selected = summary["select"] == self._select
        lines = summary[is_default & is_selected]
        self._models = _distinct_rows(lines, ["dataset", "model"])
        # If some cells were stopped or have not run, the remaining ones may be the easier folds.
        ended_ok = lines["ended"] == COMPLETE
        has_mean = lines["mean"].notna()
        complete = lines[ended_ok & has_mean]
        self._complete = _distinct_rows(complete, ["dataset", "model", "metric"])
        # Several comparisons ask for the same values.
        self._values: dict[tuple[Key, Measure], _Values] = {}
        self._indexes: dict[Any, pd.MultiIndex] = {}

    def shows(self, claim: Claim) -> bool:
        """Return True if both a comparison's model and a rival were run on some data set.

        They have a line under the default readings and the first selection; its cells need not have
        ended ok.
        """
        for dataset in _claim_datasets(claim, self.resolved):
            if (dataset, claim.model) not in self._models:
                continue
            columns = rival_columns(claim, dataset, self.resolved)
            if any((dataset, column) in self._models for column in columns):
                return True
        return False

    def datasets(self, claim: Claim) -> list[str]:
        """Return the data sets of a comparison, by the suite's names.

        A claim about most data sets has only those that were run; others also have those that were
        not.
        """
        run = {dataset for dataset, _ in self._models}
        # A run of some data sets cannot confirm a claim about all.
        return [
            name
            for name in _claim_datasets(claim, self.resolved)
            if claim.dataset != MOST or name in run
        ]

    def is_comparable(self, dataset: str) -> bool:
        """Return True if our cells on a data set use all rows of the paper, and no others.

        It is False for other data, and if the profile has fewer rows or other folds, or the public
        file other rows.
        """
        if not self.resolved.compares(dataset):
            return False
        groups = [
            key
            for key in self._cells.positions
            if key == self._group(dataset, model=key[1])
        ]
        return not any(is_other_data(self._cells.columns(key)) for key in groups)

    def has_stand_in(self, claim: Claim, dataset: str) -> bool:
        """Return True if our own algorithm or parameters replace those of a comparison's column.

        Its columns are the model and its rivals on the data set.
        """
        columns = [claim.model, *rival_columns(claim, dataset, self.resolved)]
        return any(self.resolved.stand_in(column, dataset) for column in columns)

    def is_fixed(self, dataset: str, *columns: str) -> bool:
        """Return True if all of these columns give the same values in each run on a data set."""
        return all(
            self._cells.is_fixed(self._group(dataset, column)) for column in columns
        )

    def _group(self, dataset: str, model: str) -> Key:
        """Return the key of the cells of a model on a data set.

        It is (data set, model, selection, reading), with the first selection and the default
        reading, which is empty.
        """
        return (dataset, model, self._select, "")

    def values(self, dataset: str, model: str, measure: Measure) -> _Values:
        """Return the values of a column on a data set by run and fold.

        They are empty unless every cell ended ok and some cell has the measure; cells without it
        are left out. `model`: the name of the column.
        """
        is_complete = (dataset, model, measure.column) in self._complete
        if not is_complete:
            return _Values(pd.Series(dtype=float))
        group = self._group(dataset, model)
        key = (group, measure)
        values = self._values.get(key)
        if values is None:
            values = self._read_values(group, measure)
            self._values[key] = values
        return values

    def _read_values(self, group: Key, measure: Measure) -> _Values:
        """Return the values of a group of cells that ended ok, read from the cells.

        Some cell must have the measure. `group`: (data set, model, selection, reading).
        """
        cells = self._cells.columns(group)
        values = self._cells.values(group, measure)
        draws = draws_of(values, cells, measure)
        return _Values(self._by_fold(values, cells), draws.least_half_width)

    def _by_fold(
        self, values: NDArray[np.float64], cells: Mapping[str, Any]
    ) -> pd.Series[float]:
        """Return the values of cells as a series with the index (run, fold), without NaN.

        `values`: one for each cell. `cells`: their columns, with `run` and `fold`.
        """
        series = pd.Series(values, self._index_of(cells))
        return series.dropna() if np.isnan(values).any() else series

    def _index_of(self, cells: Mapping[str, Any]) -> pd.MultiIndex:
        """Return an index of (run, fold) for cells; equal indexes share one object.

        `cells`: {column: array of one value a cell}, with `run` and `fold`.
        """
        runs = cells["run"]
        folds = cells["fold"]
        key = (tuple(runs.tolist()), tuple(folds.tolist()))
        index = self._indexes.get(key)
        if index is None:
            index = pd.MultiIndex.from_arrays([runs, folds])
            self._indexes[key] = index
        return index


def _distinct_rows(lines: pd.DataFrame, columns: list[str]) -> set[tuple[str, ...]]:
    """Return the distinct combinations of texts in some columns of a table, as tuples."""
    return set(lines[columns].itertuples(index=False, name=None))


class _Pair(NamedTuple):
    """The values of the two columns of a comparison on one data set.

    `first` are those of the claim's model, `second` those of the rival `column`: series with the
    index (run, fold). `least_half_width`: that of an interval of the first mean.
    """

    dataset: str
    column: str
    first: pd.Series[float]
    second: pd.Series[float]
    least_half_width: float

    def first_run(self) -> _Pair:
        """Return the pair with the values of the first run only: use it if all runs are equal."""
        return self._replace(
            first=_values_of_first_run(self.first),
            second=_values_of_first_run(self.second),
        )

    @property
    def has_logarithms(self) -> bool:
        """True if all values are above 0, so that their ratios can be tested."""
        return bool((self.first > 0).all() and (self.second > 0).all())

    @property
    def n_values(self) -> int:
        """The number of values of the column that has fewer of them."""
        return min(len(self.first), len(self.second))

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each of the two columns, over their own runs and folds."""
        return float(self.first.mean()), float(self.second.mean())


class _Tests(NamedTuple):
    """The tests of a comparison, and a verdict with its reason if they cannot decide it.

    The verdict is `undecided` if the tests decide; else it says why they cannot, such as
    `incomplete`.
    """

    findings: list[SignificanceResult]
    verdict: ClaimVerdict = "undecided"
    reason: str = ""


def _values_of_first_run(values: pd.Series[float]) -> pd.Series[float]:
    """Return the values of the run with the lowest number.

    `values`: a series with the index (run, fold); the result has this index too.
    """
    runs = values.index.get_level_values(0)
    return values[runs == runs.min()]


def _outcome(claim: Claim, results: _Results) -> ClaimOutcome:
    """Return the outcome of a claim, from the tests of all its comparisons.

    If some comparison cannot be decided, the verdict is that of the first such one, unless other
    tests contradict the claim; else it is that of the tests.
    """
    parts = [_test_comparison(comparison, results) for comparison in claim.comparisons]
    part = next((part for part in parts if part.verdict != "undecided"), parts[0])
    remarks = [part.reason] if part.reason else []
    if claim.metric.metric in TIMES:
        remarks.append("times of one machine")
    outcome = ClaimOutcome(
        claim=claim,
        resolved=results.resolved,
        verdict=part.verdict,
        rivals=tuple(
            _rivals_of(comparison, results) for comparison in claim.comparisons
        ),
        in_print=holds_in_print(claim, results.resolved),
        remark="; ".join(remarks),
    )
    findings = [finding for part in parts for finding in part.findings]
    return _decide(outcome, findings) if findings else outcome


def _decide(outcome: ClaimOutcome, findings: list[SignificanceResult]) -> ClaimOutcome:
    """Return an outcome with the verdict and the p-value of its tests.

    `outcome`: before the tests; a copy is returned, with the decisive test as its finding.
    `findings`: the tests, at least one. The verdict is `does not hold` if they contradict the
    claim. It is `holds` if all of them confirm it, unless the outcome already has a different
    verdict than `undecided`, such as `too few runs`, which then stays. p is that of the
    contradiction if the claim does not hold, else that of the confirmation.
    """
    decisive, confirming, contradicting = significance.combine_findings(findings)
    verdict: ClaimVerdict = outcome.verdict
    p = confirming
    # Tests of a part of the claim can contradict it but not confirm it.
    if contradicting <= LEVEL:
        verdict = "does not hold"
        p = contradicting
    elif verdict == "undecided" and confirming <= LEVEL:
        verdict = "holds"
    return replace(
        outcome,
        finding=decisive,
        subject=_subject(decisive, findings),
        verdict=verdict,
        p=p,
    )


def _subject(decisive: SignificanceResult, findings: list[SignificanceResult]) -> str:
    """Return the names in the subject of the decisive test in which the tests differ.

    They are joined by commas; the text is empty for a single test. A subject is (data set, model,
    rival, metric), of which some may be empty. `findings`: all tests, with the decisive one.
    """
    names = []
    for i, name in enumerate(decisive.subject):
        names_of_tests = {finding.subject[i] for finding in findings}
        if name and len(names_of_tests) > 1:
            names.append(name)
    return ", ".join(names)


def _rivals_of(claim: Claim, results: _Results) -> tuple[str, ...]:
    """Return the distinct columns that a comparison compares with on any of its data sets."""
    columns: dict[str, None] = {}
    for dataset in results.datasets(claim):
        columns |= dict.fromkeys(rival_columns(claim, dataset, results.resolved))
    return tuple(columns)


def _test_comparison(claim: Claim, results: _Results) -> _Tests:
    """Return the tests of one comparison, `claim`, of a claim about a table.

    There are none, and the verdict is `not comparable`, if our own model or parameters replace the
    paper's on a data set, or if the rows of a data set are not the paper's. The verdict is
    `incomplete` if cells are missing on a data set, and `not comparable` if a ratio on one data set
    has a value of 0; the others are tested then, too. A claim about most data sets leaves out data
    sets with other rows or missing cells, as long as one is left. `results`: where its values are
    read.
    """
    datasets = results.datasets(claim)
    if any(results.has_stand_in(claim, dataset) for dataset in datasets):
        reason = "a model or parameters of our own replace the paper's"
        return _Tests([], "not comparable", reason)
    comparable = [dataset for dataset in datasets if results.is_comparable(dataset)]
    has_all = len(comparable) == len(datasets)
    if not comparable or (claim.dataset != MOST and not has_all):
        return _Tests(
            findings=[],
            verdict="not comparable",
            reason="the data lack rows of the paper, or are other rows",
        )
    pairs_of_datasets = [_pairs(claim, dataset, results) for dataset in comparable]
    rows = [pairs for pairs in pairs_of_datasets if pairs]
    if claim.dataset == MOST and rows:
        return _tests_on_most(claim, rows)
    tests = _tests_on_each(claim, rows, results)
    if tests.verdict == "undecided" and len(rows) < len(datasets):
        return _Tests(tests.findings, verdict="incomplete", reason="cells are missing")
    return tests


def _tests_on_most(claim: Claim, rows: list[list[_Pair]]) -> _Tests:
    """Return the tests of a comparison on most data sets: over all of them at once.

    Below `FEWEST_DATASETS` data sets, the verdict is `too few data sets`. The tests are returned
    then, too. `rows`: for each data set, the pairs of the model with each of its rivals; none may
    be empty.
    """
    findings = _findings_on_most(claim, rows)
    if len(rows) >= FEWEST_DATASETS:
        return _Tests(findings)
    return _Tests(
        findings,
        verdict="too few data sets",
        reason=f"{len(rows)} data sets can be compared, {FEWEST_DATASETS} are needed",
    )


def _tests_on_each(claim: Claim, rows: list[list[_Pair]], results: _Results) -> _Tests:
    """Return a test for each pair of columns on each data set.

    If any pair has fewer than `FEWEST_RUNS` values, no pair is tested, and the verdict is `too few
    runs`; without pairs, it is `undecided`. If a ratio has a value of 0, which has no logarithm,
    the verdict is `not comparable`; the other pairs are tested then, too. `rows`: for each data
    set, the pairs of the model with each of its rivals. `results`: their table shows how its rows
    are split.
    """
    pairs = [pair for row in rows for pair in row]
    if any(pair.n_values < FEWEST_RUNS for pair in pairs):
        return _Tests(
            findings=[],
            verdict="too few runs",
            reason=f"fewer than {FEWEST_RUNS} folds or runs",
        )
    testable = pairs
    if is_of_ratios(claim):
        testable = [pair for pair in pairs if pair.has_logarithms]
    findings = [_finding_on_one(claim, pair, results) for pair in testable]
    if len(testable) < len(pairs):
        reason = "a value of 0 has no logarithm"
        return _Tests(findings, verdict="not comparable", reason=reason)
    return _Tests(findings)


def _pairs(claim: Claim, dataset: str, results: _Results) -> list[_Pair]:
    """Return the values of a claim's model beside those of each rival column on a data set.

    The list is empty unless all of these are complete. If nothing is random in both columns of a
    pair, it has the values of the first run only.
    """
    first = results.values(dataset, claim.model, claim.metric)
    measure = claim.than_metric or claim.metric
    pairs = []
    for column in rival_columns(claim, dataset, results.resolved):
        second = results.values(dataset, column, measure)
        if first.by_fold.empty or second.by_fold.empty:
            return []
        pair = _Pair(
            dataset=dataset,
            column=column,
            first=first.by_fold,
            second=second.by_fold,
            least_half_width=first.least_half_width,
        )
        is_fixed = results.is_fixed(dataset, claim.model, column)
        pairs.append(pair.first_run() if is_fixed else pair)
    return pairs


def _finding_on_one(claim: Claim, pair: _Pair, results: _Results) -> SignificanceResult:
    """Return the test of a claim on one data set, for one rival.

    It is the corrected resampled t-test of the differences by fold, or Welch's test if the test
    rows are the same in all runs or their share is not known. The t-test leaves out folds that only
    one of the columns has. Ratios are tested by their logarithm, for which no value may be 0; the
    estimate and its interval are ratios again. `pair`: the values of the model and of the rival.
    `results`: their table shows how its rows are split.
    """
    of_ratios = is_of_ratios(claim)
    first = pair.first
    second = pair.second
    least_half_width = pair.least_half_width
    if of_ratios:
        first = first.map(math.log)
        second = second.map(math.log)
        least_half_width = 0.0
    region = region_of(claim)
    share = share_of_test_rows(pair.dataset, results.resolved)
    if share is None:
        finding = significance.welch_test(first, second, region, least_half_width)
    else:
        unit = "folds" if first.index.get_level_values(0).has_duplicates else "runs"
        differences = (first - second).dropna()
        finding = significance.corrected_t_test(
            differences, share, region, least_half_width, unit
        )
    if of_ratios:
        finding = _finding_of_ratio(finding)
    return replace(
        finding,
        subject=(pair.dataset, claim.model, pair.column, claim.metric.column),
        means=pair.means,
    )


def _finding_of_ratio(finding: SignificanceResult) -> SignificanceResult:
    """Return the test of a difference of logarithms with a ratio as its estimate and interval."""
    low = None if finding.low is None else math.exp(finding.low)
    high = None if finding.high is None else math.exp(finding.high)
    return replace(finding, estimate=math.exp(finding.estimate), low=low, high=high)


def _findings_on_most(
    claim: Claim, rows: list[list[_Pair]]
) -> list[SignificanceResult]:
    """Return the tests of a claim over several data sets.

    These are a signed-rank test for each rival column, or a single sign test. The sign test is for
    closeness, for ratios, and for claims that ask for it. It counts the data sets on which the
    claim is true of all rivals. `rows`: for each data set, the pairs of the model with each of its
    rivals.
    """
    findings = {}
    if claim.relation == "close" or is_of_ratios(claim) or claim.test == "sign":
        n_true = 0
        for row in rows:
            n_true += all(is_true(claim, *pair.means) for pair in row)
        findings[""] = significance.sign_test(n_true, len(rows))
    else:
        pairs = [pair for row in rows for pair in row]
        by_column = group_by(pairs, lambda pair: pair.column)
        for column, pairs_of_column in by_column.items():
            means = [pair.means for pair in pairs_of_column]
            differences = [first - second for first, second in means]
            findings[column] = significance.signed_rank_test(
                differences, region_of(claim)
            )
    metric = claim.metric.column
    return [
        replace(finding, subject=(MOST, claim.model, column, metric))
        for column, finding in findings.items()
    ]


def rival_columns(claim: Claim, dataset: str, resolved: Resolved) -> list[str]:
    """Return the columns that a comparison compares with on a data set.

    These are the columns that it names, even if they were not run. The word `others` stands for all
    other columns of the table's file, without those for which the paper prints an entry without a
    number, such as a dash or `> 600 s`: it says nothing about them.
    """
    if claim.than != "others":
        return list(claim.than)
    left_out = {
        column
        for (name, column, metric), published in resolved.published.items()
        if (name, metric) == (dataset, claim.metric.column) and published.value is None
    }
    return [
        column
        for column in resolved.file.spec.models
        if column != claim.model and column not in left_out
    ]


def _claim_datasets(claim: Claim, resolved: Resolved) -> list[str]:
    """Return the data sets that a comparison is about, by the suite's names.

    Those that stand in for another one are left out; a claim about all data sets leaves out those
    with other rows than the paper's, too.
    """
    names = (
        list(resolved.file.spec.datasets)
        if claim.dataset in (MOST, ALL_OF_THEM)
        else [claim.dataset]
    )
    excluded = {
        *resolved.stand_ins,
        *(resolved.spec.other_rows if claim.dataset == ALL_OF_THEM else ()),
    }
    return [name for name in names if name not in excluded]


def is_true(claim: Claim, value: float, rival: float) -> bool:
    """Return True if a claim is true of two values, without regard to their uncertainty.

    `claim`: one comparison. `value`: that of its model. `rival`: that of a model it is compared
    with. A claim of a ratio (`between`) is true if the value lies between two multiples of the
    rival's; any other one if their difference lies in the region of its relation. Values on the
    bounds count as true, except for `above` and `below`.
    """
    if claim.between is not None:
        least, greatest = claim.between
        return least * rival <= value <= greatest * rival
    region = region_of(claim)
    difference = value - rival
    if claim.relation in ("above", "below"):
        return region.low < difference < region.high
    low = region.low - _SLACK
    high = region.high + _SLACK
    return low <= difference <= high


def region_of(claim: Claim) -> Region:
    """Return the range of the difference, model minus rival, in which a claim is true.

    For a claim with `between`, it is the range of the logarithm of their ratio. For an error,
    `above` still means a larger number, whereas `no-worse` means no larger one by more than the
    margin.
    """
    if claim.between is not None:
        low, high = claim.between
        log_low = math.log(low) if low else -math.inf
        return Region(log_low, math.log(high))
    if claim.relation == "close":
        return Region(-claim.within, claim.within)
    # An error that is no better is no less.
    is_error = less_is_better(claim.metric.metric)
    not_less = "no-better" if is_error else "no-worse"
    if claim.relation in ("above", not_less):
        return Region(low=-claim.within)
    return Region(high=claim.within)


def holds_in_print(claim: Claim, resolved: Resolved) -> bool | None:
    """Return True if all comparisons of a claim are true of the published values.

    It is None if one of them has no data set with its values in print. A comparison on most data
    sets must be true on more than half of those that have all of its values.
    """
    verdicts = []
    for part in claim.comparisons:
        outcomes = _outcomes_in_print(part, resolved)
        if not outcomes:
            return None
        is_of_most = part.dataset == MOST
        verdicts.append(
            2 * sum(outcomes) > len(outcomes) if is_of_most else all(outcomes)
        )
    return all(verdicts)


def _outcomes_in_print(claim: Claim, resolved: Resolved) -> list[bool]:
    """Return, for each data set with published values, True if a comparison is true of them.

    Data sets without a value of its model, or without a rival's, are left out.
    """
    outcomes = []
    for dataset in _claim_datasets(claim, resolved):
        key = (dataset, claim.model, claim.metric.column)
        value = _value_in_print(key, resolved)
        rivals = _rivals_in_print(claim, dataset, resolved)
        if value is None or not rivals:
            continue
        is_true_of_all = all(is_true(claim, value, rival) for rival in rivals)
        outcomes.append(is_true_of_all)
    return outcomes


def _rivals_in_print(claim: Claim, dataset: str, resolved: Resolved) -> list[float]:
    """Return the published values that a comparison compares with on a data set.

    The list is empty if one of the columns that the claim names has no value; of `others`, those
    with a value are enough.
    """
    measure = claim.than_metric or claim.metric
    columns = rival_columns(claim, dataset, resolved)
    values = [
        _value_in_print((dataset, column, measure.column), resolved)
        for column in columns
    ]
    published = [value for value in values if value is not None]
    has_enough = claim.than == "others" or len(published) == len(values)
    return published if has_enough else []


def _value_in_print(key: tuple[str, str, str], resolved: Resolved) -> float | None:
    """Return the published value of `key`, a (data set, model, metric); None without one.

    For a fit that the authors stopped, it is the time in seconds after which they did.
    """
    published = resolved.published.get(key)
    if published is None:
        return None
    return published.over_seconds if published.value is None else float(published.value)
