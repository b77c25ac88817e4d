"""Splits that a file gives row by row.

A CSV file with the columns run, fold, row and part. Runs, folds and rows are numbered from 0, the
rows as the data file has them; `part` is `train` or `test`. A line may name several rows, separated
by spaces. A split without training rows learns all rows that it does not test. A row may be in
several test parts or in none, and several times in a training part.

A file of inner splits also has the column inner, the number of the inner split; run and fold are
those of the outer split whose training part is divided.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.openml_tasks import find_task, task_number
from elmbench.errors import ElmbenchError, amount
from elmbench.files import check_regular
from elmbench.specs.files import invalid
from elmbench.specs.splits import GIVEN, Split

Indices = NDArray[np.intp]

#: The columns that number the splits of a file.
_OUTER_NUMBERS = ("run", "fold")
_INNER_NUMBERS = ("run", "fold", "inner")
_PARTS = ("train", "test")


class GivenSplit(NamedTuple):
    """The rows of one split, in the order of the file."""

    train: list[int]
    test: list[int]


#: The splits of a file by their numbers.
GivenSplits = Mapping[tuple[int, ...], GivenSplit]


def locate_splits(split: Split, folder: Path, runs: int) -> Split:
    """Return outer splits with the path and the checksum of their file, which is in `folder`.

    Splits of another kind are returned as they are. `runs`: the number of runs that are needed; the
    file may have more. Raises ElmbenchError if the file cannot be read, lacks a run, or has a run
    whose folds are not those from 0 to `split.folds` - 1.
    """
    if split.kind != GIVEN:
        return split
    located = _with_path(split, folder)
    splits = read_splits(located.file, located.checksum, _OUTER_NUMBERS)
    n_runs = len({run for run, _ in splits})
    n_folds = len({fold for _, fold in splits})
    expected = set(product(range(n_runs), range(split.folds)))
    if expected == set(splits) and n_runs >= runs:
        return located
    raise ElmbenchError(
        f"{located.file} has {_size_text(n_runs, n_folds)}, or lacks a fold of a run; "
        f"{_size_text(runs, split.folds)} are needed",
        expected="runs and folds numbered from 0, the same folds in each run",
        next_step=f"correct protocol.outer, such as runs: {n_runs}, folds: {n_folds}",
    )


def locate_inner_splits(
    split: Split, folder: Path, *, runs: int, outer_folds: int
) -> Split:
    """Return inner splits with the path and the checksum of their file, which is in `folder`.

    Splits of another kind are returned as they are. `runs`, `outer_folds`: the numbers of runs and
    of outer folds in each, all of which need inner splits; the file may have more. Raises
    ElmbenchError if the file cannot be read, or lacks one of the `split.folds` inner splits of an
    outer fold.
    """
    if split.kind != GIVEN:
        return split
    located = _with_path(split, folder)
    splits = read_splits(located.file, located.checksum, _INNER_NUMBERS)
    expected = product(range(runs), range(outer_folds), range(split.folds))
    for run, fold, inner in expected:
        if (run, fold, inner) not in splits:
            raise ElmbenchError(
                f"{located.file} lacks the inner split {inner} of run {run}, fold {fold}",
                expected=f"{amount(split.folds, 'inner split')}, numbered from 0, in "
                f"{_size_text(runs, outer_folds)}",
                next_step="correct the file, or protocol.inner.folds",
            )
    return located


def _with_path(split: Split, folder: Path) -> Split:
    """Return given splits with the path and the checksum of their file.

    That is a file of `folder`, or the cached file of an OpenML task if the split names one. Raises
    ElmbenchError if it cannot be read, or the task was not fetched.
    """
    number = task_number(split.file)
    path = folder / split.file if number is None else find_task(number).path
    try:
        check_regular(path)
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise invalid(f"cannot read {path}: {error}", "a CSV file of splits") from error
    return replace(split, file=str(path.resolve()), checksum=checksum)


def _size_text(runs: int, folds: int) -> str:
    """Return the numbers of runs and folds in words, such as '2 runs of 5 folds'."""
    return f"{amount(runs, 'run')} of {amount(folds, 'fold')}"


@lru_cache(maxsize=16)
def read_splits(path: str, checksum: str, numbers: tuple[str, ...]) -> GivenSplits:
    """Return the splits of the CSV file `path`: {tuple of numbers such as (run, fold): split}.

    `numbers`: the columns that hold these numbers; the columns row and part are needed too.
    `checksum`: only distinguishes, in the cache, the contents that a file has had. Raises
    ElmbenchError if the file cannot be read or is not valid. A split has lists of the numbers of
    its training and test rows in the data file.
    """
    splits: dict[tuple[int, ...], GivenSplit] = {}
    columns = (*numbers, "row", "part")
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            lines = csv.DictReader(stream)
            header = lines.fieldnames or ()
            missing = sorted(set(columns) - set(header))
            if missing:
                problem = f"{path}: no column {', '.join(missing)}"
                raise invalid(problem, ", ".join(columns))
            for line in lines:
                location = f"{path}, line {lines.line_num}"
                texts = [line[name] for name in numbers]
                number = tuple(_parse_numbers(texts, location))
                split = splits.setdefault(number, GivenSplit([], []))
                _add_line(split, line, location)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise invalid(f"cannot read {path}: {error}", "a CSV file in UTF-8") from error
    return splits


def _add_line(split: GivenSplit, line: Mapping[str, str | None], location: str) -> None:
    """Append the rows that one line of a file of splits names to its split, in place.

    `line`: {column: text of the line}, None for a missing cell; `row` has numbers of rows,
    separated by spaces, perhaps none, and `part` is "train" or "test". `location`: the file and the
    line, for messages. Raises ElmbenchError if the part or a number is not valid.
    """
    part = line["part"]
    if part not in _PARTS:
        raise invalid(f"{location}: the part is {part!r}", "train or test")
    texts = (line["row"] or "").split()
    rows = _parse_numbers(texts, location)
    if part == "train":
        split.train.extend(rows)
    else:
        split.test.extend(rows)


def _parse_numbers(texts: Iterable[str | None], location: str) -> list[int]:
    """Return texts as whole numbers from 0.

    `location`: the file and the line, for messages. Raises ElmbenchError if a text is None, as that
    of a missing cell, or not such a number.
    """
    texts = list(texts)
    for text in texts:
        if text is None or not (text.isascii() and text.isdigit()):
            raise invalid(
                f"{location}: {text!r} is not a number of a run, fold or row",
                "0, 1, ...",
            )
    return [int(text) for text in texts if text is not None]


def given_parts(
    split: Split, run: int, n_rows: int, file_rows: Indices | None
) -> list[tuple[Indices, Indices]]:
    """Return the positions of the training and test rows of every fold of a run, from a file.

    `split`: with the path of the file, see `locate_splits`. `file_rows`: the number in the data
    file of each of the `n_rows` rows; None if they are all there, in their order. Raises
    ElmbenchError if the file names a row that is not there, or a part is empty. `run`: its number,
    from 0.
    """
    splits = read_splits(split.file, split.checksum, _OUTER_NUMBERS)
    numbers = np.arange(n_rows) if file_rows is None else file_rows
    rows = _AvailableRows(
        file_rows=numbers,
        whole="the data",
        expected=f"rows from 0 to {numbers.max()}",
    )
    parts = []
    for fold in range(split.folds):
        location = f"{split.file}: run {run}, fold {fold}"
        parts_of_fold = _parts_of(splits[run, fold], rows, location)
        parts.append(parts_of_fold)
    return parts


def given_inner_parts(
    split: Split, run: int, fold: int, file_rows: Indices
) -> list[tuple[Indices, Indices]]:
    """Return the positions of the training and test rows of every inner split of an outer fold.

    They are positions among the training rows of the outer fold. `split`: with the path of the
    file, see `locate_inner_splits`. `file_rows`: the number in the data file of each of these rows.
    A row that the outer fold learns twice is used twice. Raises ElmbenchError if the file names
    another row, or a part is empty. `run`, `fold`: the numbers of the run and the outer fold, from
    0.
    """
    splits = read_splits(split.file, split.checksum, _INNER_NUMBERS)
    rows = _AvailableRows(
        file_rows, "the outer training part", "rows that the outer fold learns"
    )
    return [
        _parts_of(
            splits[run, fold, inner],
            rows,
            f"{split.file}: run {run}, fold {fold}, inner {inner}",
        )
        for inner in range(split.folds)
    ]


class _AvailableRows:
    """The rows that splits may name, by their numbers in the data file."""

    def __init__(self, file_rows: Indices, whole: str, expected: str) -> None:
        self.n_rows = len(file_rows)
        self._whole = whole
        self._expected = expected
        self._positions: dict[int, list[int]] = {}
        for position, number in enumerate(file_rows.tolist()):
            positions = self._positions.setdefault(number, [])
            positions.append(position)

    def positions(self, rows: Iterable[int], location: str) -> Indices:
        """Return the positions of the rows with these numbers in the data file, in ascending order.

        A row that is there several times has several positions, and one that `rows` names several
        times has each of them as often. `location`: the place in the file of splits, for messages.
        Raises ElmbenchError if a row is not available.
        """
        positions: list[int] = []
        for row in rows:
            if row not in self._positions:
                raise ElmbenchError(
                    f"{location}: row {row} is not a row of {self._whole}",
                    expected=self._expected,
                    next_step="correct the file of splits",
                )
            positions.extend(self._positions[row])
        return np.sort(np.array(positions, dtype=np.intp))


def _parts_of(
    given: GivenSplit, rows: _AvailableRows, location: str
) -> tuple[Indices, Indices]:
    """Return the positions of the training and test rows of a split, each in ascending order.

    `given`: the numbers of rows in the data file; the parts may overlap and repeat rows. Without
    training rows, the split learns all available `rows` that it does not test. `location`: the
    place in the file of splits, for messages. Raises ElmbenchError if a row is not available, or a
    part is empty.
    """
    train = rows.positions(given.train, location)
    test = rows.positions(given.test, location)
    if not len(train):
        # All rows that are not tested are learnt.
        train = np.setdiff1d(np.arange(rows.n_rows), test)
    if not len(test) or not len(train):
        sizes = (
            f"{amount(len(train), 'training row')} and {amount(len(test), 'test row')}"
        )
        raise ElmbenchError(
            f"{location} has {sizes}",
            expected="rows in both parts",
            next_step="correct the file of splits",
        )
    return train, test
