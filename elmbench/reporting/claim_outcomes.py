"""The outcome of a claim: its verdict, its words, its line of `claims.csv`, and Holm's correction (docs/claims.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import pandas as pd

from elmbench.numerics.significance import LEVEL, Finding, holm
from elmbench.reporting.cells import TIMES
from elmbench.specs.experiments import ALL_OF_THEM, MARGINS, MOST, Claim

ClaimVerdict = Literal[
    "holds", "does not hold", "undecided", "too few data sets", "too few runs", "incomplete", "not comparable"
]
#: Every verdict on a claim.
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
#: Columns of `claims.csv`.
COLUMNS = ["says", "dataset", "metric", "model", "is", "than", "in_print", "verdict", "test", "estimate"]
COLUMNS += ["low", "high", "p", "n", "of", "remark"]
#: The relations in words.
_RELATIONS = {"no-worse": "no worse than", "no-better": "no better than"}


@dataclass(frozen=True)
class ClaimOutcome:
    """The result of testing a claim.

    `others` are the columns that each comparison of the claim compares with. `in_print` is True if the paper's own
    figures bear the claim out; None if it prints too few of them. `finding` is the decisive test; None if nothing was
    tested. `p` is the p-value of the verdict; for a claim that is not decided, that of the claim. `about` is the data
    set, model, column and metric of the decisive test, as far as the tests differ in them.
    """

    claim: Claim
    verdict: ClaimVerdict
    others: tuple[tuple[str, ...], ...] = ()
    in_print: bool | None = None
    finding: Finding | None = None
    p: float | None = None
    about: str = ""
    remark: str = ""

    @property
    def text(self) -> str:
        """The claim, its verdict and the evidence in one sentence."""
        return f'claim "{self.claim.says}": {self.verdict}; {self.evidence}'

    @property
    def evidence(self) -> str:
        """The comparisons, the decisive test, the paper's own figures and the remark."""
        slip = f": {self.claim.slip}" if self.claim.slip else ""
        in_print = f"the paper's own figures do not bear it out{slip}" if self.in_print is False else ""
        return "; ".join(filter(None, (self._comparison_text(), self._test_text(), in_print, self.remark)))

    def _comparison_text(self) -> str:
        """Return the comparisons, such as `on most data sets mcc of ELM above K-ELM`."""
        claims = self.claim.comparisons
        where = (f"{one.dataset} data sets" if one.dataset in (MOST, ALL_OF_THEM) else one.dataset for one in claims)
        compared = [
            f"{one.metric.column} of {one.model} {_relation(one)} {_than(one, others)}"
            for one, others in zip(claims, self.others, strict=True)
        ]
        return f"on {' and '.join(dict.fromkeys(where))} {' and '.join(dict.fromkeys(compared))}"

    def _test_text(self) -> str:
        finding = self.finding
        if finding is None or self.p is None:
            return ""
        about = f"{self.about}: " if self.about else ""
        if finding.means:
            about += " against ".join(f"{mean:.4g}" for mean in finding.means) + ", "
        if finding.test == "sign test":
            about += f"on {round(finding.estimate * finding.n)} of {finding.n} data sets, share"
        elif is_of_ratios(self.claim):
            about += "ratio"
        else:
            about += "median difference" if finding.of == "data sets" else "difference"
        interval = "" if finding.low is None else f" [{finding.low:.3g}, {finding.high:.3g}]"
        estimate = f"{about} {finding.estimate:.3g}{interval}"
        return f"{estimate}, {finding.test}, p = {self.p:.2g}, n = {finding.n} {finding.of}"

    def record(self) -> dict[str, Any]:
        """Return the line of `claims.csv`, None for what is missing."""
        comparisons = self.claim.comparisons
        than = (_than(one, others) for one, others in zip(comparisons, self.others, strict=True))
        tested = ("test", "estimate", "low", "high", "p", "n", "of")
        return {
            "says": self.claim.says,
            "dataset": _join_names(one.dataset for one in comparisons),
            "metric": _join_names(one.metric.column for one in comparisons),
            "model": _join_names(one.model for one in comparisons),
            "is": _relation(self.claim),
            "than": _join_names(than),
            "in_print": self.in_print,
            "verdict": self.verdict,
            **{name: getattr(self.finding, name, None) for name in tested} | {"p": self.p},
            "remark": "; ".join(filter(None, (self.about, self.remark))),
        }


def is_of_ratios(claim: Claim) -> bool:
    """Return True if a claim is about the ratio of two figures, not about their difference."""
    return claim.relation == "between" or claim.metric.metric in TIMES


def _relation(claim: Claim) -> str:
    if claim.between is not None:
        return f"{claim.between[0]:.3g} to {claim.between[1]:.3g} times"
    words = _RELATIONS.get(claim.relation, claim.relation)
    if claim.relation == "close":
        return f"within {claim.within:g} of"
    return f"{words} (margin {claim.within:g})" if claim.relation in MARGINS else words


def _than(claim: Claim, others: Sequence[str]) -> str:
    return (f"{claim.than_metric.column} of " if claim.than_metric else "") + ", ".join(others)


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def claims_frame(outcomes: list[ClaimOutcome]) -> pd.DataFrame:
    """Return the outcomes as the lines of `claims.csv`."""
    return pd.DataFrame([outcome.record() for outcome in outcomes], columns=COLUMNS).astype({"n": "Int64"})


def correct_by_holm(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """Return the outcomes of a paper's claims with decisions that hold together (Holm 1979), in the same order.

    A decision becomes `undecided` if its corrected p-value is above LEVEL. Tests on too few data sets do not count: no
    figures could make them decide (Tarone 1990).
    """
    decided = CLAIM_VERDICTS[:2]
    tested = {
        i: one.p if one.verdict in decided else 1.0
        for i, one in enumerate(outcomes)
        if one.p is not None and one.verdict != "too few data sets"
    }
    corrected = list(outcomes)
    for i, p in zip(tested, holm(list(tested.values())), strict=True):
        one = outcomes[i]
        if one.verdict in decided and p > LEVEL:
            remark = f"by itself it {one.verdict}, but not after Holm's correction for {len(tested)} claims"
            corrected[i] = replace(one, verdict="undecided", remark="; ".join(filter(None, (remark, one.remark))))
    return corrected
