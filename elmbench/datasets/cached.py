"""Fetched data sets in the cache.

The files of a data set are `<source>.<part>.<hash>.<format>` in `<cache>/datasets/<stem>/`. The hash is the beginning
of the file's SHA-256, so a changed file is noticed. A training or test part is read only with the other.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from elmbench.errors import ElmbenchError
from elmbench.files import cache_folder
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.sources import SourceSpec

if TYPE_CHECKING:
    from elmbench.datasets.parts import Parts
    from elmbench.datasets.table import Table

#: Keys of a source that its files do not depend on.
_NOT_OF_FILES = {"labels", "prepare", "already_prepared", "split_in_order", "note", "inactive"}
_DIGITS = 16


def cached_parts(spec: DatasetSpec, source: SourceSpec) -> Parts:
    """Return the files of a data set that were fetched from a source; none if they are not complete."""
    parts = {_words(path)[0]: path for path in sorted(_files(spec, source), key=os.path.getmtime)}
    if "all" in parts:
        return {"all": parts["all"]}
    return {part: parts[part] for part in ("train", "test")} if len(parts) == 2 else {}


def verify(parts: Parts, spec: DatasetSpec) -> None:
    """Raise ElmbenchError if a file was changed since it was fetched."""
    for path in parts.values():
        expected, status = _words(path)[1], path.stat()
        digest = _sha256(path, status.st_mtime_ns, status.st_size)
        if not digest.startswith(expected):
            raise ElmbenchError(
                f"the cached file {path} has been changed: its SHA-256 is {digest}",
                expected=f"the file that was fetched, with a SHA-256 that begins with {expected}",
                next_step=f"elmbench data fetch {spec.name}",
            )


def keep(spec: DatasetSpec, source: SourceSpec, rows: Mapping[str, Table | Path], folder: Path) -> None:
    """Put the parts of a data set into the cache in place of earlier ones, which are deleted.

    `rows`: tables are written as Parquet files or NumPy archives; files are moved. `folder`: folder for unfinished
    files, on the disk of the cache.
    """
    earlier = _files(spec, source)
    new = []
    for part, content in rows.items():
        file = content if isinstance(content, Path) else write_table(content, folder / part)
        name = f"{_key(source)}.{part}.{file_sha256(file)[:_DIGITS]}.{file.name.partition('.')[2]}"
        new.append(_folder(spec) / name)
        new[-1].parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, new[-1])
    for path in set(earlier) - set(new):
        path.unlink(missing_ok=True)


def _key(source: SourceSpec) -> str:
    """Return a name that differs between sources with different files."""
    content = source.model_dump(mode="json", exclude=_NOT_OF_FILES)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{source.kind}-{digest[:12]}"


def _folder(spec: DatasetSpec) -> Path:
    return cache_folder() / "datasets" / spec.stem


def _files(spec: DatasetSpec, source: SourceSpec) -> list[Path]:
    return list(_folder(spec).glob(f"{_key(source)}.*.*.*"))


def _words(path: Path) -> list[str]:
    """Return the part and the beginning of the SHA-256 from the name of a file."""
    return path.name.split(".")[1:3]


def write_table(table: Table, path: Path) -> Path:
    """Write a table to `path` with .parquet or, for sparse rows, .npz; return it. The target is called `target`."""
    import numpy as np
    import scipy.sparse as sp

    if not sp.issparse(table.X):
        path = path.with_name(f"{path.name}.parquet")
        frame = table.frame().rename(columns={"target": "target_"})
        frame.assign(target=table.target).to_parquet(path, index=False)
        return path
    path = path.with_name(f"{path.name}.npz")
    arrays = {name: getattr(table.X, name) for name in ("data", "indices", "indptr", "shape")}
    target = table.target.astype(str) if table.target.dtype == object else table.target
    np.savez_compressed(path, **arrays, target=target)
    return path


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@cache
def _sha256(path: Path, time: int, size: int) -> str:
    return file_sha256(path)
