"""Ding's imbalanced sets, from the archive that imbalanced-learn publishes, by the loader of imbalanced-learn."""

import tempfile
import zipfile
from pathlib import Path

import numpy as np

from elmbench.datasets.sources.archive import read_members
from elmbench.datasets.sources.download import downloaded
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets.sources import ImbalancedLearnSource


def fetch_imbalanced_learn(source: ImbalancedLearnSource, job: FetchJob) -> FetchedRows:
    """Download the archive, and read one set of it."""
    from imblearn.datasets import fetch_datasets

    (url,) = source.addresses
    # One archive holds all of the sets, so it is kept for the next one.
    got = downloaded(url, job.folder) or job.download(url)
    if job.known.get(url, got.sha256) != got.sha256:
        got.path.unlink()
        got = job.download(url)
    member = f"x{source.number}data.npz"
    try:
        content = read_members(got.path, [member], url, job.most)[member]
        with tempfile.TemporaryDirectory(prefix="elmbench-") as home:
            (Path(home) / "zenodo").mkdir()
            (Path(home) / "zenodo" / member).write_bytes(content)
            found = fetch_datasets(data_home=home, filter_data=(source.name,), download_if_missing=False)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        expected = f"the set {source.name!r} of imbalanced-learn"
        raise ElmbenchError(f"{url} ({member}): {error}", expected=expected) from error
    bunch = found[source.name]
    table = Table.of_numbers(np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target), source.title)
    return FetchedRows({"all": table}, {url: got.sha256})
