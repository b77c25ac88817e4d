"""Values that are printed twice, and columns that are identical."""

from decimal import Decimal

import pytest
from made_prints import a_row, a_table, findings, published


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("0.93", "0.929", []),
        ("0.93", "0.934", []),
        ("0.93", "0.938", []),  # digits may be cut off
        ("0.93", "0.941", ["printed twice"]),
        ("0.93", "0.92", []),  # .925 may be rounded to either
        ("0.93", "0.91", ["printed twice"]),
    ],
)
def test_values_of_one_measurement_that_differ_are_found(
    one: str, other: str, expected: list[str]
) -> None:
    same = {("iris", "elm"): "one", ("iris", "ELM"): "one", ("iris", "svm"): "another"}
    first = a_table(published("iris", "elm", "mcc", Decimal(one)), measurements=same)
    second = a_table(
        published("iris", "ELM", "mcc", Decimal(other)),
        published("iris", "svm", "mcc", Decimal("0.1")),
        id="toy/two",
        measurements=same,
    )
    assert findings(first, second) == expected


def test_identical_columns_are_found_unless_the_paper_names_them() -> None:
    texts = ("0.8123", "0.9345", "0.7777", "0.6543", "0.8888")
    values = [*a_row("elm", *texts), *a_row("svm", *texts)]
    assert findings(a_table(*values)) == ["repeated"]
    assert not findings(
        a_table(*values, pairs_called_close=frozenset([frozenset(("elm", "svm"))]))
    )
    assert not findings(
        a_table(*a_row("elm", *texts), *a_row("svm", *texts[:4], "0.8887"))
    )
    few_digits = ("0.8", "0.9", "0.7", "0.6", "1.0")
    assert not findings(a_table(*a_row("elm", *few_digits), *a_row("svm", *few_digits)))
