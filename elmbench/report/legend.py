"""The sentences that explain the columns of a table."""

from elmbench.judging.verdict_words import COMPARED
from elmbench.tables.result_table import ResultTable

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
    """Return the sentences that explain the verdicts, the times and the optimism that a table
    shows.
    """
    lines = [line for section in table.sections for line in section.lines]
    columns = {_kind_of_column(name) for line in lines for name in line}
    entries = [entry for section in table.sections for entry in section.entries]
    if not any(entry.verdict in COMPARED for entry in entries):
        columns.discard("verdict")
    # "exact" is explained with the number of rows that differ, too.
    if any(entry.verdict == "exact" or entry.rows_off is not None for entry in entries):
        columns.add("exact")
    return [sentence for column, sentence in _LEGEND.items() if column in columns]


def _kind_of_column(name: str) -> str:
    """Return what a column shows, of any measure, such as `verdict` for `verdict2`."""
    return name.removeprefix("published_").rstrip("0123456789")
