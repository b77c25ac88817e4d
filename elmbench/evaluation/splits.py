"""Splits of the rows of a data set: outer folds, trials and parts; inner folds; random subsets by
class.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.openml_tasks import check_order_of_rows
from elmbench.errors import ElmbenchError, amount
from elmbench.evaluation.given_splits import Indices, given_parts
from elmbench.numerics.seeds import generator, integer_seed
from elmbench.registry.plugins import plugin_splits
from elmbench.specs.splits import BOOTSTRAPS, GIVEN, LEAVE_ONE_OUT, SIZED, Split

if TYPE_CHECKING:
    from elmbench.datasets.dataset import Dataset
    from elmbench.specs.datasets import DatasetSpec

#: The split that learns all rows and tests the same rows. It is part of an estimate, not a kind of
#: its own.
ALL_ROWS = "all-rows"
_SHOWN = 5  # rare classes that a remark names
#: The first training part of ordered outer folds has at least this many different times, if there
#: are enough, so that three inner folds can split it again.
_FIRST_TIMES = 4


def folds_of(
    split: Split,
    seed: int,
    X: Any,
    y: NDArray[Any],
    *,
    groups: NDArray[Any] | None = None,
    times: NDArray[Any] | None = None,
) -> list[tuple[Indices, Indices]]:
    """Return the training and test rows of each split that a `split` of a protocol describes.

    These are folds, bootstraps, splits of a plug-in, or a single random holdout (a list of one
    pair); other kinds, such as official, given or in-order parts, are not allowed. Rows are
    shuffled by `seed` unless the folds are ordered. `X`: the rows, of which only the number counts,
    except for a plug-in. `y`: their targets, whose shares stratified kinds keep. `groups`: for the
    kinds that keep groups together. `times`: ascending numbers, for ordered folds; by default, all
    rows have different times.
    """
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    if split.version:
        return plugin_parts(split, seed, X, y, groups)
    if split.kind in BOOTSTRAPS:
        return bootstraps(split.folds, seed, len(y))
    if split.kind in SIZED:
        return [random_parts(split, seed, X, y)]
    if split.kind == "ordered-kfold":
        return ordered_folds(np.arange(len(y)) if times is None else times, split.folds)
    whole_groups = {
        "stratified-group-kfold": StratifiedGroupKFold,
        "group-kfold": GroupKFold,
    }
    kinds = {"stratified-kfold": StratifiedKFold, "kfold": KFold, **whole_groups}
    splitter = kinds[split.kind](split.folds, shuffle=True, random_state=seed)
    return list(splitter.split(X, y, groups))


def bootstraps(folds: int, seed: int, n_rows: int) -> list[tuple[Indices, Indices]]:
    """Return `folds` pairs of training and test rows of bootstraps.

    `seed` seeds all draws. Training rows are random rows, drawn with replacement, as many as there
    are rows, in ascending order. Test rows are those that were not drawn; of very few rows, there
    may be none.
    """
    random = np.random.default_rng(seed)
    rows = np.arange(n_rows)
    draws = (np.sort(random.integers(n_rows, size=n_rows)) for _ in range(folds))
    return [(train, np.setdiff1d(rows, train)) for train in draws]


def plugin_parts(
    split: Split, seed: int, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> list[tuple[Indices, Indices]]:
    """Return the training and test rows of the splits of a plug-in, which `seed` seeds.

    `groups`: handed to the plug-in, as `X` and `y` are; None if the rows have none. Raises
    ValueError if their number is not `split.folds`, or a part is empty or holds anything but row
    numbers.
    """
    kinds = plugin_splits()
    splitter = kinds[split.kind].seeded(seed)
    parts = [
        (np.asarray(train), np.asarray(test))
        for train, test in splitter.split(X, y, groups)
    ]
    if len(parts) != split.folds:
        raise ValueError(
            f"expected {amount(split.folds, 'split')} of {split.kind}, got {len(parts)} instead"
        )
    n_rows = len(y)
    for train, test in parts:
        if not (_are_rows(train, n_rows) and _are_rows(test, n_rows)):
            raise ValueError(
                f"expected row numbers from 0 to {n_rows - 1} in both parts of {split.kind}"
            )
    return parts


def _are_rows(numbers: NDArray[Any], n_rows: int) -> bool:
    """Return True if `numbers` is a non-empty vector of integers from 0 to `n_rows` - 1."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or len(numbers) == 0:
        return False
    lowest = numbers.min()
    highest = numbers.max()
    return bool(lowest >= 0 and highest < n_rows)


