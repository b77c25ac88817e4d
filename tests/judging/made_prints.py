"""Printed tables of a few values, and the checks that object to them."""

import decimal
from decimal import Decimal
from fractions import Fraction

from hypothesis import strategies as st

from elmbench.judging.print_checks import check_print
from elmbench.judging.print_checks.printed_table import Parts, PrintedTable
from elmbench.specs.published import PublishedValue

ROUNDINGS = (decimal.ROUND_HALF_UP, decimal.ROUND_HALF_EVEN, decimal.ROUND_DOWN)
roundings = st.sampled_from(ROUNDINGS)
seeds = st.integers(0, 2**32 - 1)


def rounded(
    number: Fraction | float, places: int, rounding: str = decimal.ROUND_HALF_UP
) -> Decimal:
    exact = Decimal(Fraction(number).numerator) / Decimal(Fraction(number).denominator)
    return exact.quantize(Decimal(1).scaleb(-places), rounding=rounding)


def published(
    dataset: str, model: str, metric: str, value: Decimal, std: Decimal | None = None
) -> PublishedValue:
    return PublishedValue(
        dataset=dataset,
        model=model,
        metric=metric,
        value=value,
        std=std,
        note="",
        text=str(value),
    )


def a_table(
    *values: PublishedValue, id: str = "toy/one", **facts: object
) -> PrintedTable:
    return PrintedTable(id=id, label=id.partition("/")[2], values=values, **facts)


def a_row(model: str, *texts: str) -> list[PublishedValue]:
    return [
        published(f"data{i}", model, "accuracy", Decimal(text))
        for i, text in enumerate(texts)
    ]


def parts(
    tested: int = 0, folds: int = 1, runs: int = 1, **others: object
) -> dict[str, Parts]:
    rows = frozenset((tested,)) if tested else frozenset()
    return {"iris": Parts(tested=rows, folds=folds, runs=frozenset((runs,)), **others)}


def findings(*tables: PrintedTable) -> list[str]:
    return [finding.check for table in tables for finding in check_print(table, tables)]
