"""The files of a data set in a data directory, read and joined."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.part_files import Parts
from elmbench.datasets.readers import read_table
from elmbench.datasets.table import Matrix, Table, few, label_words
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec


def read_parts(
    parts: Parts, spec: DatasetSpec, width: int | None = None, origin: str = ""
) -> Table:
    """Read the files of a data set into one table, training rows first.

    `parts`: {part: file}, either `all` alone, or `train` and `test` in this order; `train` alone is
    allowed if the spec describes it. `width`: number of features of LIBSVM rows; None for that of
    the public file. `origin`: name of the source in the table; by default, that of the files. The
    rows become dense unless the spec is sparse. Raises ElmbenchError if a part is missing.
    """
    missing = {"train", "test"} - set(parts)
    if "all" not in parts and (
        missing == {"train"} or (missing == {"test"} and spec.training_part is None)
    ):
        (path,) = parts.values()
        (part,) = missing
        problem = f"{path} is there, but no {part} part beside it"
        next_step = f"add the {part} part, or join both in one {spec.stem}.csv"
        raise ElmbenchError(
            problem,
            expected=f"{spec.stem}.{part}.* in {path.parent}",
            next_step=next_step,
        )
    n_features = width or spec.shape.features
    tables = [
        read_table(
            path,
            partial(_target_of, path, spec),
            n_features=n_features,
            sparse=spec.sparse,
        )
        for path in parts.values()
    ]
    table = tables[0] if len(tables) == 1 else join_parts(*tables)
    return replace(table, origin=origin) if origin else table


def _target_of(path: Path, spec: DatasetSpec, names: list[str]) -> str:
    """Return the name of the target column among `names`; raise ElmbenchError without one.

    It is `target`, or else the first of the targets that the sources of the spec name and the file
    has. `path`: the file, for the error.
    """
    targets_of_sources = [getattr(source, "target", None) for source in spec.sources]
    targets = ["target", *targets_of_sources]
    for target in targets:
        if target in names:
            return target
    n_columns = len(names)
    listing = few(names, 5)
    if n_columns > 5:
        listing += f" ({n_columns} columns)"
    possible = [target for target in dict.fromkeys(targets) if isinstance(target, str)]
    expected = " or ".join(map(repr, possible))
    next_step = f"name the target column 'target' in the header of {path.name}"
    problem = f"{path} has no target column: its columns are {listing}"
    raise ElmbenchError(problem, expected=expected, next_step=next_step)


def join_parts(train: Table, test: Table) -> Table:
    """Return the training rows followed by the test rows in one table, with `n_train` set.

    If the targets differ in type (words and numbers, or integers and floats), both become labels.
    Notes and other settings are those of `train`. Raises ElmbenchError if the columns differ in
    name, order or kind.
    """
    if train.names != test.names or set(train.nominal) != set(test.nominal):
        n_train = train.X.shape[1]
        n_test = test.X.shape[1]
        counts = f"{train.origin} has {n_train} columns and {test.origin} has {n_test}"
        problem = f"{counts}, or they differ in name or kind"
        raise ElmbenchError(
            problem,
            expected="the same columns in both",
            next_step="replace one of the two files",
        )
    X: Matrix = (
        sp.vstack([train.X, test.X], format="csr")
        if sp.issparse(train.X)
        else np.vstack([train.X, test.X])
    )
    targets = [train.target, test.target]
    if train.target.dtype.kind != test.target.dtype.kind:  # numbers beside words, say
        targets = [*map(label_words, targets)]
    return replace(
        train,
        X=X,
        target=np.concatenate(targets),
        nominal={
            name: np.concatenate([words, test.nominal[name]])
            for name, words in train.nominal.items()
        },
        n_train=train.X.shape[0],
        origin=f"{train.origin}, {test.origin}",
    )
