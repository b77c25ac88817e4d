"""Rows as read: features, a raw target, and the official training and test parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets.user_files.missing_words import present_words
from elmbench.errors import ElmbenchError
from elmbench.files import replace_file

if TYPE_CHECKING:
    import pandas as pd

Matrix = Any  # ndarray or CSR matrix, float64
#: A parser takes seconds for this many columns, and minutes for ten times as many.
MOST_COLUMNS = 100_000
#: The most columns of sparse rows: the names of more do not fit into memory.
_MOST_NUMBERED = 20_000_000
#: A number as plain text. Python's float also accepts 1_1, and the digits of every script.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: A whole number in its usual spelling. 01, 1e2 and 1.50 remain words, because numbers would lose
#: their spelling.
_WHOLE = re.compile(r"\+?(-?(?:0|[1-9]\d*))(?:\.0)?", re.ASCII)
#: A number that stands for a missing code: -1, -999, nines, zero, or a power such as 1e5.
_PLACEHOLDER = re.compile(r"-1|-?9+|0|\d+[eE]\+?\d+", re.ASCII)


@dataclass(frozen=True)
class Table:
    """Rows before their preparation: features, target, official parts and kinds of columns."""

    #: Features, an array or CSR matrix of shape (n, d); NaN for a missing value, and in all rows of
    #: a nominal column.
    X: Matrix
    names: tuple[str, ...]
    #: Raw target of shape (n,): numbers, or an object array of str; None if missing.
    target: NDArray[Any]
    #: The file or source of the rows.
    origin: str
    #: The words of every nominal column, of shape (n,), by its name; None for a missing word.
    nominal: dict[str, NDArray[np.object_]] = field(default_factory=dict)
    #: The first `n_train` rows are the official training part and the others the test part.
    n_train: int | None = None
    #: The labels only separate the positive class from the rest, although the public file has more
    #: classes.
    two_classes: bool = False
    #: Remarks for the user of the rows.
    notes: tuple[str, ...] = ()
    #: Name of the target column, if the file has names; separator of the fields, if it is text;
    #: decimal mark of numbers that were converted from text.
    target_name: str = ""
    separator: str = ""
    decimal: str = ""
    #: Columns of categories, even if they look like numbers or dates.
    words: frozenset[str] = frozenset()
    #: Columns of codes such as 007, which are categories.
    codes: frozenset[str] = frozenset()
    #: Columns of text, whose words become features.
    text: frozenset[str] = frozenset()
    #: The format of the words of each column of dates, by its name.
    dates: Mapping[str, str] = field(default_factory=dict)
    #: The sign, such as $ or %, that the numbers of a column or the target are written with, by
    #: name.
    signs: Mapping[str, str] = field(default_factory=dict)
    #: The number of each row in its file, from 0; None if they are all there, in their order.
    positions: NDArray[np.intp] | None = None

    @classmethod
    def of_numbers(cls, X: Matrix, target: NDArray[Any], origin: str) -> Table:
        """Return the table of features without names, which become x0, x1, ...

        `X`: of shape (n, d), dense or CSR. `target`: of shape (n,), numbers or an object array of
        str and None. `origin`: the file or source, for messages. Raises ValueError for more than 20
        million columns.
        """
        n_columns = X.shape[1]
        if n_columns > _MOST_NUMBERED:
            raise ValueError(
                f"it has {n_columns:,} columns, more than {_MOST_NUMBERED:,}"
            )
        names = tuple(f"x{index}" for index in range(n_columns))
        return cls(X, names, target, origin)

    @classmethod
    def of_frame(
        cls,
        frame: pd.DataFrame,
        target: str,
        origin: str,
        words: Collection[str] | None = None,
    ) -> Table:
        """Return a table of a data frame, in which text columns of numbers alone become numbers.

        `target`: the name of its column, which keeps its text; the target is None in all rows if no
        column has it. `origin`: the file or source, for messages. `words`: names of columns of
        categories, besides those of the type category (both are in the `words` of the table) and
        those of codes such as 007. None: text of numbers becomes numbers in every column, also in
        those of the type category or of codes. Booleans become words.
        """
        if words is not None:
            words = {*words, *map(str, frame.select_dtypes("category"))}
        frame = frame.rename(columns=str)
        has_target = target in frame
        features = frame.drop(columns=target) if has_target else frame
        X, nominal = _numbers_and_words(features, words)
        return cls(
            X=X,
            names=tuple(map(str, features)),
            target=_values(frame[target]) if has_target else np.full(len(frame), None),
            origin=origin,
            nominal=nominal,
            target_name=target,
            words=frozenset(words or ()),
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """A dict {name of a feature: its position}."""
        return {name: position for position, name in enumerate(self.names)}

    @cached_property
    def labels(self) -> NDArray[np.object_]:
        """The target as labels, of shape (n,); None for a missing one."""
        return label_words(self.target)

    def frame(self) -> pd.DataFrame:
        """Return the features as a data frame of shape (n, d): floats, and objects for words.

        Missing values are NaN. Sparse rows become dense. The columns have the names and the order
        of the features, the rows the index 0, 1, ...
        """
        import pandas as pd

        X = self.X
        if not isinstance(X, np.ndarray):
            X = X.toarray()
        columns = {name: X[:, position] for position, name in enumerate(self.names)}
        for name, words in self.nominal.items():
            missing = is_missing(words)
            columns[name] = np.where(missing, np.nan, words)
        index = range(len(X))
        # pandas would move the columns of rows to memory of its own, and then those of words.
        return pd.DataFrame(columns, index=index, copy=False)

    def write(self, folder: Path, stem: str) -> Path:
        """Write the rows, with a column `target`, to `folder`/`stem`.parquet; return the path.

        Sparse rows become `folder`/`stem`.npz, without the names of their features. Neither file
        holds the other fields, such as `n_train` and `notes`.
        """
        import scipy.sparse as sp

        if sp.issparse(self.X):
            path = folder / f"{stem}.npz"
            write = self._write_sparse
        else:
            path = folder / f"{stem}.parquet"
            write = self._write_dense
        with replace_file(path) as partial, open(partial, "wb") as stream:
            write(stream)
        return path

    def _write_dense(self, stream: IO[bytes]) -> None:
        """Write the rows to a stream as Parquet, with the target as the column `target`.

        A feature of this name becomes `target_` (or `target_-2`, ... if that exists). Nominal
        columns of `words` are of the type category.
        """
        feature = unused_name("target_", self.names)  # the name of a feature `target`
        features = self.frame().rename(columns={"target": feature})
        frame = features.assign(target=self.target)
        # Words that must not become numbers when they are read.
        kinds = {}
        for name in self.words & self.nominal.keys():
            column = feature if name == "target" else name
            kinds[column] = "category"
        frame = frame.astype(kinds)
        frame.to_parquet(stream, index=False)

    def _write_sparse(self, stream: IO[bytes]) -> None:
        """Write sparse rows to a stream as a NumPy archive: the parts of a CSR matrix, and targets.

        The target is the array `target`; unless it holds numbers, it becomes str.
        """
        target = self.target.astype(str) if self.target.dtype == object else self.target
        np.savez_compressed(
            stream,
            data=self.X.data,
            indices=self.X.indices,
            indptr=self.X.indptr,
            shape=self.X.shape,
            target=target,
        )

    def add_remark(self, *notes: str) -> Table:
        """Return the same table with further notes, texts for its user."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes that begin with 'warning: '."""
        return tuple(note for note in self.notes if note.startswith("warning: "))

    def column(self, name: str) -> NDArray[Any]:
        """Return a feature by its name, of shape (n,): words of a nominal column, None if missing.

        Floats of any other column, NaN if missing; those of sparse rows become dense. Raises
        KeyError for an unknown name.
        """
        if name in self.nominal:
            return self.nominal[name]
        position = self.index[name]
        X = self.X
        if isinstance(X, np.ndarray):
            values = X[:, position]
            return np.ascontiguousarray(values)
        column: NDArray[np.float64] = X[:, [position]].toarray()
        return column[:, 0]

    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of shape (n, d): True for each missing value. Missing texts do not count.

        For dense rows only.
        """
        missing: NDArray[np.bool_] = np.isnan(self.X)
        for name, words in self.nominal.items():
            column = self.index[name]
            if name in self.text:
                missing[:, column] = False
            else:
                missing[:, column] = is_missing(words)
        return missing

    def rows(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> Table:
        """Return the table of some rows, chosen by their numbers, in this order, or by a mask.

        Numbers of training rows must come before those of test rows. `n_train` and `positions`
        follow.
        """
        numbers = np.arange(len(self.target))[chosen]
        n_train = None
        if self.n_train is not None:
            n_train = int((numbers < self.n_train).sum())
        return replace(
            self,
            X=self.X[numbers],
            target=self.target[numbers],
            nominal={name: words[numbers] for name, words in self.nominal.items()},
            n_train=n_train,
            positions=numbers if self.positions is None else self.positions[numbers],
        )

    def with_numbers(
        self, columns: Mapping[str, Sequence[float] | NDArray[np.float64]]
    ) -> Table:
        """Return the table with numbers in place of the words of some columns; for dense rows only.

        `columns`: {name: values of shape (n,)}; these columns are no longer nominal.
        """
        X = np.array(self.X) if columns else self.X
        for name, values in columns.items():
            X[:, self.index[name]] = values
        return replace(
            self,
            X=X,
            nominal={
                name: words
                for name, words in self.nominal.items()
                if name not in columns
            },
        )

    def with_words(self, columns: Mapping[str, NDArray[np.object_]]) -> Table:
        """Return the table with words in place of the numbers of some columns; for dense rows only.

        `columns`: {name: words of shape (n,), None for a missing one}; these columns become
        nominal.
        """
        X = np.array(self.X) if columns else self.X
        for name in columns:
            X[:, self.index[name]] = np.nan
        return replace(self, X=X, nominal=self.nominal | dict(columns))

    def columns(self, names: Sequence[str]) -> Table:
        """Return the table of the columns `names`, in this order, with the same target.

        `words`, `codes` and `text` may still name the columns that are left out. Raises KeyError
        for an unknown name.
        """
        positions = np.array([self.index[name] for name in names], dtype=np.intp)
        return replace(
            self,
            X=self.X[:, positions],
            names=tuple(names),
            nominal={
                name: self.nominal[name] for name in names if name in self.nominal
            },
            dates={name: self.dates[name] for name in names if name in self.dates},
        )

    def drop_columns(self, dropped: Collection[str]) -> Table:
        """Return the table without the features `dropped`; names that it lacks are ignored."""
        if not len(dropped):
            return self
        dropped = {*dropped}
        return self.columns([name for name in self.names if name not in dropped])


def _numbers_and_words(
    features: pd.DataFrame, words: Collection[str] | None
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.object_]]]:
    """Return the features of a table, NaN in columns of words, and {name: words} of these columns.

    The arrays have the shapes (n, d) and (n,); a missing word is None. Booleans are words. A column
    without any value is one of numbers. `words`: names of columns of categories. Other text columns
    of numbers alone become numbers, but codes such as 007 stay words. None: both become numbers.
    """
    are_numbers = all(
        isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in features.dtypes
    )
    have_words = features.columns.isin(words or ()).any()
    if are_numbers and not have_words:
        # At once: pandas takes half a second to hand out ten thousand columns.
        return np.asfortranarray(features.to_numpy(np.float64)), {}
    # By columns, as they are filled and described one by one.
    X = np.empty(features.shape, order="F")
    nominal: dict[str, NDArray[np.object_]] = {}
    for index, (name, column) in enumerate(features.items()):
        codes, values = _distinct_values(column)
        are_words = words is not None and (name in words or are_codes(values))
        is_nominal = are_words or values.dtype == bool
        numbers = None
        if not is_nominal:
            has_numbers = values.dtype.kind in "iuf"
            numbers = values if has_numbers else to_numbers(values)
        if numbers is None:
            spelled_values = spelled(values, category_word)
            nominal[str(name)] = (
                spelled_values if codes is None else spelled_values[codes]
            )
            X[:, index] = np.nan
        else:
            X[:, index] = numbers if codes is None else numbers[codes]
    return X, nominal


def _values(column: pd.Series[Any]) -> NDArray[Any]:
    """Return a column of a data frame as an array of booleans, integers or floats.

    If such a column can hold NA and does, the array is one of objects. Any other column becomes an
    object array of str, with None for missing values.
    """
    codes, values = _distinct_values(column)
    return values if codes is None else values[codes]


def _distinct_values(
    column: pd.Series[Any],
) -> tuple[NDArray[np.intp] | None, NDArray[Any]]:
    """Return codes and distinct words of a column, whose values are `words[codes]`.

    The last word is None, so the code -1 is a missing value. For a column of booleans, integers or
    floats, the codes are None and the words are its values, one for each row.
    """
    import pandas as pd

    kind = column.dtype.kind
    if kind in "biuf":
        dtype = np.float64 if kind == "f" else None
        return None, column.to_numpy(dtype)
    # pandas finds the distinct values of its own type of text more slowly than those of objects.
    is_text = isinstance(column.dtype, pd.StringDtype)
    values = column.to_numpy(object) if is_text else column
    codes, distinct = pd.factorize(values)  # -1 for a missing value
    words = [*map(str, distinct), None]
    return codes, np.array(words, dtype=object)


def spelled(values: Any, spell: Callable[[Any], str]) -> NDArray[np.object_]:
    """Return an object array of `spell(value)` for each of `values`; None for a missing one.

    `spell` is called once for each distinct value.
    """
    import pandas as pd

    codes, distinct = pd.factorize(values)  # -1 for a missing value
    return np.array([*map(spell, distinct), None], dtype=object)[codes]


def target_of(names: list[str], choose: Callable[[list[str]], str], path: Path) -> str:
    """Return the name of the target that `choose` takes from the names of the columns.

    Raises ElmbenchError before, for a repeated name or too many columns. `path`: the file, for the
    error.
    """
    check_width(len(names), path)
    check_names(names, path)
    return choose(names)


def check_width(n_columns: int, path: Path) -> None:
    """Raise ElmbenchError for more than 100,000 columns. `path`: the file, for the error."""
    if n_columns > MOST_COLUMNS:
        raise ElmbenchError(
            f"{path} has {n_columns:,} columns",
            expected=f"at most {MOST_COLUMNS:,} columns",
            next_step="save wider data as LIBSVM text (.svm)",
        )


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise ElmbenchError if two of the columns `names` have the same name.

    `path`: the file, for the error.
    """
    first_columns: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        first = first_columns.setdefault(name, column)
        if first != column:
            raise ElmbenchError(
                f"{path}: the column {name!r} appears twice (columns {first} and {column})",
                expected="column names that differ",
                next_step=f"rename or remove one of the two in {path.name}",
            )


