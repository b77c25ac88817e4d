"""Text tables and workbooks as people have them; labels, groups and numbers as people write
them.
"""

import builtins
import csv
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from user_files import N, described, loaded, write

from elmbench.datasets import dates
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.sources.file import FileSource, read_user_file
from elmbench.datasets.user_data import UserData, write_arrays
from elmbench.errors import ElmbenchError

ROWS = np.random.default_rng(0).normal(size=(N, 3)).round(6)
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "größe"]).assign(
    kind=["gut", "schlecht", "übel"] * 20
)
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


def same(data: Any) -> bool:
    np.testing.assert_array_equal(data.X, ROWS)
    return data.feature_names == ("a", "b", "größe") and data.classes == ("gut", "schlecht", "übel")


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_separator_decimal_mark_and_encoding_are_detected(
    tmp_path: Path, separator: str, decimal: str, encoding: str
) -> None:
    FRAME.to_csv(tmp_path / "x.csv", index=False, sep=separator, decimal=decimal, encoding=encoding)
    spec = describe(UserData(str(tmp_path / "x.csv")))
    assert same(load_from_spec(spec))
    notes = " ".join(spec.notes)
    assert ("separated by" in notes) == (separator != ",")
    assert ("Windows-1252" in notes) == (encoding == "latin-1")
    assert "line 1 is taken for the header (--no-header if it is data): a, b, größe, kind" in notes


@pytest.mark.parametrize(
    ("given", "written"), [("\\t", "\t"), ("tab", "\t"), (":", ":"), (" ", " ")]
)
def test_a_separator_that_is_given(tmp_path: Path, given: str, written: str) -> None:
    assert same(
        loaded(tmp_path, FRAME.to_csv(index=False, sep=written), name="x.txt", separator=given)
    )


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        (["5.1,3.5,setosa", "4.9,3.0,virginica"], False),
        (["x,n,p", "b,n,e"], False),
        (["1,2,3", "1,0,3"], False),
        (["a,b,c", "1,2,3"], True),
        (["a,b,c", "red,1,yes"], True),
        (["height,shape,kind", "tall,round,yes"], True),
        (["0,1,2", "5.5,2.5,1.5"], True),
        (["400,402,label", "5.5,2.5,yes", "5.5,2.5,no"], True),
    ],
)
def test_the_header_is_told_from_data(tmp_path: Path, lines: list[str], header: bool) -> None:
    first, *rest = lines
    path = write(tmp_path, "\n".join([first, *rest * 20, *([] if header else [first])]) + "\n")
    table = read_user_file(FileSource(kind="file", path=path, target=""))
    (note,) = table.notes
    assert (
        "taken for the header" if header else "taken for data (--header if it holds names)"
    ) in note
    assert len(table.target) == 20 * len(rest) + (0 if header else 2)


def test_the_header_may_be_given(tmp_path: Path) -> None:
    text = "2001,2002,2003\n" + "1,2,1\n3,4,2\n" * 20
    without = loaded(tmp_path, text, task="classification", header=True)
    assert (without.feature_names, len(without.y)) == (("2001", "2002"), 40)
    with pytest.raises(ElmbenchError, match="mostly numbers, but row 1 holds 'a'"):
        described(tmp_path, FRAME, header=False)


def test_a_file_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    text = FRAME.to_csv(index=False, header=False)
    data = loaded(tmp_path, text)
    np.testing.assert_array_equal(data.X, ROWS)
    assert data.feature_names == ("x0", "x1", "x2")
    with pytest.raises(ElmbenchError, match="no column 'kind'") as caught:
        described(tmp_path, text, "kind")
    assert "--header" in str(caught.value.next_step)


def test_quoted_fields_may_have_line_ends_and_separators(tmp_path: Path) -> None:
    assert loaded(tmp_path, FRAME.assign(note='one, two\nthree "four"'), "kind").X.shape == (N, 4)


def test_a_line_of_too_few_fields_is_named(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="found 2 fields in line 32") as caught:
        described(tmp_path, "a;b;kind\n" + "1;2;no\n" * 30 + "1;2\n")
    assert caught.value.expected == "3 fields separated by semicolons, as in line 1"
    assert "--sep" in str(caught.value.next_step)
    with pytest.raises(ElmbenchError, match="found 3 fields in line 2") as caught:
        described(tmp_path, "# by hand\na,b,kind\n" + "1,2,no\n" * 30)
    assert str(caught.value.next_step).startswith("remove the lines above the header")
    with pytest.raises(ElmbenchError, match="found 4 fields in line 12") as caught:
        described(tmp_path, "a,b,kind\n" + "1,2,no\n" * 10 + "1,2,no,3\n" + "1,2,no\n" * 10)
    assert str(caught.value.next_step).startswith("correct the file")
    with pytest.raises(
        ElmbenchError, match="found 1 field in lines 12 to 22, which a quotation mark joins"
    ):
        described(tmp_path, "a,b,kind\n" + "1,2,no\n" * 10 + '"1,2,no\n' + "1,2,no\n" * 10)


