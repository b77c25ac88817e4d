"""Sentences of a paper about a table, checked against the results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from elmbench.layouts.table import COMPLETE, Note
from elmbench.reporting.cells import TIMES
from elmbench.specs.experiments import MOST, Claim
from elmbench.specs.profiles import Resolved


@dataclass(frozen=True)
class ClaimOutcome(Note):
    """Whether the results confirm a claim.

    Attributes
    ----------
    claim : Claim
    verdict : {"holds", "does not hold", "not decided"}
    value : float or None
        The figure that the claim is about, on a single data set.
    others : mapping of str to float
        The figures that it is compared with, by column; on most data sets, only the columns count.
    decided, confirmed : int
        Of a claim on most data sets: on how many the figures are there, and on how many of them it is true.
    rows : int or None
        The number of rows to which the profile cut the data, if that is why the claim is not decided.
    """

    kind = "claim"
    claim: Claim
    verdict: Literal["holds", "does not hold", "not decided"]
    value: float | None = None
    others: Mapping[str, float] = field(default_factory=dict)
    decided: int = 0
    confirmed: int = 0
    rows: int | None = None

    @property
    def text(self) -> str:
        claim = self.claim
        where = f"most data sets; {self._compared()}" if claim.dataset == MOST else claim.dataset
        return f'claim "{claim.says}" ({where}): {self.verdict}{self._figures()}'

    def _compared(self) -> str:
        claim = self.claim
        how = f"within {claim.within:g} of" if claim.relation == "close" else claim.relation
        times = f"{claim.factor:g} times " if claim.factor != 1 else ""
        return f"{claim.metric.column} of {claim.model} {how} {times}{self._of_other()}{', '.join(self.others)}"

    def _of_other(self) -> str:
        return f"{self.claim.than_metric.column} of " if self.claim.than_metric else ""

    def _figures(self) -> str:
        most = self.claim.dataset == MOST
        if self.rows is not None:
            return f", at most {self.rows} rows of each were run" if most else f", {self.rows} of its rows were run"
        if self.verdict == "not decided":
            return ", cells are missing"
        if most:
            return f": on {self.confirmed} of {self.decided}"
        against = ", ".join(f"{self._of_other()}{column} {other:.4g}" for column, other in self.others.items())
        return f": {self.claim.metric.column} {self.value:.4g} against {against}"


def check_claims(summary: pd.DataFrame, resolved: Resolved) -> Iterator[ClaimOutcome]:
    """Yield the outcome of each claim on data sets that were run, from the default readings and first selection.

    Parameters
    ----------
    summary : DataFrame
        As `summary.csv` has it.
    resolved : Resolved
    """
    if not len(summary):
        return
    own = summary[(summary["reading"] == "") & (summary["select"] == summary["select"].iloc[0])]
    # Data that stand in for the paper's decide none of its claims.
    shown = [name for name in dict.fromkeys(own["dataset"]) if name in resolved.file.spec.datasets]
    for claim in resolved.file.spec.claims:
        if claim.dataset == MOST and shown:
            yield _check_most(claim, own, shown, resolved)
        elif claim.dataset in shown:
            yield _check_one(claim, own, resolved)


def _has_fewer_rows(claim: Claim, dataset: str, resolved: Resolved) -> bool:
    """Tell whether a claim on times is about a data set that the profile has cut: fewer rows may reverse the order."""
    rows = resolved.settings.rows
    return claim.metric.metric in TIMES and rows is not None and rows < resolved.dataset(dataset).shape.instances


def _check_one(claim: Claim, summary: pd.DataFrame, resolved: Resolved) -> ClaimOutcome:
    if _has_fewer_rows(claim, claim.dataset, resolved):
        return ClaimOutcome(claim, "not decided", rows=resolved.settings.rows)
    figures = _figures(claim, claim.dataset, summary, resolved)
    if figures is None:
        return ClaimOutcome(claim, "not decided")
    return ClaimOutcome(claim, "holds" if _holds(claim, *figures) else "does not hold", *figures)


def _check_most(claim: Claim, summary: pd.DataFrame, datasets: list[str], resolved: Resolved) -> ClaimOutcome:
    others = dict.fromkeys(_than(claim, "", resolved), float("nan"))
    whole = [dataset for dataset in datasets if not _has_fewer_rows(claim, dataset, resolved)]
    if not whole:
        return ClaimOutcome(claim, "not decided", others=others, rows=resolved.settings.rows)
    found = [_figures(claim, dataset, summary, resolved) for dataset in whole]
    decided = [_holds(claim, *figures) for figures in found if figures is not None]
    if not decided:
        return ClaimOutcome(claim, "not decided", others=others)
    verdict: Literal["holds", "does not hold"] = "holds" if 2 * sum(decided) > len(decided) else "does not hold"
    return ClaimOutcome(claim, verdict, others=others, decided=len(decided), confirmed=sum(decided))


def _figures(
    claim: Claim, dataset: str, summary: pd.DataFrame, resolved: Resolved
) -> tuple[float, dict[str, float]] | None:
    """Return the figure that a claim is about and those that it is compared with; None unless all are there."""
    # If a limit stopped some cells or they have not run, those that are left may be the easier folds.
    whole = summary[(summary["dataset"] == dataset) & (summary["ended"] == COMPLETE)].dropna(subset=["mean"])
    own, other = (
        whole[whole["metric"] == measure.column].set_index("model")["mean"]
        for measure in (claim.metric, claim.than_metric or claim.metric)
    )
    than = _than(claim, dataset, resolved)
    there = [column for column in than if column in other.index]
    if claim.model not in own.index or not there or len(there) < len(than):
        return None
    return float(own[claim.model]), {column: float(other[column]) for column in there}


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


def _holds(claim: Claim, value: float, others: dict[str, float]) -> bool:
    bounds = [claim.factor * other for other in others.values()]
    if claim.relation == "close":
        return all(abs(value - bound) <= claim.within for bound in bounds)
    return all(value > bound if claim.relation == "above" else value < bound for bound in bounds)
