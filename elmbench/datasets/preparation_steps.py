"""The preparation of a table: the steps that `datasets.yaml` declares, its labels, its counts and
its target.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import (
    Table,
    few,
    is_missing,
    is_number,
    label_words,
    spelled,
    to_numbers,
    unused_name,
)
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec, Shape
from elmbench.specs.datasets import preparation as specs

_CORRECT = "correct the file"
_REPLACE = "correct or replace the file"


def prepare_dataset(table: Table, steps: Iterable[specs.Step]) -> Table:
    """Return the table after these steps of preparation, in their order.

    A step encodes categories as indicators (`one-hot`) or numbers (`Ordinal`), drops columns, rows
    with missing values, constant columns or repeated rows, fills missing values, rounds all
    numbers, or resizes images. A row repeats an earlier one if it has the same numbers and target;
    words are not compared. Raises ElmbenchError if a step names a column that does not exist, lacks
    a category of its column, or is not for sparse rows.
    """
    for step in steps:
        match step:
            case specs.PlainStep(step="one-hot"):
                table = _one_hot(table)
            case specs.Ordinal():
                table = _ordinal(step, table)
            case specs.DropColumns():
                table = table.drop_columns(_existing_columns(table, *step.columns))
            case specs.PlainStep(step="drop-missing-rows"):
                _dense(table)
                table = table.rows(np.logical_not(table.missing().any(axis=1)))
            case specs.PlainStep(step="fill-missing"):
                table = _fill_missing(table)
            case specs.PlainStep(step="drop-constant-columns"):
                table = _drop_constant_columns(table)
            case specs.PlainStep(step="drop-repeated-rows"):
                import pandas as pd

                frame = pd.DataFrame(_dense(table)).assign(
                    target=label_words(table.target)
                )
                table = table.rows(~frame.duplicated().to_numpy())
            case specs.Round():
                # Rounded as decimal text, which gives the double nearest to the print of the public
                # file; np.round may be off by a bit.
                rounded = [
                    float(f"{value:.{step.decimals}f}")
                    for value in _dense(table).ravel()
                ]
                table = replace(table, X=np.array(rounded).reshape(table.X.shape))
            case specs.ResizeImages():
                table = _resize_images(step, table)
    return table


def _one_hot(table: Table) -> Table:
    """Return the table with an indicator column `NAME=CATEGORY` for each category of each column.

    The indicators of a column of words stand in place of that column, in the order of
    `category_order`; a column without any category is left out. 1, 1.0 and +1 are one category.
    Indicators of a missing value are NaN. Columns of numbers and dates stay. `-2` follows the name
    of an indicator that exists already. Raises ElmbenchError for sparse rows.
    """
    X = _dense(table)
    blocks: dict[str, NDArray[np.float64]] = {}
    taken = {*table.names}
    dates = {name: table.nominal[name] for name in table.dates}
    for index, name in enumerate(table.names):
        is_of_words = name in table.nominal and name not in dates
        if not is_of_words:
            blocks[name] = X[:, index]
            continue
        words = label_words(table.column(name))
        missing = is_missing(words)
        categories = sorted(set(words) - {None}, key=category_order)
        for category in categories:
            indicator = unused_name(f"{name}={category}", taken)
            taken.add(indicator)
            is_category = words == category
            blocks[indicator] = np.where(missing, np.nan, is_category)
    return replace(
        table,
        X=np.column_stack(list(blocks.values())),
        names=tuple(blocks),
        nominal=dates,
    )


def category_order(word: str) -> tuple[bool, float, str]:
    """Return a sort key of a category or label: numbers in ascending order, then words.

    Words are in the order of Python's str. "nan" counts as a word, "inf" as a number.
    """
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        return (True, 0.0, word)
    return (False, number, word)


def _ordinal(step: specs.Ordinal, table: Table) -> Table:
    """Return the table with the places in `step.order`, from 1, for the categories of a column.

    A missing category becomes NaN. Raises ElmbenchError for a category that has no place.
    """
    _dense(table)
    (name,) = _existing_columns(table, step.column)
    words = label_words(table.column(name))
    positions = {
        category: float(index) for index, category in enumerate(step.order, start=1)
    }
    strange = sorted(set(words) - {None} - set(positions))
    if strange:
        raise ElmbenchError(
            f"{table.origin}: the column {name!r} holds {strange[0]!r}",
            expected="one of " + ", ".join(step.order),
            next_step=_CORRECT,
        )
    numbers = [positions.get(word, np.nan) for word in words]
    return table.with_numbers({name: numbers})


def _fill_missing(table: Table) -> Table:
    """Return the table with missing numbers replaced by the mean of their column.

    The mean is 0 if all numbers of the column are missing. Words stay missing. Raises ElmbenchError
    for sparse rows.
    """
    X: NDArray[np.float64] = _dense(table)
    is_present = ~np.isnan(X)
    # The means of the columns.
    sums = np.sum(X, axis=0, where=is_present)
    n_present = is_present.sum(axis=0)
    counts = np.maximum(n_present, 1)
    means = sums / counts
    # Words stay missing.
    nominal = [table.index[name] for name in table.nominal]
    means[nominal] = np.nan
    filled = np.where(is_present, X, means)
    return replace(table, X=filled)


def _drop_constant_columns(table: Table) -> Table:
    """Return the table without the columns whose values are all equal.

    A column of numbers with a missing value stays; one of words is dropped if all its words are
    missing.
    """
    is_constant = _is_constant(table.X)
    for name, words in table.nominal.items():
        is_constant[table.index[name]] = len(set(words)) == 1
    return table.drop_columns(np.array(table.names)[is_constant])


def _is_constant(X: Any) -> NDArray[np.bool_]:
    """Return a mask of shape (d,): True for each column whose values are equal; NaN equals nothing.

    `X`: dense or sparse rows.
    """
    if not sp.issparse(X):
        return np.asarray((X[:1] == X).all(axis=0))
    ranges = X.max(axis=0) - X.min(axis=0)
    return np.asarray(ranges.toarray().ravel() == 0)


def _resize_images(step: specs.ResizeImages, table: Table) -> Table:
    """Return the table with smaller images, whose pixels are means over areas, named x0, x1, ...

    The features must be the pixels of an image, row by row; otherwise raises ElmbenchError.
    """
    n_pixels = step.height * step.width
    if n_pixels != table.X.shape[1]:
        raise ElmbenchError(
            f"{table.origin}: {table.X.shape[1]} pixels a row",
            expected=f"images of {step.height} x {step.width} = {n_pixels} pixels",
            next_step=_CORRECT,
        )
    images = _dense(table).reshape(-1, step.height, step.width)
    row_weights = _area_weights(step.height, step.to_height)
    column_weights = _area_weights(step.width, step.to_width)
    resized = np.einsum(
        "ih,nhw,jw->nij", row_weights, images, column_weights, optimize=True
    )
    n_new_pixels = step.to_height * step.to_width
    return replace(
        table,
        X=resized.reshape(-1, n_new_pixels),
        names=tuple(f"x{index}" for index in range(n_new_pixels)),
    )


def _area_weights(n_old: int, n_new: int) -> NDArray[np.float64]:
    """Return the weights of the old pixels in each new one, for one side of an image.

    The shape is (n_new, n_old). A weight is the share of the new pixel's length that the old one
    covers, so each row has the sum 1.
    """
    edges = np.arange(n_new + 1) * (n_old / n_new)
    old = np.arange(n_old)
    covered = np.minimum(edges[1:, None], old + 1) - np.maximum(edges[:-1, None], old)
    return np.clip(covered, 0.0, None) * (n_new / n_old)


def _existing_columns(table: Table, *names: str) -> tuple[str, ...]:
    """Return `names` unchanged; raise ElmbenchError if one is not a column of the table."""
    for name in names:
        if name not in table.index:
            problem = f"{table.origin} has no column {name!r}, which is to be prepared"
            next_step = "correct the file, or the preparation in datasets.yaml"
            raise ElmbenchError(
                problem, expected=few(table.names, 10), next_step=next_step
            )
    return names


def _dense(table: Table) -> NDArray[np.float64]:
    """Return the features of a table as a dense array; raise ElmbenchError if they are sparse."""
    if sp.issparse(table.X):
        problem = f"{table.origin}: sparse rows cannot be prepared this way"
        next_step = "set `sparse: false` in datasets.yaml"
        raise ElmbenchError(
            problem, expected="sparse data without missing values", next_step=next_step
        )
    return np.asarray(table.X)


def with_labels(table: Table, spec: DatasetSpec, labels: dict[str, str]) -> Table:
    """Return the table with its labels spelled as in the public file.

    `labels`: {label of the source, "*" for any other: label of the public file}. A file of the data
    directory may also use the labels of any source. If the spec declares no labels, any are
    accepted. Labels of a two-class file that are none of these are recognised by the sizes of the
    classes, if the sizes differ. A remark says so if the labels are those of a source or
    recognised. The target of a regression stays. Raises ElmbenchError for labels that are not
    recognised, and for a missing target, also of a regression.
    """
    missing = is_missing(table.target)
    if missing.any():
        problem = f"{table.origin}: the target is missing in {missing.sum()} of {len(missing)} rows"
        raise ElmbenchError(
            problem, expected="a target in every row", next_step=_REPLACE
        )
    if spec.task == "regression":
        return table
    words = label_words(table.target)
    if not spec.shape.labels:
        return replace(table, target=words)
    present = set(words)
    for candidate in _label_mappings(words, spec, labels):
        if _covers(candidate.labels, present):
            return _relabel(table, words, candidate)
    problem = (
        f"{table.origin}: the labels are {few(sorted(present, key=category_order), 10)}"
    )
    raise ElmbenchError(
        problem, expected=", ".join(spec.shape.labels), next_step=_REPLACE
    )


class _LabelMapping(NamedTuple):
    """A mapping from the words of a target to the labels of the public file."""

    #: The label of each word; "*" stands for any other word.
    labels: Mapping[str, str]
    #: The beginning of the remark on an assumed mapping; empty if no remark is needed.
    remark: str = ""
    #: True if the mapping is derived from the sizes of the classes.
    is_by_size: bool = False


def _label_mappings(
    words: NDArray[np.object_], spec: DatasetSpec, labels: Mapping[str, str]
) -> Iterator[_LabelMapping]:
    """Yield the mappings of labels that a file may follow, the likeliest first.

    They are `labels` ({word: label}), the public file's labels, those of each source, and one by
    the sizes of two classes, which is empty if the sizes do not decide. `words`: the target.
    """
    yield _LabelMapping(labels)
    yield _LabelMapping({label: label for label in spec.shape.labels})
    for source in spec.sources:
        remark = f"labels read as {source.title} spells them: "
        yield _LabelMapping(source.labels, remark=remark)
    yield _LabelMapping(
        _labels_by_size(words, spec),
        remark="labels recognised by the sizes of the classes: ",
        is_by_size=True,
    )


def _covers(labels: Mapping[str, str], words: set[str]) -> bool:
    """Return True if a mapping of labels fits the distinct words of a file.

    Without "*", each word must have a label, and the mapping must not be empty. With "*", each word
    that the mapping names must occur. `labels`: {word, or "*" for any other: label}.
    """
    named = set(labels) - {"*"}
    if "*" in labels:
        return named <= words
    return bool(labels) and words <= named


def _relabel(table: Table, words: NDArray[np.object_], mapping: _LabelMapping) -> Table:
    """Return the table with the label of each of `words` as its target.

    A remark names the labels if the mapping is assumed. A word without a label of its own gets that
    of "*" in `mapping.labels`.
    """
    labels = mapping.labels
    other = labels.get("*", "")
    target = spelled(words, lambda word: labels.get(word, other))
    table = replace(table, target=target, two_classes=mapping.is_by_size)
    if not mapping.remark:
        return table
    pairs = []
    for word, label in labels.items():
        title = "another" if word == "*" else word
        pairs.append(f"{title} is {label}")
    listing = ", ".join(pairs)
    return table.add_remark(mapping.remark + listing)


def _labels_by_size(words: NDArray[np.object_], spec: DatasetSpec) -> dict[str, str]:
    """Return {word: label} for two words, recognised by their numbers of rows.

    Empty if the counts do not decide: they differ from those of the public file, are equal, or the
    public file's count of the positive class is not known.
    """
    n_positive = spec.shape.count(spec.positive)
    if n_positive is None:
        return {}
    n_negative = spec.shape.instances - n_positive
    words_by_size = {size: word for word, size in Counter(words).items()}
    # Two classes of one size cannot be told apart.
    if n_positive == n_negative or set(words_by_size) != {n_positive, n_negative}:
        return {}
    negative = next(label for label in spec.shape.labels if label not in spec.positive)
    return {
        words_by_size[n_negative]: negative,
        words_by_size[n_positive]: spec.positive[0],
    }


def check_shape(table: Table, shape: Shape, stage: str) -> None:
    """Raise ElmbenchError unless a table has the counts of `shape` (see `_counts`).

    `stage`: the owner of these counts in the message, such as 'the public file'.
    """
    for count, expected in _counts(table, shape):
        if count != expected:
            raise ElmbenchError(
                f"{table.origin}: {count}",
                expected=f"{expected}, as {stage} has",
                next_step=_REPLACE,
            )


def _counts(table: Table, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield pairs of texts, a count of a table and the expected one, such as "3 rows", "4 rows".

    They are the counts of features, rows, the official parts if both have them, and labels: the
    number of classes, or the rows of each class, as `shape` gives. Labels that were recognised by
    the sizes of the classes are not counted again.
    """
    n_rows, n_columns = table.X.shape
    yield f"{n_columns} features", f"{shape.features} features"
    yield f"{n_rows} rows", f"{shape.instances} rows"
    if shape.split is not None and table.n_train is not None:
        parts = "{} training and {} test rows"
        yield (
            parts.format(table.n_train, n_rows - table.n_train),
            parts.format(*shape.split),
        )
    if shape.classes is None:
        return
    counts = Counter(label_words(table.target))
    if isinstance(shape.classes, int):
        yield f"{len(counts)} classes", f"{shape.classes} classes"
        return
    if table.two_classes:  # which was recognised by these very counts
        return
    for label, count in shape.classes.items():
        if count is not None:
            yield (
                f"{counts[label]} rows of class {label}",
                f"{count} rows of class {label}",
            )