def unused_name(name: str, names: Collection[str]) -> str:
    """Return a name, followed by -2, -3 and so on until it is not among `names`.

    It stays as it is if it is not among them.
    """
    numbered = (f"{name}-{number}" for number in count(2))
    candidates = chain([name], numbered)
    return next(candidate for candidate in candidates if candidate not in names)


def few(names: Sequence[str], most: int) -> str:
    """Return the first `most` names, separated by commas, and ", ..." if there are more."""
    listing = ", ".join(names[:most])
    return f"{listing}, ..." if len(names) > most else listing


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the values that are None or NaN (NaT for dates)."""
    import pandas as pd

    return np.asarray(pd.isna(values))


def is_number(text: str) -> bool:
    """Return True if a text is a plain ASCII number such as -1.5e3.

    Surrounding spaces do not count.
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def have_equal_digits(words: Iterable[str]) -> bool:
    """Return True if all words consist of the same number of digits, two or more.

    Also True for no words.
    """
    words = {*words}
    return len({*map(len, words)}) <= 1 and all(map(_is_code, words))


def _is_code(word: str) -> bool:
    """Return True if a word consists of ASCII digits alone, two or more."""
    return len(word) > 1 and word.isascii() and word.isdigit()


def may_be_codes(words: Iterable[str]) -> bool:
    """Return True if all words but placeholders have the same number of digits, two or more.

    Surrounding spaces do not count. Placeholders are numbers such as -999 or 0. Also True for
    placeholders alone and for no words. The first other word ends the search, so not all of an
    iterator may be taken.
    """
    lengths = set()
    for word in map(str.strip, words):
        if is_placeholder(word):
            continue
        if not _is_code(word):
            return False
        lengths.add(len(word))
    return len(lengths) <= 1


