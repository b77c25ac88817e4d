"""The base classes of the kinds of source.

The modules of this package import numpy, and modules that need it, in their methods, so that listings of data sets are
fast.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from elmbench.datasets.cached import cached_parts, file_sha256, verify
from elmbench.datasets.download import FetchJob
from elmbench.files import cache_folder
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.sources import BUILT_IN, SourceSpec

if TYPE_CHECKING:
    from elmbench.datasets.parts import Parts
    from elmbench.datasets.table import Table

State = Literal["file", "bundled", "generated", "fetched", "to fetch", "bad"]


@dataclass(frozen=True)
class Request:
    """The rows that a source is asked for."""

    spec: DatasetSpec
    #: The run, for rows that are redrawn every run.
    run: int = 0


class Source(SourceSpec):
    """Base class of the kinds of source.

    A kind needs a `load`; one whose rows are in files, or may be missing, also has a `status` and `files`.
    """

    #: Files of the data directory, which have no declared labels.
    in_data_dir: ClassVar[bool] = False
    #: A user's own file: it comes before the data directory, and all its notes are remarks.
    is_users: ClassVar[bool] = False

    def status(self, request: Request) -> tuple[State, str] | None:
        """Return the state and the location of the rows; None if they are not here."""
        return "bundled", self.title

    @abstractmethod
    def load(self, request: Request) -> Table:
        """Return the rows."""

    def files(self, request: Request) -> tuple[Path, ...]:
        """Return the files that the rows are read from."""
        return ()

    def checksum(self, request: Request) -> str:
        """Return a hash of everything that the rows depend on, without reading them."""
        files: list[tuple[str, int, int]] = []
        for path in self.files(request):
            with suppress(OSError):  # reading the file says what is wrong
                files.append((str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns))
        # The rows of a plug-in's kind depend on its code, which may change from one run to the next.
        code = "" if self.kind in BUILT_IN else file_sha256(Path(inspect.getfile(type(self))))
        content = [self.model_dump(mode="json"), files, code]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
        from elmbench.datasets.parts import read_parts

        return read_parts(self.parts, request.spec)


class NetworkSource(Source):
    """Base class of the kinds of source that are downloaded into the cache; they need a `fetch`."""

    needs_network: ClassVar[bool] = True

    @abstractmethod
    def fetch(self, job: FetchJob) -> Mapping[str, Table | Path]:
        """Download the rows: all of them, or the parts 'train' and 'test', as tables or files to be kept."""

    def n_features(self, spec: DatasetSpec) -> int:
        """Return the number of features of the downloaded rows."""
        return spec.shape.features

    def parts(self, request: Request) -> Parts:
        """Return the files in the cache."""
        return cached_parts(request.spec, self)

    def status(self, request: Request) -> tuple[State, str] | None:
        parts = self.parts(request)
        if not parts:
            return None
        verify(parts, request.spec)
        day = date.fromtimestamp(max(path.stat().st_mtime for path in parts.values()))
        return "fetched", f"{self.title}, fetched {day}, in {cache_folder()}"

    def files(self, request: Request) -> tuple[Path, ...]:
        return tuple(self.parts(request).values())

    def load(self, request: Request) -> Table:
        from elmbench.datasets.parts import read_parts

        parts = self.parts(request)
        verify(parts, request.spec)
        return read_parts(parts, request.spec, self.n_features(request.spec), self.title)