def check_numeric(table: Table) -> None:
    """Raise ElmbenchError if a column is nominal, or a value is missing or infinite.

    For prepared tables: a column is nominal even if preparation dropped the rows with its words.
    Dates are nominal, too. Sparse rows are allowed.
    """
    for name, words in table.nominal.items():
        # The word that made the column nominal may be in a row that the preparation drops.
        examples = (
            f"{word!r} (row {row + 1})"
            for row, word in enumerate(words)
            if _is_word(word)
        )
        raise ElmbenchError(
            f"{table.origin}: the column {name!r} holds {next(examples, 'words')}",
            expected="numbers, since no preparation of this column is declared",
            next_step="correct the file, or declare one-hot or ordinal in datasets.yaml",
        )
    values = table.X if isinstance(table.X, np.ndarray) else table.X.data
    strange = ~np.isfinite(values)
    if not strange.any():
        return
    index = np.argwhere(strange)[0]
    kind = "a missing value" if np.isnan(values[tuple(index)]) else "an infinite value"
    where = "the sparse rows"
    if len(index) == 2:
        row, column = index
        where = f"row {row + 1}, column {table.names[column]!r}"
    raise ElmbenchError(
        f"{table.origin}: {kind} is left after the preparation ({int(strange.sum())} in all, first "
        f"in {where})",
        expected="finite numbers",
        next_step="correct the file, or declare drop-missing-rows or fill-missing in datasets.yaml",
    )


