"""What every source that needs a network is given, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from elmbench.datasets.sources.download import Download, Progress, download
from elmbench.datasets.table import Table


@dataclass(frozen=True)
class FetchJob:
    """One fetch from one source."""

    #: Number of features of the public file.
    width: int
    #: Where downloads are kept while they are under way.
    folder: Path
    #: How many bytes its file may have once it is unpacked.
    most: int
    #: SHA-256 of what was downloaded before, by address: it must be the same again.
    known: Mapping[str, str] = field(default_factory=dict)
    #: Whether what is fetched will be held against a fingerprint of the public file.
    known_content: bool = False
    progress: Progress | None = None

    def download(self, url: str, sha256: str | None = None) -> Download:
        """Download a file; it must have `sha256` or else the checksum that it had before."""
        return download(url, self.folder, sha256=sha256 or self.known.get(url), progress=self.progress)


@dataclass(frozen=True)
class RawFile:
    """A downloaded file that is kept as it is, and the ending that says what it holds, such as '.svm.bz2'."""

    path: Path
    ending: str


@dataclass(frozen=True)
class FetchedRows:
    """What a source gave: its parts ('all', or 'train' and 'test'), and the SHA-256 of each download."""

    parts: Mapping[str, Table | RawFile]
    downloads: dict[str, str]
