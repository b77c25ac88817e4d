"""Checks of a table against its spec, and the coding of its target."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.prepare import category_order
from elmbench.datasets.table import Table, few, is_missing, is_number, label_words, to_numbers
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec, Shape

_REPLACE = "correct or replace the file"


def with_labels(table: Table, spec: DatasetSpec, labels: dict[str, str]) -> Table:
    """Return the table with its labels spelled as in the public file.

    `labels` is the mapping of the source. A file of the data directory may also use the labels of any source. Other
    labels of a two-class file are recognised by the sizes of the classes if these differ.
    """
    missing = is_missing(table.target)
    if missing.any():
        problem = f"{table.origin}: the target is missing in {missing.sum()} of {len(missing)} rows"
        raise ElmbenchError(problem, expected="a target in every row", next_step=_REPLACE)
    if spec.task == "regression":
        return table
    words = label_words(table.target)
    known = spec.shape.labels
    if not known:
        return replace(table, target=words)
    present = set(words)
    by_size = _labels_by_size(words, spec)
    mappings = [(labels, ""), ({label: label for label in known}, "")]
    mappings += [(source.labels, f"labels read as {source.title} spells them: ") for source in spec.sources]
    mappings += [(by_size, "labels recognised by the sizes of the classes: ")]
    for mapping, note in mappings:
        named = set(mapping) - {"*"}  # "*" stands for any word if the named labels occur
        if mapping and (named <= present if "*" in mapping else present <= named):
            target = np.array([mapping.get(word, mapping.get("*")) for word in words], dtype=object)
            table = replace(table, target=target, two_classes=mapping is by_size)
            pairs = ", ".join(f"{'another' if word == '*' else word} is {label}" for word, label in mapping.items())
            return table.remarked(f"{note}{pairs}") if note else table
    problem = f"{table.origin}: the labels are {few(sorted(present, key=category_order), 10)}"
    raise ElmbenchError(problem, expected=", ".join(known), next_step=_REPLACE)


def _labels_by_size(words: NDArray[np.object_], spec: DatasetSpec) -> dict[str, str]:
    """Return the label of each of two words, by their counts; empty if the counts do not decide."""
    positives, sizes = spec.positives, {size: word for word, size in Counter(words).items()}
    if positives is None or set(sizes) != {positives, spec.shape.instances - positives} or len(sizes) != 2:
        return {}
    negative = next(label for label in spec.shape.labels if label not in spec.positive)
    return {sizes[spec.shape.instances - positives]: negative, sizes[positives]: spec.positive[0]}


def check_shape(table: Table, shape: Shape, when: str) -> None:
    """Raise ElmbenchError unless a table has the counts of `shape`; `when` names it, such as 'the public file'."""
    for count, expected in _counts(table, shape):
        if count != expected:
            raise ElmbenchError(f"{table.origin}: {count}", expected=f"{expected}, as {when} has", next_step=_REPLACE)


def _counts(table: Table, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield each count of a table and its expected value."""
    n_rows, n_columns = table.X.shape
    yield f"{n_columns} features", f"{shape.features} features"
    yield f"{n_rows} rows", f"{shape.instances} rows"
    if shape.split is not None and table.n_train is not None:
        parts = "{} training and {} test rows"
        yield parts.format(table.n_train, n_rows - table.n_train), parts.format(*shape.split)
    if shape.classes is None:
        return
    counts = Counter(label_words(table.target))
    if isinstance(shape.classes, int):
        yield f"{len(counts)} classes", f"{shape.classes} classes"
    elif not table.two_classes:  # which was recognised by these very counts
        for label, count in shape.classes.items():
            if count is not None:
                yield f"{counts[label]} rows of class {label}", f"{count} rows of class {label}"


def check_numeric(table: Table) -> None:
    """Raise ElmbenchError if a column has words, or a value is missing or infinite."""
    for name, words in table.nominal.items():
        # The word that made the column nominal may be in a row that the preparation drops.
        shown = next((f"{word!r} (row {row + 1})" for row, word in enumerate(words) if _is_word(word)), "words")
        problem = f"{table.origin}: the column {name!r} holds {shown}"
        expected = "numbers, since no preparation of this column is declared"
        next_step = "correct the file, or declare one-hot or ordinal in datasets.yaml"
        raise ElmbenchError(problem, expected=expected, next_step=next_step)
    values = table.X if isinstance(table.X, np.ndarray) else table.X.data
    strange = ~np.isfinite(values)
    if not strange.any():
        return
    where = np.argwhere(strange)[0]
    kind = "a missing value" if np.isnan(values[tuple(where)]) else "an infinite value"
    spot = f"row {where[0] + 1}, column {table.names[where[1]]!r}" if len(where) == 2 else "the sparse rows"
    problem = f"{table.origin}: {kind} is left after the preparation ({int(strange.sum())} in all, first in {spot})"
    next_step = "correct the file, or declare drop-missing-rows or fill-missing in datasets.yaml"
    raise ElmbenchError(problem, expected="finite numbers", next_step=next_step)


def _is_word(value: Any) -> bool:
    return value is not None and value == value and not is_number(str(value))


def code_target(table: Table, spec: DatasetSpec) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Return the coded target and the original labels (see `Dataset`)."""
    if spec.task == "regression":
        y = to_numbers(table.target)
        if y is not None and np.isfinite(y).all():
            return y, None
        if y is None:
            problem = f"the target holds {next(value for value in table.target if _is_word(value))!r}"
        else:
            problem = f"the target is not finite in row {int(np.argmin(np.isfinite(y))) + 1}"
        raise ElmbenchError(f"{table.origin}: {problem}", expected="finite numbers", next_step=_REPLACE)
    order = list(spec.shape.labels) or sorted(set(table.target), key=category_order)
    if spec.positive:
        rest = [label for label in order if label not in spec.positive]
        classes = rest[0] if len(rest) == 1 else "rest", "+".join(spec.positive)
        return np.where(np.isin(table.target.astype(str), spec.positive), 1, -1).astype(np.int8), classes
    index = {label: position for position, label in enumerate(order)}
    return np.array([index[label] for label in table.target], dtype=np.int64), tuple(order)
