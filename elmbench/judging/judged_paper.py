"""The tables of a paper, judged together: values that several tables print, and its claims."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from elmbench.judging.claim_outcomes import (
    ClaimOutcome,
    correct_by_holm,
    result_in_words,
)
from elmbench.judging.judged_table import JudgedTable
from elmbench.judging.readings import TableCells, compare_readings
from elmbench.judging.value_agreement import VerdictCounts, verdict_counts
from elmbench.judging.verdict_words import EVIDENCE, VERDICTS
from elmbench.numerics.significance import holm
from elmbench.results import group_by
from elmbench.specs.papers import MainClaim, Paper
from elmbench.specs.profiles import Resolved


class TestedClaim(NamedTuple):
    """A main claim of a paper that was tested, with its result in words.

    `outcomes` are those of the claims about tables that tested it.
    """

    claim: MainClaim
    result: str
    outcomes: list[ClaimOutcome]


class PublishedOnce(NamedTuple):
    """The identity of a published value, which counts once even if several tables print it.

    Tables may name its model differently: `model` is the name in the registry for a model that the
    suite has, else the paper's. An equal number for another variant of the model (`params`, as
    JSON), or by another `criterion` of the search, is a different value.
    """

    metric: str
    dataset: str
    model: str
    value: Any
    params: str
    criterion: str


def identify_published_value(
    line: Mapping[Any, Any], resolved: Resolved
) -> PublishedOnce:
    """Return the identity of a published value, equal for all tables that print the same value.

    `line`: of `summary.csv`, a mapping with the columns dataset, model and metric. It must have a
    published value (else KeyError).
    """
    model = line["model"]
    spec = resolved.spec
    published = resolved.published[line["dataset"], model, line["metric"]]
    column = spec.models.get(model)
    if column is None:
        name = model
        params = {}
    else:
        name = column.model
        params = column.adapt(line["dataset"]).params
    return PublishedOnce(
        metric=line["metric"],
        dataset=published.dataset,
        model=name,
        value=published.value,
        params=json.dumps(params, sort_keys=True, default=str),
        criterion=spec.protocol.criterion,
    )


class JudgedPaper:
    """Tables of a paper, judged together.

    Attributes
    ----------
    paper : Paper
    tables : sequence of JudgedTable
        In the order of the paper; some may have no results.
    """

    def __init__(self, paper: Paper, tables: Sequence[JudgedTable]) -> None:
        self.paper = paper
        self.tables = tables

    @cached_property
    def counts(self) -> VerdictCounts:
        """The numbers of published values and of facts with each verdict.

        A value that several tables print counts once, with the verdict that rests on the most
        evidence; of equals, with that of the first table.
        """
        best: dict[PublishedOnce, str] = {}
        for table in self.tables:
            experiments = {one.resolved.profile: one.resolved for one in table.results}
            for line in table.published_values.to_dict("records"):
                experiment = experiments[line["profile"]]
                value = identify_published_value(line, experiment)
                verdict = line["verdict"]
                earlier = best.get(value, verdict)
                best[value] = max(earlier, verdict, key=EVIDENCE.__getitem__)
        metrics = [value.metric for value in best]
        verdicts = list(best.values())
        lines = {"metric": metrics, "verdict": verdicts}
        frame = pd.DataFrame(lines, dtype=object)
        return verdict_counts(frame)

    @property
    def values_by_verdict(self) -> dict[str, int]:
        """The number of published values with each verdict and, as `not run`, without results yet.

        The form is {verdict: number}, with all of `VERDICTS`, also those without values. Each value
        with a verdict counts once; one that was not run counts in each table that prints it. Facts
        of data sets do not count.
        """
        not_run = sum(table.values_by_verdict["not run"] for table in self.tables)
        return {verdict: self.counts.values[verdict] for verdict in VERDICTS} | {
            "not run": not_run
        }

    @cached_property
    def strict_p(self) -> dict[str, float]:
        """The p-value of the strict test of the main metric of each table, {id of the table: p}.

        It is corrected by Holm's method for the number of these tables; tables without a test are
        left out.
        """
        tested = {}
        for table in self.tables:
            verdict = table.main_verdict
            if verdict is not None and verdict.strict:
                tested[table.file.id] = verdict.strict[0].p
        return dict(zip(tested, holm(list(tested.values())), strict=True))

    @cached_property
    def readings(self) -> pd.DataFrame:
        """The published values under each value of each reading, a line for each of these.

        The columns are those of `compare_readings`; profile `ci` is left out.
        """
        cells = [
            TableCells(results.cells, results.resolved)
            for table in self.tables
            for results in table.results
        ]
        return compare_readings(self.paper.readings, cells)

    @cached_property
    def claims(self) -> list[ClaimOutcome]:
        """The outcomes of the claims about the paper's tables, each once, after Holm's correction.

        The correction bounds the chance that any decision is wrong. A claim counts under the first
        profile that has what its test needs, else under the first: another one may lack data sets
        or runs.
        """
        outcomes = (
            outcome
            for table in self.tables
            for results in table.results
            for outcome in results.claim_outcomes
        )
        claims = group_by(
            outcomes, lambda outcome: (outcome.table, outcome.claim.model_dump_json())
        )
        return correct_by_holm(
            [
                min(group, key=lambda outcome: not outcome.is_tested)
                for group in claims.values()
            ]
        )

    @cached_property
    def main_claims(self) -> list[TestedClaim]:
        """The main claims of the paper that were tested, in its order; others are left out.

        Each has the outcomes of the claims about tables that test it, and these in words. One
        outcome of any verdict is enough.
        """

        def parts_of(main: MainClaim) -> list[ClaimOutcome]:
            """Return the outcomes of the claims about tables that test a main claim; maybe none."""
            pairs = (
                (outcome, words)
                for table, words in main.tested_by.items()
                for outcome in by_table.get(table, ())
            )
            return [
                outcome
                for outcome, words in pairs
                if outcome.claim.says.startswith(words)
            ]

        by_table = group_by(self.claims, lambda outcome: outcome.table)
        tested = (
            (main, parts)
            for main in self.paper.main_claims
            if (parts := parts_of(main))
        )
        return [
            TestedClaim(claim=main, result=result_in_words(parts), outcomes=parts)
            for main, parts in tested
        ]