def are_codes(values: NDArray[Any]) -> bool:
    """Return True for a column of codes such as zip codes, some of which begin with 0.

    They are words of equally many digits, beside missing words and placeholders such as -999. False
    for numbers.
    """
    words = present_words(values) if values.dtype == object else set()
    words = set(map(str.strip, words))
    has_leading_zero = any(word.startswith("0") and len(word) > 1 for word in words)
    return has_leading_zero and may_be_codes(words)


def is_placeholder(word: str) -> bool:
    """Return True if `word` is a number that often stands for a missing code: -999, 9999 or 0.

    Others are -1, numbers of nines, and powers such as 1e5; surrounding spaces do not count.
    """
    return _PLACEHOLDER.fullmatch(word.strip()) is not None


def to_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column as floats, with NaN for missing values; None if it holds a word.

    Words that spell plain numbers, such as 1.5 or -2e3, are converted; inf and nan are words.
    Booleans become 0 and 1. A column of missing values alone is all NaN.
    """
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    import pandas as pd

    codes, words = pd.factorize(values)  # -1 for a missing value
    if not all(map(is_number, map(str, words))):
        return None
    numbers = np.append(words.astype(np.float64), np.nan)
    return numbers[codes]


def label_words(target: NDArray[Any]) -> NDArray[np.object_]:
    """Return the labels `target` as words, (n,), with one spelling of whole numbers; None if
    missing.

    +1, 1.0 and 1 are all '1', but 01 is not.
    """
    return spelled(target, label_word)


def label_word(value: Any) -> str:
    """Return the canonical spelling of a label, without surrounding spaces.

    A whole number is '1', not '+1' or '1.0'. The value must not be missing.
    """
    word = str(value).strip()
    whole = _WHOLE.fullmatch(word)
    if not whole:
        return word
    # Not str(int(...)), which Python refuses for thousands of digits.
    return "0" if whole[1] == "-0" else whole[1]


def category_word(value: Any) -> str:
    """Return the text of a category without surrounding spaces.

    True and False are in lower case, because files and pandas spell them differently. The value
    must not be missing.
    """
    word = str(value).strip()
    return word.lower() if word in ("True", "False", "TRUE", "FALSE") else word


def to_frame(X: Any) -> pd.DataFrame:
    """Return rows as a data frame of pandas with column names of type str.

    A data frame keeps its names (0 becomes '0'); the columns of other rows become x0, x1, ... `X`:
    a data frame of any library, an array, lists or sparse rows, which become dense. A vector is one
    column. Raises ElmbenchError for a path or None, or an array of more than two dimensions.
    """
    import pandas as pd

    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    elif hasattr(X, "toarray"):
        X = X.toarray()
    if isinstance(X, pd.DataFrame):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    if getattr(X, "ndim", 2) > 2:
        raise ElmbenchError(
            f"X has the shape {X.shape}",
            expected="rows and columns",
            next_step="reshape X",
        )
    if X is None or isinstance(X, str | Path):
        problem = f"X is {X!r}"
        next_step = "read a file first: pandas.read_csv(FILE)"
        raise ElmbenchError(
            problem, expected="a data frame or an array", next_step=next_step
        )
    frame = pd.DataFrame(X)
    names = [f"x{name}" if isinstance(name, int) else str(name) for name in frame]
    return frame.set_axis(names, axis=1)
