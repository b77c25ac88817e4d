"""Text tables at an address, alone or in a zip or tar archive. Nothing is unpacked to a path that the archive names."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from elmbench.datasets.readers import csv_columns, read_at_most
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob
from elmbench.datasets.table import Table, check_size
from elmbench.errors import ElmbenchError, first_line
from elmbench.specs.datasets.sources import ArchiveSource

_MAGIC: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
)
_DAMAGE = (OSError, EOFError, ValueError, KeyError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def fetch_archive(source: ArchiveSource, job: FetchJob) -> FetchedRows:
    """Download an archive or a text file, and read the tables that the source names."""
    got = job.download(source.url, source.sha256)
    try:
        parts = _tables(got.path, source, job.width, job.most)
    finally:
        got.path.unlink()
    return FetchedRows(parts, {source.url: got.sha256})


def read_members(path: Path, wanted: Iterable[str], origin: str, most: int) -> dict[str, bytes]:
    """Return the content of files in a zip or tar archive, by the last part of their names.

    Where a file lies in the archive, or where it claims to belong, does not matter: only its content is read. The
    archive must hold exactly one plain file of each name, of at most `most` bytes.
    """
    wanted = list(dict.fromkeys(wanted))
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                names = [info.filename for info in archive.infolist() if not info.is_dir()]
                places = {name: _only(name, names, origin) for name in wanted}
                for place in places.values():
                    check_size(archive.getinfo(place).file_size, most)
                return {name: archive.read(place) for name, place in places.items()}
        with tarfile.open(path) as archive_tar:
            members = {member.name: member for member in archive_tar.getmembers() if member.isreg()}
            found = {}
            for name in wanted:
                member = members[_only(name, list(members), origin)]
                check_size(member.size, most)
                stream = archive_tar.extractfile(member)
                found[name] = stream.read() if stream else b""
            return found
    except _DAMAGE as error:
        raise _bad(f"{origin}: the archive cannot be read: {error}", "a complete zip or tar archive") from error


def _only(name: str, names: list[str], origin: str) -> str:
    found = [candidate for candidate in names if PurePosixPath(candidate.replace("\\", "/")).name == name]
    if len(found) != 1:
        held = f"{origin}: the archive holds {len(found)} files named {name!r}"
        raise ElmbenchError(held, expected="one", next_step="correct the name in datasets.yaml")
    return found[0]


def _bad(found: str, expected: str) -> ElmbenchError:
    return ElmbenchError(found, expected=expected, next_step="fetch it again")


def _tables(path: Path, source: ArchiveSource, width: int, most: int) -> dict[str, Table]:
    if not source.members:
        return {"all": _table(path.read_bytes(), None, source, source.url, width, most)}
    names = [name for member in source.members.values() for name in (member.features, member.labels) if name]
    contents = read_members(path, names, source.url, most)
    tables: dict[str, Table] = {}
    for part, member in source.members.items():
        labels = contents[member.labels] if member.labels else None
        origin = f"{source.url} ({member.features})"
        tables[part] = _table(contents[member.features], labels, source, origin, width, most)
    return tables


def _table(content: bytes, labels: bytes | None, source: ArchiveSource, origin: str, width: int, most: int) -> Table:
    try:
        lines = _lines(content, most)
        words = None if labels is None else [line.split()[0].decode() for line in _lines(labels, most)]
        if not lines:
            raise _bad(f"{origin} has no rows", "rows of values")
        if words is not None and len(words) != len(lines):
            raise _bad(f"{origin}: {len(lines)} rows and {len(words)} labels", "one label a row")
        if source.layout == "index-value":
            return _sparse(lines, words or [], origin, width)
        return _dense(lines, words, source, origin)
    except _DAMAGE as error:
        raise _bad(f"{origin} cannot be read: {first_line(error)}", "rows of values") from error


def _lines(content: bytes, most: int) -> list[bytes]:
    """Return the lines of a text, which may be compressed, without those that are blank."""
    for magic, opener in _MAGIC:
        if content.startswith(magic):
            with opener(io.BytesIO(content)) as stream:
                content = read_at_most(stream, most)
            check_size(len(content), most)
            break
    return [line for line in content.split(b"\n") if line.strip()]


def _sparse(lines: list[bytes], labels: list[str], origin: str, width: int) -> Table:
    from sklearn.datasets import load_svmlight_file

    text = b"\n".join(label.encode() + b" " + line for label, line in zip(labels, lines, strict=True))
    X, y = load_svmlight_file(io.BytesIO(text), n_features=width, zero_based=False)
    return Table.of_numbers(X, y, origin)


def _dense(lines: list[bytes], labels: list[str] | None, source: ArchiveSource, origin: str) -> Table:
    if source.separator == "space":
        lines = [b",".join(line.split()) for line in lines]
    n_columns = lines[0].count(b",") + 1
    columns = csv_columns(b"\n".join(lines), n_columns, header=False)
    if labels is not None:
        columns.append(np.array(labels, dtype=object))
    target = len(columns) - 1 if labels is not None else source.target % n_columns
    kept = [place for place in range(len(columns)) if place not in source.drop]
    names = [f"x{place}" for place in range(len(kept))]
    return Table.of_columns(names, [columns[place] for place in kept], kept.index(target), origin)
