"""The outcome of a claim: its verdict, its words, its line of `claims.csv`, and Holm's correction
(docs/claims.md).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from elmbench.judging.verdict_words import CLAIM_VERDICTS, ClaimVerdict
from elmbench.numerics.significance import LEVEL, SignificanceResult, holm
from elmbench.results.cells import TIMES
from elmbench.specs.claims import ALL_OF_THEM, MARGINS, MOST, Claim
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.tables.drawing import words_for
from elmbench.tables.number_texts import p_words

#: Columns of `claims.csv`.
COLUMNS = [
    "says",
    "dataset",
    "metric",
    "model",
    "is",
    "than",
    "in_print",
    "verdict",
    "test",
    "estimate",
]
COLUMNS += ["low", "high", "p", "n", "of", "remark"]
#: The plurals of results of claims.
_RESULTS = {"holds": "hold", "does not hold": "do not hold"}
_RESULTS |= {
    f"ratio {side} than stated": f"ratios {side} than stated"
    for side in ("smaller", "larger")
}
#: The relations in words.
_RELATIONS = {"no-worse": "no worse than", "no-better": "no better than"}


@dataclass(frozen=True)
class ClaimOutcome:
    """The result of testing a claim on a table.

    `rivals` are the columns that each comparison of the claim compares with. `in_print` is True if
    the published values bear the claim out; None if it prints too few of them. `finding` is the
    decisive test; None if nothing was tested. `p` is the p-value of the verdict; for a claim that
    is not decided, that of the claim. `subject` is the data set, model, column and metric of the
    decisive test, as far as the tests differ in them.
    """

    claim: Claim
    resolved: Resolved
    verdict: ClaimVerdict
    rivals: tuple[tuple[str, ...], ...] = ()
    in_print: bool | None = None
    finding: SignificanceResult | None = None
    p: float | None = None
    subject: str = ""
    remark: str = ""

    @property
    def table(self) -> str:
        """The id of the table."""
        return self.resolved.file.id

    @property
    def label(self) -> str:
        """The table and the profile in words."""
        return f"{self.resolved.file.spec.label}, profile {self.resolved.profile}"

    @property
    def is_decided(self) -> bool:
        """True if the claim holds or does not hold."""
        return self.verdict in CLAIM_VERDICTS[:2]

    @property
    def is_tested(self) -> bool:
        """True if there is enough to decide the claim, even if the test did not: the verdict is
        `holds`, `does not hold` or `undecided`.
        """
        return self.verdict in CLAIM_VERDICTS[:3]

    @property
    def text(self) -> str:
        """The claim, its verdict and the evidence in one sentence."""
        return f'claim "{self.claim.says}": {self.verdict}; {self.evidence}'

    @property
    def evidence(self) -> str:
        """The comparisons, the decisive test, a contradiction by the paper's own values and the
        remark, joined by semicolons; without empty parts.
        """
        slip = f": {self.claim.slip}" if self.claim.slip else ""
        in_print = (
            f"the paper's own values do not bear it out{slip}"
            if self.in_print is False
            else ""
        )
        return "; ".join(
            filter(
                None,
                (self._comparison_text(), self._test_text(), in_print, self.remark),
            )
        )

    def _comparison_text(self) -> str:
        """Return the comparisons, such as `on most data sets, MCC of ELM above K-ELM`."""
        datasets = _join_distinct(
            _datasets_text(claim) for claim in self.claim.comparisons
        )
        return f"on {datasets}, {self.statement}"

    @property
    def statement(self) -> str:
        """The comparisons without their data sets; a metric is named once in a row."""
        statements: dict[str, str] = {}
        last_metric = ""
        for claim, rivals in zip(self.claim.comparisons, self.rivals, strict=True):
            metric = _metric_words(claim.metric)
            relation = f"of {claim.model} {_relation(claim)} {_others(claim, rivals)}"
            statement = f"{metric} {relation}"
            if statement not in statements:
                is_repeated = metric == last_metric
                statements[statement] = relation if is_repeated else statement
                last_metric = metric
        return " and ".join(statements.values())

    def _test_text(self) -> str:
        """Return the test of a claim in words: the means, the difference with its interval, the
        p-value; empty if nothing was tested.
        """
        finding = self.finding
        if finding is None or self.p is None:
            return ""
        subject = f"{self.subject}: " if self.subject else ""
        means = ""
        if finding.means:
            metric = finding.subject[-1]
            unit = " s" if metric in TIMES else ""
            means = " against ".join(f"{mean:.4g}{unit}" for mean in finding.means)
            means += ", "
        return (
            f"{subject}{means}{self._estimate_text(finding)}, {finding.test}, {p_words(self.p)}, "
            f"n = {finding.n} {finding.unit}"
        )

    def _estimate_text(self, finding: SignificanceResult) -> str:
        """Return the estimate of a test, followed by its interval if it has one: `ratio 1.2 [1.1,
        1.3]`.
        """
        estimate = f"{self._quantity_of(finding)} {finding.estimate:.3g}"
        has_interval = finding.low is not None
        return (
            f"{estimate} [{finding.low:.3g}, {finding.high:.3g}]"
            if has_interval
            else estimate
        )

    def _quantity_of(self, finding: SignificanceResult) -> str:
        """Return the name of the quantity that a test estimates: `ratio`, `difference`, `median
        difference`, or for a sign test the number of data sets in favour of the claim.
        """
        if finding.test == "sign test":
            n_in_favour = round(finding.estimate * finding.n)
            return f"on {n_in_favour} of {finding.n} data sets, share"
        if is_of_ratios(self.claim):
            return "ratio"
        return "median difference" if finding.unit == "data sets" else "difference"

    def record(self) -> dict[str, Any]:
        """Return the line of `claims.csv`, by `COLUMNS`; None for what is missing."""
        comparisons = self.claim.comparisons
        than = (
            _than(claim, rivals)
            for claim, rivals in zip(comparisons, self.rivals, strict=True)
        )
        test_columns = {
            name: name for name in ("test", "estimate", "low", "high", "n")
        } | {"of": "unit"}
        return {
            "says": self.claim.says,
            "dataset": _join_names(claim.dataset for claim in comparisons),
            "metric": _join_names(claim.metric.column for claim in comparisons),
            "model": _join_names(claim.model for claim in comparisons),
            "is": _relation(self.claim),
            "than": _join_names(than),
            "in_print": self.in_print,
            "verdict": self.verdict,
            **{
                column: getattr(self.finding, name, None)
                for column, name in test_columns.items()
            },
            "p": self.p,
            "remark": "; ".join(filter(None, (self.subject, self.remark))),
        }


def is_of_ratios(claim: Claim) -> bool:
    """Return True if a claim is about the ratio of two values, not about their difference: all
    claims on times and those with `between`.
    """
    return claim.relation == "between" or claim.metric.metric in TIMES


def _join_distinct(texts: Iterable[str]) -> str:
    """Return the distinct texts, joined by "and"."""
    return " and ".join(dict.fromkeys(texts))


def _datasets_text(claim: Claim) -> str:
    """Return the data set of a claim, or `most data sets` or `all data sets`."""
    are_several = claim.dataset in (MOST, ALL_OF_THEM)
    return f"{claim.dataset} data sets" if are_several else claim.dataset


def _others(claim: Claim, rivals: Sequence[str]) -> str:
    """Return the columns that a comparison compares with, and their metric if it differs."""
    names = ", ".join(rivals)
    if claim.than_metric is None:
        return names
    return f"{_metric_words(claim.than_metric)} of {names}"


def _metric_words(measure: Measure) -> str:
    """Return the name of a measure for readers; the values have the unit."""
    return words_for(measure.column).removesuffix(" (s)")


def _relation(claim: Claim) -> str:
    """Return the relation of a claim in words, such as `above`, `within 0.01 of` or `2 to 3
    times`.
    """
    if claim.between is not None:
        low, high = claim.between
        return f"{low:.3g} to {high:.3g} times"
    if claim.relation == "close":
        return f"within {claim.within:g} of"
    words = _RELATIONS.get(claim.relation, claim.relation)
    if claim.relation in MARGINS:
        return f"{words} (margin {claim.within:g})"
    return words


def _than(claim: Claim, rivals: Sequence[str]) -> str:
    """Return the rivals in words, such as `K-ELM, SVM`; after their measure if it is another one,
    as in `fit_seconds of SVM`.
    """
    return (f"{claim.than_metric.column} of " if claim.than_metric else "") + ", ".join(
        rivals
    )


def _join_names(names: Iterable[str]) -> str:
    """Return the distinct names, joined by commas."""
    return ", ".join(dict.fromkeys(names))


def claims_frame(outcomes: list[ClaimOutcome]) -> pd.DataFrame:
    """Return a frame with a line of `claims.csv` for each outcome, in the same order."""
    return pd.DataFrame(
        [outcome.record() for outcome in outcomes], columns=COLUMNS
    ).astype({"n": "Int64"})


def correct_by_holm(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """Return the outcomes of a paper's claims with decisions that hold together (Holm 1979), in the
    same order.

    A decision becomes `undecided` if its corrected p-value is above LEVEL. Tests on so few data
    sets that no outcome could decide them at the corrected level are `too few data sets` and do not
    count (Tarone 1990).
    """
    tested = {
        i: outcome.finding.least_p
        for i, outcome in enumerate(outcomes)
        if outcome.p is not None
        and outcome.finding is not None
        and outcome.verdict != "too few data sets"
    }
    n_claims = _number_of_decidable(list(tested.values()))
    results = list(outcomes)
    p_values: dict[int, float] = {}
    for i, least_p in tested.items():
        outcome = outcomes[i]
        if least_p > LEVEL / n_claims:
            remark = f"no outcome on so few data sets could decide it beside {n_claims} claims"
            results[i] = _with_remark(outcome, "too few data sets", remark)
            continue
        p_values[i] = 1.0
        if outcome.is_decided and outcome.p is not None:
            p_values[i] = outcome.p
    corrected = holm(list(p_values.values()))
    for i, p in zip(p_values, corrected, strict=True):
        outcome = outcomes[i]
        if outcome.is_decided and p > LEVEL:
            remark = (
                f"by itself it {outcome.verdict}, but not after Holm's correction for "
                f"{len(p_values)} claims"
            )
            results[i] = _with_remark(outcome, "undecided", remark)
    return results


def _number_of_decidable(least_p: Sequence[float]) -> int:
    """Return Tarone's number of claims: the least K with at most K tests that could have a p-value
    of LEVEL / K; 1 without tests.

    `least_p`: the least p-value that each test could have.
    """
    for n in range(1, len(least_p) + 1):
        if sum(p <= LEVEL / n for p in least_p) <= n:
            return n
    return 1


def _with_remark(
    outcome: ClaimOutcome, verdict: ClaimVerdict, remark: str
) -> ClaimOutcome:
    """Return an outcome with a different verdict, and with a remark in front of its
    previous one.
    """
    remarks = "; ".join(filter(None, (remark, outcome.remark)))
    return replace(outcome, verdict=verdict, remark=remarks)


def result_in_words(outcomes: Sequence[ClaimOutcome]) -> str:
    """Return the number of claims with each verdict, such as "1 holds, 2 do not hold"; for a single
    claim, only its verdict.

    The verdict on a ratio that does not hold on a data set is "ratio smaller than stated" or "ratio
    larger than stated".
    """
    names: list[str] = []
    for outcome in sorted(
        outcomes, key=lambda outcome: CLAIM_VERDICTS.index(outcome.verdict)
    ):
        stated = outcome.claim.between
        finding = outcome.finding
        result = str(outcome.verdict)
        if (
            outcome.verdict == "does not hold"
            and stated
            and finding is not None
            and finding.unit != "data sets"
        ):
            result = f"ratio {'smaller' if finding.estimate < stated[0] else 'larger'} than stated"
        names.append(result)
    return names[0] if len(names) == 1 else count_results(names)


def count_results(results: Iterable[str]) -> str:
    """Return the number of claims with each result, such as "1 holds, 2 with too few runs", in the
    order of the results.
    """
    counts = Counter(
        f"with {name}" if name.startswith("too few") else name for name in results
    )
    return ", ".join(
        f"{n} {_RESULTS.get(name, name) if n > 1 else name}"
        for name, n in counts.items()
    )
