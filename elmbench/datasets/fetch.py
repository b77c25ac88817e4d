"""Fetch data sets from their public sources into the cache."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elmbench.datasets import network
from elmbench.datasets.bring import Job, bring, describe, file_urls, hosts
from elmbench.datasets.cache import cache_folder
from elmbench.datasets.download import Progress, remote_size
from elmbench.datasets.fetched import Receipt, discard, fetched_files, keep, read_receipt
from elmbench.datasets.load import load_source
from elmbench.datasets.locate import PATTERN
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import sweep
from elmbench.specs.dataset_sources import NetworkSource, OpenMLSource
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


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
    name: str,
    cache_dir: Path | str | None = None,
    *,
    progress: Progress | None = None,
    max_bytes: int | None = None,
    force: bool = False,
) -> Fetched:
    """Fetch a data set into the cache, from its sources in their order, and check that it can be loaded.

    Parameters
    ----------
    name : str
        Name or alias.
    cache_dir : path, optional
        See `cache_folder`.
    progress : callable, optional
        Called as `progress(address, bytes so far, bytes in all or None)`.
    max_bytes : int, optional
        Refuse larger downloads.
    force : bool
        Fetch it again although it is there. What is downloaded must be what it was the first time.

    Returns
    -------
    Fetched

    Raises
    ------
    DataUnavailableError
        If no source can be reached.
    ElmbenchError
        If the name is unknown, or what the sources bring is not the data set.
    """
    spec = load_dataset_specs().find(name)
    sources = network_sources(spec)
    if len(sources) < len(spec.sources):
        return Fetched(spec.name, f"{spec.sources[0].kind}: nothing to fetch", False)
    if not force and (origin := fetched_from(spec, cache_dir)):
        return Fetched(spec.name, origin, False)
    sweep(cache_folder(cache_dir))
    refusals: list[tuple[NetworkSource, ElmbenchError]] = []
    for source in sources:
        try:
            return Fetched(spec.name, _fetch_from(spec, source, cache_dir, progress, max_bytes), True)
        except ElmbenchError as error:
            refusals.append((source, error))
    raise _refused(spec, refusals)


def plan(names: Iterable[str], cache_dir: Path | str | None = None) -> list[Planned]:
    """Return what `fetch` would download for each data set, with its size; those that are there are left out.

    Raises
    ------
    ElmbenchError
        If a name is unknown. A server that does not answer only leaves the size unknown.
    """
    planned = []
    for spec in (load_dataset_specs().find(name) for name in names):
        sources = network_sources(spec)
        if len(sources) < len(spec.sources) or fetched_from(spec, cache_dir):
            continue
        planned.append(Planned(spec.name, describe(sources[0]), _size(sources[0])))
    return planned


def _size(source: NetworkSource) -> int | None:
    if not all(network.reachable(url, _every_host()) for url in hosts(source)):
        return None
    try:
        sizes = [remote_size(url) for url in file_urls(source)]
    except ElmbenchError:
        return None
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def network_sources(spec: DatasetSpec) -> list[NetworkSource]:
    """Return the sources of a data set that need the network, in order of preference."""
    return [source for source in spec.sources if isinstance(source, NetworkSource)]


def fetched_from(spec: DatasetSpec, cache_dir: Path | str | None = None) -> str | None:
    """Return the source that a data set was fetched from, or None if it is not there, or no longer whole."""
    for source in network_sources(spec):
        try:
            found = fetched_files(spec, source, cache_dir)
        except ElmbenchError:
            continue
        if found:
            return found[1].origin
    return None


def _fetch_from(
    spec: DatasetSpec,
    source: NetworkSource,
    cache_dir: Path | str | None,
    progress: Progress | None,
    max_bytes: int | None,
) -> str:
    for url in hosts(source):
        if not network.reachable(url, _every_host()):
            raise DataUnavailableError(f"{network.host_of(url)[0]} cannot be reached", expected="a network")
    before = read_receipt(spec, source, cache_dir)
    job = Job(
        width=spec.shape.features,
        folder=cache_folder(cache_dir) / "downloads",
        known=before.downloads if before else {},
        progress=progress,
        max_bytes=max_bytes,
    )
    brought = bring(source, job)
    receipt = Receipt(describe(source), datetime.date.today().isoformat(), brought.downloads)
    keep(spec, source, brought.parts, receipt, cache_dir)
    try:
        load_source(spec, source, cache_dir)
    except ElmbenchError:
        discard(spec, source, cache_dir)
        raise
    return receipt.origin


def _every_host() -> list[str]:
    # What OpenML's client is configured for is known only after its import, of 3 seconds: here its usual address.
    sources = [source for spec in load_dataset_specs().values() for source in network_sources(spec)]
    return ["https://www.openml.org", *(url for s in sources if not isinstance(s, OpenMLSource) for url in hosts(s))]


def _refused(spec: DatasetSpec, refusals: list[tuple[NetworkSource, ElmbenchError]]) -> ElmbenchError:
    closed = all(isinstance(error, DataUnavailableError) for _, error in refusals)
    kind = DataUnavailableError if closed else ElmbenchError
    reasons = "; ".join(f"{describe(source)}: {_flat(error)}" for source, error in refusals)
    return kind(
        f"the data set {spec.name!r} cannot be fetched: {reasons}",
        expected="one of its sources to bring it",
        next_step=f"elmbench data fetch {spec.name}   (with a network), or bring a file "
        f"{PATTERN.replace('<name>', spec.stem)}: elmbench data import {spec.name} FILE",
    )


def _flat(error: ElmbenchError) -> str:
    return error.found.replace("\n", " ") + (f" (expected {error.expected})" if error.expected else "")
