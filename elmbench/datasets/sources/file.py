"""A user's own file, as a source."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from elmbench.datasets.numbers import with_numbers
from elmbench.datasets.readers import COMPRESSIONS, FORMATS, compression_of, read_table
from elmbench.datasets.sources.base import Request, Source, State
from elmbench.datasets.table import Table
from elmbench.datasets.text import Layout
from elmbench.datasets.user_table import column_position, no_column, with_date_features
from elmbench.errors import ElmbenchError

#: Names of a target column that is not given; the last column if there is none of these.
TARGETS = ("target", "class", "label", "y")
#: Formats with a target, but without names of columns.
UNNAMED = ("svm", "npz")
_OTHER_ENDINGS = {"tsv": "csv", "txt": "csv", "libsvm": "svm", "svmlight": "svm", "pq": "parquet"}
#: Largest unpacked size of a file: so many bytes, and so many times its own.
MOST_AT_LEAST, MOST_TIMES = 100_000_000, 500


class FileSource(Source):
    """A user's file, its path relative to the YAML file that names it.

    `target` is the name of the target column or its position (-1: the last); if empty, it is a column that is called
    target, class, label or y, else the last. `drop` names columns that are not features, `words` columns of categories
    even if they look like numbers, `dates` columns of dates, which become features. `separator`, `decimal` and `header`
    describe a text table; they are detected unless they are given. `drop_missing_target` leaves out rows without a
    target.
    """

    is_users: ClassVar[bool] = True

    kind: Literal["file"]
    path: str
    target: str | int = "target"
    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False

    @property
    def title(self) -> str:
        return Path(self.path).name

    def status(self, request: Request) -> tuple[State, str] | None:
        return ("file", self.path) if Path(self.path).exists() else None

    def files(self, request: Request) -> tuple[Path, ...]:
        return (Path(self.path),)

    def load(self, request: Request) -> Table:
        table = self.read(filter(None, [request.spec.groups]))
        return with_date_features(table, self.dates, request.spec.day_first)

    def read(self, words: Iterable[str] = ()) -> Table:
        """Return the rows; `words` are further columns whose values keep their spelling.

        Raises
        ------
        ElmbenchError
            If the file is not there, cannot be read, or lacks a column that is named.
        """
        path = Path(self.path)
        if not path.is_file():
            found = f"{path} is {'not a regular file' if path.exists() else 'not there'}"
            raise ElmbenchError(found, expected="a file of rows", next_step="check the path")
        form = form_of(path)
        most = MOST_AT_LEAST + MOST_TIMES * path.stat().st_size
        layout = Layout(self.separator, self.decimal, self.header, {*self.words, *words})
        table = read_table(path, self._choose, form=form, layout=layout, sparse=form in UNNAMED, most=most)
        dropped = [column_position(table, name) for name in self.drop]
        table = table.columns(np.array([place not in dropped for place in range(len(table.names))]))
        for name in set(self.words) - {table.target_name}:
            column_position(table, name)
        table = with_numbers(table, self.decimal, layout.words)
        return _without_missing_targets(table) if self.drop_missing_target else table

    def _choose(self, names: list[str]) -> str:
        if isinstance(self.target, int):
            return names[self.target]
        if not self.target:
            return next((name for name in TARGETS if name in names), names[-1])
        if self.target not in names:
            raise no_column(self.path, self.target, names)
        return self.target


def form_of(path: Path) -> str:
    """Return the format of a file by the end of its name.

    Raises
    ------
    ElmbenchError
        If the format is unknown.
    """
    form = path.name.removesuffix(compression_of(path)).rsplit(".", 1)[-1].lower()
    form = _OTHER_ENDINGS.get(form, form)
    if form not in (*FORMATS, "xlsx"):
        endings = ", ".join(f".{form}" for form in (*FORMATS, "xlsx", *_OTHER_ENDINGS))
        expected = f"a name that ends in {endings}, perhaps followed by {', '.join(filter(None, COMPRESSIONS))}"
        raise ElmbenchError(f"{path}: unknown kind of file", expected=expected, next_step="convert it, such as to CSV")
    return form


def _without_missing_targets(table: Table) -> Table:
    known = np.array([value is not None and value == value for value in table.target])
    if known.all():
        return table
    return table.rows(known).remarked(f"{int((~known).sum())} of {len(known)} rows have no target and are left out")
