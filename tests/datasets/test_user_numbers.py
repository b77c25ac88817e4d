"""Numbers of a user's own file as people write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elmbench.datasets.load import load
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

N = 60
A = [round(value, 3) for value in np.random.default_rng(0).normal(1000, 300, N).tolist()]


def write(folder: Path, values: list[str], separator: str = ",", more: list[str] | None = None) -> UserData:
    """Write a file of the column `a`, perhaps `b`, and a target."""
    columns = {"a": values, "b": more or [str(row) for row in range(N)], "kind": ["no", "yes"] * (N // 2)}
    lines = [columns.keys(), *zip(*columns.values(), strict=True)]
    quoted = [separator.join(f'"{word}"' if separator in word else word for word in line) for line in lines]
    (folder / "x.csv").write_text("\n".join(quoted) + "\n", encoding="utf-8")
    return UserData(str(folder / "x.csv"), impute=True)


@pytest.mark.parametrize(
    "word", ["N/A", "null", "-", "missing", "NULL", "n/a", "None", "#N/A", "", "?", ".", "nan", "NA", "Unknown"]
)
def test_usual_words_for_a_missing_value(tmp_path: Path, word: str) -> None:
    data = load(describe(write(tmp_path, [word, *map(str, A[1:])])))
    assert data.nominal == ()
    np.testing.assert_array_equal(data.X[:, 0], [np.nan, *A[1:]])


def test_a_word_for_a_missing_value_may_be_a_category(tmp_path: Path) -> None:
    data = load(describe(write(tmp_path, ["None", "brick", "missing"] * 20)))
    assert data.nominal == (0,)
    assert set(data.X[:, 0]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("separator", "words", "numbers"),
    [
        (",", ["1,000", "950", "1,200,000"], [1000, 950, 1200000]),
        (",", ["1,000.5", "950", "-1,200"], [1000.5, 950, -1200]),
        (",", ["1,5", "2", "0,25"], [1.5, 2, 0.25]),
        (";", ["1,5", "2", "0,25"], [1.5, 2, 0.25]),
        (";", ["1.000,5", "2", "1.200"], [1000.5, 2, 1200]),
        (";", ["1.000.000", "2", "1.200"], [1000000, 2, 1200]),
        (";", ["1 000", "2", "1 200,5"], [1000, 2, 1200.5]),
        (",", ["1'000.5", "2", "1'200"], [1000.5, 2, 1200]),
        (",", ["1\u00a0000", "2", "\u22123"], [1000, 2, -3]),
        ("\t", ["1,5e3", "2", "-,5"], [1500, 2, -0.5]),
    ],
)
def test_thousands_and_decimal_commas(tmp_path: Path, separator: str, words: list[str], numbers: list[float]) -> None:
    data = load(describe(write(tmp_path, words * 20, separator)))
    np.testing.assert_array_equal(data.X[:, 0], numbers * 20)


def test_a_target_of_a_regression_has_a_decimal_comma(tmp_path: Path) -> None:
    write(tmp_path, [f"{value:.3f}".replace(".", ",") for value in A], ";")
    data = load(describe(UserData(str(tmp_path / "x.csv"), "a")))
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, A)


@pytest.mark.parametrize("word", ["12 kg", "1,00", "1_000", "abc", "1.2.3"])
def test_an_odd_value_of_a_column_of_numbers_is_named(tmp_path: Path, word: str) -> None:
    data = write(tmp_path, [*map(str, A[:6]), word, *map(str, A[7:])])
    with pytest.raises(ElmbenchError, match=r"'a' .*holds") as caught:
        describe(data)
    assert word in caught.value.found
    if word != "1,00":  # which may also be a number with a decimal comma
        assert "row 7" in caught.value.found
        assert "--drop a" in str(caught.value.next_step)
        assert "--words a" in str(caught.value.next_step)


def test_an_odd_target_of_numbers_is_named_but_few_labels_are_words(tmp_path: Path) -> None:
    write(tmp_path, [*map(str, A[1:]), "oops"])
    with pytest.raises(ElmbenchError, match="the target 'a' is mostly numbers, but row 60 holds 'oops'"):
        describe(UserData(str(tmp_path / "x.csv"), "a"))
    write(tmp_path, ["1", "2", "3", "4", "5", "6+"] * 10)
    assert set(describe(UserData(str(tmp_path / "x.csv"), "a")).shape.classes) == {"1", "2", "3", "4", "5", "6+"}


def test_a_column_of_numbers_may_be_words(tmp_path: Path) -> None:
    write(tmp_path, ["0", "1", "2", "1", "0", "3+"] * 10)
    with pytest.raises(ElmbenchError, match="mostly numbers"):
        describe(UserData(str(tmp_path / "x.csv")))
    spec = describe(UserData(str(tmp_path / "x.csv"), words=("a",)))
    assert load(spec).nominal == (0,)


def test_numbers_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    write(tmp_path, ["1,000", "950", "1,200"] * 20, ";")
    with pytest.raises(ElmbenchError, match=r"'1,000' in the column 'a' may be 1000 or 1\.000"):
        describe(UserData(str(tmp_path / "x.csv")))
    for decimal, first in ((",", 1.0), (".", 1000.0)):
        assert load(describe(UserData(str(tmp_path / "x.csv"), decimal=decimal))).X[0, 0] == first


def test_two_decimal_marks_are_refused(tmp_path: Path) -> None:
    write(tmp_path, ["1,5", "2", "0,25"] * 20, ";", ["1.234", "2.345", "3.456"] * 20)
    with pytest.raises(ElmbenchError, match=r"'a' holds '1,5', and the column 'b' holds '1\.234'"):
        describe(UserData(str(tmp_path / "x.csv")))
    data = load(describe(UserData(str(tmp_path / "x.csv"), decimal=",")))
    np.testing.assert_array_equal(data.X[:3], [[1.5, 1234], [2, 2345], [0.25, 3456]])
