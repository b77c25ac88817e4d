"""Labels, groups and numbers of a user's own file as people write them: words that differ stay apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from user_files import N, described, loaded

from elmbench.datasets.load import load
from elmbench.datasets.local_files import write_arrays
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

A = np.random.default_rng(0).normal(size=N).round(6)
PAIRS = {
    "underscore": ("1_1", "11"),
    "exponent": ("1e2", "100"),
    "leading zero": ("00", "0"),
    "fraction with a zero": ("1.50", "1.5"),
    "past 2^53": ("9007199254740992", "9007199254740993"),
    "18 digits": ("123456789012345677", "123456789012345678"),
    "digits of another script": ("٣", "3"),
    "nan and inf": ("inf", "infinity"),
}
VALUES = [round(value, 3) for value in np.random.default_rng(0).normal(1000, 300, N).tolist()]
PAST = {str(2**53): N // 2, str(2**53 + 1): N // 2}


def rows(*labels: object) -> pd.DataFrame:
    return pd.DataFrame({"a": A, "b": A[::-1], "kind": pd.Series([*labels] * (N // 2), dtype=object)})


@pytest.mark.parametrize("form", ["csv", "parquet", "arff", "npz"])
@pytest.mark.parametrize("case", PAIRS)
def test_labels_that_are_different_words_are_different_classes(tmp_path: Path, case: str, form: str) -> None:
    spec = described(tmp_path, rows(*PAIRS[case]), "kind", name=f"x.{form}", task="classification")
    assert spec.shape.classes == dict.fromkeys(PAIRS[case], N // 2)
    data = load(spec)
    assert data.classes is not None
    assert set(data.classes) == set(PAIRS[case])
    assert (data.y > 0).sum() == N // 2


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_integers_past_2_to_the_53_are_different_classes(tmp_path: Path, form: str) -> None:
    assert described(tmp_path, rows(2**53, 2**53 + 1), "kind", name=f"x.{form}").shape.classes == PAST


def test_integers_of_a_program_past_2_to_the_53(tmp_path: Path) -> None:
    y = 2**53 + np.arange(N) % 2
    for X in (A[:, None], sp.csr_matrix(A[:, None])):
        spec = describe(UserData(str(write_arrays(X, y, tmp_path, "x", {})), "target"))
        assert spec.shape.classes == PAST


def test_floats_that_are_too_large_for_labels_are_refused(tmp_path: Path) -> None:
    text = "".join(f"{2**53 + row % 4} 1:{row}\n" for row in range(N))
    with pytest.raises(ElmbenchError, match="labels of 9007199254740992 and more"):
        described(tmp_path, text, name="x.svm", task="classification")


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("case", PAIRS)
def test_groups_that_are_different_words_are_different_groups(tmp_path: Path, case: str, form: str) -> None:
    groups = loaded(tmp_path, rows(*PAIRS[case]), "a", groups="kind", name=f"x.{form}").groups
    assert groups is not None
    np.testing.assert_array_equal(groups == groups[0], np.arange(N) % 2 == 0)


def test_numbers_of_one_value_are_one_class(tmp_path: Path) -> None:
    assert described(tmp_path, rows("1.0", "2"), "kind").shape.classes == {"1": N // 2, "2": N // 2}


def test_a_category_keeps_its_spelling(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "code": ["1_1", "11", "x"] * 20, "kind": ["no", "yes"] * 30})
    data: Any = loaded(tmp_path, frame)
    assert data.nominal == (1,)
    assert len(np.unique(data.X[:, 1])) == 3


def test_a_row_without_a_group_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "who": ["p", None, "q"] * 20, "kind": ["no", "yes"] * 30})
    with pytest.raises(ElmbenchError, match="the group is missing in 20 of 60 rows"):
        described(tmp_path, frame, groups="who")


def text_of(values: list[str], separator: str = ",", more: list[str] | None = None) -> str:
    """Return the text of a file of the column `a`, `b` and a target."""
    frame = pd.DataFrame({"a": values, "b": more or range(N), "kind": ["no", "yes"] * (N // 2)})
    return frame.to_csv(index=False, sep=separator)


@pytest.mark.parametrize(
    "word", ["N/A", "null", "-", "missing", "NULL", "n/a", "None", "#N/A", "", "?", ".", "nan", "NA", "Unknown"]
)
def test_usual_words_for_a_missing_value(tmp_path: Path, word: str) -> None:
    data = loaded(tmp_path, text_of([word, *map(str, VALUES[1:])]), impute=True)
    assert data.nominal == ()
    np.testing.assert_array_equal(data.X[:, 0], [np.nan, *VALUES[1:]])


def test_a_word_for_a_missing_value_may_be_a_category(tmp_path: Path) -> None:
    data = loaded(tmp_path, text_of(["None", "brick", "missing"] * 20))
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
    np.testing.assert_array_equal(loaded(tmp_path, text_of(words * 20, separator)).X[:, 0], numbers * 20)


def test_a_target_of_a_regression_has_a_decimal_comma(tmp_path: Path) -> None:
    data = loaded(tmp_path, text_of([f"{value:.3f}".replace(".", ",") for value in VALUES], ";"), "a")
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, VALUES)


@pytest.mark.parametrize("word", ["12 kg", "1,00", "1_000", "abc", "1.2.3"])
def test_an_odd_value_of_a_column_of_numbers_is_named(tmp_path: Path, word: str) -> None:
    with pytest.raises(ElmbenchError, match=r"'a' .*holds") as caught:
        described(tmp_path, text_of([*map(str, VALUES[:6]), word, *map(str, VALUES[7:])]))
    assert word in caught.value.found
    if word != "1,00":  # which may also be a number with a decimal comma
        assert "row 7" in caught.value.found
        assert "--drop a" in str(caught.value.next_step)
        assert "--words a" in str(caught.value.next_step)


def test_an_odd_target_of_numbers_is_named_but_few_labels_are_words(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="the target 'a' is mostly numbers, but row 60 holds 'oops'"):
        described(tmp_path, text_of([*map(str, VALUES[1:]), "oops"]), "a")
    labels = ["1", "2", "3", "4", "5", "6+"]
    assert set(described(tmp_path, text_of(labels * 10), "a").shape.classes) == set(labels)


def test_a_column_of_numbers_may_be_words(tmp_path: Path) -> None:
    text = text_of(["0", "1", "2", "1", "0", "3+"] * 10)
    with pytest.raises(ElmbenchError, match="mostly numbers"):
        described(tmp_path, text)
    assert loaded(tmp_path, text, words=("a",)).nominal == (0,)


def test_numbers_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,000", "950", "1,200"] * 20, ";")
    with pytest.raises(ElmbenchError, match=r"'1,000' in the column 'a' may be 1000 or 1\.000"):
        described(tmp_path, text)
    for decimal, first in ((",", 1.0), (".", 1000.0)):
        assert loaded(tmp_path, text, decimal=decimal).X[0, 0] == first


def test_two_decimal_marks_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,5", "2", "0,25"] * 20, ";", ["1.234", "2.345", "3.456"] * 20)
    with pytest.raises(ElmbenchError, match=r"'a' holds '1,5', and the column 'b' holds '1\.234'"):
        described(tmp_path, text)
    np.testing.assert_array_equal(loaded(tmp_path, text, decimal=",").X[:3], [[1.5, 1234], [2, 2345], [0.25, 3456]])
