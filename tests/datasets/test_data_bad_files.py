"""Files that are there but bad, or made to flood the process: one message each, with the file and
what was expected.
"""

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from loopback import zip_bytes

from elmbench.datasets.load import load_dataset
from elmbench.errors import DataUnavailableError, ElmbenchError

Lines = list[str]


def check(folder: Path, problem: str, expected: str = "", name: str = "wdbc") -> None:
    """Load a data set of a folder, which must fail with one error of three parts."""
    with pytest.raises(ElmbenchError) as caught:
        load_dataset(name, folder)
    error = caught.value
    assert not isinstance(error, DataUnavailableError)
    assert error.next_step
    assert re.search(problem, error.found), error.found
    assert expected in str(error.expected), error.expected
    assert len(str(error).splitlines()) <= 3


def cell(lines: Lines, row: int, column: int, word: str) -> Lines:
    words = lines[row].split(",")
    words[column] = word
    return [*lines[:row], ",".join(words), *lines[row + 1 :]]


def drop(lines: Lines, column: int) -> Lines:
    return [
        ",".join(word for index, word in enumerate(line.split(",")) if index != column)
        for line in lines
    ]


BAD: dict[str, tuple[Callable[[Lines], Lines], str, str]] = {
    "too few rows": (lambda lines: lines[:-3], "566 rows", "569 rows"),
    "too few columns": (lambda lines: drop(lines, 4), "29 features", "30 features"),
    "class counts": (
        lambda lines: cell(lines, 1, -1, "1"),
        "358 rows of class 1",
        "357",
    ),
    "other labels": (
        lambda lines: cell(lines, 1, -1, "3"),
        "the labels are 1, 2, 3",
        "1, 2",
    ),
    "no target column": (
        lambda lines: [lines[0].replace("target", "label"), *lines[1:]],
        "no target",
        "'target'",
    ),
    "a missing label": (
        lambda lines: cell(lines, 7, -1, "?"),
        "target is missing in 1 of 569",
        "every row",
    ),
    "a missing value": (
        lambda lines: cell(lines, 7, 3, "?"),
        "missing value.*row 7, column 'V4'",
        "finite",
    ),
    "an infinite value": (
        lambda lines: cell(lines, 9, 0, "inf"),
        "infinite value.*row 9, column 'V1'",
        "finite",
    ),
    "a word": (
        lambda lines: cell(lines, 2, 5, "n/k"),
        r"column 'V6' holds 'n/k' \(row 2\)",
        "numbers",
    ),
    "a column twice": (
        lambda lines: cell(lines, 0, 3, "V2"),
        r"'V2' appears twice \(columns 2 and 4\)",
        "differ",
    ),
    "a short line": (
        lambda lines: [*lines[:-1], "1,2,3"],
        "found 3 fields in line 570",
        "31 fields",
    ),
    "a header alone": (lambda lines: lines[:1], "0 rows", "569 rows"),
    "a long line": (
        lambda lines: [*lines[:5], lines[5] + ",1", *lines[6:]],
        "found 32 fields in line 6",
        "31 fields",
    ),
}


@pytest.mark.parametrize("case", list(BAD))
def test_a_file_with_faulty_rows_is_rejected_with_the_line(
    folder: Path, wdbc_lines: Lines, case: str
) -> None:
    spoil, result, expected = BAD[case]
    (folder / "wdbc.csv").write_text("\n".join(spoil(wdbc_lines)) + "\n")
    check(folder, f"wdbc.csv.*{result}", expected)


def test_a_stray_word_in_a_row_that_is_dropped(folder: Path) -> None:
    rows = [f"{i},1,1,1,1,1,1,1,1,{2 if i < 458 else 4}" for i in range(699)]
    rows[0] = "0,?,oops,1,1,1,1,1,1,2"
    header = ",".join([*(f"V{index}" for index in range(9)), "target"])
    (folder / "breast-cancer.csv").write_text("\n".join([header, *rows]))
    check(folder, "the column 'V2' holds words", name="breast-cancer")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_compressed_file_cut_short(
    folder: Path, wdbc_lines: Lines, share: float
) -> None:
    packed = gzip.compress("\n".join(wdbc_lines).encode())
    (folder / "wdbc.csv.gz").write_bytes(packed[: max(5, int(len(packed) * share))])
    check(folder, r"wdbc\.csv\.gz cannot be read", "complete file")


def test_pickles_are_never_loaded(folder: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(folder / "sprung"),)

    np.savez(folder / "wdbc.npz", X=np.array([Trap()], dtype=object), target=np.ones(1))
    check(folder, "cannot be read", "complete file")
    assert not (folder / "sprung").exists()