def random_parts(
    split: Split, seed: int, X: Any, y: NDArray[Any]
) -> tuple[Indices, Indices]:
    """Return one random training and test part, in ascending order, as scikit-learn draws them.

    `split`: a `holdout` or a `stratified-holdout`, which keeps the shares of the classes `y`. Its
    sizes need not cover all rows. `seed`: of the draw. `X`: the rows, of which only the number
    counts.
    """
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    kinds = {"stratified-holdout": StratifiedShuffleSplit, "holdout": ShuffleSplit}
    n_train, n_test = part_sizes(split, len(y))
    splitter = kinds[split.kind](
        1, train_size=n_train, test_size=n_test, random_state=seed
    )
    train, test = next(splitter.split(X, y))
    return np.sort(train), np.sort(test)


def ordered_folds(
    times: NDArray[Any], folds: int, first_times: int = 1
) -> list[tuple[Indices, Indices]]:
    """Return training and test rows of folds of rows in the order of time.

    The training rows of a fold are all rows that are earlier than its test rows. The folds are
    those of `TimeSeriesSplit`, but each begins at the nearest change of the ascending `times`, of
    shape (n,). `first_times`: the least number of different times in the first training part, if
    there are enough. Raises ElmbenchError if there are too few times for the folds.
    """
    n = len(times)
    # The first row of each different time, apart from the first time.
    changes = np.flatnonzero(np.diff(times)) + 1
    if len(changes) < folds:
        raise ElmbenchError(
            f"the rows have {amount(len(changes) + 1, 'different time')}, too few for "
            f"{folds} folds",
            expected=f"at least {folds + 1}, since no fold begins within one time",
            next_step="lower the number of folds",
        )
    starts = _starts_of_tests(changes, n, folds, first_times)
    rows = np.arange(n)
    return [(rows[:start], rows[start:end]) for start, end in pairwise([*starts, n])]


def _starts_of_tests(
    changes: Indices, n: int, folds: int, first_times: int
) -> list[int]:
    """Return the first test row of each of `folds` folds of `n` rows in the order of time.

    `changes`: the rows at which a new time begins, at least one for each fold; each fold begins at
    a different one. `first_times`: the least number of different times in the first training part,
    if there are enough.
    """
    test_rows = n // (folds + 1)
    n_changes = len(changes)
    starts = []
    least = min(first_times - 1, n_changes - folds)
    for n_left in range(folds, 0, -1):
        start = n - n_left * test_rows
        distances = np.abs(changes - start)
        nearest = int(distances.argmin())
        # The later folds need a change each.
        most = n_changes - n_left
        position = min(max(nearest, least), most)
        starts.append(int(changes[position]))
        least = position + 1
    return starts


def order_rows(train: Indices, order: str, name: str, run: int, fold: int) -> Indices:
    """Return training rows in the order of learning.

    `order`: "stored" returns them as they are, "shuffled" in a random order. The other arguments,
    `name` (of the data set), the run and the fold, seed that order.
    """
    return (
        generator("order", name, run, fold).permutation(train)
        if order == "shuffled"
        else train
    )


class LeaveOneOutParts(Sequence[tuple[Indices, Indices]]):
    """The training and test rows of every fold of a leave-one-out.

    Each training part is made when it is asked for: together they would take the square of the
    number of rows.
    """

    def __init__(self, n_rows: int) -> None:
        self._rows = np.arange(n_rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, fold: Any) -> Any:
        if fold >= len(self):
            raise IndexError(f"fold {fold} of {len(self)}")
        return np.delete(self._rows, fold), self._rows[fold : fold + 1]


def outer_parts(
    data: Dataset, split: Split, run: int
) -> Sequence[tuple[Indices, Indices]]:
    """Return the training and test rows of every outer fold of a run, in the order of the file.

    Those of a plug-in keep its order. A holdout, or official parts, are one fold. If all rows are
    both learnt and tested, each of `split.folds` folds has all rows in both parts. Rows are
    numbered from 0. They depend on the data set and the run only, so that all models are compared
    on the same rows. Raises ElmbenchError if the rows do not suffice.
    """
    check_splittable(data, split)
    kind = split.kind
    n_rows = len(data.y)
    if kind == "predefined-kfold":
        from sklearn.model_selection import PredefinedSplit

        splitter = PredefinedSplit(data.folds)
        return list(splitter.split())
    if kind == "ordered-kfold":
        times = np.arange(n_rows) if data.times is None else data.times
        return ordered_folds(times, split.folds, _FIRST_TIMES)
    if kind.endswith("kfold") or kind in BOOTSTRAPS or split.version:
        return _random_folds(data, split, run)
    if kind == ALL_ROWS:
        rows = np.arange(n_rows)
        return [(rows, rows)] * split.folds
    if kind == LEAVE_ONE_OUT:
        return LeaveOneOutParts(n_rows)
    if kind == GIVEN:
        parts = given_parts(split, run, n_rows, data.rows)
        if data.rows is None:
            check_order_of_rows(Path(split.file), data, (test for _, test in parts))
        return parts
    return [_holdout(data, split, run)]


