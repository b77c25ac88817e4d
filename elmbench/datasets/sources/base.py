"""The base classes of the kinds of source, and downloads by pooch, with errors that name the next
command. `elmbench.specs.datasets.source_registry.BUILT_IN` lists each kind.

The modules of this package but `file` import numpy, and modules that need it, in their methods, so
that listings of data sets are fast.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from elmbench.errors import DataUnavailableError, ElmbenchError, first_line
from elmbench.files import cache_folder, delete_abandoned, partial_path
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.source_registry import BUILT_IN, FileOptions, SourceSpec

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

State = Literal["file", "bundled", "generated", "fetched", "to fetch", "bad"]
#: Keys of a source that its files do not depend on.
_NOT_OF_FILES = {"labels", "prepare", "already_prepared", "split_in_order", "note"}
#: The digits of a file's SHA-256 in its name.
_DIGITS = 16
#: Seconds to wait for a connection, and for each block of an answer.
TIMEOUT = (5.0, 30.0)

_HEADERS = {"User-Agent": "elmbench", "Accept-Encoding": "identity"}
#: Seconds after which a download that serves several data sets is deleted.
_OLD = 86_400
#: Hosts that this process cannot reach, so that it waits for each only once.
_closed: set[str] = set()


@dataclass(frozen=True)
class SourceRequest:
    """A request for the rows of a data set, for the methods of its source."""

    spec: DatasetSpec
    #: The run, for rows that are redrawn every run.
    run: int = 0


class Source(SourceSpec):
    """Base class of the kinds of source.

    A kind needs a `load`; one whose rows are in files, or may be missing, also has a `status` and
    `files`.
    """

    def status(self, request: SourceRequest) -> tuple[State, str] | None:
        """Return the state of the rows, such as "file" or "fetched", and their location in words.

        None if they are not here. By default, the state is "bundled" and the location the title.
        """
        return "bundled", self.title

    @abstractmethod
    def load(self, request: SourceRequest) -> Table:
        """Return the rows that are requested as a table; the network is not used."""

    def files(self, request: SourceRequest) -> tuple[Path, ...]:
        """Return the files that the rows are read from; none by default.

        Empty also if they are not here.
        """
        return ()

    def checksum(self, request: SourceRequest) -> str:
        """Return a hash of everything that the rows depend on, without parsing them.

        These are the options, the files and, for a plug-in's kind, its code. The files count with
        their content: `cp -p`, `rsync -t` and `touch -r` keep the size and the time of a file that
        has changed.
        """
        files = [
            (str(path.resolve()), digest)
            for path, digest in hashes_of(self.files(request))
        ]
        # The rows of a plug-in's kind depend on its code, which may change from one run to the
        # next.
        code = (
            ""
            if self.kind in BUILT_IN
            else file_sha256(Path(inspect.getfile(type(self))))
        )
        return hash_of([self.model_dump(mode="json"), files, code])


class FolderSource(Source):
    """Files of the data directory: `all` rows, or the parts `train` and `test`.

    No spec names this kind of source.
    """

    kind: str = "folder"
    parts: dict[str, Path]

    def status(self, request: SourceRequest) -> tuple[State, str]:
        """Return "file" and the paths of the files, separated by commas."""
        return "file", ", ".join(map(str, self.parts.values()))

    def files(self, request: SourceRequest) -> tuple[Path, ...]:
        """Return the paths of the files."""
        return tuple(self.parts.values())

    def load(self, request: SourceRequest) -> Table:
        """Return the rows of the files as one table, training rows first.

        Raises ElmbenchError if a part is missing or a file is damaged.
        """
        from elmbench.datasets.parts import read_parts

        return read_parts(self.parts, request.spec)


@dataclass(frozen=True)
class FetchJob:
    """A download for one data set: its folder, and how its files are read."""

    #: Number of features of the public file.
    width: int
    #: Empty folder, which is deleted at the end; its parent has downloads that serve several data
    #: sets.
    folder: Path
    #: The rows will be compared with the fingerprint of the public file.
    has_fingerprint: bool = False
    #: Show a bar on the terminal.
    progress: bool = False
    #: Options of a user's data set.
    layout: FileOptions | None = None

    def download(
        self, url: str, known_hash: str | None = None, shared: bool = False
    ) -> Path:
        """Download the file at `url` into the folder of the job, unless it is there; return its
        path.

        `known_hash`: the SHA-256 of the file, or another hash with its name, such as `md5:...`;
        None to accept any. `shared`: True to keep the file for later downloads of other data sets,
        in the parent folder; else it is deleted with the folder of the job. Raises
        DataUnavailableError if the server fails, and ElmbenchError if there is no such file or it
        has another hash.
        """
        import pooch
        from pooch.hashes import hash_matches
        from pooch.utils import unique_file_name

        from elmbench.datasets.sources.bar import DownloadBar

        pooch.get_logger().setLevel("WARNING")
        kept = self.folder.parent / unique_file_name(url)
        if shared and kept.is_file() and hash_matches(kept, known_hash):
            return kept
        try:
            with network(url), DownloadBar() if self.progress else nullcontext() as bar:
                downloader = pooch.HTTPDownloader(
                    progressbar=bar, timeout=TIMEOUT, headers=_HEADERS
                )
                path = pooch.retrieve(
                    url, known_hash, path=self.folder, downloader=downloader
                )
        except ValueError as error:  # the message names both hashes
            problem = f"{url}: {str(error).partition(' Deleted ')[0]}"
            next_step = "try again; if the hash stays another, the file was changed at its source"
            raise ElmbenchError(
                problem, expected=known_hash, next_step=next_step
            ) from error
        if shared:
            os.replace(path, kept)
        return kept if shared else Path(path)


@contextmanager
def network(url: str) -> Iterator[None]:
    """Convert errors of a download in the context, from `url`, to those of this package.

    They become DataUnavailableError, or ElmbenchError if the server refuses the request. A host
    that cannot be reached is remembered: later calls for it raise DataUnavailableError at once.
    """
    host = urlsplit(url).netloc
    closed = DataUnavailableError(
        f"{host} cannot be reached", expected="a network", next_step="try again online"
    )
    if host in _closed:
        raise closed
    try:
        yield
    except (
        OSError
    ) as error:  # also every error of requests, with the request and the answer
        answer = getattr(error, "response", None)
        if answer is None and getattr(error, "request", None) is not None:
            _closed.add(host)
            raise closed from error
        problem = (
            first_line(error)
            if answer is None
            else f"the server answers {answer.status_code} ({answer.reason})"
        )
        if (
            answer is None
            or answer.status_code >= 500
            or answer.status_code in (408, 429)
        ):
            later = "try again later"
            raise DataUnavailableError(
                f"{url}: {problem}", expected="the file", next_step=later
            ) from error
        by_hand = "download it in a browser, then: elmbench data import NAME FILE"
        raise ElmbenchError(
            f"{url}: {problem}", expected="the file", next_step=by_hand
        ) from error


@contextmanager
def fetch_job(
    width: int, has_fingerprint: bool = False, progress: bool = False
) -> Iterator[FetchJob]:
    """Yield a download whose folder is deleted at the end of the context.

    Downloads of killed processes and those older than a day are deleted first. `width`: number of
    features of the public file. `has_fingerprint`: True if the rows will be compared with its
    fingerprint, so that a file without a checksum may come over an unencrypted connection.
    `progress`: True to show a bar on the terminal.
    """
    shared = cache_folder() / "downloads"
    shared.mkdir(parents=True, exist_ok=True)
    delete_abandoned(shared)
    for path in shared.iterdir():
        if time.time() - path.stat().st_mtime > _OLD:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    folder = partial_path(shared / "download")
    folder.mkdir()
    try:
        yield FetchJob(width, folder, has_fingerprint, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class NetworkSource(Source):
    """Base class of the kinds of source that are downloaded into the cache; they need a `fetch`.

    The files of a data set are `<source>.<part>.<hash>.<format>` in `<cache>/datasets/<stem>/`. The
    hash is the beginning of the file's SHA-256, so a changed file is noticed.
    """

    @abstractmethod
    def fetch(self, job: FetchJob) -> Mapping[str, Table | Path]:
        """Download the rows: {'all': ...}, or {'train': ..., 'test': ...}.

        Each value is a table, or a file in the folder of the job, for the cache. Raises
        DataUnavailableError without a network.
        """

    def keep(
        self, spec: DatasetSpec, rows: Mapping[str, Table | Path], folder: Path
    ) -> None:
        """Move the parts of a data set into the cache and delete its earlier files there.

        `rows`: {part: a table or a downloaded file}; empty to delete only. `folder`: for unfinished
        files.
        """
        earlier = self._cached_files(spec)
        prefix = self._prefix(spec)
        new = []
        for part, content in rows.items():
            file = content if isinstance(content, Path) else content.write(folder, part)
            # The name tells two contents of a part apart.
            digest = file_sha256(file)[:_DIGITS]
            _, _, ending = file.name.partition(".")
            name = f"{prefix.name}.{part}.{digest}.{ending}"
            path = prefix.with_name(name)
            new.append(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, path)
        outdated = set(earlier) - set(new)
        for path in outdated:
            path.unlink(missing_ok=True)

    def status(self, request: SourceRequest) -> tuple[State, str] | None:
        """Return "fetched" and a text with the day and the folder; None if nothing is in the cache.

        Also None if a part is missing. Raises ElmbenchError if a file was changed since it was
        fetched.
        """
        paths = self.files(request)
        if not paths:
            return None
        _verify(paths, request.spec)
        last_change = max(path.stat().st_mtime for path in paths)
        day = date.fromtimestamp(last_change)
        text = f"{self.title}, fetched {day}, in {cache_folder()}"
        return "fetched", text

    def files(self, request: SourceRequest) -> tuple[Path, ...]:
        """Return the newest file of each part in the cache; none if a part is missing."""
        return tuple(self._cached_parts(request.spec).values())

    def load(self, request: SourceRequest) -> Table:
        """Return the rows of the files in the cache, which must be there, as one table.

        Training rows come first. Raises ElmbenchError if a file was changed since it was fetched. A
        `width` of the source is the number of features of LIBSVM rows.
        """
        from elmbench.datasets.parts import read_parts

        parts = self._cached_parts(request.spec)
        spec = request.spec
        _verify(parts.values(), spec)
        return read_parts(parts, spec, getattr(self, "width", None), self.title)

    def _cached_parts(self, spec: DatasetSpec) -> dict[str, Path]:
        """Return the files in the cache: {'all': ...}, or {'train': ..., 'test': ...}.

        The newest file of each part counts. Empty if a part is missing.
        """
        parts = {
            path.name.split(".")[1]: path
            for path in sorted(self._cached_files(spec), key=os.path.getmtime)
        }
        if "all" in parts:
            return {"all": parts["all"]}
        return (
            {part: parts[part] for part in ("train", "test")} if len(parts) == 2 else {}
        )

    def _cached_files(self, spec: DatasetSpec) -> list[Path]:
        """Return all files of this source and data set in the cache, in any order.

        There may be several of a part, the older ones of which are outdated.
        """
        prefix = self._prefix(spec)
        return list(prefix.parent.glob(f"{prefix.name}.*.*.*"))

    def _prefix(self, spec: DatasetSpec) -> Path:
        """Return the path of a part in the cache without `.<part>.<hash>.<format>`.

        It differs between sources with different files.
        """
        digest = hash_of(self.model_dump(mode="json", exclude=_NOT_OF_FILES))
        return cache_folder() / "datasets" / spec.stem / f"{self.kind}-{digest[:12]}"


def _verify(paths: Iterable[Path], spec: DatasetSpec) -> None:
    """Raise ElmbenchError if one of the files `paths` in the cache was changed since it was
    fetched.

    The name of a file holds the beginning of its SHA-256. `spec`: the data set, for the error.
    """
    for path in paths:
        expected = path.name.split(".")[2]
        digest = file_sha256(path)
        if not digest.startswith(expected):
            raise ElmbenchError(
                f"the cached file {path} has been changed: its SHA-256 is {digest}",
                expected=f"the file that was fetched, with a SHA-256 that begins with {expected}",
                next_step=f"elmbench data fetch {spec.name}",
            )


def hashes_of(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Return (path, SHA-256) of the readable regular files among some paths; others are skipped."""
    hashes = []
    for path in paths:
        with suppress(OSError):  # reading the rows says what is wrong
            if path.is_file():
                hashes.append((path, file_sha256(path)))
    return hashes


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, as 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def hash_of(content: Any) -> str:
    """Return the SHA-256 of `content` as JSON with sorted keys, as 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
