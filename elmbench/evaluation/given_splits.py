"""Splits that a file gives row by row.

A CSV file with the columns run, fold, row and part. Runs, folds and rows are numbered from 0, the
rows as the data file has them; `part` is `train` or `test`. A line may name several rows, separated
by spaces. A split without training rows learns all rows that it does not test. A row may be in
several test parts or in none, and several times in a training part.
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

from elmbench.errors import ElmbenchError, amount
from elmbench.files import check_regular
from elmbench.specs.files import invalid
from elmbench.specs.protocol import Split

Indices = NDArray[np.intp]

_COLUMNS = ("run", "fold", "row", "part")
_PARTS = ("train", "test")


class GivenSplit(NamedTuple):
    """The rows of one split, in the order of the file."""

    train: list[int]
    test: list[int]


def locate_splits(split: Split, folder: Path, runs: int) -> Split:
    """Return a split with the path and the checksum of its file, which is in a folder; a split of
    another kind as it is.

    Raises ElmbenchError if the file lacks a run or a fold.
    """
    if split.kind != "given":
        return split
    path = folder / split.file
    try:
        check_regular(path)
        checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise invalid(f"cannot read {path}: {error}", "a CSV file of splits") from error
    located = replace(split, file=str(path.resolve()), checksum=checksum)
    _check_numbers(read_splits(located.file, checksum), located, runs)
    return located


def _check_numbers(
    splits: Mapping[tuple[int, int], GivenSplit], split: Split, runs: int
) -> None:
    """Raise ElmbenchError unless a file has the folds of a split, and so many runs or more."""
    n_runs = len({run for run, _ in splits})
    n_folds = len({fold for _, fold in splits})
    expected = set(product(range(n_runs), range(split.folds)))
    if expected == set(splits) and n_runs >= runs:
        return
    raise ElmbenchError(
        f"{split.file} has {_size_text(n_runs, n_folds)}, or lacks a fold of a run; "
        f"{_size_text(runs, split.folds)} are needed",
        expected="runs and folds numbered from 0, the same folds in each run",
        next_step=f"correct protocol.outer, such as runs: {n_runs}, folds: {n_folds}",
    )


def _size_text(runs: int, folds: int) -> str:
    return f"{amount(runs, 'run')} of {amount(folds, 'fold')}"


@lru_cache(maxsize=16)
def read_splits(path: str, checksum: str) -> dict[tuple[int, int], GivenSplit]:
    """Return the splits of a file by run and fold.

    `checksum` distinguishes the contents that a file has had.
    """
    splits: dict[tuple[int, int], GivenSplit] = {}
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            lines = csv.DictReader(stream)
            missing = sorted(set(_COLUMNS) - set(lines.fieldnames or ()))
            if missing:
                raise invalid(
                    f"{path}: no column {', '.join(missing)}", ", ".join(_COLUMNS)
                )
            for line in lines:
                _add_line(splits, line, f"{path}, line {lines.line_num}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise invalid(f"cannot read {path}: {error}", "a CSV file in UTF-8") from error
    return splits


def _add_line(
    splits: dict[tuple[int, int], GivenSplit],
    line: Mapping[str, str | None],
    location: str,
) -> None:
    """Add the rows of one line."""
    part = line["part"]
    if part not in _PARTS:
        raise invalid(f"{location}: the part is {part!r}", "train or test")
    run, fold = _numbers([line["run"], line["fold"]], location)
    texts = (line["row"] or "").split()
    rows = _numbers(texts, location)
    split = splits.setdefault((run, fold), GivenSplit([], []))
    if part == "train":
        split.train.extend(rows)
    else:
        split.test.extend(rows)


def _numbers(texts: Iterable[str | None], location: str) -> list[int]:
    """Return numbers from 0."""
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
    """Return the training and test rows of every fold of a run.

    `file_rows`: the number in the data file of each of the `n_rows` rows; None if they are all
    there, in their order.
    """
    splits = read_splits(split.file, split.checksum)
    numbers = np.arange(n_rows) if file_rows is None else file_rows
    position_of = {int(number): position for position, number in enumerate(numbers)}
    parts = []
    for fold in range(split.folds):
        given = splits[run, fold]
        location = f"run {run}, fold {fold}"
        _check_rows(given, position_of, split.file, location)
        train = _positions(given.train, position_of)
        test = _positions(given.test, position_of)
        if not len(train):
            # All rows that are not tested are learnt.
            train = np.setdiff1d(np.arange(n_rows), test)
        if not len(test) or not len(train):
            sizes = f"{amount(len(train), 'training row')} and {amount(len(test), 'test row')}"
            raise ElmbenchError(
                f"{split.file}: {location} has {sizes}",
                expected="rows in both parts",
                next_step="correct the file of splits",
            )
        parts.append((train, test))
    return parts


def _positions(rows: Iterable[int], position_of: Mapping[int, int]) -> Indices:
    """Return the positions of some rows of the data file, in ascending order."""
    return np.sort(np.array([position_of[row] for row in rows], dtype=np.intp))


def _check_rows(
    given: GivenSplit, position_of: Mapping[int, int], file: str, location: str
) -> None:
    """Raise ElmbenchError if a row of a split is not a row of the data."""
    for row in (*given.train, *given.test):
        if row not in position_of:
            raise ElmbenchError(
                f"{file}: row {row} of {location} is not a row of the data",
                expected=f"rows from 0 to {max(position_of)}",
                next_step="correct the file of splits",
            )
