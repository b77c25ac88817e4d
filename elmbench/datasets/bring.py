"""What each kind of source downloads, and the tables or files that come out of it."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass, field
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elmbench.datasets.archives import read_archive, read_members
from elmbench.datasets.download import Download, Progress, download, downloaded, remote_size
from elmbench.datasets.fetched import RawFile
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError
from elmbench.specs.dataset_sources import ArchiveSource, ImbalancedLearnSource, LibsvmSource, OpenMLSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elmbench.specs.dataset_sources import NetworkSource

# Ding's sets as imbalanced-learn publishes them, all in one archive.
ZENODO_URL = "https://zenodo.org/record/61452/files/benchmark-imbalanced-learn.tar.gz"


@dataclass(frozen=True)
class Job:
    """One fetch from one source.

    Attributes
    ----------
    width : int
        Number of features of the public file.
    folder : Path
        Where downloads are kept while they are under way.
    known : mapping of str to str
        SHA-256 of what was downloaded before, by address: it must be the same again.
    progress : callable or None
        See `download`.
    max_bytes : int or None
        Refuse larger downloads.
    """

    width: int
    folder: Path
    known: Mapping[str, str] = field(default_factory=dict)
    progress: Progress | None = None
    max_bytes: int | None = None

    def download(self, url: str, sha256: str | None = None) -> Download:
        """Download a file; it must have `sha256` or else the checksum that it had before."""
        wanted = sha256 or self.known.get(url)
        return download(url, self.folder, sha256=wanted, progress=self.progress, max_bytes=self.max_bytes)


@dataclass(frozen=True)
class Brought:
    """What a source brought: its parts ('all', or 'train' and 'test'), and the SHA-256 of each download."""

    parts: Mapping[str, Table | RawFile]
    downloads: dict[str, str]


@singledispatch
def bring(source: Any, job: Job) -> Brought:
    """Download a data set from one source.

    Raises
    ------
    DataUnavailableError
        If the server cannot be reached or fails.
    ElmbenchError
        If what it brings is too large, damaged, or not what it was before.
    """
    raise TypeError(f"no source that is fetched: {source!r}")


@singledispatch
def describe(source: Any) -> str:
    """Return a source in a few words, such as 'OpenML 1510'."""
    raise TypeError(f"no source that is fetched: {source!r}")


def file_urls(source: NetworkSource) -> list[str]:
    """Return the address of every file that is downloaded (of OpenML the ARFF files: it is asked for them)."""
    if isinstance(source, OpenMLSource):
        from elmbench.datasets.fetch_openml import openml_file_urls

        return openml_file_urls(source)
    return hosts(source)


def hosts(source: NetworkSource) -> list[str]:
    """Return addresses on every server that a source needs."""
    if isinstance(source, OpenMLSource):
        from elmbench.datasets.fetch_openml import server_url

        return [server_url()]
    if isinstance(source, ImbalancedLearnSource):
        return [ZENODO_URL]
    return list(source.urls.values()) if isinstance(source, LibsvmSource) else [source.url]


@describe.register(OpenMLSource)
def _describe_openml(source: OpenMLSource) -> str:
    return "OpenML " + ", ".join(map(str, source.ids))


@bring.register(OpenMLSource)
def _bring_openml(source: OpenMLSource, job: Job) -> Brought:
    from elmbench.datasets.fetch_openml import fetch_openml, openml_file_urls

    what = describe(source)
    if job.max_bytes is not None:
        # Not an address after another: together they are the download.
        n_bytes = sum(remote_size(url) or 0 for url in openml_file_urls(source))
        if n_bytes > job.max_bytes:
            raise ElmbenchError(
                f"{what} has {n_bytes / 1e6:.0f} MB",
                expected=f"at most {job.max_bytes / 1e6:.0f} MB",
                next_step="allow a larger download",
            )
    if job.progress:
        job.progress(what, 0, None)
    table, sums, n_bytes = fetch_openml(source)
    if job.progress:
        job.progress(what, n_bytes, n_bytes)
    for url, digest in sums.items():
        if job.known.get(url, digest) != digest:
            raise ElmbenchError(
                f"{url}: the file that arrived has the SHA-256 {digest}",
                expected=job.known[url] + ", as the first time",
                next_step="try again; if it stays so, the file was changed at its source",
            )
    return Brought({"all": table}, sums)


@describe.register(LibsvmSource)
def _describe_libsvm(source: LibsvmSource) -> str:
    return "LIBSVM " + ", ".join(url.rsplit("/", 1)[1] for url in source.urls.values())


@bring.register(LibsvmSource)
def _bring_libsvm(source: LibsvmSource, job: Job) -> Brought:
    parts, sums = {}, {}
    for part, url in source.urls.items():
        got = job.download(url)
        compression = Path(url).suffix if Path(url).suffix in (".gz", ".bz2", ".xz") else ""
        parts[part], sums[url] = RawFile(got.path, f".svm{compression}"), got.sha256
    return Brought(parts, sums)


@describe.register(ArchiveSource)
def _describe_archive(source: ArchiveSource) -> str:
    return source.url


@bring.register(ArchiveSource)
def _bring_archive(source: ArchiveSource, job: Job) -> Brought:
    got = job.download(source.url, source.sha256)
    try:
        parts = read_archive(got.path, source, job.width)
    finally:
        got.path.unlink()
    return Brought(parts, {source.url: got.sha256})


@describe.register(ImbalancedLearnSource)
def _describe_imbalanced_learn(source: ImbalancedLearnSource) -> str:
    return f"imbalanced-learn {source.name}"


@bring.register(ImbalancedLearnSource)
def _bring_imbalanced_learn(source: ImbalancedLearnSource, job: Job) -> Brought:
    from imblearn.datasets import fetch_datasets

    # One archive holds all of the sets, so it is kept for the next one.
    got = downloaded(ZENODO_URL, job.folder) or job.download(ZENODO_URL)
    if job.known.get(ZENODO_URL, got.sha256) != got.sha256:
        got.path.unlink()
        got = job.download(ZENODO_URL)
    member = f"x{source.number}data.npz"
    try:
        content = read_members(got.path, [member], ZENODO_URL)[member]
        with tempfile.TemporaryDirectory(prefix="elmbench-") as home:
            (Path(home) / "zenodo").mkdir()
            (Path(home) / "zenodo" / member).write_bytes(content)
            found = fetch_datasets(data_home=home, filter_data=(source.name,), download_if_missing=False)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ElmbenchError(
            f"{ZENODO_URL} ({member}): {error}", expected=f"the set {source.name!r} of imbalanced-learn"
        ) from error
    bunch = found[source.name]
    X = np.asarray(bunch.data, dtype=np.float64)
    table = Table(X, tuple(f"x{place}" for place in range(X.shape[1])), np.asarray(bunch.target), describe(source))
    return Brought({"all": table}, {ZENODO_URL: got.sha256})
