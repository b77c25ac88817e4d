"""Printed speed-ups against the printed times."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from elmbench.judging.print_checks.printed_table import (
    Cell,
    Finding,
    PrintedTable,
    range_text,
)
from elmbench.judging.print_checks.rounding import (
    ROUNDINGS,
    NumberRange,
    Rounding,
    interval_of,
    may_be_in,
)
from elmbench.results import group_by
from elmbench.specs.published import PublishedValue

#: The time of a model over that of the model with a speed-up of 1.
SPEED_UP = "speed_up"
TIME = "fit_seconds"


def check_ratios(
    table: PrintedTable, paper: Sequence[PrintedTable]
) -> Iterator[Finding]:
    """Yield the speed-ups that are not the ratio of the printed times.

    A data set needs exactly one model with a speed-up of 1. Speed-ups of models without a printed
    time are not checked. `paper` is not used.
    """
    times = {
        (value.dataset, value.model): value.value
        for value in _printed_values(TIME, table)
    }
    speed_ups = group_by(_printed_values(SPEED_UP, table), lambda value: value.dataset)
    for dataset, values in speed_ups.items():
        reference = _reference_time(dataset, values, times)
        if reference is None:
            continue
        for value in values:
            time = times.get((dataset, value.model))
            if time is not None and value.value != Decimal(1):
                yield from _check_ratio(table, value, time, reference)


def _printed_values(metric: str, table: PrintedTable) -> list[PublishedValue]:
    """Return the values of a metric that have printed digits, with cited ones.

    Powers such as 2^-20 have none.
    """
    values = [value for value in table.values if value.metric == metric]
    return [value for value in values if value.value is not None and value.last_place]


def _reference_time(
    dataset: str,
    speed_ups: Sequence[PublishedValue],
    times: Mapping[Cell, Decimal | None],
) -> Decimal | None:
    """Return the printed time of the only model with a speed-up of 1.

    It is None if there is no such model, if there are several, or if its time is not printed.
    `speed_ups`: those of the data set. `times`: {(data set, model): seconds}.
    """
    references = [value.model for value in speed_ups if value.value == Decimal(1)]
    if len(references) != 1:
        return None
    return times.get((dataset, references[0]))


def _check_ratio(
    table: PrintedTable, value: PublishedValue, time: Decimal, reference: Decimal
) -> Iterator[Finding]:
    """Yield a finding if two printed times cannot have the printed ratio.

    `value`: the ratio of `time` over `reference`, both printed in seconds. There is no finding if
    the reference may be 0 before it was rounded.
    """
    assert value.value is not None
    ratios = [possible_ratios(time, reference, rounding) for rounding in ROUNDINGS]
    possible = [ratio for ratio in ratios if ratio is not None]
    is_unknown = len(possible) < len(ratios)
    if is_unknown or may_be_in(value.value, possible):
        return
    yield table.finding_on(
        value,
        "ratios",
        f"the times {time} s and {reference} s have the ratio {range_text(possible)}; "
        f"{value.text} is printed",
    )


def possible_ratios(
    time: Decimal, reference: Decimal, rounding: Rounding
) -> NumberRange | None:
    """Return the possible ratios of two printed times; None if the second one may be 0.

    `rounding`: how both were shortened: "nearest", "cut", or "not" at all.
    """
    above = interval_of(time, rounding)
    below = interval_of(reference, rounding)
    if below.low <= 0:
        return None
    return NumberRange(above.low / below.high, above.high / below.low)
