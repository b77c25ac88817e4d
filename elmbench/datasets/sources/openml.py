"""Fetch data sets from OpenML by the client that OpenML publishes: by id, into a private folder that is deleted."""

import contextlib
import logging
import os
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.readers import ChooseTarget, read_table
from elmbench.datasets.sources.download import file_sha256, other_checksum
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob
from elmbench.datasets.sources.hosts import reachable
from elmbench.datasets.table import Table, label_words
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.datasets.sources import OpenMLSource


def server_url() -> str:
    """Return the address of the server that the client is configured for."""
    with _private_client() as openml:
        return str(openml.config.server)


def openml_file_urls(source: OpenMLSource) -> list[str]:
    """Return the addresses of the ARFF files of a source: the descriptions are fetched for it."""
    with _private_client() as openml:
        return [str(_dataset(openml, number, False).url) for number in source.ids]


def fetch_openml(source: OpenMLSource, job: FetchJob) -> FetchedRows:
    """Download the data sets of a source, Parquet where there is such a file and it can be read, else ARFF.

    The client retries what may pass, and compares an ARFF file with the MD5 sum that the server states.
    """
    if job.progress:
        job.progress(source.title, 0, None)
    with _private_client() as openml:
        got = [_one(openml, number, source) for number in source.ids]
    table = _joined([table for table, *_ in got], source)
    downloads = {url: digest for _, url, digest, _ in got}
    n_bytes = sum(size for *_, size in got)
    if job.progress:
        job.progress(source.title, n_bytes, n_bytes)
    for url, digest in downloads.items():
        if job.known.get(url, digest) != digest:
            raise other_checksum(url, digest, f"{job.known[url]}, as the first time")
    return FetchedRows({"all": table}, downloads)


def _one(openml: Any, number: int, source: OpenMLSource) -> tuple[Table, str, str, int]:
    described = _dataset(openml, number, False)
    parquet = described._parquet_url
    # The Parquet file of sparse rows is dense: tens of thousands of columns that do not fit into memory.
    if parquet and described.format.lower() != "sparse_arff" and reachable(parquet):
        # The client takes the Parquet file without a checksum, so one that cannot be read is passed over.
        with contextlib.suppress(ElmbenchError):
            return _read(_dataset(openml, number, True), number, source)
    with _environment("OPENML_SKIP_PARQUET", "true"):
        return _read(_dataset(openml, number, True), number, source)


