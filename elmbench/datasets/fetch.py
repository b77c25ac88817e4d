"""Fetch data sets from their public sources into the cache."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elmbench.datasets.load import load_fetched
from elmbench.datasets.originals import as_claimed, is_always_compared
from elmbench.datasets.readers import unpacked_bytes
from elmbench.datasets.receipts import Receipt, discard, fetched_files, keep, read_receipt
from elmbench.datasets.sources import fetch_from, hosts
from elmbench.datasets.sources.download import Progress, remote_size
from elmbench.datasets.sources.fetching import FetchJob
from elmbench.datasets.sources.folder import PATTERN
from elmbench.datasets.sources.openml import openml_file_urls, server_url
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import cache_folder, sweep
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.datasets.sources import NetworkSource, OpenMLSource


@dataclass(frozen=True)
class Fetched:
    """What `fetch` did: where the data set comes from now, and whether anything was downloaded for it."""

    name: str
    origin: str
    downloaded: bool


@dataclass(frozen=True)
class Planned:
    """What `fetch` would download: the source that it would ask first, and its bytes where the server tells."""

    name: str
    origin: str
    n_bytes: int | None


def fetch(
    name: str, cache_dir: Path | str | None = None, *, progress: Progress | None = None, force: bool = False
) -> Fetched:
    """Fetch a data set, by name or alias, into the cache from the first source that gives it, and check that it loads.

    Parameters
    ----------
    cache_dir : path, optional
        See `cache_folder`.
    progress : callable, optional
        Called as `progress(address, bytes so far, bytes in all or None)`.
    force : bool
        Fetch it again although it is there. What is downloaded must be what it was the first time.

    Raises
    ------
    DataUnavailableError
        If no source can be reached.
    ElmbenchError
        If the name is unknown, or what the sources give is not the data set.
    """
    spec = load_dataset_specs().find(name)
    if len(spec.network_sources) < len(spec.sources):
        return Fetched(spec.name, f"{spec.sources[0].kind}: nothing to fetch", False)
    if not force and (origin := _fetched_from(spec, cache_dir)):
        return Fetched(spec.name, origin, False)
    sweep(cache_folder(cache_dir))
    refusals: list[tuple[NetworkSource, ElmbenchError]] = []
    for source in spec.network_sources:
        try:
            return Fetched(spec.name, _fetch_and_check(spec, source, cache_dir, progress), True)
        except ElmbenchError as error:
            refusals.append((source, error))
    raise _refused(spec, refusals)


def plan(names: Iterable[str], cache_dir: Path | str | None = None) -> list[Planned]:
    """Return what `fetch` would download for each data set, with its size; those that are there are left out.

    A server that does not answer only leaves the size unknown.
    """
    planned = []
    for spec in (load_dataset_specs().find(name) for name in names):
        if len(spec.network_sources) < len(spec.sources) or _fetched_from(spec, cache_dir):
            continue
        first = spec.network_sources[0]
        planned.append(Planned(spec.name, first.title, _size(first)))
    return planned


def _size(source: NetworkSource) -> int | None:
    if _closed_server(source):
        return None
    try:
        urls = openml_file_urls(source) if isinstance(source, OpenMLSource) else source.addresses
        sizes = [remote_size(url) for url in urls]
    except ElmbenchError:
        return None
    return None if None in sizes else sum(filter(None, sizes))


def _fetched_from(spec: DatasetSpec, cache_dir: Path | str | None) -> str | None:
    """Return the source that a data set was fetched from, or None if it is not there, or no longer whole."""
    for source in spec.network_sources:
        receipt = read_receipt(spec, source, cache_dir)
        try:
            if receipt is not None and fetched_files(spec, receipt, cache_dir):
                return receipt.origin
        except ElmbenchError:
            continue
    return None


def _fetch_and_check(
    spec: DatasetSpec, source: NetworkSource, cache_dir: Path | str | None, progress: Progress | None
) -> str:
    if closed := _closed_server(source):
        raise DataUnavailableError(f"{hosts.host_of(closed)[0]} cannot be reached", expected="a network")
    before = read_receipt(spec, source, cache_dir)
    known = before.downloads if before else {}
    most = unpacked_bytes(spec.shape.instances, spec.shape.features, spec.sparse)
    folder = cache_folder(cache_dir) / "downloads"
    job = FetchJob(spec.shape.features, folder, most, known, is_always_compared(spec, source), progress)
    rows = fetch_from(source, job)
    today = datetime.date.today().isoformat()
    receipt = keep(spec, source, rows.parts, Receipt(source.title, today, rows.downloads), cache_dir)
    try:
        as_claimed(load_fetched(spec, source, receipt, cache_dir), spec, source)
    except ElmbenchError:
        discard(spec, source, receipt, cache_dir)
        raise
    return receipt.origin


def _closed_server(source: NetworkSource) -> str | None:
    """Return the first address of a source that cannot be reached."""
    # What OpenML's client is configured for is known only after its import, of 3 seconds: here its usual address.
    every = [url for spec in load_dataset_specs().values() for other in spec.network_sources for url in other.addresses]
    servers = (server_url(),) if isinstance(source, OpenMLSource) else source.addresses
    return next((url for url in servers if not hosts.reachable(url, every)), None)


def _refused(spec: DatasetSpec, refusals: list[tuple[NetworkSource, ElmbenchError]]) -> ElmbenchError:
    closed = all(isinstance(error, DataUnavailableError) for _, error in refusals)
    kind = DataUnavailableError if closed else ElmbenchError
    reasons = []
    for source, error in refusals:
        expected = f" (expected {error.expected})" if error.expected else ""
        reasons.append(f"{source.title}: {' '.join(error.found.splitlines())}{expected}")
    file = PATTERN.replace("<name>", spec.stem)
    return kind(
        f"the data set {spec.name!r} cannot be fetched: {'; '.join(reasons)}",
        expected="the data set from one of its sources",
        next_step=f"elmbench data fetch {spec.name}   (with a network), or give a file {file}: "
        f"elmbench data import {spec.name} FILE",
    )