def r_table(separator: str, row_names: list[str]) -> str:
    """Return rows as R's write.table writes them: the header lacks the name of the row names."""
    text = FRAME.set_axis(row_names).to_csv(index=True, sep=separator, quoting=csv.QUOTE_NONNUMERIC)
    return text.removeprefix(f'""{separator}')


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("prefix", ["", "Mazda RX"])
def test_row_names_of_r_are_left_out(tmp_path: Path, separator: str, prefix: str) -> None:
    names = [f"{prefix}{number}" for number in range(1, N + 1)]
    spec = described(tmp_path, r_table(separator, names), "kind")
    assert same(load_from_spec(spec))
    assert "line 1 lacks the name of the first column, which is left out as row names" in spec.notes


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("of_header", [True, False])
def test_separators_at_the_end_of_rows_make_no_column(
    tmp_path: Path, of_header: bool, separator: str
) -> None:
    header, *lines = FRAME.to_csv(index=False, sep=separator).splitlines()
    rows = "".join(f"{line}{separator}\n" for line in lines)
    assert same(loaded(tmp_path, f"{header}{separator if of_header else ''}\n{rows}"))
    data = loaded(tmp_path, rows)
    assert (data.feature_names, data.X.shape) == (("x0", "x1", "x2"), (N, 3))


def test_a_name_that_the_header_lacks_is_an_error(tmp_path: Path) -> None:
    """Neither the first column has row names, nor the last one is empty."""
    for columns in (["a", "b", "größe", "kind"], ["kind", "b", "größe", "a"]):
        text = FRAME[columns].to_csv(index=False).replace(f",{columns[-1]}\n", "\n", 1)
        with pytest.raises(ElmbenchError, match="found 4 fields in line 2"):
            described(tmp_path, text)
    with pytest.raises(ElmbenchError, match="found 3 fields in line 2"):
        described(tmp_path, "from the laboratory,2024\na,b,kind\n" + "1,2,no\n3,4,yes\n" * 20)


def test_bars_and_spaces_in_words_separate_nothing(tmp_path: Path) -> None:
    for mark in "| ":
        words = [f"a{mark}x", f"b{mark}y", f"c{mark}z"] * 20
        frame = FRAME[["a", "b", "kind"]].assign(**{f"source{mark}medium": words})
        data = loaded(tmp_path, frame.iloc[:, [3, 0, 1, 2]])
        assert data.feature_names == (f"source{mark}medium", "a", "b")
    assert same(loaded(tmp_path, FRAME.to_csv(index=False, sep=";", decimal=",")))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\n\0", b"sep=;\n"])
def test_a_text_without_rows_is_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(ElmbenchError, match=r"x\.csv is empty"):
        describe(UserData(str(tmp_path / "x.csv")))


def test_stray_cells_beside_and_below_the_rows_of_a_workbook(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "x.xlsx") as workbook:
        FRAME.to_excel(workbook, index=False, sheet_name="Data")
        workbook.sheets["Data"].cell(5, 7, "note")
        workbook.sheets["Data"].cell(N + 100, 1, None).number_format = "0.0"
    spec = describe(UserData(str(tmp_path / "x.xlsx")))
    assert same(load_from_spec(spec))
    remark = "nearly empty columns without a name, left out: column 5, column 6, column 7"
    assert remark in spec.notes


def test_a_workbook_that_cannot_be_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(ElmbenchError, match="openpyxl cannot read it") as caught:
        describe(UserData(str(tmp_path / "x.xlsx")))
    assert "as CSV" in str(caught.value.next_step)


def test_words_that_may_be_dates_can_be_categories(tmp_path: Path) -> None:
    frame = FRAME.assign(a=["1-1-10", "2-2-11", "3-4-12"] * 20)
    with pytest.raises(ElmbenchError, match="holds dates such as '3-4-12'") as caught:
        described(tmp_path, frame)
    assert "--words a if it has no dates" in str(caught.value.next_step)
    assert loaded(tmp_path, frame, words=("a",)).columns.words == ("a",)