def _random_folds(
    data: Dataset, split: Split, run: int
) -> list[tuple[Indices, Indices]]:
    """Return the training and test rows of random folds, bootstraps or splits of a plug-in.

    The name of the data set and the run seed them. Warnings of classes with fewer rows than folds
    are silenced.
    """
    seed = integer_seed("split", data.name, run)
    with warnings.catch_warnings():
        if split.kind.endswith("kfold"):
            # `rare_class_remark` names rare classes.
            warnings.simplefilter("ignore", UserWarning)
        return folds_of(split, seed, data.X, data.y, groups=data.groups)


def _holdout(data: Dataset, split: Split, run: int) -> tuple[Indices, Indices]:
    """Return the training and test rows of a single split of a data set.

    These are the official parts, which must exist, or rows of the sizes of the split: the first
    ones in the order of the file for the kind `in-order`, else random ones. Random rows depend on
    the name of the data set and the run.
    """
    if split.kind == "official":
        parts = data.splits
        assert parts is not None
        return parts["train"], parts["test"]
    if split.kind == "stratified-holdout":
        seed = integer_seed("split", data.name, run)
        return random_parts(split, seed, data.X, data.y)
    rows = _rows_in_order_of_split(data, split, run)
    n_train, n_test = part_sizes(split, len(rows))
    train = rows[:n_train]
    remaining = rows[n_train:]
    test = remaining[:n_test]
    return np.sort(train), np.sort(test)


def _rows_in_order_of_split(data: Dataset, split: Split, run: int) -> Indices:
    """Return the numbers of all rows in the order in which a holdout takes them.

    That is the order of the file for the kind `in-order`, else a random order for the data set and
    the run.
    """
    n = len(data.y)
    if split.kind == "in-order":
        return np.arange(n)
    return generator("split", data.name, run).permutation(n)


def part_sizes(split: Split, n_rows: int) -> tuple[int, int]:
    """Return the sizes of the training and the test part of `n_rows` rows, in rows.

    The split gives each as a share, as a number of rows, or not at all: then the part has the
    remaining rows; if it gives neither, the training part has all. Shares are rounded as in
    scikit-learn: down for the training part, up for the test part. Whether so many rows exist is
    not checked.
    """
    train = (
        math.floor(split.train * n_rows)
        if isinstance(split.train, float)
        else split.train
    )
    test = (
        math.ceil(split.test * n_rows) if isinstance(split.test, float) else split.test
    )
    if train is None:
        train = n_rows - (test or 0)
    return train, n_rows - train if test is None else test


def n_training_rows(split: Split, n_rows: int) -> int:
    """Return the rough number of training rows in one split of `n_rows` rows.

    It is `n_rows` for bootstraps, and for official, given or plug-in parts unless they come in
    several folds: these count as the folds of a cross-validation, as ordered folds do.
    """
    if split.kind in SIZED:
        return part_sizes(split, n_rows)[0]
    if split.kind == LEAVE_ONE_OUT:
        return n_rows - 1
    if split.kind in (*BOOTSTRAPS, ALL_ROWS):
        return n_rows
    if split.folds <= 1:
        return n_rows
    n_training_folds = split.folds - 1
    return n_rows * n_training_folds // split.folds


def check_splittable(data: Dataset, split: Split) -> None:
    """Raise ElmbenchError if the rows of a data set do not suffice for a split.

    That is, if official parts are missing, a part of a holdout would be empty or lack a class, the
    column of folds has another number of folds than the split, or there are too few rows, groups,
    times or rows of a class.
    """
    n = len(data.y)
    kind = split.kind
    if kind == "official" and data.splits is None:
        raise ElmbenchError(
            f"{data.name} ({data.source}) has no official training and test part",
            expected=f"{data.name}.train.* and {data.name}.test.*, or a source that tells its "
            "parts apart",
            next_step="give the experiment another kind of outer split, or fetch the data from its "
            "public source",
        )
    train, test = part_sizes(split, n)
    # Each class has a row in both parts.
    fewest = len(np.unique(data.y)) if kind == "stratified-holdout" else 1
    if kind in SIZED and (min(train, test) < fewest or train + test > n):
        expected = "sizes that leave rows for both parts"
        if fewest > 1:
            expected += f", {fewest} at least"
        raise ElmbenchError(
            f"{data.name} has {n} rows, too few for {train} training and {test} test rows",
            expected=expected,
            next_step="correct protocol.outer.sizes of the experiment",
        )
    if kind == "predefined-kfold":
        n_folds = 0 if data.folds is None else int(data.folds.max()) + 1
        if n_folds < 2 or n_folds != split.folds:
            problem = (
                f"{data.name} has {amount(n_folds, 'fold')} in its column of folds"
            )
            expected = f"{max(2, split.folds)} folds"
            raise ElmbenchError(
                problem,
                expected=expected,
                next_step="correct the column, or name another one",
            )
    n_groups = 0 if data.groups is None else len(np.unique(data.groups))
    n_times = None if data.times is None else len(np.unique(data.times))
    class_sizes = np.unique(data.y, return_counts=True)[1]
    check_counts(data.name, split, n, class_sizes, n_groups=n_groups, n_times=n_times)


