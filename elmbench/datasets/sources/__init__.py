"""Where rows come from: one file a kind of source, what it needs to load, and to fetch where it needs a network."""

from collections.abc import Callable
from typing import Any

from elmbench.datasets.sources.archive import fetch_archive
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob
from elmbench.datasets.sources.imbalanced_learn import fetch_imbalanced_learn
from elmbench.datasets.sources.libsvm import fetch_libsvm
from elmbench.datasets.sources.openml import fetch_openml
from elmbench.specs.datasets.sources import NetworkSource

_FETCH: dict[str, Callable[[Any, FetchJob], FetchedRows]] = {
    "archive": fetch_archive,
    "imbalanced-learn": fetch_imbalanced_learn,
    "libsvm": fetch_libsvm,
    "openml": fetch_openml,
}


def fetch_from(source: NetworkSource, job: FetchJob) -> FetchedRows:
    """Download a data set from one source."""
    return _FETCH[source.kind](source, job)
