"""Fetch data sets from their public sources into the cache."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from elmbench.datasets.cached import keep
from elmbench.datasets.download import FetchJob, Progress
from elmbench.datasets.load import compared, load_from, sources_of
from elmbench.datasets.parts import PATTERN, unpacked_bytes
from elmbench.datasets.sources.base import NetworkSource, Request
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import cache_folder
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs

#: Seconds after which a download is deleted if it was interrupted or serves several data sets.
_OLD = 86_400


@dataclass(frozen=True)
class Fetched:
    """A fetched data set: its source, and whether anything was downloaded for it."""

    name: str
    origin: str
    downloaded: bool


def fetch(name: str, *, progress: Progress | None = None, force: bool = False) -> Fetched:
    """Fetch a data set, by name or alias, into the cache from the first source that has it, and check that it loads.

    `force`: fetch the data set even if it is in the cache. Raises DataUnavailableError if no source can be reached, and
    ElmbenchError if the name is unknown, or the data of the sources differ from the expected ones.
    """
    spec = load_dataset_specs().find(name)
    sources = [cast(NetworkSource, source) for source in sources_of(spec) if source.needs_network]
    if len(sources) < len(spec.sources):
        return Fetched(spec.name, f"{spec.sources[0].kind}: nothing to fetch", False)
    for source in () if force else sources:
        with suppress(ElmbenchError):  # a changed file is fetched again
            if source.status(Request(spec)):
                return Fetched(spec.name, source.title, False)
    refusals: list[tuple[NetworkSource, ElmbenchError]] = []
    for source in sources:
        try:
            _fetch_and_check(spec, source, progress)
            return Fetched(spec.name, source.title, True)
        except ElmbenchError as error:
            refusals.append((source, error))
    raise _fetch_error(spec, refusals)


@contextmanager
def download_folder() -> Iterator[Path]:
    """Yield an empty folder for a download, which is deleted at the end; delete old ones as well."""
    shared = cache_folder() / "downloads"
    shared.mkdir(parents=True, exist_ok=True)
    for path in shared.iterdir():
        if time.time() - path.stat().st_mtime > _OLD:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=shared, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _fetch_and_check(spec: DatasetSpec, source: NetworkSource, progress: Progress | None) -> None:
    wanted = spec.fingerprint
    is_compared = wanted is not None and wanted.part == "all" and not (spec.training_part or source.other_values)
    with download_folder() as folder:
        job = FetchJob(spec.shape.features, unpacked_bytes(spec), folder, is_compared, progress)
        keep(spec, source, source.fetch(job), folder)
    try:
        compared(load_from(source, Request(spec, spec.chosen_options())), spec, source)
    except ElmbenchError:
        keep(spec, source, {}, folder)
        raise


def _fetch_error(spec: DatasetSpec, refusals: list[tuple[NetworkSource, ElmbenchError]]) -> ElmbenchError:
    closed = all(isinstance(error, DataUnavailableError) for _, error in refusals)
    kind = DataUnavailableError if closed else ElmbenchError
    reasons = []
    for source, error in refusals:
        expected = f" (expected {error.expected})" if error.expected else ""
        reasons.append(f"{source.title}: {' '.join(error.found.splitlines())}{expected}")
    again = f"elmbench data fetch {spec.name}   (with a network)"
    by_hand = f"or give a file {PATTERN.replace('<name>', spec.stem)}: elmbench data import {spec.name} FILE"
    return kind(
        f"the data set {spec.name!r} cannot be fetched: {'; '.join(reasons)}",
        expected="the data set from one of its sources",
        next_step=f"{again}, {by_hand}",
    )
