"""Workbooks as people have them."""

import builtins
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from sentences import pattern, sentence
from user_files import FRAME, N, same

from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError


def test_stray_cells_beside_and_below_the_rows_of_a_workbook(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "x.xlsx") as workbook:
        FRAME.to_excel(workbook, index=False, sheet_name="Data")
        workbook.sheets["Data"].cell(5, 7, "note")
        workbook.sheets["Data"].cell(N + 100, 1, None).number_format = "0.0"
    spec = describe(UserData(str(tmp_path / "x.xlsx")))
    assert same(load_from_spec(spec))
    remark = sentence(
        "datasets.user.unnamed-columns-left-out", columns="column 5, column 6, column 7"
    )
    assert remark in spec.notes


def test_a_workbook_that_cannot_be_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(ElmbenchError, match="openpyxl cannot read it") as caught:
        describe(UserData(str(tmp_path / "x.xlsx")))
    assert "as CSV" in str(caught.value.next_step)


def test_the_first_sheet_of_a_workbook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, sheet_name="Werte", index=False)
        FRAME.to_excel(writer, sheet_name="Rest")
    spec = describe(UserData(str(path)))
    assert same(load_from_spec(spec))
    assert (
        sentence("datasets.user.only-first-sheet-read", sheets=2, sheet="Werte")
        in spec.notes
    )
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
        ElmbenchError, match=pattern("datasets.user.openpyxl-not-installed")
    ) as caught:
        describe(UserData(str(path)))
    assert "pip install" in str(caught.value.next_step)


def test_cells_of_numbers_beside_texts_with_a_decimal_comma(tmp_path: Path) -> None:
    values = (np.random.default_rng(0).normal(size=(N, 2)).round(3) + 0.0001).round(4)
    for column in (0, 1):
        cells = pd.DataFrame(values, columns=["a", "y"], dtype=object)
        cells.iloc[::3, column] = [
            f"{value}".replace(".", ",") for value in values[::3, column]
        ]
        path = tmp_path / f"{column}.xlsx"
        cells.to_excel(path, index=False)
        data = load_from_spec(describe(UserData(str(path), "y")))
        np.testing.assert_array_equal(data.X[:, 0], values[:, 0])
        np.testing.assert_array_equal(data.y, values[:, 1])


def test_lines_above_the_header_of_a_workbook_are_reported(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "x.xlsx") as workbook:
        wide = FRAME.assign(e=0.5)
        wide.to_excel(workbook, index=False, startrow=2, sheet_name="Data")
        workbook.sheets["Data"].cell(1, 1, "My report")
        workbook.sheets["Data"].cell(1, 5, "2024")
    with pytest.raises(
        ElmbenchError, match=r"line 1 names 2 of 5 columns \(My report, 2024\)"
    ) as caught:
        describe(UserData(str(tmp_path / "x.xlsx")))
    assert str(caught.value.next_step).startswith("remove the lines above the header")


def test_numbers_of_a_workbook_have_no_marks(tmp_path: Path) -> None:
    """Only its words have some."""
    prices = [957.306, 219.436, 74.168] * 20
    frame = pd.DataFrame({"a": prices, "b": ["8,6", "7", "1,25"] * 20, "c": prices})
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    data = load_from_spec(describe(UserData(str(tmp_path / "x.xlsx"), "c")))
    np.testing.assert_array_equal(data.y, prices)
    np.testing.assert_array_equal(
        data.X, np.column_stack([prices, [8.6, 7, 1.25] * 20])
    )


@pytest.mark.parametrize(
    "header",
    [("a", "b", "y"), ("a", None, "y"), ("a", "b", None), ()],
    ids=["all named", "feature without a name", "target without a name", "no header"],
)
def test_a_column_without_a_name_is_read_like_one_with_a_name(
    tmp_path: Path, header: tuple[str | None, ...]
) -> None:
    features = [("1,5", "1.234"), ("2,25", 7), ("0,75", "12.345")] * (N // 3)
    target = np.arange(N) / 8 + 0.001
    rows = [
        (*words, float(value)) for words, value in zip(features, target, strict=True)
    ]
    path = tmp_path / "x.xlsx"
    write_rows(path, *([header] if header else []), *rows)
    name = "x2" if not header else header[2] or "column 3"
    layout = bool(header)
    data = load_from_spec(describe(UserData(str(path), name, header=layout)))
    np.testing.assert_array_equal(
        data.X, [(1.5, 1234), (2.25, 7), (0.75, 12345)] * (N // 3)
    )
    np.testing.assert_array_equal(data.y, target)


@pytest.mark.parametrize("target", ["price", "kind"])
def test_commas_in_all_texts_of_a_workbook_are_refused(
    tmp_path: Path, target: str
) -> None:
    """Its numbers have fractions, but these say nothing of how somebody types a text."""
    prices = [f"{1 + i % 9},{100 + 7 * i}" for i in range(N)]
    frame = pd.DataFrame(
        {"width": np.arange(N) / 8, "price": prices, "kind": ["a", "b"] * (N // 2)}
    )
    path = tmp_path / "x.xlsx"
    frame.to_excel(path, index=False)
    with pytest.raises(
        ElmbenchError, match=r"'1,100' in the column 'price' may be 1100 or 1\.100"
    ):
        describe(UserData(str(path), target))
    spec = describe(UserData(str(path), target, decimal=","))
    data = load_from_spec(spec)
    read = data.y if target == "price" else np.asarray(data.X)[:, 1]
    np.testing.assert_array_equal(
        read, [float(word.replace(",", ".")) for word in prices]
    )
    # Programs write a decimal point.
    frame.assign(price=[word.replace(",", ".") for word in prices]).to_excel(
        path, index=False
    )
    assert describe(UserData(str(path), target)).shape.instances == N


#: A title above the header, and a remark below the title.
TITLES = (("Stores",), ("", "confidential"))


def write_rows(path: Path, *rows: Any) -> None:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    workbook.save(path)


@pytest.mark.parametrize("header", [None, True])
def test_a_title_above_the_header_of_a_workbook_is_left_out(
    tmp_path: Path, header: bool | None
) -> None:
    path = tmp_path / "x.xlsx"
    write_rows(path, *TITLES, [], [*FRAME], *FRAME.to_numpy().tolist())
    spec = describe(UserData(str(path), header=header))
    assert same(load_from_spec(spec))
    remark = sentence(
        "datasets.user.left-out-above-header", titles="Stores, confidential"
    )
    assert remark in spec.notes


@pytest.mark.parametrize(
    ("first", "others", "problem"),
    [
        # The second row holds no names of numbers, so the first may be the header.
        (
            "Answer",
            [("yes", "no", word) for word in "abcdefgh"],
            "names 1 of 3 columns",
        ),
        # A number is no title: the first row is data.
        (2024, [("a", "b", "c"), *[(row, row, row) for row in range(20)]], "'x0'"),
    ],
)
def test_a_first_row_that_may_be_no_title_is_not_left_out(
    tmp_path: Path, first: Any, others: list[Any], problem: str
) -> None:
    path = tmp_path / "x.xlsx"
    write_rows(path, (first,), *others)
    with pytest.raises(ElmbenchError, match=problem):
        describe(UserData(str(path)))
