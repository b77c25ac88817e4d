"""The rows of a program that calls `compare`: checked, and written to files for a plan."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp

from elmbench.datasets.table import is_missing, to_frame, unused_name
from elmbench.datasets.user_data import write_arrays
from elmbench.errors import ElmbenchError, unknown_name
from elmbench.files import delete_abandoned

#: The bits of the integers in a file, without the sign.
_INTEGER_BITS = 63


class HeldOutArrays(NamedTuple):
    """Rows that are not learnt, and that each model is tested on once.

    Attributes
    ----------
    X : data frame or CSR matrix of shape (n, d)
    y : array-like of shape (n,)
        Their labels or values.
    """

    X: Any
    y: Any


class ArrayFiles(NamedTuple):
    """Files that hold the rows which a program gave as arrays.

    Attributes
    ----------
    rows : path
    held_out : path, optional
        None without held-out rows.
    columns : mapping of str to str
        The name of the column that holds `y` and each given argument, such as `groups`.
    """

    rows: Path
    held_out: Path | None
    columns: Mapping[str, str]


@dataclass(frozen=True)
class ComparisonArrays:
    """The rows and arguments of a program that calls `elmbench.compare`, after checks.

    Attributes
    ----------
    X : data frame or CSR matrix of shape (n, d)
    y : array-like of shape (n,)
    by_row : mapping of str to list
        The given arguments that have one value a row, such as `groups`, by name.
    held_out : HeldOutArrays, optional
        None without held-out rows.
    target : str
        The name of the targets: the column of the program, or `y`.
    """

    X: Any
    y: Any
    by_row: Mapping[str, list[Any]]
    held_out: HeldOutArrays | None
    target: str

    def write(self, data_folder: Path, stem: str) -> ArrayFiles:
        """Write the rows, and the held-out rows if there are any, to files; return their paths.

        They lie in a subfolder of `data_folder` whose name is a digest of the rows, and their names
        begin with `stem`. The columns of both files are those of X, `y` and the arguments of
        `by_row`, which are placeholders for held-out rows. Unfinished files of ended processes in
        `data_folder` are deleted.
        """
        folder = data_folder / self._digest()
        for earlier_folder in data_folder.glob("*"):
            delete_abandoned(earlier_folder)
        columns = self._unused_columns()
        by_column = {
            columns[argument]: values for argument, values in self.by_row.items()
        }
        rows_path = write_arrays(
            self.X, self.y, folder, stem, extra=by_column, target=columns["y"]
        )
        if self.held_out is None:
            return ArrayFiles(rows_path, None, columns)
        # Groups and weights of held-out rows are not used, but both files have the same columns.
        n_held_out = len(self.held_out.y)
        placeholders = {
            column: values[:1] * n_held_out for column, values in by_column.items()
        }
        held_out_path = write_arrays(
            self.held_out.X,
            self.held_out.y,
            folder,
            f"{stem}-test",
            extra=placeholders,
            target=columns["y"],
        )
        return ArrayFiles(rows_path, held_out_path, columns)

    def _digest(self) -> str:
        """Return the first 12 hexadecimal digits of a hash of all rows and arguments."""
        held_out = None if self.held_out is None else tuple(self.held_out)
        content = (self.X, self.y, self.by_row, held_out, self.target)
        return sha256(str(joblib.hash(content)).encode()).hexdigest()[:12]

    def _unused_columns(self) -> dict[str, str]:
        """Return {argument: column} for `y` and each argument of `by_row`, to write them beside X.

        Messages show the columns. They have the name of the targets and the names of the arguments,
        or numbered ones, such as groups-2, if X, the held-out rows or the targets have that name.
        """
        taken: set[str] = set()
        if not sp.issparse(self.X):
            taken.update(self.X)
        if self.held_out is not None and not sp.issparse(self.held_out.X):
            taken.update(self.held_out.X)
        target = unused_name(self.target, taken)
        taken.add(target)
        by_argument = {
            argument: unused_name(argument, taken) for argument in self.by_row
        }
        return {"y": target, **by_argument}


class NamedColumns(NamedTuple):
    """The arguments of a program, with values in place of the names of columns of X.

    Attributes
    ----------
    X : array-like
        The features, without the named columns; a data frame if any is named.
    y : array-like
    by_row : mapping of str to array-like
        One value a row of each argument, such as `groups`; None if it is not given.
    test : tuple of (X, y), optional
        The held-out rows and their targets; None if there are none.
    target : str
        The name of the column of targets; `y` if the program has given their values.
    """

    X: Any
    y: Any
    by_row: Mapping[str, Any]
    test: tuple[Any, Any] | None
    target: str


def take_named_columns(
    X: Any, y: Any, by_row: Mapping[str, Any], test: Any
) -> NamedColumns:
    """Replace each argument that names a column of X by its values; drop these columns from X.

    `y`: a name, or one value a row. `by_row`: {argument: a name, one value a row, or None}. `test`:
    None, (X, y), or, if `y` is a name, a data frame that has this column; the named columns are
    dropped from it, too. If any column is named, X becomes a data frame. Nothing is changed in
    place. Raises ElmbenchError if X has no such column, or `test` is no pair of rows and targets.
    """
    values_of = {"y": y, **by_row}
    names = {
        argument: name for argument, name in values_of.items() if isinstance(name, str)
    }
    if names:
        X = to_frame(X)
    for argument, name in names.items():
        if name not in X:
            kind = f"column of X for {argument}:"
            raise unknown_name(kind, name, [*map(str, X)], f"correct {argument}")
    columns = {argument: X[name] for argument, name in names.items()}
    dropped = list(names.values())
    features = X.drop(columns=dropped) if names else X
    if test is not None and not isinstance(test, tuple | list):
        held_out = to_frame(test)
        if names.get("y") not in held_out:
            raise ElmbenchError(
                f"`test` is {type(test).__name__}",
                expected="held-out rows and targets, or a data frame if y is a column",
                next_step="test=(X, y)",
            )
        targets = held_out[names["y"]]
        test = (held_out.drop(columns=dropped, errors="ignore"), targets)
    if test is not None and len(test) != 2:
        raise ElmbenchError(
            f"the argument test is a sequence of {len(test)}",
            expected="held-out rows and their targets",
            next_step="help(elmbench.compare)",
        )
    return NamedColumns(
        X=features,
        y=columns.get("y", y),
        by_row={
            argument: columns.get(argument, values)
            for argument, values in by_row.items()
        },
        test=test,
        target=names.get("y") or "y",
    )


def check_arrays(named: NamedColumns) -> ComparisonArrays:
    """Return the rows and arguments of a program in one form; raise ElmbenchError if unusable.

    `named`: the arguments by their values, from `take_named_columns`. Arguments that are None are
    left out; masked values count as missing, and integers beyond 64 bits become texts. Rows are
    unusable if `y` or an argument has a missing value, an argument has not one value a row, `test`
    has no rows, only one of X and `test` is sparse, or sparse rows X have missing values. They are
    also unusable if they are None, a path or an array of more than two dimensions, or if an integer
    of `y`, of an argument or of the targets of `test` has more digits than Python writes. Neither
    the length of `y` nor other targets of `test` are checked.
    """
    # The index of a series need not be that of X.
    given = {
        argument: list(_unmasked(np.atleast_1d(values)))
        for argument, values in named.by_row.items()
        if values is not None
    }
    given = {
        argument: _with_words_for_huge_integers(argument, values)
        for argument, values in given.items()
    }
    arrays = ComparisonArrays(
        X=_rows(named.X),
        y=_with_words_for_huge_integers("y", _unmasked(named.y)),
        by_row=given,
        held_out=None if named.test is None else _held_out(named.test),
        target=named.target,
    )
    if arrays.held_out is not None:
        _check_held_out(arrays.held_out, arrays.X)
    _check_missing("y", arrays.y)
    for argument, values in arrays.by_row.items():
        _check_length(argument, values, arrays.X.shape[0])
        _check_missing(argument, values)
    if sp.issparse(arrays.X) and np.isnan(arrays.X.data).any():
        raise ElmbenchError(
            "the sparse rows X have missing values",
            expected="none",
            next_step="X.toarray(), whose missing values are imputed",
        )
    return arrays


def _held_out(test: tuple[Any, Any]) -> HeldOutArrays:
    """Return the held-out rows of the argument `test`, a pair of rows and targets.

    The rows become a data frame or a CSR matrix. Nothing is checked but huge integers in the
    targets.
    """
    return HeldOutArrays(
        X=_rows(test[0]), y=_with_words_for_huge_integers("test", _unmasked(test[1]))
    )


def _check_held_out(held_out: HeldOutArrays, X: Any) -> None:
    """Raise ElmbenchError if there are no held-out rows, or if only one of them and X is sparse."""
    if sp.issparse(X) != sp.issparse(held_out.X) or not held_out.X.shape[0]:
        raise ElmbenchError(
            "`test` has no rows, or either X or `test` is sparse",
            expected="held-out rows, as sparse as X",
            next_step="test=(X, y)",
        )


def _check_length(argument: str, values: list[Any], n_rows: int) -> None:
    """Raise ElmbenchError unless an argument has as many values as there are rows.

    `argument`: its name, for the message.
    """
    if len(values) != n_rows:
        raise ElmbenchError(
            f"X has {n_rows} rows, and {argument} has {len(values)} values",
            expected="one value a row",
            next_step="give a vector",
        )


def _check_missing(argument: str, values: Any) -> None:
    """Raise ElmbenchError if a value of an argument is missing, such as None, NaN or NaT.

    `argument`: its name, for the message.
    """
    import pandas as pd

    n_missing = int(np.asarray(pd.isna(values)).sum())
    if n_missing:
        raise ElmbenchError(
            f"{argument} has {n_missing} missing values",
            expected="none",
            next_step="leave these rows out",
        )


def _rows(X: Any) -> Any:
    """Return rows as a data frame or, if they are sparse, as a CSR matrix of float64."""
    return sp.csr_matrix(X, dtype=np.float64) if sp.issparse(X) else to_frame(X)


def _unmasked(values: Any) -> Any:
    """Return values with None in place of those that a masked array of NumPy hides.

    Any other sequence is returned unchanged.
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    present = values.data
    if not np.ma.is_masked(values):
        return present
    missing = np.array(None)
    return np.where(values.mask, missing, present)


def _with_words_for_huge_integers(argument: str, values: Any) -> Any:
    """Return all values as a list of texts if one is an integer beyond 64 bits; else unchanged.

    A file cannot hold such integers. Missing values become None. `argument`: its name, for the
    message. Raises ElmbenchError if an integer has more digits than Python writes.
    """
    array = np.asarray(values)
    if array.dtype != object:
        return values
    if not any(
        type(value) is int and value.bit_length() > _INTEGER_BITS for value in values
    ):
        return values
    try:
        return [
            None if has_no_value else str(value)
            for value, has_no_value in zip(values, is_missing(array), strict=True)
        ]
    except ValueError as error:
        most_digits = sys.get_int_max_str_digits()
        raise ElmbenchError(
            f"{argument} holds an integer of more than {most_digits} digits",
            expected="integers of fewer digits, or text",
            next_step="give it as text",
        ) from error
