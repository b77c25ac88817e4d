"""The sentences that explain the columns of a table."""

from elmbench.judging.verdict_words import COMPARED
from elmbench.tables.result_table import Entry, ResultTable

#: The sentence that explains a column.
_LEGEND = {
    "verdict": (
        "Verdicts: reproduced (in the 95 % prediction interval of our runs, widened by half of the "
        "last printed digit, and no wider than the margin), consistent (in a wider one), close "
        "(outside, within the margin), differs, too few runs (fewer than three)."
    ),
    "exact": (
        "Nothing is random in some values: exact is equal to the printed digit, else the number of "
        "test rows is named that would have to change."
    ),
    "ratio": (
        "Fit times are of one machine; compare the ratios, over the first model on the same data "
        "set."
    ),
    "optimism": (
        "Optimism: how much better the oracle's mean is than that of nested selection, on the same "
        "folds."
    ),
}


def legend_of(table: ResultTable) -> list[str]:
    """Return the sentences that explain verdicts, ratios of times and optimism in a table.

    Only columns that some line has are explained, and verdicts only if a value is compared; the
    list may be empty. If nothing is random in some value, a sentence explains the verdict `exact`.
    """
    shown: set[str] = set()
    for section in table.sections:
        for line in section.lines:
            shown.update(map(_kind_of_column, line))
    entries = [entry for section in table.sections for entry in section.entries]
    is_compared = any(entry.verdict in COMPARED for entry in entries)
    if not is_compared:
        shown.discard("verdict")
    if any(map(_is_fixed, entries)):
        shown.add("exact")
    return [sentence for column, sentence in _LEGEND.items() if column in shown]


def _is_fixed(entry: Entry) -> bool:
    """Return True if nothing is random in a value: it is `exact`, or off by test rows."""
    return entry.verdict == "exact" or entry.rows_off is not None


def _kind_of_column(name: str) -> str:
    """Return the name of a column without the prefix `published_` and a final number.

    So `verdict2`, the verdict on a second metric, becomes `verdict`.
    """
    return name.removeprefix("published_").rstrip("0123456789")
