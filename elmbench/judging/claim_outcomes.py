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

    `resolved` is the table under the tested profile. `rivals` are the columns that each comparison
    of the claim compares with. `in_print` is True if the published values bear the claim out; None
    if it prints too few of them. `finding` is the decisive test; None if nothing was tested. `p` is
    the p-value of the verdict; for a claim that is not decided, that of the claim. `subject` is the
    data set, model, column and metric of the decisive test, as far as the tests differ in them,
    joined by commas. `remark` is a note for readers, such as why the claim cannot be decided; empty
    for none.
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
        """The label of the table and the name of the profile, such as `Table IV, profile paper`."""
        return f"{self.resolved.file.spec.label}, profile {self.resolved.profile}"

    @property
    def is_decided(self) -> bool:
        """True if the claim holds or does not hold."""
        return self.verdict in CLAIM_VERDICTS[:2]

    @property
    def is_tested(self) -> bool:
        """True if there is enough to decide the claim, even if the test did not.

        The verdict is `holds`, `does not hold` or `undecided`.
        """
        return self.verdict in CLAIM_VERDICTS[:3]

    @property
    def text(self) -> str:
        """The claim, its verdict and the evidence in one sentence."""
        return f'claim "{self.claim.says}": {self.verdict}; {self.evidence}'

    @property
    def evidence(self) -> str:
        """The evidence for the verdict in words, its parts joined by semicolons.

        The parts are the comparisons, the decisive test, a contradiction by the paper's own values,
        and the remark; empty ones are left out.
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
        """The distinct comparisons without their data sets, such as `MCC of ELM above K-ELM`.

        They are joined by `and`; a metric is named only if it differs from that of the comparison
        before.
        """
        statements: dict[str, str] = {}
        last_metric = ""
        for claim, rivals in zip(self.claim.comparisons, self.rivals, strict=True):
            metric = _metric_words(claim.metric)
            relation = f"of {claim.model} {_relation_text(claim)} {_rivals_in_words(claim, rivals)}"
            statement = f"{metric} {relation}"
            if statement not in statements:
                is_repeated = metric == last_metric
                statements[statement] = relation if is_repeated else statement
                last_metric = metric
        return " and ".join(statements.values())

    def _test_text(self) -> str:
        """Return the decisive test of a claim in words; empty if nothing was tested.

        The parts are its subject and the means, if any, the estimate with its interval, the name of
        the test, the p-value and the number of values.
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
        """Return the estimate of a test, with its interval if any: `ratio 1.2 [1.1, 1.3]`."""
        estimate = f"{self._quantity_of(finding)} {finding.estimate:.3g}"
        has_interval = finding.low is not None
        return (
            f"{estimate} [{finding.low:.3g}, {finding.high:.3g}]"
            if has_interval
            else estimate
        )

    def _quantity_of(self, finding: SignificanceResult) -> str:
        """Return the name of the quantity that a test estimates.

        It is `ratio`, `difference` or, over several data sets, `median difference`; for a sign
        test, it is the number of data sets on which the claim is true, such as `on 5 of 6 data
        sets, share`.
        """
        if finding.test == "sign test":
            n_in_favour = round(finding.estimate * finding.n)
            return f"on {n_in_favour} of {finding.n} data sets, share"
        if is_of_ratios(self.claim):
            return "ratio"
        return "median difference" if finding.unit == "data sets" else "difference"

    def to_csv_dict(self) -> dict[str, Any]:
        """Return the line of `claims.csv`, {column: value}; None for what is missing.

        The columns are `COLUMNS`. Of a claim with several comparisons, `dataset`, `metric`, `model`
        and `than` join their names; `is` is the relation of the first one. `test`, `estimate`,
        `low`, `high`, `n` and `of` (the unit of n) are of the decisive test, None without one.
        `remark` begins with the subject of that test, and may be empty.
        """
        comparisons = self.claim.comparisons
        than = (
            _rivals_for_csv(claim, rivals)
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
            "is": _relation_text(self.claim),
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
    """Return True if a claim is about the ratio of two values, not about their difference.

    These are all claims on times and those with `between`.
    """
    return claim.relation == "between" or claim.metric.metric in TIMES


def _join_distinct(texts: Iterable[str]) -> str:
    """Return the distinct texts in their order, joined by "and"."""
    return " and ".join(dict.fromkeys(texts))


def _datasets_text(claim: Claim) -> str:
    """Return the data set of a comparison, or `most data sets` or `all data sets`."""
    are_several = claim.dataset in (MOST, ALL_OF_THEM)
    return f"{claim.dataset} data sets" if are_several else claim.dataset


def _rivals_in_words(claim: Claim, rivals: Sequence[str]) -> str:
    """Return the names of the rivals of a comparison, such as `K-ELM, SVM`, for a sentence.

    `rivals`: the columns that the model is compared with. If they are compared by another metric
    than the model, the text is such as `time of K-ELM, SVM`.
    """
    names = ", ".join(rivals)
    if claim.than_metric is None:
        return names
    return f"{_metric_words(claim.than_metric)} of {names}"


def _metric_words(measure: Measure) -> str:
    """Return the name of a measure for readers, without the unit of times."""
    return words_for(measure.column).removesuffix(" (s)")


def _relation_text(claim: Claim) -> str:
    """Return the relation of a claim in words, such as `above` or `within 0.01 of`.

    A range of ratios is `2 to 3 times`; a relation with a margin ends with it, as in `below (margin
    0.01)`.
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


def _rivals_for_csv(claim: Claim, rivals: Sequence[str]) -> str:
    """Return the rivals of a comparison, such as `K-ELM, SVM`, as written to `claims.csv`.

    If they are compared by another metric than the model, its column comes first, as in
    `fit_seconds of SVM`.
    """
    return (f"{claim.than_metric.column} of " if claim.than_metric else "") + ", ".join(
        rivals
    )


def _join_names(names: Iterable[str]) -> str:
    """Return the distinct names in their order, joined by commas."""
    return ", ".join(dict.fromkeys(names))


def claims_frame(outcomes: list[ClaimOutcome]) -> pd.DataFrame:
    """Return a frame with a line of `claims.csv` for each outcome, in the same order.

    The columns are `COLUMNS`, also without outcomes; missing values are None or NaN, and the counts
    `n` are nullable integers.
    """
    return pd.DataFrame(
        [outcome.to_csv_dict() for outcome in outcomes], columns=COLUMNS
    ).astype({"n": "Int64"})


def correct_by_holm(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """Return the outcomes of a paper's claims after Holm's correction, in the same order.

    It bounds the chance that any decision is wrong (Holm 1979). A decision becomes `undecided` if
    its corrected p-value is above LEVEL. Tests on so few data sets that no outcome could decide
    them at the corrected level are `too few data sets` and do not count (Tarone 1990). Changed
    outcomes have a remark. `outcomes`: of all claims, also of those without a test, which stay as
    they are.
    """
    tested = {
        i: outcome.finding.least_p
        for i, outcome in enumerate(outcomes)
        if outcome.p is not None
        and outcome.finding is not None
        and outcome.verdict != "too few data sets"
    }
    n_claims = _number_of_decidable_claims(list(tested.values()))
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


def _number_of_decidable_claims(least_p: Sequence[float]) -> int:
    """Return Tarone's number of claims, for a correction that ignores tests without power.

    It is the least K with at most K tests that could have a p-value of LEVEL / K; 1 without tests.
    `least_p`: the least p-value that each test could have.
    """
    for n in range(1, len(least_p) + 1):
        if sum(p <= LEVEL / n for p in least_p) <= n:
            return n
    return 1


def _with_remark(
    outcome: ClaimOutcome, verdict: ClaimVerdict, remark: str
) -> ClaimOutcome:
    """Return an outcome with a different verdict, and with a remark before its present one."""
    remarks = "; ".join(filter(None, (remark, outcome.remark)))
    return replace(outcome, verdict=verdict, remark=remarks)


def result_in_words(outcomes: Sequence[ClaimOutcome]) -> str:
    """Return the number of claims with each verdict, such as "1 holds, 2 do not hold".

    For a single claim, it is only the verdict. `outcomes`: at least one; their order does not
    matter, as the verdicts have the order of `CLAIM_VERDICTS`. The verdict on a ratio that does not
    hold on a data set is "ratio smaller than stated" or "ratio larger than stated".
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
    """Return the number of claims with each result, such as "1 holds, 2 with too few runs".

    `results`: one for each claim. The counts are in the order in which the results first appear.
    """
    counts = Counter(
        f"with {name}" if name.startswith("too few") else name for name in results
    )
    return ", ".join(
        f"{n} {_RESULTS.get(name, name) if n > 1 else name}"
        for name, n in counts.items()
    )
