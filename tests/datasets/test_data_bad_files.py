"""Files that are there but bad: one clear message each, saying the file, what is found and what is expected."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

Lines = list[str]


def cell(lines: Lines, row: int, column: int, word: str) -> Lines:
    words = lines[row].split(",")
    words[column] = word
    return [*lines[:row], ",".join(words), *lines[row + 1 :]]


def drop(lines: Lines, column: int) -> Lines:
    return [",".join(word for place, word in enumerate(line.split(",")) if place != column) for line in lines]


BAD: dict[str, tuple[Callable[[Lines], Lines], str, str]] = {
    "too few rows": (lambda lines: lines[:-3], "566 rows", "569 rows"),
    "too few columns": (lambda lines: drop(lines, 4), "29 features", "30 features"),
    "class counts": (lambda lines: cell(lines, 1, -1, "1"), "358 rows of class 1", "357"),
    "other labels": (lambda lines: cell(lines, 1, -1, "3"), "the labels are 1, 2, 3", "1, 2"),
    "no target column": (lambda lines: [lines[0].replace("target", "label"), *lines[1:]], "no target", "'target'"),
    "a missing label": (lambda lines: cell(lines, 7, -1, "?"), "target is missing in 1 of 569", "every row"),
    "a missing value": (lambda lines: cell(lines, 7, 3, "?"), "missing value.*row 7, column 'V4'", "finite"),
    "an infinite value": (lambda lines: cell(lines, 9, 0, "inf"), "infinite value.*row 9, column 'V1'", "finite"),
    "a word": (lambda lines: cell(lines, 2, 5, "n/k"), r"column 'V6' holds 'n/k' \(row 2\)", "numbers"),
    "a column twice": (lambda lines: cell(lines, 0, 3, "V2"), r"'V2' appears twice \(columns 2 and 4\)", "differ"),
    "a short line": (lambda lines: [*lines[:-1], "1,2,3"], "cannot be read.*31.*3", "complete file"),
    "a header alone": (lambda lines: lines[:1], "0 rows", "569 rows"),
    "a long line": (lambda lines: [*lines[:5], lines[5] + ",1", *lines[6:]], "cannot be read.*31.*32", "complete"),
}


def message(folder: Path, name: str = "wdbc") -> str:
    return str(refused(folder, name))


def check(found: str, said: str, expected: str) -> None:
    import re

    assert re.search(said, found.splitlines()[0]), found
    assert expected in found, found


@pytest.mark.parametrize("case", list(BAD))
def test_bad_rows(folder: Path, wdbc_lines: Lines, case: str) -> None:
    spoil, said, expected = BAD[case]
    (folder / "wdbc.csv").write_text("\n".join(spoil(wdbc_lines)) + "\n")
    found = message(folder)
    assert str(folder / "wdbc.csv") in found.splitlines()[0]
    check(found, said, expected)


def test_an_empty_file(folder: Path) -> None:
    (folder / "wdbc.csv").write_bytes(b"")
    check(message(folder), "wdbc.csv is empty", "rows of data")
    (folder / "wdbc.csv").unlink()
    (folder / "wdbc.csv.gz").write_bytes(gzip.compress(b"\n"))
    check(message(folder), "wdbc.csv.gz is empty", "rows of data")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_compressed_file_cut_short(folder: Path, wdbc_lines: Lines, share: float) -> None:
    packed = gzip.compress("\n".join(wdbc_lines).encode())
    (folder / "wdbc.csv.gz").write_bytes(packed[: max(5, int(len(packed) * share))])
    check(message(folder), r"wdbc\.csv\.gz cannot be read", "complete file")


def test_no_gzip_file_behind_the_name(folder: Path) -> None:
    (folder / "wdbc.csv.gz").write_text("<html>not found</html>")
    check(message(folder), "wdbc.csv.gz cannot be read", "complete file")


@pytest.mark.parametrize(("suffix", "content"), [("parquet", b"PAR1 no"), ("npz", b"PK no"), ("arff", b"@relation")])
def test_no_such_format_behind_the_name(folder: Path, suffix: str, content: bytes) -> None:
    (folder / f"wdbc.{suffix}").write_bytes(content)
    check(message(folder), f"wdbc.{suffix} cannot be read", "complete file")


@pytest.mark.parametrize(
    ("line", "said"),
    [("1 31:4", "30"), ("1 0:4", "[Ii]nvalid index 0"), ("1 5:", "cannot be read"), ("x 1:2", "cannot be read")],
)
def test_libsvm_text(folder: Path, line: str, said: str) -> None:
    (folder / "wdbc.svm").write_text(f"1 1:3\n{line}\n")
    check(message(folder), said, "complete file")


def test_pickles_are_never_loaded(folder: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (Path(folder / "sprung"),)

    stream = io.BytesIO()
    np.savez(stream, X=np.array([Trap()], dtype=object), target=np.ones(1))
    (folder / "wdbc.npz").write_bytes(stream.getvalue())
    check(message(folder), "cannot be read", "complete file")
    assert not (folder / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": np.ones((3, 30))}, "no target"),
        ({"target": np.ones(3)}, "no features"),
        ({"X": np.ones((3, 30)), "target": np.ones(4)}, "3 rows of features and 4 targets"),
    ],
)
def test_incomplete_archives(folder: Path, arrays: dict[str, np.ndarray], said: str) -> None:
    np.savez(folder / "wdbc.npz", **arrays)
    assert said in message(folder)


def test_two_files_for_the_same_rows(folder: Path, wdbc_lines: Lines) -> None:
    for name in ("wdbc.csv", "wdbc.svm"):
        (folder / name).write_text("\n".join(wdbc_lines))
    check(message(folder), "wdbc.csv and wdbc.svm", "one of them")


def test_a_part_beside_the_whole_and_a_part_alone(folder: Path, wdbc_lines: Lines) -> None:
    (folder / "wdbc.train.csv").write_text("\n".join(wdbc_lines))
    check(message(folder), "no test part", "wdbc.test.*")
    (folder / "wdbc.csv").write_text("\n".join(wdbc_lines))
    check(message(folder), "wdbc.csv, wdbc.train.csv", "either the whole")
    (folder / "wdbc.csv").unlink()
    (folder / "wdbc.train.csv").rename(folder / "wdbc.test.csv")
    check(message(folder), "no train part", "wdbc.train.*")


def test_parts_that_do_not_fit_together(folder: Path, wdbc_lines: Lines) -> None:
    (folder / "wdbc.train.csv").write_text("\n".join(wdbc_lines[:400]))
    (folder / "wdbc.test.csv").write_text("\n".join(drop([wdbc_lines[0], *wdbc_lines[400:]], 2)))
    check(message(folder), "30 columns.*29", "the same columns")


def test_a_link_that_points_nowhere_and_a_folder(folder: Path) -> None:
    (folder / "wdbc.csv").symlink_to(folder / "gone.csv")
    check(message(folder), r"wdbc.csv is a link to .*gone.csv", "a file")
    (folder / "wdbc.csv").unlink()
    (folder / "wdbc.csv").mkdir()
    check(message(folder), "wdbc.csv cannot be read.*regular file", "complete file")


def test_a_data_directory_that_does_not_exist(folder: Path) -> None:
    check(message(folder / "no"), "does not exist", "a folder")