def count_parts(split: Split) -> int:
    """Return the number of parts into which the folds of a split divide the rows.

    There is one for each fold. Ordered folds have another one: the first training part, which no
    fold tests.
    """
    return split.folds + 1 if split.kind == "ordered-kfold" else split.folds


def check_counts(
    name: str,
    split: Split,
    n: int,
    class_sizes: Collection[int],
    *,
    n_groups: int = 0,
    n_times: int | None = None,
) -> None:
    """Raise ElmbenchError if there are too few rows, groups or times for folds or a holdout.

    `name`: of the data set. `n`: the number of rows. `class_sizes`: the number of rows of each
    class; of stratified folds, only the largest class must have a row for each fold, of a
    stratified holdout, each class must have two. `n_groups`: the number of groups, 0 if there are
    none. `n_times`: the number of different times; None if each row has its own. Other kinds of
    split, such as bootstraps, are not checked.
    """
    kind = split.kind
    next_step = "lower the number of folds"
    of_part = ""
    count = n
    unit = "row"
    minimum = count_parts(split)
    purpose = f"{split.folds} folds"
    if kind == "stratified-holdout":
        count = min(class_sizes)
        of_part = " in its smallest class"
        minimum = 2
        purpose = "a stratified holdout"
        next_step = "give the experiment `holdout` as its outer split"
    elif kind == LEAVE_ONE_OUT:
        minimum = 2
        purpose = "leave-one-out"
        next_step = "give the experiment another kind of outer split"
    elif not kind.endswith("kfold"):
        return
    elif kind.endswith("group-kfold") and n_groups < minimum:
        count = n_groups
        unit = "group"
        of_part = " of rows"
    elif kind == "ordered-kfold" and n_times is not None:
        count = n_times
        unit = "different time"
        of_part = " of rows"
    elif kind.startswith("stratified-"):
        count = max(class_sizes)
        of_part = " in its largest class"
    if count < minimum:
        problem = f"{name} has {amount(count, unit)}{of_part}, too few for {purpose}"
        raise ElmbenchError(
            problem, expected=f"at least {minimum}", next_step=next_step
        )


def rare_class_remark(spec: DatasetSpec, split: Split) -> str:
    """Return a remark on the classes that have fewer rows than stratified folds.

    It names five of them at most. It is empty without such classes, for other kinds of split, or if
    the sizes of the classes are not known. If `spec.positive` names labels, they count as one class
    and all others as a second.
    """
    counts = spec.shape.classes
    if split.kind not in (
        "stratified-kfold",
        "stratified-group-kfold",
    ) or not isinstance(counts, dict):
        return ""
    sizes = {label: n for label, n in counts.items() if n is not None}
    if spec.positive:
        n_positive = sum(sizes.get(label, 0) for label in spec.positive)
        sizes = {
            " or ".join(spec.positive): n_positive,
            "the rest": sum(sizes.values()) - n_positive,
        }
    rare = [
        f"the class {label!r} has {amount(n, 'row')}"
        for label, n in sizes.items()
        if n < split.folds
    ]
    if not rare:
        return ""
    rest = ""
    if len(rare) > _SHOWN:
        rest = f" and {len(rare) - _SHOWN} more classes are as rare"
    return (
        f"{', '.join(rare[:_SHOWN])}{rest}, fewer than the {split.folds} folds: some test parts "
        "have none of them"
    )


def sample_rows(y: NDArray[Any], rows: int, by_class: bool, *key: str | int) -> Indices:
    """Return the positions of `rows` random rows of `y`, in ascending order.

    `rows`: at most the length of `y`. `by_class`: True to keep the shares of the classes `y`; False
    for a plain sample. `key`: seeds the draw.
    """
    from sklearn.utils import resample

    if not by_class:
        return np.sort(generator(*key).permutation(len(y))[:rows])
    # Not StratifiedShuffleSplit, which refuses to leave out fewer rows than there are classes.
    keep = resample(
        np.arange(len(y)),
        replace=False,
        n_samples=rows,
        stratify=y,
        random_state=integer_seed(*key),
    )
    return np.sort(np.asarray(keep))
