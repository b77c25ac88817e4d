"""Files of the data directory, as a source."""

from pathlib import Path
from typing import ClassVar

from elmbench.datasets.parts import read_parts
from elmbench.datasets.sources.base import Request, Source, State
from elmbench.datasets.table import Table


class FolderSource(Source):
    """Files of the data directory: 'all' rows, or the parts 'train' and 'test'. No spec names it."""

    in_data_dir: ClassVar[bool] = True

    kind: str = "folder"
    parts: dict[str, Path]

    def status(self, request: Request) -> tuple[State, str]:
        return "file", ", ".join(map(str, self.parts.values()))

    def files(self, request: Request) -> tuple[Path, ...]:
        return tuple(self.parts.values())

    def load(self, request: Request) -> Table:
        return read_parts(self.parts, request.spec)
