"""Checks of printed tables that need no run: values that no results could have given, or that
contradict each other.

Each check is a function of a `PrintedTable` and the tables of its paper; `docs/print-checks.md`
describes them. A value is reported only if it is impossible for every rounding of the printed
digits and for every number of rows, folds and runs that the paper and the table's file allow.
"""

from collections.abc import Callable, Iterator, Sequence

from elmbench.judging.print_checks.averages import check_averages
from elmbench.judging.print_checks.counts import check_class_counts
from elmbench.judging.print_checks.deviations import check_deviations
from elmbench.judging.print_checks.granularity import check_granularity
from elmbench.judging.print_checks.printed_table import Finding, PrintedTable
from elmbench.judging.print_checks.ranges import check_ranges
from elmbench.judging.print_checks.ratios import check_ratios
from elmbench.judging.print_checks.repeats import check_printed_twice, check_repeated

Check = Callable[[PrintedTable, Sequence[PrintedTable]], Iterator[Finding]]
#: The checks by name, in the order of the findings.
CHECKS: dict[str, Check] = {
    "range": check_ranges,
    "granularity": check_granularity,
    "deviations": check_deviations,
    "counts": check_class_counts,
    "averages": check_averages,
    "ratios": check_ratios,
    "printed twice": check_printed_twice,
    "repeated": check_repeated,
}


def check_print(table: PrintedTable, paper: Sequence[PrintedTable]) -> list[Finding]:
    """Return the findings of all checks on a table.

    `paper`: all tables of its paper in their order, with this one.
    """
    return [finding for check in CHECKS.values() for finding in check(table, paper)]
