"""The outcome of a strict check: verdicts that say no, and expectations that no longer hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from elmbench.judging.claim_outcomes import ClaimOutcome
from elmbench.judging.judged_paper import JudgedPaper
from elmbench.judging.judged_table import JudgedTable
from elmbench.judging.verdict_words import JUDGED
from elmbench.specs.claims import Expectation

#: The verdicts on a table that say no; one that holds but for some models says yes.
_NO = ("does not hold", "holds in part")


@dataclass(frozen=True)
class StrictOutcome:
    """The outcome of a strict check of tables: what contradicts the papers or the expectations."""

    #: A sentence on each table whose verdict says no, and on each expectation that does not hold.
    objections: tuple[str, ...]
    #: True if the verdict on the main metric of some table was decided.
    is_decided: bool

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 1 for an objection, 3 if nothing was decided, else 0."""
        if self.objections:
            return 1
        return 0 if self.is_decided else 3


def check_strictly(papers: Iterable[JudgedPaper]) -> StrictOutcome:
    """Return the outcome of a strict check of papers.

    Its objections are verdicts on the main metric of a table that say no (`does not hold` or `holds
    in part`) without an expectation for this metric, and expectations that do not hold. It is
    decided if the verdict on the main metric of some table is not `undecided`. `papers`: with all
    tables that are checked.
    """
    objections: list[str] = []
    is_decided = False
    for paper in papers:
        for table in paper.tables:
            verdict = table.main_verdict
            expected = table.file.spec.expect
            if verdict is not None and verdict.state != "undecided":
                is_decided = True
                explained = any(one.is_of_table(verdict.metric) for one in expected)
                if verdict.state in _NO and not explained:
                    name = table.file.id
                    objections.append(
                        f"{name}: the verdict on {verdict.metric} is {verdict.state}"
                    )
            objections += _objections_to_expectations(table, paper.claims, expected)
    return StrictOutcome(tuple(objections), is_decided)


def _objections_to_expectations(
    table: JudgedTable,
    claims: Sequence[ClaimOutcome],
    expectations: Iterable[Expectation],
) -> Iterator[str]:
    """Yield a sentence on each expectation that does not hold.

    A subject that was not judged, or is undecided, contradicts no expectation; any other verdict
    does, also `too few runs` on a claim. `claims`: the outcomes of all claims of the paper.
    """
    for expectation in expectations:
        found = {*_verdicts_of(expectation, table, claims)} - {"undecided"}
        if found and found != {expectation.verdict}:
            others = ", ".join(sorted(found - {expectation.verdict}))
            yield (
                f"{table.file.id}: {expectation.subject} is {others}; expected "
                f"{expectation.verdict} ({expectation.reason})"
            )


def _verdicts_of(
    expectation: Expectation, table: JudgedTable, claims: Sequence[ClaimOutcome]
) -> Iterator[str]:
    """Yield the verdicts on the subject of an expectation.

    The subject is a claim of this table, a published value, or else a metric of the table, whose
    verdict includes its exceptions, such as `holds but for SVM`. A claim is found by the beginning
    of its text. There may be no verdict, if the subject was not run or not judged, or several.
    `claims`: the outcomes of all claims of the paper.
    """
    if expectation.claim:
        for outcome in claims:
            says = outcome.claim.says
            if outcome.table == table.file.id and says.startswith(expectation.claim):
                yield outcome.verdict
    elif expectation.model:
        lines = table.published_values
        is_subject = (
            (lines["dataset"] == expectation.dataset)
            & (lines["model"] == expectation.model)
            & (lines["metric"] == expectation.metric)
        )
        yield from lines[is_subject & lines["verdict"].isin(JUDGED)]["verdict"]
    else:
        for verdict in table.verdicts:
            if verdict.metric == expectation.metric:
                yield verdict.state_and_exceptions
