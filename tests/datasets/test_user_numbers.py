"""Numbers of a user's own file as people write them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from user_files import N, described, loaded

from elmbench.errors import ElmbenchError

A = [round(value, 3) for value in np.random.default_rng(0).normal(1000, 300, N).tolist()]


def rows(values: list[str], separator: str = ",", more: list[str] | None = None) -> str:
    """Return the text of a file of the column `a`, `b` and a target."""
    frame = pd.DataFrame({"a": values, "b": more or range(N), "kind": ["no", "yes"] * (N // 2)})
    return frame.to_csv(index=False, sep=separator)


@pytest.mark.parametrize(
    "word", ["N/A", "null", "-", "missing", "NULL", "n/a", "None", "#N/A", "", "?", ".", "nan", "NA", "Unknown"]
)
def test_usual_words_for_a_missing_value(tmp_path: Path, word: str) -> None:
    data = loaded(tmp_path, rows([word, *map(str, A[1:])]), impute=True)
    assert data.nominal == ()
    np.testing.assert_array_equal(data.X[:, 0], [np.nan, *A[1:]])


def test_a_word_for_a_missing_value_may_be_a_category(tmp_path: Path) -> None:
    data = loaded(tmp_path, rows(["None", "brick", "missing"] * 20))
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
    np.testing.assert_array_equal(loaded(tmp_path, rows(words * 20, separator)).X[:, 0], numbers * 20)


def test_a_target_of_a_regression_has_a_decimal_comma(tmp_path: Path) -> None:
    data = loaded(tmp_path, rows([f"{value:.3f}".replace(".", ",") for value in A], ";"), "a")
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, A)


@pytest.mark.parametrize("word", ["12 kg", "1,00", "1_000", "abc", "1.2.3"])
def test_an_odd_value_of_a_column_of_numbers_is_named(tmp_path: Path, word: str) -> None:
    with pytest.raises(ElmbenchError, match=r"'a' .*holds") as caught:
        described(tmp_path, rows([*map(str, A[:6]), word, *map(str, A[7:])]))
    assert word in caught.value.found
    if word != "1,00":  # which may also be a number with a decimal comma
        assert "row 7" in caught.value.found
        assert "--drop a" in str(caught.value.next_step)
        assert "--words a" in str(caught.value.next_step)


def test_an_odd_target_of_numbers_is_named_but_few_labels_are_words(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="the target 'a' is mostly numbers, but row 60 holds 'oops'"):
        described(tmp_path, rows([*map(str, A[1:]), "oops"]), "a")
    labels = ["1", "2", "3", "4", "5", "6+"]
    assert set(described(tmp_path, rows(labels * 10), "a").shape.classes) == set(labels)


def test_a_column_of_numbers_may_be_words(tmp_path: Path) -> None:
    text = rows(["0", "1", "2", "1", "0", "3+"] * 10)
    with pytest.raises(ElmbenchError, match="mostly numbers"):
        described(tmp_path, text)
    assert loaded(tmp_path, text, words=("a",)).nominal == (0,)


def test_numbers_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    text = rows(["1,000", "950", "1,200"] * 20, ";")
    with pytest.raises(ElmbenchError, match=r"'1,000' in the column 'a' may be 1000 or 1\.000"):
        described(tmp_path, text)
    for decimal, first in ((",", 1.0), (".", 1000.0)):
        assert loaded(tmp_path, text, decimal=decimal).X[0, 0] == first


def test_two_decimal_marks_are_refused(tmp_path: Path) -> None:
    text = rows(["1,5", "2", "0,25"] * 20, ";", ["1.234", "2.345", "3.456"] * 20)
    with pytest.raises(ElmbenchError, match=r"'a' holds '1,5', and the column 'b' holds '1\.234'"):
        described(tmp_path, text)
    np.testing.assert_array_equal(loaded(tmp_path, text, decimal=",").X[:3], [[1.5, 1234], [2, 2345], [0.25, 3456]])
