"""Files of the LIBSVM collection, kept as they are."""

from __future__ import annotations

from pathlib import Path

from elmbench.datasets.sources.fetching import FetchedRows, FetchJob, RawFile
from elmbench.datasets.sources.folder import COMPRESSIONS
from elmbench.specs.dataset_sources import LibsvmSource


def fetch_libsvm(source: LibsvmSource, job: FetchJob) -> FetchedRows:
    """Download one file, or a training and a test file."""
    parts, sums = {}, {}
    for part, url in source.urls.items():
        got = job.download(url)
        compression = Path(url).suffix if Path(url).suffix in COMPRESSIONS else ""
        parts[part], sums[url] = RawFile(got.path, f".svm{compression}"), got.sha256
    return FetchedRows(parts, sums)