class CountedFormats(datetime):
    """Dates that count the formats with which a word is compared."""

    count = 0

    @classmethod
    def strptime(cls, word: str, text: str) -> datetime:  # type: ignore[override]
        """Count and read a date."""
        cls.count += 1
        return datetime.strptime(word, text)


@pytest.mark.parametrize("word", ["w1", "2020-01-05", "12.03.2020"])
def test_words_are_compared_with_few_formats_of_dates(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dates, "datetime", CountedFormats)
    monkeypatch.setattr(CountedFormats, "count", 0)
    dates.date_format([word, word])
    assert CountedFormats.count < 10


@pytest.mark.parametrize(
    "form",
    [
        "%Y.%m.%d", "%d.%m.%y %H:%M", "%m/%d/%Y, %I:%M:%S %p", "%d/%m/%YT%H:%M:%S.%f", "%d %b %Y",
        "%d. %B %Y %H:%M", "%d-%b-%y", "%B %d, %Y, %H:%M:%S", "%b %Y", "%m.%Y",
    ],
)  # fmt: skip
def test_dates_are_read_with_any_punctuation(form: str) -> None:
    days = pd.to_datetime(["2021-03-25 13:30", "2022-11-28 05:15"])
    read = dates.read_dates(days.strftime(form))
    assert read is not None
    assert read.tolist() == pd.to_datetime(days.strftime(form), format=form).tolist()


def test_numbers_are_not_compared_by_series_of_pandas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    rounded = pd.Series.round
    monkeypatch.setattr(pd.Series, "round", lambda *args: calls.append(args) or rounded(*args))
    loaded(tmp_path, FRAME)
    assert not calls


#: Columns of numbers or codes, and whether they are codes.
CODES = {
    "zip codes": (["01234", "10115", "00501"], True),
    "months": (["01", "02", "12"], True),
    "007 among other numbers": (["7", "007", "12"], False),
    "fractions": (["0.5", "0.25", "0.1"], False),
    "years": (["1998", "2003", "2020"], False),
    "digits": (["0", "1", "2"], False),
    "with signs": (["-01", "+02", "-03"], False),
    "padded numbers": (["01", "12", "100"], False),
}


@pytest.mark.parametrize("case", CODES)
def test_codes_with_leading_zeros_are_categories(tmp_path: Path, case: str) -> None:
    values, are_codes = CODES[case]
    frame = FRAME.assign(code=values * 20, kind=FRAME["kind"])[["code", "a", "kind"]]
    # The first row with a leading zero is not among those that the separator is detected from.
    late = pd.concat([frame[~frame["code"].str.startswith("0")]] * 60 + [frame])
    for rows, options in (
        (frame, {"name": "x.parquet"}),
        (late, {"header": True}),
        (frame.to_csv(index=False, sep=";").replace(".", ","), {"decimal": ","}),
    ):
        spec = described(tmp_path, rows, "kind", **options)
        assert (load_from_spec(spec).columns.words == ("code",)) == spec.by_fold == are_codes
        assert (
            "codes with leading zeros are categories, not numbers: code" in spec.notes
        ) == are_codes


@pytest.mark.parametrize("word", ["", "NA", "-", "--", "unknown", "None", "n.a.", "?", "missing"])
@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_codes_with_a_missing_value_of_any_spelling_stay_categories(
    tmp_path: Path, word: str, name: str
) -> None:
    frame = FRAME[["a", "kind"]].assign(zip=["01234", "10115", word] * 20)
    test = write(tmp_path, frame.iloc[2:], "test.csv")
    spec = described(tmp_path, frame, "kind", name=name, test=test)
    data = load_from_spec(spec)
    assert data.columns.words == ("zip",)
    np.testing.assert_array_equal(data.X["zip"][:N].isna(), np.arange(N) % 3 == 2)
    assert data.X["zip"][N:].fillna("").tolist() == data.X["zip"][2:N].fillna("").tolist()
    declared = load_from_spec(described(tmp_path, frame, "kind", name=name, words=("zip",)))
    n_missing = N // 3 if word in ("", "NA", "?") and name == "x.csv" else 0
    assert declared.X["zip"].isna().sum() == n_missing


