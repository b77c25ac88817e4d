"""Text tables and workbooks as people have them."""

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from user_files import N, described, loaded, write

from elmbench.datasets.load import load
from elmbench.datasets.sources.file import FileSource
from elmbench.datasets.user_data import UserData, describe
from elmbench.datasets.user_table import read_user_file
from elmbench.errors import ElmbenchError

ROWS = np.random.default_rng(0).normal(size=(N, 3)).round(6)
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "größe"]).assign(kind=["gut", "schlecht", "übel"] * 20)


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
    assert same(load(spec))
    notes = " ".join(spec.notes)
    assert ("separated by" in notes) == (separator != ",")
    assert ("Windows-1252" in notes) == (encoding == "latin-1")
    assert "line 1 is taken for the header (--no-header if it is data): a, b, größe, kind" in notes


@pytest.mark.parametrize(("given", "written"), [("\\t", "\t"), ("tab", "\t"), (":", ":"), (" ", " ")])
def test_a_separator_that_is_given(tmp_path: Path, given: str, written: str) -> None:
    assert same(loaded(tmp_path, FRAME.to_csv(index=False, sep=written), name="x.txt", separator=given))


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
    assert ("taken for the header" if header else "taken for data (--header if it holds names)") in note
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


def test_fields_in_columns_of_spaces_and_a_separator_in_the_first_line(tmp_path: Path) -> None:
    assert same(loaded(tmp_path, FRAME.to_string(index=False), name="x.txt"))
    assert same(loaded(tmp_path, "sep=;\r\n" + FRAME.to_csv(index=False, sep=";", lineterminator="\n")))


def test_the_first_sheet_of_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, sheet_name="Werte", index=False)
        FRAME.to_excel(writer, sheet_name="Rest")
    spec = describe(UserData(str(path)))
    assert same(load(spec))
    assert "only the first of 2 sheets is read: Werte" in spec.notes
    usual = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return usual(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ElmbenchError, match="openpyxl, which reads Excel files, is not installed") as caught:
        describe(UserData(str(path)))
    assert "pip install" in str(caught.value.next_step)


def test_columns_that_are_dropped_and_rows_without_a_target(tmp_path: Path) -> None:
    frame = FRAME.assign(kind=[None, "?", *FRAME["kind"][2:]])
    with pytest.raises(ElmbenchError, match="the target is missing in 2 of 60") as caught:
        described(tmp_path, frame)
    assert "--drop-missing-target" in str(caught.value.next_step)
    spec = described(tmp_path, frame, drop=("b",), drop_missing_target=True)
    np.testing.assert_array_equal(load(spec).X, ROWS[2:, [0, 2]])
    assert "2 of 60 rows have no target and are left out" in spec.notes


def test_a_wide_table_is_read(tmp_path: Path) -> None:
    """Its lines are longer than the fields that the csv module reads by default."""
    rows = np.random.default_rng(0).random((20, 3000))
    names = [f"{'long' * 10}{index}" for index in range(3000)]
    text = pd.DataFrame(rows, columns=names).assign(target=rows[:, 0]).to_csv(index=False)
    assert text.index("\n") > 131_072
    assert described(tmp_path, text).shape.features == 3000
