"""The official splits of OpenML tasks, which are fetched once and kept as files of given splits.

`openml-task:59` names those of task 59. Repeats are runs. The rows are numbered in the order of
OpenML's data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.sources.openml import OpenMLSource, TaskSplits, download_task
from elmbench.errors import ElmbenchError, amount
from elmbench.files import cache_folder, write_atomically
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.splits import TASK_PREFIX

if TYPE_CHECKING:
    from elmbench.datasets.dataset import Dataset

_FILE = re.compile(r"task-(\d+)-data-(\d+)-rows-(\d+)(-stratified)?\.csv")
#: Rows by which a class in a stratified fold may differ from its share.
_MOST_OFF = 2


class TaskFile(NamedTuple):
    """The file of the splits of a task in the cache. `number`: of the task."""

    path: Path
    number: int
    #: The id of the data set, and the number of its rows.
    dataset_id: int
    n_rows: int


def task_number(name: str) -> int | None:
    """Return the number of the task that a name such as `openml-task:59` has, else None."""
    number = name.removeprefix(TASK_PREFIX)
    is_task = number != name and number.isascii() and number.isdigit()
    return int(number) if is_task else None


def fetch_task(number: int, *, force: bool = False) -> bool:
    """Fetch the splits of a task into the cache; return False if they are there and not `force`.

    With `force`, the earlier file stays if the download fails. Raises ElmbenchError if OpenML has
    no such task, or it has no splits or several samples in a fold; DataUnavailableError without a
    network. `number`: of the task.
    """
    if not force and _cached_task(number) is not None:
        return False
    splits = download_task(number)
    text, n_rows = _text_of_splits(splits, number)
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    earlier = _cached_task(number)
    if earlier is not None:
        earlier.path.unlink()
    name = f"task-{number}-data-{splits.dataset_id}-rows-{n_rows}"
    if splits.is_stratified:
        name += "-stratified"
    write_atomically(folder / f"{name}.csv", text)
    return True


def find_task(number: int) -> TaskFile:
    """Return the file of the splits of a task; raise ElmbenchError if they were not fetched.

    `number`: of the task.
    """
    kept = _cached_task(number)
    if kept is None:
        raise ElmbenchError(
            f"the splits of {TASK_PREFIX}{number} are not here",
            expected="splits that were fetched once",
            next_step=f"elmbench data fetch {TASK_PREFIX}{number}   (with a network)",
        )
    return kept


def check_task(number: int, dataset: DatasetSpec) -> None:
    """Raise ElmbenchError unless the splits of a task are for a data set, and were fetched.

    The data set must have as many rows and, if it comes from OpenML, the same id. `number`: of the
    task. `dataset`: the data set.
    """
    file = find_task(number)
    next_step = (
        f"elmbench data fetch {TASK_PREFIX}{number} --force, or correct protocol.outer"
    )
    n_rows = dataset.public.instances
    if file.n_rows != n_rows:
        raise ElmbenchError(
            f"{TASK_PREFIX}{number} splits {file.n_rows} rows, but {dataset.name} has {n_rows}",
            expected=f"the rows of OpenML {file.dataset_id}, in their order",
            next_step=next_step,
        )
    of_openml = [one for one in dataset.sources if isinstance(one, OpenMLSource)]
    if of_openml and not any(file.dataset_id in one.ids for one in of_openml):
        raise ElmbenchError(
            f"{TASK_PREFIX}{number} is for OpenML {file.dataset_id}, but {dataset.name} is "
            f"{of_openml[0].title}",
            expected="a task of the same data set",
            next_step=next_step,
        )


def check_order_of_rows(
    path: Path, data: Dataset, test_parts: Iterable[NDArray[np.intp]]
) -> None:
    """Raise ElmbenchError if test parts show that rows are not in the order of an OpenML task.

    The folds of a stratified task have equal shares of each class; each count may differ by two
    rows. `path`: the file of the splits; nothing is checked unless it is the file of a stratified
    task, and `data` a classification. `test_parts`: the positions of the test rows of each fold of
    a run.
    """
    match = _FILE.fullmatch(path.name)
    is_stratified = match is not None and match[4] is not None
    if match is None or not is_stratified or data.classes is None:
        return
    n_classes = len(data.classes)
    # The labels -1 and +1 of two classes become 0 and 1.
    classes = np.maximum(data.y, 0)
    shares = np.bincount(classes, minlength=n_classes) / len(classes)
    for fold, rows in enumerate(test_parts):
        counts = np.bincount(classes[rows], minlength=n_classes)
        off = np.abs(counts - shares * len(rows))
        worst = int(off.argmax())
        if off[worst] > _MOST_OFF:
            raise ElmbenchError(
                f"fold {fold} of {TASK_PREFIX}{match[1]} tests {amount(int(counts[worst]), 'row')} "
                f"of class {data.classes[worst]} of {data.name}, but the task has stratified folds",
                expected=f"about {shares[worst] * len(rows):.0f}, if the rows are in the order of "
                f"OpenML {match[2]}",
                next_step=f"give {data.name} the source {{kind: openml, id: {match[2]}}}",
            )


def _folder() -> Path:
    """Return the folder of the files of tasks in the cache, which may not exist."""
    return cache_folder() / "openml-tasks"


def _cached_task(number: int) -> TaskFile | None:
    """Return the file of the splits of a task in the cache; None if there is none.

    `number`: of the task.
    """
    for path in sorted(_folder().glob(f"task-{number}-*.csv")):
        match = _FILE.fullmatch(path.name)
        if match is not None:
            return TaskFile(path, number, int(match[2]), int(match[3]))
    return None


def _text_of_splits(splits: TaskSplits, number: int) -> tuple[str, int]:
    """Return the splits of a task as the text of a CSV file, and the number of their rows.

    `splits`: as `download_task` returns them. `number`: of the task, for the error. The columns are
    run, fold, row (numbers of rows separated by spaces) and part (train or test). Raises
    ElmbenchError if a fold has several samples.
    """
    lines = ["run,fold,row,part"]
    rows: set[int] = set()
    for run, folds in sorted(splits.parts.items()):
        for fold, samples in sorted(folds.items()):
            if len(samples) != 1:
                n_samples = amount(len(samples), "sample")
                raise ElmbenchError(
                    f"OpenML task {number} has {n_samples} in a fold",
                    expected="a task without a learning curve",
                    next_step="correct the number of the task",
                )
            ((train, test),) = samples.values()
            for part, numbers in (("train", train), ("test", test)):
                in_part = np.asarray(numbers, dtype=int).tolist()
                rows.update(in_part)
                texts = " ".join(map(str, in_part))
                lines.append(f"{run},{fold},{texts},{part}")
    lines.append("")
    return "\n".join(lines), len(rows)