def in_memory(write: Callable[..., Any], *args: Any, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    write(stream, *args, **arrays)
    return stream.getvalue()


def npz(**arrays: Any) -> bytes:
    return in_memory(np.savez, **arrays)


def csr(**changed: Any) -> bytes:
    """Return an archive of three sparse rows of 30 features, some of its parts changed."""
    X = sp.csr_matrix((np.ones(4), [0, 29, 3, 4], [0, 2, 3, 4]), shape=(3, 30))
    parts = {name: getattr(X, name) for name in ("data", "indices", "indptr", "shape")}
    return npz(**parts | {"target": np.array([1.0, 2.0, 1.0])} | changed)


def long_header() -> bytes:
    """Return an archive whose array is said to have 10^12 rows, and has one value."""
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 30)}
    return zip_bytes(
        {"X.npy": in_memory(np.lib.format.write_array_header_1_0, header) + b"\0" * 8}
    )


def parquet(**columns: Any) -> bytes:
    return in_memory(lambda stream: pq.write_table(pa.table(columns), stream))


COLUMNS = {f"V{index}": np.zeros(3) for index in range(30)}
HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "nothing": ("csv", lambda: b"", "is empty"),
    "not gzip": ("csv.gz", lambda: b"<html>not found</html>", "cannot be read"),
    "not an archive": ("npz", lambda: b"PK no", "cannot be read"),
    "ARFF cut short": ("arff", lambda: b"@relation", "cannot be read"),
    "an index from 0": (
        "svm",
        lambda: b"1 0:3\n1 31:4\n",
        "numbers its features from 0",
    ),
    "an index beyond the width": ("svm", lambda: b"1 1:3\n1 31:4\n", "30"),
    "text": ("npz", lambda: b"a,target\n1,1\n", "not an archive of arrays"),
    "objects": (
        "npz",
        lambda: npz(X=np.array([None]), target=np.ones(1)),
        "not an archive of arrays",
    ),
    "no target": ("npz", lambda: npz(X=np.ones((3, 30))), "no target"),
    "too many targets": (
        "npz",
        lambda: npz(X=np.ones((3, 30)), target=np.ones(4)),
        "3 rows of features and 4",
    ),
    "indices that are too large": (
        "npz",
        lambda: csr(indices=np.array([0, 30, 3, 4])),
        "must be < 30",
    ),
    "indices that are not integers": (
        "npz",
        lambda: csr(indices=np.array([0, 0.5, 3, 4])),
        "not integers",
    ),
    "an index twice in a row": (
        "npz",
        lambda: csr(indices=np.array([5, 5, 3, 4])),
        "two values of one feature",
    ),
    "indptr that falls": (
        "npz",
        lambda: csr(indptr=np.array([0, 3, 2, 4])),
        "non-decreasing",
    ),
    "values that are complex": (
        "npz",
        lambda: csr(data=np.ones(4) * 1j),
        "not numbers",
    ),
    "a single number": (
        "npz",
        lambda: npz(X=np.array(3.0), target=np.ones(1)),
        "0 dimensions",
    ),
    "a matrix too wide to be dense": (
        "npz",
        lambda: csr(shape=np.array([3, 2**40])),
        "cannot be read",
    ),
    "records": (
        "npz",
        lambda: npz(X=np.zeros(3, dtype=[("a", "f8")]), target=np.ones(3)),
        "not numbers or words",
    ),
    "a part that is shorter than its header": (
        "npz",
        long_header,
        "unpacks to more than",
    ),
    "a header of 200 kB": (
        "csv",
        lambda: b"a" * 200_000 + b",target\n1,1\n",
        "cannot be read: field larger",
    ),
    "bytes of no text": ("csv", lambda: b"a,target\n\0,1\n", "not text"),
    "an empty list of words": (
        "arff",
        lambda: b"@relation a\n@attribute b {}\n@data\n1\n",
        "line 2 is not ARFF",
    ),
    "lists": (
        "parquet",
        lambda: parquet(**COLUMNS, target=[[1], [2], [1]]),
        "list<.*column 'target'",
    ),
}


@pytest.mark.parametrize("case", list(HOSTILE))
def test_a_hostile_file_is_rejected_with_one_error(folder: Path, case: str) -> None:
    ending, content, result = HOSTILE[case]
    (folder / f"wdbc.{ending}").write_bytes(content())
    check(folder, rf"wdbc\.{ending}.*{result}")


def test_files_that_do_not_fit_together(folder: Path, wdbc_lines: Lines) -> None:
    whole, train, test, other = (
        folder / f"wdbc.{end}" for end in ("csv", "train.csv", "test.csv", "svm")
    )
    train.write_text("\n".join(wdbc_lines[:400]))
    check(folder, "no test part", "wdbc.test.*")
    test.write_text("\n".join(drop([wdbc_lines[0], *wdbc_lines[400:]], 2)))
    check(folder, "30 columns.*29", "the same columns")
    train.rename(whole)
    check(folder, "wdbc.csv, wdbc.test.csv", "either the whole")
    whole.unlink()
    check(folder, "no train part", "wdbc.train.*")
    test.rename(whole)
    other.write_text("1 1:1")
    check(folder, "wdbc.csv and wdbc.svm", "one of them")


def test_a_link_that_points_nowhere_and_a_folder_that_does_not_exist(
    folder: Path,
) -> None:
    (folder / "wdbc.csv").symlink_to(folder / "gone.csv")
    check(folder, r"wdbc.csv is a link to .*gone.csv", "a file")
    check(folder / "no", "is not a folder", "a folder")
