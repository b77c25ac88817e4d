"""The claims of a paper over all its tables and profiles, and its main claims in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from elmbench.reporting.claim_outcomes import CLAIM_VERDICTS, ClaimOutcome, correct_by_holm
from elmbench.reporting.results import Results
from elmbench.specs.papers import MainClaim

_PLURALS = {"holds": "hold", "does not hold": "do not hold"}
_PLURALS |= {f"ratio {side} than stated": f"ratios {side} than stated" for side in ("smaller", "larger")}


@dataclass(frozen=True)
class TestedClaim:
    """The outcome of a claim, and the results that it was tested on."""

    results: Results
    outcome: ClaimOutcome

    @property
    def table(self) -> str:
        """The id of the table."""
        return self.results.resolved.file.id

    @property
    def label(self) -> str:
        """The table and the profile in words."""
        resolved = self.results.resolved
        return f"{resolved.file.spec.label}, profile {resolved.profile}"


def tested_claims(results: Iterable[Results]) -> list[TestedClaim]:
    """Return the claims of one paper, each once, with decisions that hold together by Holm's correction.

    The results of the paper's tables have the profile nearest to the printed protocol first. A claim counts under the
    first profile that tested it: that profile may lack the data set of a claim.
    """
    tested: dict[tuple[str, str], TestedClaim] = {}
    for one in results:
        for outcome in one.claims:
            tested.setdefault((one.resolved.file.id, outcome.claim.model_dump_json()), TestedClaim(one, outcome))
    corrected = correct_by_holm([one.outcome for one in tested.values()])
    return [replace(one, outcome=outcome) for one, outcome in zip(tested.values(), corrected, strict=True)]


def main_claims(claims: Sequence[TestedClaim]) -> Iterator[tuple[MainClaim, str, list[TestedClaim]]]:
    """Yield each main claim of the paper with its result in words and the claims that tested it.

    A main claim is left out if none of its tables has results.
    """
    for main in claims[0].results.resolved.file.paper.main_claims if claims else ():
        parts = [
            one
            for table, beginnings in main.tested_by.items()
            for one in claims
            if one.table == table and one.outcome.claim.says.startswith(beginnings)
        ]
        if parts:
            yield main, result_in_words([one.outcome for one in parts]), parts


def result_in_words(outcomes: Sequence[ClaimOutcome]) -> str:
    """Return the number of statements with each result, such as "1 holds, 2 do not hold"; of one, its result."""
    ranked = sorted(outcomes, key=lambda one: CLAIM_VERDICTS.index(one.verdict))
    counts = Counter(map(_result, ranked))
    if len(outcomes) == 1:
        return next(iter(counts))
    return ", ".join(f"{n} {_PLURALS.get(name, name) if n > 1 else name}" for name, n in counts.items())


def _result(outcome: ClaimOutcome) -> str:
    """Return the verdict; for a ratio that does not hold, whether ours is smaller or larger."""
    stated, finding = outcome.claim.between, outcome.finding
    if outcome.verdict != "does not hold" or stated is None or finding is None or finding.of == "data sets":
        return outcome.verdict
    side = "smaller" if finding.estimate < stated[0] else "larger"
    return f"ratio {side} than stated"
