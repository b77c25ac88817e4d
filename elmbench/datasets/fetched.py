"""Data sets that were fetched: the files in the cache, and the receipt that says what they are.

A fetched data set is one or two files `<key>[.train|.test].<format>` in `<cache>/datasets/<stem>/`, and a receipt
`<key>.json` that is written last. Files without a receipt, such as a killed process leaves behind, are not there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.cache import cache_folder
from elmbench.datasets.download import file_sha256
from elmbench.datasets.locate import Files
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError
from elmbench.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from elmbench.specs.dataset_sources import NetworkSource
    from elmbench.specs.datasets import DatasetSpec

_verified: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True)
class Receipt:
    """What was fetched.

    Attributes
    ----------
    origin : str
        The source in words, such as 'OpenML 1510'.
    fetched : str
        The day.
    downloads : dict of str to str
        SHA-256 of every file that was downloaded, by its address: what a later download must have too.
    files : dict of str to str
        SHA-256 of every file that is kept, by its name.
    """

    origin: str
    fetched: str
    downloads: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RawFile:
    """A downloaded file that is kept as it is, and the ending that says what it holds, such as '.svm.bz2'."""

    path: Path
    ending: str


def source_key(source: NetworkSource) -> str:
    """Return the name under which what a source brings is kept: another one for each thing that is fetched."""
    content = source.model_dump(
        mode="json", exclude={"labels", "prepare", "already_prepared", "split_in_order", "note", "inactive"}
    )
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{source.kind}-{digest[:12]}"


def fetched_folder(spec: DatasetSpec, cache_dir: Path | str | None = None) -> Path:
    """Return the folder of the fetched files of a data set."""
    return cache_folder(cache_dir) / "datasets" / spec.stem


def read_receipt(spec: DatasetSpec, source: NetworkSource, cache_dir: Path | str | None = None) -> Receipt | None:
    """Return the receipt of what was fetched from a source, or None."""
    try:
        content = json.loads((fetched_folder(spec, cache_dir) / f"{source_key(source)}.json").read_text())
        return Receipt(**content)
    except (OSError, ValueError, TypeError):
        return None


def fetched_files(
    spec: DatasetSpec, source: NetworkSource, cache_dir: Path | str | None = None
) -> tuple[Files, Receipt] | None:
    """Return the files that were fetched from a source and are as they were then, or None if there are none.

    Raises
    ------
    ElmbenchError
        If a file is missing or was changed since.
    """
    receipt = read_receipt(spec, source, cache_dir)
    if receipt is None:
        return None
    folder = fetched_folder(spec, cache_dir)
    for name, digest in receipt.files.items():
        found = _digest(folder / name)
        if found != digest:
            raise ElmbenchError(
                f"the cached file {folder / name} " + ("is missing" if found is None else "has been changed"),
                expected=f"the file that was fetched on {receipt.fetched} (SHA-256 {digest[:12]}...)",
                next_step=f"elmbench data fetch {spec.name}",
            )
    parts = {_part_of(name): folder / name for name in receipt.files}
    return Files(**parts), receipt


def keep(
    spec: DatasetSpec,
    source: NetworkSource,
    parts: Mapping[str, Table | RawFile],
    receipt: Receipt,
    cache_dir: Path | str | None = None,
) -> None:
    """Keep what was fetched: tables are written as Parquet (sparse ones as NumPy archives), files are moved.

    Parameters
    ----------
    parts : mapping of str to Table or RawFile
        'all', or 'train' and 'test'.
    receipt : Receipt
        Its `files` are filled in here.
    """
    folder, key = fetched_folder(spec, cache_dir), source_key(source)
    files: dict[str, str] = {}
    for part, content in parts.items():
        middle = "" if part == "all" else f".{part}"
        if isinstance(content, RawFile):
            name = f"{key}{middle}{content.ending}"
            with replacing(folder / name) as partial:
                shutil.move(content.path, partial)
        else:
            name = f"{key}{middle}.{'npz' if sp.issparse(content.X) else 'parquet'}"
            with replacing(folder / name) as partial:
                _write(content, partial)
        files[name] = file_sha256(folder / name)[0]
    content_of = {**vars(receipt), "files": files}
    with replacing(folder / f"{key}.json") as partial:
        partial.write_text(json.dumps(content_of, indent=1))


def discard(spec: DatasetSpec, source: NetworkSource, cache_dir: Path | str | None = None) -> None:
    """Remove what was fetched from a source."""
    receipt = read_receipt(spec, source, cache_dir)
    folder = fetched_folder(spec, cache_dir)
    (folder / f"{source_key(source)}.json").unlink(missing_ok=True)
    for name in receipt.files if receipt else ():
        (folder / name).unlink(missing_ok=True)


def _write(table: Table, path: Path) -> None:
    if sp.issparse(table.X):
        target = table.target.astype(str) if table.target.dtype == object else table.target
        with open(path, "wb") as stream:
            np.savez_compressed(
                stream,
                data=table.X.data,
                indices=table.X.indices,
                indptr=table.X.indptr,
                shape=np.array(table.X.shape),
                target=target,
            )
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: list[Any] = []
    for place in range(table.X.shape[1]):
        if place in table.nominal:
            columns.append(pa.array(table.nominal[place], type=pa.string()))
        else:
            columns.append(pa.array(table.X[:, place], from_pandas=True))
    names = [f"{name}_" if name == "target" else name for name in table.names]
    words = table.target.dtype == object
    columns.append(pa.array(table.target, type=pa.string()) if words else pa.array(table.target, from_pandas=True))
    pq.write_table(pa.table(columns, names=[*names, "target"]), path)


def _digest(path: Path) -> str | None:
    try:
        stat = path.stat()
        key = (str(path), stat.st_mtime_ns, stat.st_size)
        if key not in _verified:
            _verified[key] = file_sha256(path)[0]
    except OSError:
        return None
    return _verified[key]


def _part_of(name: str) -> str:
    return next((part for part in ("train", "test") if f".{part}." in name), "whole")
