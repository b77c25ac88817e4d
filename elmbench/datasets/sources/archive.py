"""Text tables at an address, alone or in a zip or tar archive. Nothing is written to paths in the archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from elmbench.datasets.sizes import check_size, read_at_most
from elmbench.datasets.sources.base import FetchJob, NetworkSource
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.datasets.steps import SpecPart

if TYPE_CHECKING:
    from elmbench.datasets.table import Table

_MAGIC: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
)


class Member(SpecPart):
    """The files of one part of the rows in an archive.

    `features` names the file with one row a line (its folder inside the archive does not matter), `labels` a second
    file, if the target of each row is the first field of a line there.
    """

    features: str
    labels: str | None = None


class ArchiveSource(NetworkSource):
    """A text table without a header, alone (compressed or not) or in a zip or tar archive, at an address.

    `target` is the position of the target among the columns (-1: the last), if it is not in a file of its own; `drop`
    the positions of columns that are not features. In layout `index-value`, rows consist of such pairs.
    """

    kind: Literal["archive"]
    url: str
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    members: dict[Literal["all", "train", "test"], Member] = Field(default_factory=dict)
    target: int = -1
    drop: tuple[int, ...] = ()
    separator: Literal["comma", "space"] = "comma"
    layout: Literal["table", "index-value"] = "table"

    @property
    def title(self) -> str:
        return self.url

    def fetch(self, job: FetchJob) -> Mapping[str, Table]:
        path = job.download(self.url, self.sha256)
        if not self.members:
            return {"all": self._table(path.read_bytes(), None, self.url, job)}
        names = [name for member in self.members.values() for name in (member.features, member.labels) if name]
        contents = read_members(path, names, self.url, job.most)
        return {
            part: self._table(
                contents[member.features],
                contents[member.labels] if member.labels else None,
                f"{self.url} ({member.features})",
                job,
            )
            for part, member in self.members.items()
        }

    def _table(self, content: bytes, labels: bytes | None, origin: str, job: FetchJob) -> Table:
        try:
            lines = _lines(content, job.most)
            words = [] if labels is None else [line.split()[0] for line in _lines(labels, job.most)]
            if not lines:
                raise _bad(f"{origin} has no rows", "rows of values")
            if labels is not None and len(words) != len(lines):
                raise _bad(f"{origin}: {len(lines)} rows and {len(words)} labels", "one label a row")
            if self.layout == "index-value":
                return _sparse(lines, words, origin, job.width)
            return self._dense(lines, words, origin)
        except ElmbenchError:
            raise
        except Exception as error:  # a parser may fail in any way on a damaged file
            raise _bad(f"{origin} cannot be read: {first_line(error)}", "rows of values") from error

    def _dense(self, lines: list[bytes], labels: list[bytes], origin: str) -> Table:
        from elmbench.datasets.text import PUBLIC, read_text

        if self.separator == "space":
            lines = [b",".join(line.split()) for line in lines]
        if labels:
            lines = [line + b"," + label for line, label in zip(lines, labels, strict=True)]
        position = -1 if labels else self.target
        name = Path(origin.rpartition("/")[2])
        layout = PUBLIC.model_copy(update={"header": False})
        table = read_text(b"\n".join(lines), name, lambda names: names[position], layout)
        table = table.without([f"x{index}" for index in self.drop])
        return replace(table, names=tuple(f"x{index}" for index in range(len(table.names))), origin=origin)


def read_members(path: Path, wanted: Iterable[str], origin: str, most: int) -> dict[str, bytes]:
    """Return the content of files in a zip or tar archive, by the last part of their names.

    Their folders in the archive do not matter. The archive must contain exactly one plain file of each name, of at most
    `most` bytes.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir()]
                chosen = {name: _only(name, infos, "filename", origin) for name in wanted}
                check_size(sum(info.file_size for info in chosen.values()), most)
                return {name: archive.read(info) for name, info in chosen.items()}
        with tarfile.open(path) as tar:
            members = [member for member in tar.getmembers() if member.isreg()]
            contents = {}
            for name in wanted:
                member = _only(name, members, "name", origin)
                check_size(member.size, most)
                stream = tar.extractfile(member)
                contents[name] = stream.read() if stream else b""
            return contents
    except ElmbenchError:
        raise
    except Exception as error:  # a parser may fail in any way on a damaged file
        problem = f"{origin}: the archive cannot be read: {first_line(error)}"
        raise _bad(problem, "a complete zip or tar archive") from error


def _only(name: str, infos: list[Any], attribute: str, origin: str) -> Any:
    matches = [info for info in infos if PurePosixPath(getattr(info, attribute).replace("\\", "/")).name == name]
    if len(matches) != 1:
        problem = f"{origin}: the archive holds {len(matches)} files named {name!r}"
        raise ElmbenchError(problem, expected="one", next_step="correct the name in datasets.yaml")
    return matches[0]


def _bad(problem: str, expected: str) -> ElmbenchError:
    return ElmbenchError(problem, expected=expected, next_step="fetch it again")


def _lines(content: bytes, most: int) -> list[bytes]:
    """Return the lines of a text, which may be compressed, without blank ones."""
    for magic, opener in _MAGIC:
        if content.startswith(magic):
            with opener(io.BytesIO(content)) as stream:
                content = read_at_most(stream, most)
            break
    return [line for line in content.split(b"\n") if line.strip()]


def _sparse(lines: list[bytes], labels: list[bytes], origin: str, width: int) -> Table:
    from sklearn.datasets import load_svmlight_file

    from elmbench.datasets.table import Table

    text = b"\n".join(label + b" " + line for label, line in zip(labels, lines, strict=True))
    X, y = load_svmlight_file(io.BytesIO(text), n_features=width, zero_based=False)
    return Table.of_numbers(X, y, origin)
