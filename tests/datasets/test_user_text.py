"""Text tables as people have them: their layout, and their labels, codes and dates."""

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sentences import pattern, sentence
from user_files import FRAME, ROWS, N, described, loaded, same, write

from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.sources.file import FileSource, read_user_file
from elmbench.datasets.user_data import UserData, write_arrays
from elmbench.datasets.user_files import dates
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
PAST = {str(2**53): N // 2, str(2**53 + 1): N // 2}
#: Columns of numbers or codes, and whether they are codes.
CODES = {
    "zip codes": (["01234", "10115", "00501"], True),
    "zip codes with blanks": (["01234 ", " 10115", "00501"], True),
    "months": (["01", "02", "12"], True),
    "007 among other numbers": (["7", "007", "12"], False),
    "fractions": (["0.5", "0.25", "0.1"], False),
    "years": (["1998", "2003", "2020"], False),
    "digits": (["0", "1", "2"], False),
    "with signs": (["-01", "+02", "-03"], False),
    "padded numbers": (["01", "12", "100"], False),
}


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_separator_decimal_mark_and_encoding_are_detected(
    tmp_path: Path, separator: str, decimal: str, encoding: str
) -> None:
    FRAME.to_csv(
        tmp_path / "x.csv",
        index=False,
        sep=separator,
        decimal=decimal,
        encoding=encoding,
    )
    spec = describe(UserData(str(tmp_path / "x.csv")))
    assert same(load_from_spec(spec))
    notes = " ".join(spec.notes)
    assert ("separated by" in notes) == (separator != ",")
    assert ("Windows-1252" in notes) == (encoding == "latin-1")
    assert (
        sentence("datasets.user.first-line-is-header", columns="a, b, größe, kind")
        in notes
    )


@pytest.mark.parametrize(
    ("given", "written"), [("\\t", "\t"), ("tab", "\t"), (":", ":"), (" ", " ")]
)
def test_a_separator_that_is_given(tmp_path: Path, given: str, written: str) -> None:
    assert same(
        loaded(
            tmp_path,
            FRAME.to_csv(index=False, sep=written),
            name="x.txt",
            separator=given,
        )
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
def test_the_header_is_distinguished_from_data(
    tmp_path: Path, lines: list[str], header: bool
) -> None:
    first, *rest = lines
    path = write(
        tmp_path, "\n".join([first, *rest * 20, *([] if header else [first])]) + "\n"
    )
    table = read_user_file(FileSource(kind="file", path=path, target=""))
    (note,) = table.notes
    assert (
        "taken for the header"
        if header
        else "taken for data (--header, or header: true"
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
    assert loaded(
        tmp_path, FRAME.assign(note='one, two\nthree "four"'), "kind"
    ).X.shape == (N, 4)


def test_a_line_of_too_few_fields_is_named(tmp_path: Path) -> None:
    with pytest.raises(ElmbenchError, match="found 2 fields in line 32") as caught:
        described(tmp_path, "a;b;kind\n" + "1;2;no\n" * 30 + "1;2\n")
    assert caught.value.expected == "3 fields separated by semicolons, as in line 1"
    assert "--sep" in str(caught.value.next_step)
    with pytest.raises(ElmbenchError, match="found 3 fields in line 2") as caught:
        described(tmp_path, "by hand,2024\na,b,kind\n" + "1,2,no\n" * 30)
    assert str(caught.value.next_step).startswith("remove the lines above the header")
    with pytest.raises(ElmbenchError, match="found 4 fields in line 12") as caught:
        described(
            tmp_path, "a,b,kind\n" + "1,2,no\n" * 10 + "1,2,no,3\n" + "1,2,no\n" * 10
        )
    assert str(caught.value.next_step).startswith("correct the file")


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_too_few_fields_is_named_at_the_end_of_a_long_file(
    tmp_path: Path, end: str
) -> None:
    """Separators are counted in blocks, and a longer line does not make up for a shorter one."""
    lines = ["a,b,kind", *["1,2,no"] * 60_000, "1,2,no,3", "1,2"]
    with pytest.raises(ElmbenchError, match="found 4 fields in line 60002"):
        described(tmp_path, "\n".join(lines) + end)
    del lines[-2]
    with pytest.raises(ElmbenchError, match="found 2 fields in line 60002"):
        described(tmp_path, "\n".join(lines) + end)
    with pytest.raises(
        ElmbenchError,
        match=pattern("datasets.user.quotation-mark-joins-lines", first=12, last=22),
    ):
        described(
            tmp_path, "a,b,kind\n" + "1,2,no\n" * 10 + '"1,2,no\n' + "1,2,no\n" * 10
        )


@pytest.mark.parametrize(
    ("above", "separator", "titles"),
    [
        ("Report of 2024-01-01\n\n", ",", "Report of 2024-01-01"),
        ('"Report, January"\r\nby hand\r\n', ";", "Report, January, by hand"),
        ('"two\nlines"\n', "\t", "two\nlines"),
        ("Report;;;\n;;;\n", ";", "Report"),
    ],
)
def test_title_lines_above_the_header_are_left_out(
    tmp_path: Path, above: str, separator: str, titles: str
) -> None:
    text = above + FRAME.to_csv(index=False, sep=separator)
    spec = described(tmp_path, text)
    assert same(load_from_spec(spec))
    remark = sentence("datasets.user.left-out-above-header", titles=titles)
    assert remark in spec.notes
    n_above = above.count("\n")
    assert f"line {n_above + 1} is taken for the header" in str(spec.notes)
    same_rows = described(tmp_path, text, separator=separator, header=True)
    assert same(load_from_spec(same_rows))
    _, *rows = FRAME.to_csv(index=False, header=False, sep=separator).splitlines(True)
    long = text + "".join(rows * 20)
    line = long.count("\n") + 1
    with pytest.raises(ElmbenchError, match=f"found 2 fields in line {line}") as caught:
        described(tmp_path, f"{long}1{separator}2\n")
    assert str(caught.value.expected).endswith(f"as in line {n_above + 1}")


def test_title_lines_above_decimal_commas_and_currencies(tmp_path: Path) -> None:
    lines = [f"{number},5;{number} €" for number in range(N)]
    data = loaded(tmp_path, "\n".join(["Konto", "", "x;y", *lines]), "y")
    assert data.feature_names == ("x",)
    np.testing.assert_array_equal(data.X[:, 0], np.arange(N) + 0.5)
    np.testing.assert_array_equal(data.y, np.arange(N))


@pytest.mark.parametrize(
    "lines",
    [
        ["2024", "a,b,kind", *["1,2,no"] * N],  # a number is no title
        ["Report", *["1,2,no"] * N],  # there is no header
        ["Report", "a,b,kind", *["1,2,no"] * N, "1,2"],
        ["Report", "made by,hand", "a,b,kind", *["1,2,no"] * N],
    ],
)
def test_lines_that_may_be_no_title_are_not_left_out(
    tmp_path: Path, lines: list[str]
) -> None:
    with pytest.raises(ElmbenchError, match="fields in line"):
        described(tmp_path, "\n".join(lines))


def r_table(separator: str, row_names: list[str]) -> str:
    """Return rows as R's write.table writes them: the header lacks the name of the row names."""
    text = FRAME.set_axis(row_names).to_csv(
        index=True, sep=separator, quoting=csv.QUOTE_NONNUMERIC
    )
    return text.removeprefix(f'""{separator}')


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("prefix", ["", "Mazda RX"])
def test_row_names_of_r_are_left_out(
    tmp_path: Path, separator: str, prefix: str
) -> None:
    names = [f"{prefix}{number}" for number in range(1, N + 1)]
    spec = described(tmp_path, r_table(separator, names), "kind")
    assert same(load_from_spec(spec))
    assert sentence("datasets.user.row-names-left-out") in spec.notes


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
        described(
            tmp_path, "from the laboratory,2024\na,b,kind\n" + "1,2,no\n3,4,yes\n" * 20
        )


def test_bars_and_spaces_in_words_separate_nothing(tmp_path: Path) -> None:
    for mark in "| ":
        words = [f"a{mark}x", f"b{mark}y", f"c{mark}z"] * 20
        frame = FRAME[["a", "b", "kind"]].assign(**{f"source{mark}medium": words})
        data = loaded(tmp_path, frame.iloc[:, [3, 0, 1, 2]])
        assert data.feature_names == (f"source{mark}medium", "a", "b")
    assert same(loaded(tmp_path, FRAME.to_csv(index=False, sep=";", decimal=",")))


@pytest.mark.parametrize(
    "content", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\n\0", b"sep=;\n"]
)
def test_a_text_without_rows_is_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(ElmbenchError, match=r"x\.csv is empty"):
        describe(UserData(str(tmp_path / "x.csv")))


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
    monkeypatch.setattr(
        pd.Series, "round", lambda *args: calls.append(args) or rounded(*args)
    )
    loaded(tmp_path, FRAME)
    assert not calls


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
        assert (
            (load_from_spec(spec).columns.words == ("code",))
            == spec.by_fold
            == are_codes
        )
        assert (
            sentence("datasets.user.codes-are-categories", column="code") in spec.notes
        ) == are_codes


@pytest.mark.parametrize(
    "word", ["", "NA", "-", "--", "unknown", "None", "n.a.", "?", "missing"]
)
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
    assert (
        data.X["zip"][N:].fillna("").tolist() == data.X["zip"][2:N].fillna("").tolist()
    )
    declared = load_from_spec(
        described(tmp_path, frame, "kind", name=name, words=("zip",))
    )
    n_missing = N // 3 if word in ("", "NA", "?") and name == "x.csv" else 0
    assert declared.X["zip"].isna().sum() == n_missing


@pytest.mark.parametrize("word", ["-999", "9999", "999999", "0", "-1", "1e5"])
def test_numbers_for_a_missing_code_leave_codes_as_they_are(
    tmp_path: Path, word: str
) -> None:
    frame = FRAME[["a", "kind"]].assign(zip=["01234", "10115", word] * 20)
    spec = described(tmp_path, frame, "kind")
    assert load_from_spec(spec).columns.words == ("zip",)
    assert any(
        f"'zip' holds {word!r} beside codes with leading zeros" in n for n in spec.notes
    )


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


def test_numbers_that_look_like_codes_in_the_test_rows_alone_are_numbers(
    tmp_path: Path,
) -> None:
    test = write(
        tmp_path, FRAME[["a", "kind"]].assign(n=["07", "12"] * (N // 2)), "test.csv"
    )
    data = loaded(
        tmp_path,
        FRAME[["a", "kind"]].assign(n=["7", "12"] * (N // 2)),
        "kind",
        test=test,
    )
    np.testing.assert_array_equal(data.X[N:, 1], [7.0, 12.0] * (N // 2))


def test_fields_in_columns_of_spaces_and_a_separator_in_the_first_line(
    tmp_path: Path,
) -> None:
    assert same(loaded(tmp_path, FRAME.to_string(index=False), name="x.txt"))
    # The ending of UCI's files.
    assert same(loaded(tmp_path, FRAME.to_csv(index=False), name="x.data"))
    assert same(
        loaded(
            tmp_path,
            "sep=;\r\n" + FRAME.to_csv(index=False, sep=";", lineterminator="\n"),
        )
    )
    assert same(loaded(tmp_path, FRAME.to_csv(index=False, lineterminator="\r")))


def test_columns_that_are_dropped_and_rows_without_a_target(tmp_path: Path) -> None:
    frame = FRAME.assign(kind=[None, "?", *FRAME["kind"][2:]])
    with pytest.raises(
        ElmbenchError, match="the target 'kind' is missing in 2 of 60"
    ) as caught:
        described(tmp_path, frame)
    assert "--drop-missing-target" in str(caught.value.next_step)
    spec = described(tmp_path, frame, drop=("b",), drop_missing_target=True)
    np.testing.assert_array_equal(load_from_spec(spec).X, ROWS[2:, [0, 2]])
    assert "rows without a target, left out: 2 of 60" in spec.notes


def test_a_wide_table_is_read(tmp_path: Path) -> None:
    """Its lines are longer than the fields that the csv module reads by default."""
    rows = np.random.default_rng(0).random((20, 3000))
    names = [f"{'long' * 10}{index}" for index in range(3000)]
    text = (
        pd.DataFrame(rows, columns=names).assign(target=rows[:, 0]).to_csv(index=False)
    )
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
    spec = described(
        tmp_path, rows(*PAIRS[case]), "kind", name=f"x.{form}", task="classification"
    )
    assert spec.shape.classes == dict.fromkeys(PAIRS[case], N // 2)
    data = load_from_spec(spec)
    assert set(data.classes) == set(PAIRS[case])
    assert (data.y > 0).sum() == N // 2
    if form in ("csv", "parquet"):
        groups = loaded(
            tmp_path, rows(*PAIRS[case]), "a", groups="kind", name=f"x.{form}"
        ).groups
        np.testing.assert_array_equal(groups == groups[0], np.arange(N) % 2 == 0)


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_integers_past_2_to_the_53_are_different_classes(
    tmp_path: Path, form: str
) -> None:
    assert (
        described(
            tmp_path, rows(2**53, 2**53 + 1), "kind", name=f"x.{form}"
        ).shape.classes
        == PAST
    )
    y = 2**53 + np.arange(N) % 2
    for X in (A[:, None], sp.csr_matrix(A[:, None])):  # of a program
        spec = describe(UserData(str(write_arrays(X, y, tmp_path, "x", {})), "target"))
        assert spec.shape.classes == PAST


def test_numbers_of_one_value_are_one_class(tmp_path: Path) -> None:
    assert described(tmp_path, rows("1.0", "2"), "kind").shape.classes == {
        "1": N // 2,
        "2": N // 2,
    }


def test_a_category_keeps_its_spelling(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": A, "code": ["1_1", "11", "x"] * 20, "kind": ["no", "yes"] * 30}
    )
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
    assert (
        words.tolist() == ["true" if value else "false" for value in frame["code"]] * 2
    )


def test_a_long_file_is_split_once_and_each_column_of_words_is_coded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_rows = 5000
    words = ["red", "green"] * (n_rows // 2)
    frame = pd.DataFrame(
        {"a": np.arange(n_rows) / 7, "kind": words, "class": words[::-1]}
    )
    path = tmp_path / "long.csv"
    frame.to_csv(path, index=False)
    coded: list[int] = []
    factorize = pd.factorize

    def count(values: Any, **options: Any) -> Any:
        coded.append(len(values))
        return factorize(values, **options)

    monkeypatch.setattr(pd, "factorize", count)
    monkeypatch.setattr("elmbench.datasets.user_files.field_counts.row_widths", None)
    table = read_user_file(FileSource(kind="file", path=str(path), target="class"))
    assert coded.count(n_rows) == 2  # the words and the target
    assert table.column("kind").tolist() == words
    assert table.target.tolist() == words[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4",
        "a,b\n1,2\n\n3,4\n\n",
        "a,b\n1,2\n3,4\n",
        'a,b\n1,"2"\n3,4\n',
        "a;b\n1;2\n3;4",
    ],
)
def test_lines_of_one_width_are_read_with_and_without_an_end(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        text + ("\n5,6" * 30).replace(",", ";" if ";" in text else ",") + "\n"
    )
    table = read_user_file(FileSource(kind="file", path=str(path), target="b"))
    assert table.X[:3].tolist() == [[1.0], [3.0], [5.0]]


@pytest.mark.parametrize("odd", ["7,8,9", "7"])
def test_a_line_of_another_width_is_refused_by_its_number(
    tmp_path: Path, odd: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 2000 + odd + "\n" + "3,4\n" * 10)
    with pytest.raises(ElmbenchError, match="in line 2002"):
        read_user_file(FileSource(kind="file", path=str(path), target="b"))