def _is_word(value: Any) -> bool:
    """Return True if a value is neither missing nor a plain number, nor the text of one."""
    return value is not None and value == value and not is_number(str(value))


def code_target(
    table: Table, spec: DatasetSpec
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return the coded target, of shape (n,), and the original labels of its codes.

    With a positive class: -1 and +1 (int8), and the names (negative, positive): the label, `rest`
    for several negative ones, and `a+b` for several positive ones. Else 0, 1, ... (int64) in the
    declared order of the labels, or in that of `category_order` if the spec declares none. For a
    regression: floats and None; raises ElmbenchError if one is not finite.
    """
    if spec.task == "regression":
        return _finite_target(table), None
    labels = list(spec.shape.labels)
    if not labels:
        labels = sorted(set(table.target), key=category_order)
    if spec.positive:
        return _code_signs(table, labels, spec.positive)
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [code_of[label] for label in table.target]
    coded = np.array(codes, dtype=np.int64)
    return coded, tuple(labels)


def _code_signs(
    table: Table, labels: list[str], positive: Sequence[str]
) -> tuple[NDArray[np.int8], tuple[str, str]]:
    """Return 1 for rows with a positive label and -1 for others, and the names of both sides.

    The first name is that of -1: its label, or `rest` for several. The second is that of +1: the
    positive labels joined by `+`. `labels`: all labels; `positive`: the positive ones among them.
    """
    rest = [label for label in labels if label not in positive]
    negative_name = rest[0] if len(rest) == 1 else "rest"
    positive_name = "+".join(positive)
    # A positive class may have several labels.
    words = table.target.astype(str)
    is_positive = np.isin(words, positive)
    signs = np.where(is_positive, 1, -1)
    names = (negative_name, positive_name)
    return signs.astype(np.int8), names


def _finite_target(table: Table) -> NDArray[np.float64]:
    """Return the target of a regression as floats; raise ElmbenchError unless all are finite."""
    y = to_numbers(table.target)
    if y is None:
        word = next(value for value in table.target if _is_word(value))
        problem = f"the target holds {word!r}"
    elif not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y))) + 1
        problem = f"the target is not finite in row {row}"
    else:
        return y
    raise ElmbenchError(
        f"{table.origin}: {problem}", expected="finite numbers", next_step=_REPLACE
    )
