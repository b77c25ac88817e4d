"""Shares of rows: a mean over n rows is a multiple of 1/n (GRIM)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from elmbench.judging.print_checks.printed_table import Finding, Parts, PrintedTable
from elmbench.judging.print_checks.rounding import ROUNDINGS, NumberRange, interval_of
from elmbench.specs.measures import TRAIN_ACCURACY
from elmbench.specs.published import DATA, PublishedValue

#: Metrics that are a number of test rows over all test rows.
SHARES_OF_ROWS = ("accuracy", "error_rate")
#: A fact of a data set of two classes: the rows of the positive class over those of the other one.
CLASS_RATIO = "positives_per_negative"
#: Means over more folds than this are not enumerated.
_MOST_ROWS = 1_000_000


def check_granularity(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the shares of rows, and ratios of classes, that no whole numbers of rows have.

    `paper` is not used.
    """
    for value in table.values:
        number = value.value
        if number is None or value.cited or not value.last_place:
            continue
        if value.model == DATA and value.metric == CLASS_RATIO:
            yield from _check_ratio(table, value, number)
        elif value.metric in (*SHARES_OF_ROWS, TRAIN_ACCURACY):
            yield from _check_share(table, value, number)


def _check_share(
    table: PrintedTable, value: PublishedValue, number: Decimal
) -> Iterator[Finding]:
    """Yield a finding if a printed share is no mean of shares of whole numbers of rows.

    There is none if the rows are not known. `value`: the printed share, of the rows that were
    tested or, for the training accuracy, learnt. `number`: its number, from 0 to 1.
    """
    is_of_training = value.metric == TRAIN_ACCURACY
    means = _possible_means(table.parts_of(value.dataset), is_of_training)
    intervals = [interval_of(number, rounding) for rounding in ROUNDINGS]
    is_possible = any(
        mean.may_be_in(interval) for mean in means for interval in intervals
    )
    if is_possible or not means:
        return
    kind = "training" if is_of_training else "test"
    denominators = " or ".join(mean.text(kind) for mean in means)
    nearest = ""
    if len(means) == 1:
        below, above = means[0].neighbours(number)
        nearest = f"; the nearest such means are {below} and {above}"
    says = f"{value.text} is not the mean of {denominators}{nearest}"
    yield table.finding_on(value, "granularity", says)


def _possible_means(parts: Parts, is_of_training: bool) -> list[Shares]:
    """Return the means of shares of training or test rows that a value may be.

    There is one for each possible number of rows and of runs; none if the rows or the sizes of the
    folds are not known. `parts`: these numbers. `is_of_training`: the shares are of training rows,
    without regard to folds; else they are of test rows, over the folds.
    """
    if is_of_training:
        sizes = parts.trained
        folds = 1
    elif parts.known_folds:
        sizes = parts.tested
        folds = parts.folds
    else:
        return []
    return [
        Shares(rows=rows, folds=folds, runs=runs)
        for rows in sorted(sizes)
        for runs in sorted(parts.runs)
    ]


class Shares:
    """The possible means of the shares of rows over folds and runs.

    `rows` are those of all folds of a run together, divided as equally as possible. Each of `runs`
    has `folds` folds.
    """

    def __init__(self, rows: int, folds: int = 1, runs: int = 1) -> None:
        self.rows = rows
        self.folds = folds
        self.runs = runs
        self.small_fold, self.n_large = divmod(rows, folds)

    def may_be_in(self, interval: NumberRange) -> bool:
        """Return True if a mean of whole numbers of rows is in an interval of shares from 0 to 1.

        With folds, the mean may be over all rows at once, or over the shares of the folds. For
        folds of two sizes, it is also True if this cannot be decided: if there are too many rows to
        try all, or fewer than folds.
        """
        if interval.multiples(Fraction(1, self.rows * self.runs)):
            return True
        if not self.n_large:
            return False
        if self.rows * self.runs > _MOST_ROWS or not self.small_fold:
            return True
        return self._folds_may_be_in(interval)

    def _folds_may_be_in(self, interval: NumberRange) -> bool:
        """Return True if the mean of the shares of all folds may be in an interval.

        The folds have two sizes, which differ by one row; the smaller one is not 0.
        """
        large_fold = self.small_fold + 1
        n_small = self.folds - self.n_large
        most_in_large = self.n_large * large_fold * self.runs
        most_in_small = n_small * self.small_fold * self.runs
        # The mean times the number of folds is the sum of the shares of all folds.
        n_folds = self.folds * self.runs
        low = interval.low * n_folds
        high = interval.high * n_folds
        for in_large in range(most_in_large + 1):
            share = Fraction(in_large, large_fold)
            rest = NumberRange(low - share, high - share)
            in_small = rest.multiples(Fraction(1, self.small_fold))
            if in_small and in_small[0] <= most_in_small and in_small[-1] >= 0:
                return True
        return False

    def text(self, kind: str) -> str:
        """Return the mean in words, such as `5 shares of 1,000 test rows in 10 folds`.

        A single run is `a share`; a single fold is left out. `kind`: "test" or "training".
        """
        runs = f"{self.runs:,} shares" if self.runs > 1 else "a share"
        folds = f" in {self.folds} folds" if self.folds > 1 else ""
        return f"{runs} of {self.rows:,} {kind} rows{folds}"

    def neighbours(self, number: Decimal) -> tuple[str, str]:
        """Return the means over all rows below and above a number, as texts such as `93.2 %`.

        The first is the number itself if it is such a mean. `number`: a share from 0 to 1.
        """
        step = Fraction(1, self.rows * self.runs)
        n_below = math.floor(Fraction(number) / step)
        return _percent_text(n_below * step), _percent_text((n_below + 1) * step)


def _percent_text(share: Fraction) -> str:
    """Return a share in percent, such as `93.2 %`."""
    return f"{float(100 * share):.6g} %"


def _check_ratio(
    table: PrintedTable, value: PublishedValue, number: Decimal
) -> Iterator[Finding]:
    """Yield a finding if no two whole numbers of rows have a printed ratio of classes.

    They must sum to the rows of the data set or of a part of it; there is no finding if none of
    these are known. `value`: the printed ratio. `number`: its number.
    """
    parts = table.parts_of(value.dataset)
    sizes = sorted(parts.all_rows | parts.trained | parts.tested)
    intervals = [interval_of(number, rounding) for rounding in ROUNDINGS]
    if sizes and not any(_has_ratio(rows, one) for rows in sizes for one in intervals):
        totals = ", ".join(f"{rows:,}" for rows in sizes)
        yield table.finding(
            "granularity",
            dataset=value.dataset,
            metric=value.metric,
            says=f"no two whole numbers have the ratio {value.text} and the sum {totals} "
            "(rows of the data set and of its parts)",
        )


def _has_ratio(rows: int, interval: NumberRange) -> bool:
    """Return True if two counts with the sum `rows` have a ratio in an interval.

    A ratio q of the two counts is a share q / (1 + q) of the rows.
    """
    share = NumberRange(
        interval.low / (1 + interval.low), interval.high / (1 + interval.high)
    )
    return bool(share.multiples(Fraction(1, rows)))
