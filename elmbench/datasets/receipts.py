"""Data sets that were fetched: the files in the cache, and the receipt that says what they are.

A fetched data set is one or two files `<key>[.train|.test].<format>` in `<cache>/datasets/<stem>/`, and a receipt
`<key>.json` that is written last. Files without a receipt, such as a killed process leaves behind, are not there.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.sources.download import file_sha256
from elmbench.datasets.sources.fetching import RawFile
from elmbench.datasets.sources.folder import Files
from elmbench.datasets.table import Table
from elmbench.errors import ElmbenchError
from elmbench.files import cache_folder, replacing
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.sources import NetworkSource

_verified: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True)
class Receipt:
    """What was fetched."""

    #: The source in words, such as 'OpenML 1510'.
    origin: str
    #: The day.
    fetched: str
    #: SHA-256 of every file that was downloaded, by its address: what a later download must have too.
    downloads: dict[str, str] = field(default_factory=dict)
    #: SHA-256 of every file that is kept, by its name.
    files: dict[str, str] = field(default_factory=dict)


def source_key(source: NetworkSource) -> str:
    """Return the name under which what a source gives is kept: another one for each thing that is fetched."""
    later = {"labels", "prepare", "already_prepared", "split_in_order", "note", "inactive"}
    content = source.model_dump(mode="json", exclude=later)
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


def fetched_files(spec: DatasetSpec, receipt: Receipt, cache_dir: Path | str | None = None) -> Files:
    """Return the files of a receipt; an error if one is missing or was changed since it was fetched."""
    folder = fetched_folder(spec, cache_dir)
    parts = {}
    for name, digest in receipt.files.items():
        found = _digest(folder / name)
        if found != digest:
            wrong = f"the cached file {folder / name} {'is missing' if found is None else 'has been changed'}"
            expected = f"the file that was fetched on {receipt.fetched} (SHA-256 {digest[:12]}...)"
            raise ElmbenchError(wrong, expected=expected, next_step=f"elmbench data fetch {spec.name}")
        parts[next((part for part in ("train", "test") if f".{part}." in name), "whole")] = folder / name
    return Files(**parts)


def keep(
    spec: DatasetSpec,
    source: NetworkSource,
    parts: Mapping[str, Table | RawFile],
    receipt: Receipt,
    cache_dir: Path | str | None = None,
) -> Receipt:
    """Keep the parts ('all', or 'train' and 'test') that were fetched, and return the receipt with their `files`.

    Tables are written as Parquet (sparse ones as NumPy archives), files are moved.
    """
    folder, key = fetched_folder(spec, cache_dir), source_key(source)
    files: dict[str, str] = {}
    for part, content in parts.items():
        ending = content.ending if isinstance(content, RawFile) else ".npz" if sp.issparse(content.X) else ".parquet"
        name = f"{key}{'' if part == 'all' else f'.{part}'}{ending}"
        with replacing(folder / name) as partial:
            if isinstance(content, RawFile):
                shutil.move(content.path, partial)
            else:
                write_table(content, partial)
        files[name] = file_sha256(folder / name)[0]
    kept = replace(receipt, files=files)
    with replacing(folder / f"{key}.json") as partial:
        partial.write_text(json.dumps(vars(kept), indent=1))
    return kept


def discard(spec: DatasetSpec, source: NetworkSource, receipt: Receipt, cache_dir: Path | str | None = None) -> None:
    """Delete what was fetched from a source."""
    folder = fetched_folder(spec, cache_dir)
    for name in (f"{source_key(source)}.json", *receipt.files):
        (folder / name).unlink(missing_ok=True)


def write_table(table: Table, path: Path) -> None:
    """Write a table as Parquet, of sparse rows as a NumPy archive; the target is called `target`."""
    words = table.target.dtype == object
    if sp.issparse(table.X):
        arrays = {name: getattr(table.X, name) for name in ("data", "indices", "indptr")}
        with open(path, "wb") as stream:
            target = table.target.astype(str) if words else table.target
            np.savez_compressed(stream, **arrays, shape=np.array(table.X.shape), target=target)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: list[Any] = [
        pa.array(table.nominal[place], type=pa.string())
        if place in table.nominal
        else pa.array(table.X[:, place], from_pandas=True)
        for place in range(table.X.shape[1])
    ]
    columns.append(pa.array(table.target, type=pa.string()) if words else pa.array(table.target, from_pandas=True))
    names = [f"{name}_" if name == "target" else name for name in table.names]
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
