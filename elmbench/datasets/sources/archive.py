"""Tables at an address, alone or in a zip or tar archive. Nothing is written to paths in the
archive.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from elmbench.datasets.sources.base import FetchJob, NetworkSource
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.files import SpecPart

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

_NPZ = b"PK\x03\x04"
_MAGIC = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}


class Member(SpecPart):
    """The files of one part of the rows in an archive.

    `features` names the file with one row a line (its folder inside the archive does not matter),
    `labels` a second file, if the target of each row is the first field of a line there.
    """

    #: The member that holds the features.
    features: str
    #: The member that holds the labels, if it is a separate one.
    labels: str | None = None


class ArchiveSource(NetworkSource):
    """A table without a header, alone (compressed or not) or in a zip or tar archive, at an
    address.

    It is text, or the arrays of an .npz file.
    """

    #: The kind of source.
    kind: Literal["archive"]
    #: The address.
    url: str
    #: The hash of the file at the address.
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    #: Members of an archive by their part.
    members: dict[Literal["all", "train", "test"], Member] = Field(default_factory=dict)
    #: The position of the target among the columns (-1: the last), if it is not in a file of its
    #: own.
    target: int = -1
    #: Positions of columns that are not features.
    drop: tuple[int, ...] = ()
    #: The separator of the columns.
    separator: Literal["comma", "space"] = "comma"
    #: `index-value` for rows of such pairs.
    layout: Literal["table", "index-value"] = "table"

    @property
    def title(self) -> str:
        """The source in words: its address."""
        return self.url

    def fetch(self, job: FetchJob) -> Mapping[str, Table]:
        """Download the file and return {part: table}; the part is 'all' if no members are named.

        A damaged archive is deleted, and raises ElmbenchError. `job`: downloads files into its
        folder.
        """
        names = [
            name
            for member in self.members.values()
            for name in (member.features, member.labels)
            if name
        ]
        # An archive of arrays serves several data sets.
        path = job.download(
            self.url, self.sha256, shared=any(name.endswith(".npz") for name in names)
        )
        if not names:
            return {"all": self._table(path.read_bytes(), None, self.url, job)}
        try:
            contents = _read_members(path, names, self.url)
            tables: dict[str, Table] = {}
            for part, member in self.members.items():
                labels = contents[member.labels] if member.labels else None
                tables[part] = self._table(
                    contents[member.features],
                    labels,
                    f"{self.url} ({member.features})",
                    job,
                )
            return tables
        except ElmbenchError:
            path.unlink()  # it may be damaged
            raise

    def _table(
        self, content: bytes, labels: bytes | None, origin: str, job: FetchJob
    ) -> Table:
        """Return the rows of a file as a table.

        `content`: arrays of an .npz file; else rows of columns or, in the layout `index-value`,
        rows of index:value pairs; perhaps compressed. `labels`: the content of a file with a line
        for each row, which begins with its target. Rows of index:value pairs need it; for rows of
        columns, None means that the target is a column. Arrays have their own targets. `origin`:
        the file, for errors and the table. `job`: has the number of features of index:value pairs.
        Raises ElmbenchError if the file cannot be read, or the numbers of rows and labels differ.
        """
        from sklearn.datasets import load_svmlight_file

        from elmbench.datasets.readers import read_arrays
        from elmbench.datasets.table import Table

        with _parser_errors(f"{origin} cannot be read", "rows of values"):
            if content.startswith(_NPZ):
                return read_arrays(content, origin)
            lines = _nonblank_lines(content)
            words = (
                []
                if labels is None
                else [line.split()[0] for line in _nonblank_lines(labels)]
            )
            if not lines:
                raise ValueError("it has no rows")
            if labels is not None and len(words) != len(lines):
                raise ValueError(f"it has {len(lines)} rows and {len(words)} labels")
            if self.layout == "index-value":
                text = b"\n".join(
                    label + b" " + line
                    for label, line in zip(words, lines, strict=True)
                )
                X, y = load_svmlight_file(
                    io.BytesIO(text), n_features=job.width, zero_based=False
                )
                return Table.of_numbers(X, y, origin)
            return self._dense(lines, words, origin)

    def _dense(self, lines: list[bytes], labels: list[bytes], origin: str) -> Table:
        """Return the rows of a text file of columns as a table with the features x0, x1, ...

        `lines`: of the file. `labels`: the target of each line if they are in another file, else
        empty; the target is then a column. Dropped columns are left out. `origin`: the address of
        the file, for messages and the table.
        """
        from elmbench.datasets.user_files.text_files import PUBLIC_ROWS, read_text_table

        if self.separator == "space":
            lines = [b",".join(line.split()) for line in lines]
        if labels:
            lines = [
                line + b"," + label for line, label in zip(lines, labels, strict=True)
            ]
        position = -1 if labels else self.target
        name = Path(origin.rpartition("/")[2])
        table = read_text_table(
            b"\n".join(lines), name, lambda names: names[position], PUBLIC_ROWS
        )
        table = table.drop_columns([f"x{index}" for index in self.drop])
        return replace(
            table,
            names=tuple(f"x{index}" for index in range(len(table.names))),
            origin=origin,
        )


def _read_members(path: Path, wanted: Iterable[str], origin: str) -> dict[str, bytes]:
    """Return {name: content} of files in a zip or tar archive, by their names without folders.

    `wanted`: these names. The archive must contain exactly one plain file of each name; otherwise
    raises ElmbenchError. `origin`: the archive, for the error.
    """
    with (
        _parser_errors(
            f"{origin}: the archive cannot be read", "a complete zip or tar archive"
        ),
        ExitStack() as stack,
    ):
        if zipfile.is_zipfile(path):
            archive = stack.enter_context(zipfile.ZipFile(path))
            openers: list[tuple[str, Callable[[], Any]]]
            openers = [
                (info.filename, partial(archive.open, info))
                for info in archive.infolist()
                if not info.is_dir()
            ]
        else:
            tar = stack.enter_context(tarfile.open(path))
            openers = [
                (member.name, partial(tar.extractfile, member))
                for member in tar.getmembers()
                if member.isreg()
            ]
        contents = {}
        for name in wanted:
            matches = [
                opener
                for full, opener in openers
                if PurePosixPath(full.replace("\\", "/")).name == name
            ]
            if len(matches) != 1:
                problem = (
                    f"{origin}: the archive holds {len(matches)} files named {name!r}"
                )
                raise ElmbenchError(
                    problem,
                    expected="one",
                    next_step="correct the name in datasets.yaml",
                )
            contents[name] = matches[0]().read()
        return contents


@contextmanager
def _parser_errors(problem: str, expected: str) -> Iterator[None]:
    """Convert every error of a parser in the context to an ElmbenchError.

    A parser may fail in any way on a damaged file. `problem`, `expected`: parts of the message.
    """
    try:
        yield
    except ElmbenchError:
        raise
    except Exception as error:
        problem = f"{problem}: {first_line(error)}"
        raise ElmbenchError(
            problem, expected=expected, next_step="fetch it again"
        ) from error


def _nonblank_lines(content: bytes) -> list[bytes]:
    """Return the lines of a text without blank ones; it is decompressed if necessary.

    `content`: plain, or compressed by gzip, bzip2 or xz.
    """
    decompress = next(
        (
            decompress
            for magic, decompress in _MAGIC.items()
            if content.startswith(magic)
        ),
        bytes,
    )
    return [line for line in decompress(content).split(b"\n") if line.strip()]
