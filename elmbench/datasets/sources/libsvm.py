"""Files of the LIBSVM collection, kept as they are."""

from pathlib import PurePosixPath

from elmbench.datasets.readers import compression_of
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob, RawFile
from elmbench.specs.datasets.sources import LibsvmSource


def fetch_libsvm(source: LibsvmSource, job: FetchJob) -> FetchedRows:
    """Download one file, or a training and a test file."""
    parts, sums = {}, {}
    for part, url in source.urls.items():
        got = job.download(url)
        parts[part], sums[url] = RawFile(got.path, f".svm{compression_of(PurePosixPath(url))}"), got.sha256
    return FetchedRows(parts, sums)