def _dataset(openml: Any, number: int, with_data: bool) -> Any:
    import requests
    import urllib3

    exceptions, later = openml.exceptions, "try again later"
    where = f"OpenML {number} ({openml.config.server})"
    try:
        return openml.datasets.get_dataset(
            number, download_data=with_data, download_qualities=False, download_features_meta_data=False
        )
    except exceptions.OpenMLHashException as error:
        found = f"{where}: the file has another checksum than its description states"
        raise ElmbenchError(found, expected="the file as it was uploaded", next_step=later) from error
    except (exceptions.OpenMLServerNoResult, exceptions.OpenMLPrivateDatasetError) as error:
        next_step = "correct the id in datasets.yaml"
        raise ElmbenchError(f"{where}: {error.message}", expected="a public data set", next_step=next_step) from error
    except (exceptions.PyOpenMLError, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise DataUnavailableError(f"{where}: {said[0]}", expected="an answer", next_step=later) from error
    except (KeyError, ValueError, TypeError) as error:
        found = f"{where}: its description lacks or garbles {error}"
        raise ElmbenchError(found, expected="a description as OpenML's server gives it", next_step=later) from error


def _read(dataset: Any, number: int, source: OpenMLSource) -> tuple[Table, str, str, int]:
    """Return the table of a downloaded data set, and the address, SHA-256 and bytes of its file."""
    origin = f"OpenML {number}"
    by_parquet = dataset.parquet_file is not None
    path = Path(dataset.parquet_file if by_parquet else dataset.data_file)
    path = path.rename(path.with_name("rows.parquet" if by_parquet else "rows.arff"))
    dropped = {*_listed(dataset.row_id_attribute), *_listed(dataset.ignore_attribute)}
    choose = partial(_target_name, dataset, source, dropped, origin)
    # The values are read here and not by the client, which shortens sparse ones to single precision.
    table = _read_sparse(path, choose) if dataset.format.lower() == "sparse_arff" else read_table(path, choose)
    table = table.columns(np.array([name not in dropped for name in table.names]))
    digest, n_bytes = file_sha256(path)
    url = str(dataset._parquet_url if by_parquet else dataset.url)
    return replace(table, origin=origin), url, digest, n_bytes


def _read_sparse(path: Path, choose: ChooseTarget) -> Table:
    """Return the table of a sparse ARFF file. A value that is left out there is 0, or the first word of a column."""
    import arff  # type: ignore[import-untyped]

    values, columns, starts = array("d"), array("q"), array("q", [0])
    try:
        with open(path, encoding="utf-8") as stream:
            content = arff.load(stream, return_type=arff.LOD_GEN, encode_nominal=True)
            for row in content["data"]:  # not as coordinates: a last row without entries would be lost
                columns.extend(row.keys())
                values.extend(float(value) for value in row.values())
                starts.append(len(columns))
    except (arff.ArffException, OSError, ValueError, TypeError) as error:
        raise ElmbenchError(f"{path.name}: {error}", expected="a sparse ARFF file") from error
    names = [str(name) for name, _ in content["attributes"]]
    shape = (len(starts) - 1, len(names))
    X = sp.csr_matrix((np.array(values), np.array(columns), np.array(starts)), shape=shape)
    place = names.index(choose(names))
    y: NDArray[Any] = X[:, [place]].toarray().ravel()
    kind = content["attributes"][place][1]
    if isinstance(kind, list):
        y = np.array([kind[int(code)] for code in y], dtype=object)
    keep = np.arange(len(names)) != place
    return Table(X[:, keep], (*names[:place], *names[place + 1 :]), y, path.name)


def _target_name(dataset: Any, source: OpenMLSource, dropped: set[str], origin: str, columns: list[str]) -> str:
    target = source.target
    # A column that is said to be ignored may be the wanted target all the same.
    names = [name for name in columns if name not in dropped or name == target]
    if isinstance(target, int):
        return names[target]
    if target is None:
        target = dataset.default_target_attribute
    if target is None or target not in names:
        found = f"{origin} has {'no default target' if target is None else f'no column {target!r}'}"
        expected = "a target among " + ", ".join([*names[:5], "...", *names[-1:]])
        next_step = "name the target of this source in datasets.yaml"
        raise ElmbenchError(found, expected=expected, next_step=next_step)
    return str(target)


def _joined(tables: list[Table], source: OpenMLSource) -> Table:
    first, correct = tables[0], "correct the ids in datasets.yaml"
    if len(tables) == 1:
        return first
    for number, table in zip(source.ids, tables, strict=True):
        if not np.array_equal(label_words(table.target), label_words(first.target)):
            found = f"OpenML {number} has other targets than OpenML {source.ids[0]}, row by row"
            expected = "the same rows in all of " + ", ".join(map(str, source.ids))
            raise ElmbenchError(found, expected=expected, next_step=correct)
        if table.nominal:
            found = f"OpenML {number}: the column {table.names[min(table.nominal)]!r} holds words"
            raise ElmbenchError(found, expected="numbers in sets that are joined", next_step=correct)
    names = tuple(f"{number}:{name}" for number, table in zip(source.ids, tables, strict=True) for name in table.names)
    return Table(np.hstack([table.X for table in tables]), names, first.target, source.title)


def _listed(names: str | list[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _private_client() -> Iterator[Any]:
    """Yield the client with a cache folder of its own, which is deleted with the pickles that it keeps there."""
    # The variable is read when the client is imported, which would make a folder in $HOME.
    with tempfile.TemporaryDirectory(prefix="elmbench-openml-") as folder, _environment("OPENML_CACHE_DIR", folder):
        quiet = logging.root.manager.disable
        logging.disable(logging.WARNING)  # it warns on the root logger of every answer that is not compressed
        try:
            import openml

            root = openml.config._root_cache_directory
            openml.config.set_root_cache_directory(folder)
            try:
                yield openml
            finally:
                openml.config.set_root_cache_directory(root)
        finally:
            logging.disable(quiet)
