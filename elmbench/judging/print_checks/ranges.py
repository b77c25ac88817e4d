"""Values outside of the range of their metric."""

from collections.abc import Iterator, Sequence

from elmbench.judging.print_checks.printed_table import Finding, PrintedTable
from elmbench.judging.print_checks.rounding import ROUNDINGS, interval_of
from elmbench.metrics import Unit, unit_of
from elmbench.specs.measures import UNJUDGED, is_quality
from elmbench.specs.published import PublishedValue


def check_ranges(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the values that their metric cannot have, and negative times and sizes.

    `paper` is not used.
    """
    for value in table.numbers:
        metric, _, _ = value.metric.partition("@")
        if is_quality(metric):
            unit = unit_of(metric)
            is_possible = not _is_outside(value, unit)
            expected = f"{metric} is {_range_text(unit)}"
        else:
            is_negative = value.value is not None and value.value < 0
            is_possible = not (is_negative and metric in UNJUDGED)
            expected = "expected a number above 0"
        if not is_possible:
            says = f"{value.value} is printed; {expected}"
            yield table.finding_on(value, "range", says)


def _is_outside(value: PublishedValue, unit: Unit) -> bool:
    """Return True if a printed value is outside of the range of its metric, however rounded.

    `unit`: that of the metric, with the ends of the range. `value`: with a number.
    """
    assert value.value is not None
    intervals = [interval_of(value.value, rounding) for rounding in ROUNDINGS]
    return all(
        interval.high < unit.least or interval.low > unit.greatest
        for interval in intervals
    )


def _range_text(unit: Unit) -> str:
    """Return the range of a metric in words: `from 0 to 1`, `0 or more` or `1 or less`."""
    if unit.greatest == float("inf"):
        return f"{unit.least:g} or more"
    if unit.least == float("-inf"):
        return f"{unit.greatest:g} or less"
    return f"from {unit.least:g} to {unit.greatest:g}"
