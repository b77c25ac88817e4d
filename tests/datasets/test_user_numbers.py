"""Numbers as people write them: missing values, decimal marks, thousands and units."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentences import pattern, sentence
from user_files import N, described, loaded, write

from elmbench.datasets.load import load_from_spec
from elmbench.datasets.sources.file import FileSource, read_user_file
from elmbench.errors import ElmbenchError

A = np.random.default_rng(0).normal(size=N).round(6)
VALUES = [
    round(value, 3) for value in np.random.default_rng(0).normal(1000, 300, N).tolist()
]


def text_of(
    values: list[str], separator: str = ",", more: list[str] | None = None
) -> str:
    """Return the text of a file of the column `a`, `b` and a target."""
    frame = pd.DataFrame(
        {"a": values, "b": more or range(N), "kind": ["no", "yes"] * (N // 2)}
    )
    return frame.to_csv(index=False, sep=separator)


@pytest.mark.parametrize(
    "word",
    [
        "N/A",
        "null",
        "-",
        "missing",
        "NULL",
        "n/a",
        "None",
        "#N/A",
        "",
        "?",
        ".",
        "nan",
        "NA",
        "Unknown",
        "k.A.",
        "n.d.",
    ],
)
def test_usual_words_for_a_missing_value(tmp_path: Path, word: str) -> None:
    data = loaded(tmp_path, text_of([word, *map(str, VALUES[1:])]))
    assert data.columns.words == ()
    np.testing.assert_array_equal(data.X["a"], [np.nan, *VALUES[1:]])


def test_a_word_for_a_missing_value_may_be_a_category(tmp_path: Path) -> None:
    data = loaded(tmp_path, text_of(["None", "brick", "missing"] * 20))
    assert data.columns.words == ("a",)
    assert set(data.X["a"]) == {"None", "brick", "missing"}


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
        (",", ["1,00,000", "12,34,567.50", " 950"], [100000, 1234567.5, 950]),
    ],
)
def test_thousands_and_decimal_commas(
    tmp_path: Path, separator: str, words: list[str], numbers: list[float]
) -> None:
    np.testing.assert_array_equal(
        loaded(tmp_path, text_of(words * 20, separator)).X[:, 0], numbers * 20
    )


def test_a_target_of_a_regression_has_a_decimal_comma(tmp_path: Path) -> None:
    data = loaded(
        tmp_path,
        text_of([f"{value:.3f}".replace(".", ",") for value in VALUES], ";"),
        "a",
    )
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, VALUES)


@pytest.mark.parametrize(
    "words",
    [
        ["12 kg", "1,000.5kg", "-"],
        ["$5", "€5", "$1,000"],
        ["30 %", "5"],
        ["1.100,5 %", "12,1 %", "0"],
        ["USD 100", "USD 3"],
        ["5 kg", "500 g"],
    ],
)
def test_numbers_with_a_unit_are_categories_with_a_warning(
    tmp_path: Path, words: list[str]
) -> None:
    text = text_of((words * N)[:N])
    spec = described(tmp_path, text)
    assert load_from_spec(spec).columns.words == ("a",)
    how = "write plain numbers, or --words a if it holds categories"
    warning = sentence(
        "datasets.user.numbers-with-a-unit-are-categories",
        column="a",
        example=words[0],
        advice=how,
    )
    assert warning in spec.notes
    assert warning not in described(tmp_path, text, words=("a",)).notes
    assert warning in described(tmp_path, text, "a").notes
    quantities = described(tmp_path, text_of([f"{value} kg" for value in VALUES]))
    assert (
        sentence(
            "datasets.user.write-quantities-as-numbers", column="a", example=VALUES[0]
        )
        in quantities.notes[0]
    )


@pytest.mark.parametrize(
    ("separator", "words", "numbers", "sign"),
    [
        (",", ["$1,234.50", "-$0.50", "$-3", "$ 7"], [1234.5, -0.5, -3, 7], "$"),
        (",", ["($1,200)", "($2.50)", "n/a", "$4"], [-1200, -2.5, np.nan, 4], "$"),
        (",", ["12.5 %", "3%", "-1 %", "+0 %"], [12.5, 3, -1, 0], "%"),
        (";", ["12,5 %", "1.003 %", "-1 %", "0%"], [12.5, 1003, -1, 0], "%"),
        (";", ["€ 1.234,50", "3 €", "\u22122,5 €", ""], [1234.5, 3, -2.5, np.nan], "€"),
        ("\t", ["1 100 £", "900 £", "£5", "£ .5"], [1100, 900, 5, 0.5], "£"),
    ],
)
def test_numbers_with_one_currency_or_percent_sign_are_numbers(
    tmp_path: Path, separator: str, words: list[str], numbers: list[float], sign: str
) -> None:
    text = text_of(words * (N // 4), separator)
    spec = described(tmp_path, text)
    data = load_from_spec(spec)
    remark = sentence("datasets.user.numbers-with-a-sign", column="a", sign=sign)
    assert data.columns is not None
    assert remark in spec.notes
    assert data.columns.signs == {"a": sign}
    assert "have a unit" not in str(spec.notes)
    np.testing.assert_array_equal(
        data.X["a"] if data.is_raw else data.X[:, 0], numbers * (N // 4)
    )
    kept = described(tmp_path, text, words=("a",))
    assert load_from_spec(kept).columns.words == ("a",)
    assert remark not in kept.notes


@pytest.mark.parametrize("words", [["$(2)", "$1"], ["(5 %)", "5 %"], ["$5 %", "$5"]])
def test_other_forms_of_signs_are_text(tmp_path: Path, words: list[str]) -> None:
    assert loaded(tmp_path, text_of(words * (N // 2))).columns.words == ("a",)


def test_a_target_of_a_regression_may_have_a_percent_sign(tmp_path: Path) -> None:
    spec = described(tmp_path, text_of([f"{value} %" for value in VALUES]), "a")
    assert spec.task == "regression"
    np.testing.assert_array_equal(load_from_spec(spec).y, VALUES)


def test_held_out_rows_have_the_signs_of_the_training_rows(tmp_path: Path) -> None:
    train = text_of([f"${value}" for value in VALUES])
    words = [f"{value}" for value in VALUES[:4]] + [f"${value}" for value in VALUES[4:]]
    test = write(tmp_path, text_of(words), "test.csv")
    data = loaded(tmp_path, train, test=test)
    np.testing.assert_array_equal(data.X[:, 0], VALUES * 2)
    other_sign = write(tmp_path, text_of([f"€{value}" for value in VALUES]), "€.csv")
    with pytest.raises(ElmbenchError, match=r"the column 'a' holds '€"):
        loaded(tmp_path, train, test=other_sign)


@pytest.mark.parametrize(
    "words", [["1a", "2b", "3c", "4d"], ["p1", "p2"], ["5-10", "10-15"], ["3+", "red"]]
)
def test_other_words_have_no_unit(tmp_path: Path, words: list[str]) -> None:
    assert not any(
        "have a unit" in note
        for note in described(tmp_path, text_of((words * N)[:N])).notes
    )


@pytest.mark.parametrize("word", ["12 kg", "1,00", "1_000", "abc", "1.2.3"])
def test_an_odd_value_of_a_column_of_numbers_is_named(
    tmp_path: Path, word: str
) -> None:
    with pytest.raises(ElmbenchError, match=r"'a' .*holds") as caught:
        described(
            tmp_path, text_of([*map(str, VALUES[:6]), word, *map(str, VALUES[7:])])
        )
    assert word in caught.value.found
    if word != "1,00":  # which may also be a number with a decimal comma
        assert "row 7" in caught.value.found
        assert "--drop a" in str(caught.value.next_step)
        assert "--words a" in str(caught.value.next_step)


def test_an_odd_target_of_numbers_is_named_but_few_labels_are_words(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "datasets.user.text-in-target-of-numbers", column="a", row=60, text="oops"
        ),
    ):
        described(tmp_path, text_of([*map(str, VALUES[1:]), "oops"]), "a")
    labels = ["1", "2", "3", "4", "5", "6+"]
    assert set(described(tmp_path, text_of(labels * 10), "a").shape.classes) == set(
        labels
    )


def test_a_column_of_numbers_may_be_words(tmp_path: Path) -> None:
    text = text_of(["0", "1", "2", "1", "0", "3+"] * 10)
    with pytest.raises(ElmbenchError, match="mostly numbers"):
        described(tmp_path, text)
    assert loaded(tmp_path, text, words=("a",)).columns.words == ("a",)


def test_numbers_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,000", "950", "1,200"] * 20, ";")
    with pytest.raises(
        ElmbenchError, match=r"'1,000' in the column 'a' may be 1000 or 1\.000"
    ):
        described(tmp_path, text)
    # A number of another column decides.
    assert (
        loaded(
            tmp_path,
            text_of(["1,000", "950", "1,200"] * 20, ";", ["0.5", "1", "2"] * 20),
        ).X[0, 0]
        == 1000
    )
    for decimal, first in ((",", 1.0), (".", 1000.0)):
        assert loaded(tmp_path, text, decimal=decimal).X[0, 0] == first
    test = write(tmp_path, text, "test.csv")
    # As in the other file.
    assert (
        loaded(tmp_path, text_of(["0,5", "1,000", "2"] * 20, ";"), test=test).X[N, 0]
        == 1
    )


def spelled(values: list[float], decimal: str, thousands: str) -> list[str]:
    """Return numbers as words, the whole ones with separators of thousands."""
    words = [f"{value:,}" for value in values]
    marks = str.maketrans({",": thousands, ".": decimal})
    return [word.translate(marks) for word in words]


@pytest.mark.parametrize("target", ["a", "kind"])
@pytest.mark.parametrize("option", ["given", "detected"])
@pytest.mark.parametrize("marks", [",.", ".,"])
def test_one_decimal_mark_is_of_features_and_target(
    tmp_path: Path, marks: str, option: str, target: str
) -> None:
    decimal, thousands = marks
    prices = [957306, 219436, 74168, 1272321, 980, 1000] * 10
    sizes = [8.6, 7.8, 4.75, 120.5, 7.5, 10.0] * 10
    frame = pd.DataFrame(
        {
            "a": spelled(prices, decimal, thousands),
            "kind": spelled(sizes, decimal, thousands),
        }
    )
    options = {"decimal": decimal} if option == "given" else {}
    text = frame.to_csv(index=False, sep=";")
    spec = described(tmp_path, text, target, task="regression", **options)
    data = load_from_spec(spec)
    columns = {"a": prices, "kind": sizes}
    np.testing.assert_array_equal(data.y, columns[target])
    np.testing.assert_array_equal(
        data.X[:, 0], columns["kind" if target == "a" else "a"]
    )
    point, comma = ("point", "comma") if decimal == "." else ("comma", "point")
    assert (
        sentence("datasets.user.decimal-and-thousands-marks", point=point, comma=comma)
        in spec.notes
    )


@pytest.mark.parametrize("target", ["a", "kind"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("mark", ".,")
@pytest.mark.parametrize("words", [["1?867", "258", "22?666"], ["1?867", "4?455"]])
def test_a_mark_of_decimals_or_thousands_is_refused(
    tmp_path: Path, words: list[str], mark: str, separator: str, target: str
) -> None:
    words = [word.replace("?", mark) for word in words]
    text = text_of((words * N)[:N], separator)
    problem = f"'1{re.escape(mark)}867' in the column 'a' may be 1867 or 1\\.867"
    with pytest.raises(ElmbenchError, match=problem) as caught:
        described(tmp_path, text, target)
    assert caught.value.next_step == "--decimal , or --decimal ."
    for decimal in ",.":
        table = read_user_file(
            FileSource(
                kind="file",
                path=str(tmp_path / "x.csv"),
                target=target,
                decimal=decimal,
            )
        )
        values = table.target if target == "a" else table.X[:, 0]
        assert float(values[0]) == (1.867 if decimal == mark else 1867.0)


@pytest.mark.parametrize(
    ("decides", "words"),
    [
        ("0,5", ["1.867", "4.455"]),  # may have three decimals
        ("0.5", ["1,867", "4,455"]),
        ("0,5", ["1.867", "2500", "30"]),  # not all thousands are separated
        ("0.5", ["1,867", "2500", "30"]),
    ],
)
def test_thousands_that_are_not_evident_are_refused(
    tmp_path: Path, decides: str, words: list[str]
) -> None:
    text = text_of((words * N)[:N], ";", [decides, "7"] * (N // 2))
    with pytest.raises(ElmbenchError, match=f"holds '{re.escape(words[0])}'") as caught:
        described(tmp_path, text)
    assert caught.value.expected == "one decimal mark"
    plain = [float(word.replace(".", "").replace(",", "")) for word in words]
    data = loaded(tmp_path, text, decimal=decides[1])
    np.testing.assert_array_equal(data.X[: len(words), 0], plain)


def test_points_of_a_comma_separated_file_are_decimal_unless_a_number_decides(
    tmp_path: Path,
) -> None:
    words = ["1.867", "258", "22.666"] * 20
    assert loaded(tmp_path, text_of(words)).X[0, 0] == 1.867
    decided = text_of(words, more=["1.272.321", "7", "8"] * 20)
    np.testing.assert_array_equal(loaded(tmp_path, decided).X[0], [1867, 1272321])


def test_a_late_number_shows_that_points_are_decimal(tmp_path: Path) -> None:
    """It is not among the rows that the separator is detected from."""
    words = ["1.867", "258"] * 600 + ["0.5"]
    text = "a;kind\n" + "".join(
        f"{word};{'no' if i % 2 else 'yes'}\n" for i, word in enumerate(words)
    )
    np.testing.assert_array_equal(loaded(tmp_path, text).X[:, 0], [*map(float, words)])


def test_two_decimal_marks_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,5", "2", "0,25"] * 20, ";", ["1.234", "2.345", "3.456"] * 20)
    with pytest.raises(
        ElmbenchError, match=r"'a' holds '1,5', and the column 'b' holds '1\.234'"
    ):
        described(tmp_path, text)
    np.testing.assert_array_equal(
        loaded(tmp_path, text, decimal=",").X[:3],
        [[1.5, 1234], [2, 2345], [0.25, 3456]],
    )
