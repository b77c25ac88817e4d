"""The words of verdicts on published values, their signs, and the endings of groups of cells."""

from collections.abc import Mapping
from typing import Literal, get_args

TableState = Literal["holds", "holds in part", "does not hold", "undecided"]
#: Every verdict on a table.
TABLE_VERDICTS: tuple[TableState, ...] = get_args(TableState)
#: The beginning of the verdict on a table that holds with exceptions.
HOLDS_BUT_FOR = "holds but for "
ClaimVerdict = Literal[
    "holds",
    "does not hold",
    "undecided",
    "too few data sets",
    "too few runs",
    "incomplete",
    "not comparable",
]
#: Every verdict on a claim.
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
#: Verdicts on a published value that our runs can decide.
JUDGED = ("exact", "reproduced", "consistent", "close", "differs")
#: Verdicts on a published value that is compared with our runs.
COMPARED = (*JUDGED, "too few runs")
#: All verdicts on a published value (docs/verdicts.md).
VERDICTS = (*COMPARED, "not comparable", "no data", "cited")
#: The ranks of verdicts by their evidence: a value counts under the profile with the highest rank.
EVIDENCE = (
    dict.fromkeys(VERDICTS, 0)
    | {"not comparable": 1, "too few runs": 2}
    | dict.fromkeys(JUDGED, 3)
)
#: The sign of each verdict, so that a reader does not depend on colours.
SIGNS = dict(zip(VERDICTS, ("=", "✓", "∈", "≈", "✗", "?", "∥", "–", "”"), strict=True))
#: The ending of a group of cells without missing or failed cells.
COMPLETE = "ok"
#: The ending of a group of cells without a model in the suite.
NOT_MEASURED = "not measured"


def verdict_list(counts: Mapping[str, int], *, signs: bool = False) -> str:
    """Return the number of values with each verdict in words, such as `2 reproduced, 3 differ`.

    They are in the order of `VERDICTS`. Zeros are left out; the text is empty if all are 0.
    `counts`: a number for each of `VERDICTS`, as in a Counter. `signs`: put the sign of each
    verdict before it.
    """
    parts = []
    for verdict in VERDICTS:
        n = counts[verdict]
        if not n:
            continue
        sign = f"{SIGNS[verdict]} " if signs else ""
        word = "differ" if verdict == "differs" and n > 1 else verdict
        parts.append(f"{n} {sign}{word}")
    return ", ".join(parts)