@pytest.mark.parametrize("word", ["-999", "9999", "999999", "0", "-1", "1e5"])
def test_numbers_for_a_missing_code_leave_codes_as_they_are(tmp_path: Path, word: str) -> None:
    frame = FRAME[["a", "kind"]].assign(zip=["01234", "10115", word] * 20)
    spec = described(tmp_path, frame, "kind")
    assert load_from_spec(spec).columns.words == ("zip",)
    assert any(f"'zip' holds {word!r} beside codes with leading zeros" in n for n in spec.notes)


def test_codes_may_be_weights_or_an_order_and_missing(tmp_path: Path) -> None:
    order = [f"{number:02}" for number in range(N)][::-1]
    frame = FRAME[["a", "kind"]].assign(
        order=order, weight=["01", "10"] * (N // 2), zip=["01234", "", "10115"] * 20
    )
    spec = described(tmp_path, frame, "kind", weights="weight", ordered_by="order")
    data = load_from_spec(spec)
    np.testing.assert_array_equal(data.X["a"], ROWS[::-1, 0])
    assert data.weights[:2].tolist() == [10.0, 1.0]
    assert data.columns.words == ("zip",)
    assert data.X["zip"].isna().sum() == N // 3


def test_numbers_that_look_like_codes_in_the_test_rows_alone_are_numbers(tmp_path: Path) -> None:
    test = write(tmp_path, FRAME[["a", "kind"]].assign(n=["07", "12"] * (N // 2)), "test.csv")
    data = loaded(
        tmp_path, FRAME[["a", "kind"]].assign(n=["7", "12"] * (N // 2)), "kind", test=test
    )
    np.testing.assert_array_equal(data.X[N:, 1], [7.0, 12.0] * (N // 2))


def test_fields_in_columns_of_spaces_and_a_separator_in_the_first_line(tmp_path: Path) -> None:
    assert same(loaded(tmp_path, FRAME.to_string(index=False), name="x.txt"))
    assert same(
        loaded(tmp_path, "sep=;\r\n" + FRAME.to_csv(index=False, sep=";", lineterminator="\n"))
    )
    assert same(loaded(tmp_path, FRAME.to_csv(index=False, lineterminator="\r")))


def test_the_first_sheet_of_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, sheet_name="Werte", index=False)
        FRAME.to_excel(writer, sheet_name="Rest")
    spec = describe(UserData(str(path)))
    assert same(load_from_spec(spec))
    assert "only the first of 2 sheets is read: Werte" in spec.notes
    for data, problem in (
        (UserData(str(path), "z"), "no column 'z'"),
        (UserData(str(path), drop=tuple(FRAME)), ""),
    ):
        with pytest.raises(
            ElmbenchError, match=f"{problem}.*only the first of 2 sheets is read: Werte"
        ):
            describe(data)
    usual = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return usual(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        ElmbenchError, match="openpyxl, which reads Excel files, is not installed"
    ) as caught:
        describe(UserData(str(path)))
    assert "pip install" in str(caught.value.next_step)


def test_cells_of_numbers_beside_texts_with_a_decimal_comma(tmp_path: Path) -> None:
    values = (np.random.default_rng(0).normal(size=(N, 2)).round(3) + 0.0001).round(4)
    for column in (0, 1):
        cells = pd.DataFrame(values, columns=["a", "y"], dtype=object)
        cells.iloc[::3, column] = [f"{value}".replace(".", ",") for value in values[::3, column]]
        path = tmp_path / f"{column}.xlsx"
        cells.to_excel(path, index=False)
        data = load_from_spec(describe(UserData(str(path), "y")))
        np.testing.assert_array_equal(data.X[:, 0], values[:, 0])
        np.testing.assert_array_equal(data.y, values[:, 1])


def test_lines_above_the_header_of_a_workbook_are_told(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "x.xlsx") as workbook:
        FRAME.to_excel(workbook, index=False, startrow=2, sheet_name="Data")
        workbook.sheets["Data"].cell(1, 1, "My report")
    with pytest.raises(ElmbenchError, match=r"line 1 names 1 of 4 columns \(My report\)") as caught:
        describe(UserData(str(tmp_path / "x.xlsx")))
    assert str(caught.value.next_step).startswith("remove the lines above the header")


def test_columns_that_are_dropped_and_rows_without_a_target(tmp_path: Path) -> None:
    frame = FRAME.assign(kind=[None, "?", *FRAME["kind"][2:]])
    with pytest.raises(ElmbenchError, match="the target 'kind' is missing in 2 of 60") as caught:
        described(tmp_path, frame)
    assert "--drop-missing-target" in str(caught.value.next_step)
    spec = described(tmp_path, frame, drop=("b",), drop_missing_target=True)
    np.testing.assert_array_equal(load_from_spec(spec).X, ROWS[2:, [0, 2]])
    assert "rows without a target, left out: 2 of 60" in spec.notes


def test_a_wide_table_is_read(tmp_path: Path) -> None:
    """Its lines are longer than the fields that the csv module reads by default."""
    rows = np.random.default_rng(0).random((20, 3000))
    names = [f"{'long' * 10}{index}" for index in range(3000)]
    text = pd.DataFrame(rows, columns=names).assign(target=rows[:, 0]).to_csv(index=False)
    assert text.index("\n") > 131_072
    assert described(tmp_path, text).shape.features == 3000


def rows(*labels: object) -> pd.DataFrame:
    return pd.DataFrame(
        {"a": A, "b": A[::-1], "kind": pd.Series([*labels] * (N // 2), dtype=object)}
    )


@pytest.mark.parametrize("form", ["csv", "parquet", "arff", "npz"])
@pytest.mark.parametrize("case", PAIRS)
def test_different_words_are_different_classes_and_groups(
    tmp_path: Path, case: str, form: str
) -> None:
    spec = described(tmp_path, rows(*PAIRS[case]), "kind", name=f"x.{form}", task="classification")
    assert spec.shape.classes == dict.fromkeys(PAIRS[case], N // 2)
    data = load_from_spec(spec)
    assert set(data.classes) == set(PAIRS[case])
    assert (data.y > 0).sum() == N // 2
    if form in ("csv", "parquet"):
        groups = loaded(tmp_path, rows(*PAIRS[case]), "a", groups="kind", name=f"x.{form}").groups
        np.testing.assert_array_equal(groups == groups[0], np.arange(N) % 2 == 0)


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_integers_past_2_to_the_53_are_different_classes(tmp_path: Path, form: str) -> None:
    assert (
        described(tmp_path, rows(2**53, 2**53 + 1), "kind", name=f"x.{form}").shape.classes == PAST
    )
    y = 2**53 + np.arange(N) % 2
    for X in (A[:, None], sp.csr_matrix(A[:, None])):  # of a program
        spec = describe(UserData(str(write_arrays(X, y, tmp_path, "x", {})), "target"))
        assert spec.shape.classes == PAST


def test_numbers_of_one_value_are_one_class(tmp_path: Path) -> None:
    assert described(tmp_path, rows("1.0", "2"), "kind").shape.classes == {"1": N // 2, "2": N // 2}


def test_a_category_keeps_its_spelling(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "code": ["1_1", "11", "x"] * 20, "kind": ["no", "yes"] * 30})
    data: Any = loaded(tmp_path, frame)
    assert data.columns.words == ("code",)
    assert data.X["code"].tolist() == ["1_1", "11", "x"] * 20


@pytest.mark.parametrize("form", ["parquet", "arff"])
def test_declared_categories_stay_categories_and_booleans_are_the_same_in_a_test_file(
    tmp_path: Path, form: str
) -> None:
    frame = pd.DataFrame({"a": A, "code": [1, 2, 3] * 20, "kind": ["no", "yes"] * 30})
    text = (
        "@relation r\n@attribute a numeric\n@attribute code {1,2,3}\n@attribute kind "
        "{no,yes}\n@data\n"
    )
    text += frame.to_csv(index=False, header=False)
    frame = frame.astype({"code": "category"})
    data = loaded(tmp_path, frame if form == "parquet" else text, name=f"x.{form}")
    assert data.columns.words == ("code",)
    frame["code"] = frame["a"] > 0
    test = write(tmp_path, frame, "test.csv")
    words = loaded(tmp_path, frame, "kind", name="x.csv", test=test).X["code"]
    assert words.tolist() == ["true" if value else "false" for value in frame["code"]] * 2


def text_of(values: list[str], separator: str = ",", more: list[str] | None = None) -> str:
    """Return the text of a file of the column `a`, `b` and a target."""
    frame = pd.DataFrame({"a": values, "b": more or range(N), "kind": ["no", "yes"] * (N // 2)})
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
        tmp_path, text_of([f"{value:.3f}".replace(".", ",") for value in VALUES], ";"), "a"
    )
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, VALUES)


@pytest.mark.parametrize(
    "words",
    [
        ["12 kg", "1,000.5kg", "-"],
        ["$5", "-$0.50", "$ 1,000"],
        ["30 %", " 5%"],
        ["1.100,5 %", "12,1 %", "0"],
        ["1 100 €", "900 €"],
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
    warning = f"warning: 'a' is categorical, as its numbers have a unit ({words[0]!r}): {how}"
    assert warning in spec.notes
    assert warning not in described(tmp_path, text, words=("a",)).notes
    assert warning in described(tmp_path, text, "a").notes
    quantities = described(tmp_path, text_of([f"{value} kg" for value in VALUES]))
    assert (
        f"(write quantities as plain numbers to keep them): a ({VALUES[0]} kg)"
        in quantities.notes[0]
    )


@pytest.mark.parametrize(
    "words", [["1a", "2b", "3c", "4d"], ["p1", "p2"], ["5-10", "10-15"], ["3+", "red"]]
)
def test_other_words_have_no_unit(tmp_path: Path, words: list[str]) -> None:
    assert not any(
        "have a unit" in note for note in described(tmp_path, text_of((words * N)[:N])).notes
    )


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
    with pytest.raises(
        ElmbenchError, match="the target 'a' is mostly numbers, but row 60 holds 'oops'"
    ):
        described(tmp_path, text_of([*map(str, VALUES[1:]), "oops"]), "a")
    labels = ["1", "2", "3", "4", "5", "6+"]
    assert set(described(tmp_path, text_of(labels * 10), "a").shape.classes) == set(labels)


def test_a_column_of_numbers_may_be_words(tmp_path: Path) -> None:
    text = text_of(["0", "1", "2", "1", "0", "3+"] * 10)
    with pytest.raises(ElmbenchError, match="mostly numbers"):
        described(tmp_path, text)
    assert loaded(tmp_path, text, words=("a",)).columns.words == ("a",)


def test_numbers_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,000", "950", "1,200"] * 20, ";")
    with pytest.raises(ElmbenchError, match=r"'1,000' in the column 'a' may be 1000 or 1\.000"):
        described(tmp_path, text)
    # A number of another column decides.
    assert (
        loaded(tmp_path, text_of(["1,000", "950", "1,200"] * 20, ";", ["0.5", "1", "2"] * 20)).X[
            0, 0
        ]
        == 1000
    )
    for decimal, first in ((",", 1.0), (".", 1000.0)):
        assert loaded(tmp_path, text, decimal=decimal).X[0, 0] == first
    test = write(tmp_path, text, "test.csv")
    assert (
        loaded(tmp_path, text_of(["0,5", "1,000", "2"] * 20, ";"), test=test).X[N, 0] == 1
    )  # as in the other file


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
        {"a": spelled(prices, decimal, thousands), "kind": spelled(sizes, decimal, thousands)}
    )
    options = {"decimal": decimal} if option == "given" else {}
    text = frame.to_csv(index=False, sep=";")
    spec = described(tmp_path, text, target, task="regression", **options)
    data = load_from_spec(spec)
    columns = {"a": prices, "kind": sizes}
    np.testing.assert_array_equal(data.y, columns[target])
    np.testing.assert_array_equal(data.X[:, 0], columns["kind" if target == "a" else "a"])
    point, comma = ("point", "comma") if decimal == "." else ("comma", "point")
    assert f"numbers have a decimal {point}, and a {comma} separates thousands" in spec.notes


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
            FileSource(kind="file", path=str(tmp_path / "x.csv"), target=target, decimal=decimal)
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


def test_numbers_of_a_workbook_have_no_marks(tmp_path: Path) -> None:
    """Only its words have some."""
    prices = [957.306, 219.436, 74.168] * 20
    frame = pd.DataFrame({"a": prices, "b": ["8,6", "7", "1,25"] * 20, "c": prices})
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    data = load_from_spec(describe(UserData(str(tmp_path / "x.xlsx"), "c")))
    np.testing.assert_array_equal(data.y, prices)
    np.testing.assert_array_equal(data.X, np.column_stack([prices, [8.6, 7, 1.25] * 20]))


def test_two_decimal_marks_are_refused(tmp_path: Path) -> None:
    text = text_of(["1,5", "2", "0,25"] * 20, ";", ["1.234", "2.345", "3.456"] * 20)
    with pytest.raises(ElmbenchError, match=r"'a' holds '1,5', and the column 'b' holds '1\.234'"):
        described(tmp_path, text)
    np.testing.assert_array_equal(
        loaded(tmp_path, text, decimal=",").X[:3], [[1.5, 1234], [2, 2345], [0.25, 3456]]
    )
