"""Fetch data sets from OpenML by id: its client asks what there is, in a private folder that is deleted."""

import contextlib
import hashlib
import logging
import os
import shutil
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
from elmbench.datasets.sources.download import Download
from elmbench.datasets.sources.fetching import FetchedRows, FetchJob
from elmbench.datasets.sources.hosts import reachable
from elmbench.datasets.table import Table, label_words
from elmbench.errors import DataUnavailableError, ElmbenchError, first_line
from elmbench.specs.datasets.sources import OpenMLSource

#: Rows, and the address and the file that they were read from.
_Got = tuple[Table, tuple[str, Download]]


def server_url() -> str:
    """Return the address of the server that the client is configured for."""
    with _private_client() as openml:
        return str(openml.config.server)


def openml_file_urls(source: OpenMLSource) -> list[str]:
    """Return the addresses of the ARFF files of a source: the descriptions are fetched for it."""
    with _private_client() as openml:
        return [str(_dataset(openml, number).url) for number in source.ids]


def fetch_openml(source: OpenMLSource, job: FetchJob) -> FetchedRows:
    """Download the data sets of a source: what is described by OpenML's client, its files as those of other sources.

    The client takes Parquet files over plain HTTP and compares them with nothing. A file is taken here only where
    something vouches for it: an encrypted connection, the MD5 sum that the description states (of ARFF alone), or the
    fingerprint of the data set, which what was fetched is held against. Parquet comes first, where that lets it.

    Raises
    ------
    DataUnavailableError
        If the server cannot be reached.
    ElmbenchError
        If it has no such data set, or nothing vouches for its file, or the file is another or unreadable.
    """
    if job.progress:
        job.progress(source.title, 0, None)
    with _private_client() as openml, tempfile.TemporaryDirectory(prefix="elmbench-openml-") as folder:
        got = [_one(openml, number, source, replace(job, progress=None), Path(folder)) for number in source.ids]
    table = _joined([table for table, _ in got], source)
    downloads = {url: file.sha256 for _, (url, file) in got}
    n_bytes = sum(file.n_bytes for _, (_, file) in got)
    if job.progress:
        job.progress(source.title, n_bytes, n_bytes)
    return FetchedRows({"all": table}, downloads)


def _one(openml: Any, number: int, source: OpenMLSource, job: FetchJob, folder: Path) -> _Got:
    described = _dataset(openml, number)
    parquet = str(described._parquet_url or "")
    vouched = job.known_content or parquet.startswith("https:")
    # The Parquet file of sparse rows is dense: tens of thousands of columns that do not fit into memory.
    if parquet and vouched and described.format.lower() != "sparse_arff" and reachable(parquet):
        try:
            return _read(described, source, job, folder, parquet, job.download(parquet), "parquet")
        except ElmbenchError:
            if parquet in job.known:  # it was whole the first time
                raise
    url, stated = str(described.url), described.md5_checksum
    if not (stated or job.known_content or url.startswith("https:")):
        raise ElmbenchError(
            f"OpenML {number}: nothing vouches for {url}, which comes over plain HTTP",
            expected="an encrypted connection, an MD5 sum in its description, or a fingerprint in datasets.yaml",
            next_step="download it in a browser, then: elmbench data import NAME FILE",
        )
    file = job.download(url)
    if stated and (found := _md5(file.path)) != stated.lower():
        file.path.unlink()
        raise ElmbenchError(
            f"OpenML {number}: the file has the MD5 sum {found}, another checksum than its description states",
            expected=stated,
            next_step="try again later",
        )
    return _read(described, source, job, folder, url, file, "arff")


def _md5(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _dataset(openml: Any, number: int) -> Any:
    """Return the description of a data set."""
    import requests
    import urllib3

    exceptions, later = openml.exceptions, "try again later"
    where = f"OpenML {number} ({openml.config.server})"
    try:
        return openml.datasets.get_dataset(
            number, download_data=False, download_qualities=False, download_features_meta_data=False
        )
    except (exceptions.OpenMLServerNoResult, exceptions.OpenMLPrivateDatasetError) as error:
        next_step = "correct the id in datasets.yaml"
        raise ElmbenchError(f"{where}: {error.message}", expected="a public data set", next_step=next_step) from error
    except (exceptions.PyOpenMLError, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        found = f"{where}: {first_line(error)}"
        raise DataUnavailableError(found, expected="an answer", next_step=later) from error
    except (KeyError, ValueError, TypeError) as error:
        found = f"{where}: its description lacks or garbles {error}"
        raise ElmbenchError(found, expected="a description as OpenML's server gives it", next_step=later) from error


def _read(
    described: Any, source: OpenMLSource, job: FetchJob, folder: Path, url: str, file: Download, form: str
) -> _Got:
    """Return the table of a downloaded file, which is removed, and where it came from."""
    # Of its own, as another process may fetch the same file.
    path = folder / f"rows-{described.dataset_id}.{form}"
    shutil.move(file.path, path)
    origin = f"OpenML {described.dataset_id}"
    dropped = {*_listed(described.row_id_attribute), *_listed(described.ignore_attribute)}
    choose = partial(_target_name, described, source, dropped, origin)
    try:
        if described.format.lower() == "sparse_arff":
            table = _read_sparse(path, choose, job.most)
        else:
            table = read_table(path, choose, most=job.most)
    finally:
        path.unlink()
    table = table.columns(np.array([name not in dropped for name in table.names]))
    return replace(table, origin=origin), (url, file)


def _read_sparse(path: Path, choose: ChooseTarget, most: int) -> Table:
    """Return the table of a sparse ARFF file. A value that is left out there is 0, or the first word of a column."""
    import arff  # type: ignore[import-untyped]

    values, columns, starts = array("d"), array("q"), array("q", [0])
    try:
        if path.stat().st_size > most:
            raise ValueError(f"it holds more than the {most / 1e6:.1f} MB that the data set can have")
        with open(path, encoding="utf-8") as stream:
            content = arff.load(stream, return_type=arff.LOD_GEN, encode_nominal=True)
            for row in content["data"]:  # not as coordinates: a last row without entries would be lost
                columns.extend(row.keys())
                values.extend(float(value) for value in row.values())
                starts.append(len(columns))
        names = [str(name) for name, _ in content["attributes"]]
        shape = (len(starts) - 1, len(names))
        X = sp.csr_matrix((np.array(values), np.array(columns), np.array(starts)), shape=shape)
        X.check_format(full_check=True)
        place = names.index(choose(names))
        y: NDArray[Any] = X[:, [place]].toarray().ravel()
        kind = content["attributes"][place][1]
        if isinstance(kind, list):
            y = np.array([kind[int(code)] for code in y], dtype=object)
    except ElmbenchError:
        raise
    except Exception as error:  # a parser of a damaged file fails in any way that it likes
        raise ElmbenchError(f"{path.name}: {first_line(error)}", expected="a sparse ARFF file") from error
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
