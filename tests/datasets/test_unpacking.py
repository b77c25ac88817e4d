"""Small files that unpack to much, and long lines, are refused before they fill the memory."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentences import pattern, sentence

from elmbench.datasets import unpacking
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.table import MOST_COLUMNS
from elmbench.datasets.user_data import UserData
from elmbench.datasets.user_files import text_files, workbooks
from elmbench.datasets.user_files.parquet_columns import read_columns
from elmbench.errors import ElmbenchError

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
N = 5000
FRAME = pd.DataFrame({"a": np.arange(N) % 2, "b": 1.0, "y": np.arange(N) % 2})


def write(path: Path) -> Path:
    """Write rows that repeat to a file in the format of its name, compressed."""
    if ".csv" in path.suffixes or ".svm" in path.suffixes:
        text = FRAME.to_csv(index=False)
        if ".svm" in path.suffixes:
            text = "".join(f"{row % 2} 1:{row % 2} 2:1\n" for row in range(N))
        opener: Callable[..., Any] = OPENERS.get(path.suffix, open)
        with opener(path, "wt", encoding="utf-8") as stream:
            stream.write(text)
    elif path.suffix == ".npz":
        np.savez_compressed(path, X=FRAME[["a", "b"]], y=FRAME["y"])
    elif path.suffix == ".xlsx":
        FRAME.to_excel(path, index=False)
    else:
        FRAME.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize(
    "name",
    ["x.csv.gz", "x.csv.bz2", "x.csv.xz", "x.svm.gz", "x.npz", "x.xlsx", "x.parquet"],
)
def test_what_a_file_may_unpack_to_is_limited(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / name)
    monkeypatch.setattr(unpacking, "MOST_RATIO", 1)
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000)
    limit = max(10_000, path.stat().st_size)
    with pytest.raises(
        ElmbenchError, match=rf"x\..* unpacks to more than {limit:,}"
    ) as caught:
        describe(UserData(str(path)))
    assert caught.value.expected == sentence(
        "datasets.unpacking.archive-too-large", limit="10,000", factor=1
    )
    monkeypatch.setattr(unpacking, "MOST_RATIO", 1000)
    assert load_from_spec(describe(UserData(str(path)))).X.shape == (N, 2)


def test_a_workbook_with_a_cell_in_the_last_corner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbook = openpyxl.Workbook()
    for row in [("a", "y"), *((number, number % 2) for number in range(40))]:
        workbook.active.append(row)
    workbook.active.cell(1_048_576, 16_384).value = 1
    workbook.save(tmp_path / "x.xlsx")
    with pytest.raises(ElmbenchError, match="line 1 names 2 of 16384 columns"):
        describe(UserData(str(tmp_path / "x.xlsx")))
    monkeypatch.setattr(workbooks, "MOST_CELLS", 500_000)
    with pytest.raises(
        ElmbenchError,
        match=pattern("datasets.unpacking.sheet-too-large", rows=42, columns="16,384"),
    ):
        describe(UserData(str(tmp_path / "x.xlsx")))


def test_the_cells_of_a_workbook_are_those_of_pandas(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "part": [0.5, 2.0, None],
            "word": ["a", "", "1.0"],
            "day": pd.to_datetime(["2024-01-01 00:00", "2024-02-01 12:30", None]),
            "bool": [True, False, True],
        }
    )
    with pd.ExcelWriter(path) as workbook:
        frame.to_excel(workbook, index=False, startrow=2)
        workbook.sheets["Sheet1"].cell(5, 3).value = "#N/A"
    cells, sheets = workbooks._read_sheet(path.read_bytes(), path)
    expected = pd.read_excel(path, header=None, dtype=object, keep_default_na=False)
    expected = expected.fillna("")[(expected != "").any(axis=1)]
    assert cells.to_csv(index=False) == expected.to_csv(index=False)
    assert sheets == ["Sheet1"]


def test_empty_rows_of_a_workbook_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbook = openpyxl.Workbook()
    for row in [["a", "y"], *[[number, number % 2] for number in range(30)]]:
        workbook.active.append(row)
    workbook.active.cell(500, 1).value = 1
    workbook.save(tmp_path / "x.xlsx")
    monkeypatch.setattr(workbooks, "MOST_ROWS", 400)
    with pytest.raises(ElmbenchError, match="its first sheet has more than 400 rows"):
        describe(UserData(str(tmp_path / "x.xlsx")))


@pytest.mark.parametrize(
    ("shape", "problem"),
    [((60, 150_000), "has 150,000 columns"), ((1400, 100_000), "unpacks to more than")],
)
def test_arrays_of_an_archive_are_counted_as_floats(
    tmp_path: Path, shape: tuple[int, int], problem: str
) -> None:
    target = np.arange(shape[0]) % 2
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros(shape, np.int8), y=target)
    with pytest.raises(ElmbenchError, match=problem):
        describe(UserData(str(tmp_path / "x.npz")))


@pytest.mark.parametrize("kind", ["category", "str"])
def test_a_word_that_all_rows_repeat_is_measured_before_it_is_unpacked(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MOST_BYTES", 200_000)
    path = tmp_path / "x.parquet"
    words = pd.Series(["w" * 1000] * N).astype(kind)
    FRAME.assign(a=words).to_parquet(path, index=False)
    with pytest.raises(
        ElmbenchError, match=r"x\.parquet has .* unpacks to more than"
    ) as caught:
        describe(UserData(str(path)))
    assert caught.value.next_step == "leave columns of long words out"


def test_columns_of_parquet_are_as_they_were_written(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "a.b": ["x", None, "y"],
            "bytes": [b"p", b"q", None],
            "kind": pd.Categorical(["u", "v", "u"]),
            "number": [1.0, 2.0, np.nan],
            "empty": pd.Series([None] * 3, dtype=object),
        }
    )
    path = tmp_path / "x.parquet"
    frame.to_parquet(path, index=False, row_group_size=2)
    names = [*frame][::-1]
    table = read_columns(path.read_bytes(), path, names)
    assert table.column_names == names
    pd.testing.assert_frame_equal(
        table.to_pandas()[[*frame]].astype(object),
        frame.astype(object),
        check_dtype=False,
    )


@pytest.mark.parametrize("n_columns", [5, 50])
def test_the_schema_of_a_parquet_file_is_made_once_for_all_columns(
    n_columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each access makes it anew, from all columns."""
    names = [f"x{position}" for position in range(n_columns)]
    path = tmp_path / "x.parquet"
    pd.DataFrame(1.0, index=range(3), columns=names).to_parquet(path)
    accesses = []

    class CountedSchema(pq.ParquetFile):
        @property
        def schema_arrow(self) -> pa.Schema:
            accesses.append(self)
            return super().schema_arrow

    monkeypatch.setattr(pq, "ParquetFile", CountedSchema)
    read_columns(path.read_bytes(), path, names)
    assert len(accesses) == 1


@pytest.mark.parametrize("name", ["x.csv.bz2", "x.csv.gz", "x.csv"])
def test_a_line_of_a_text_is_limited(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / name)
    monkeypatch.setattr(unpacking, "_BLOCK", 1000)
    monkeypatch.setattr(unpacking, "MOST_LINE_BYTES", 2000)
    assert describe(UserData(str(path))).shape.instances == N
    opener: Callable[..., Any] = OPENERS.get(path.suffix, open)
    with opener(path, "ab") as stream:
        stream.write(b"0" * 5000)
    with pytest.raises(ElmbenchError, match="a line of more than 2,000 bytes"):
        describe(UserData(str(path)))


def test_columns_are_counted_before_they_are_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("1," * MOST_COLUMNS + "\n")
    monkeypatch.setattr(
        text_files, "column_names", lambda *_: pytest.fail("it is too late")
    )
    with pytest.raises(ElmbenchError, match="has 100,001 columns"):
        describe(UserData(str(path)))
