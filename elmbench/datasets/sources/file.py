"""A user's file, as a source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from elmbench.datasets.sources.base import Request, Source, State
from elmbench.specs.datasets.sources import UserFile

if TYPE_CHECKING:
    from elmbench.datasets.table import Table


class FileSource(UserFile, Source):
    """A user's file, its path relative to the YAML file that names it.

    `target` is the name of the target column or its position (-1: the last); if empty, it is a column that is called
    target, class, label or y, else the last. `drop` names columns that are not features, `words` columns of categories
    even if they look like numbers, `dates` columns of dates, which become features. `separator`, `decimal` and `header`
    describe a text table; they are detected unless they are given. `drop_missing_target` leaves out rows without a
    target. `test` is another file with the official test rows.
    """

    is_users: ClassVar[bool] = True

    kind: Literal["file"]

    @property
    def title(self) -> str:
        return Path(self.path).name

    def status(self, request: Request) -> tuple[State, str] | None:
        return ("file", self.path) if Path(self.path).exists() else None

    def files(self, request: Request) -> tuple[Path, ...]:
        return tuple(map(Path, filter(None, (self.path, self.test))))

    def load(self, request: Request) -> Table:
        from elmbench.datasets.user_table import read_user_file, with_date_features

        table = read_user_file(self, request.spec.groups, request.spec.fold)
        return with_date_features(table, self.dates, request.spec.day_first)
