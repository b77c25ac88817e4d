"""Where each data set would come from, and bringing in a file of one's own."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.folders import data_folder
from elmbench.datasets.load import find_origin, load_files
from elmbench.datasets.originals import as_claimed
from elmbench.datasets.readers import compression_of
from elmbench.datasets.receipts import fetched_files
from elmbench.datasets.sources.folder import FORMATS, PATTERN, Files, check_folder, find_files
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import cache_folder, replacing
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.datasets.sources import GeneratorSource, ScikitLearnSource

#: A file is one of the data directory; what was fetched is in the cache.
State = Literal["file", "bundled", "generated", "fetched", "to fetch", "bad"]


@dataclass(frozen=True)
class Status:
    """Where a data set comes from."""

    name: str
    state: State
    #: The files, the generator, or the source that would be asked first.
    where: str
    #: What brings or mends it; empty if it is there.
    next_step: str = ""


def status(
    names: Iterable[str] | None = None, data_dir: Path | str | None = None, cache_dir: Path | str | None = None
) -> list[Status]:
    """Return where each data set would come from (of all, if none is named), without reading it or using a network."""
    specs = load_dataset_specs()
    chosen = specs.values() if names is None else [specs.find(name) for name in names]
    folder = data_folder(data_dir)
    if folder is not None:
        check_folder(folder)
    return [_status(spec, folder, cache_dir) for spec in chosen]


def _status(spec: DatasetSpec, data_dir: Path | str | None, cache_dir: Path | str | None) -> Status:
    try:
        origin = find_origin(spec, data_dir, cache_dir)
        if origin.source is None:
            return Status(spec.name, "file", ", ".join(str(path) for path in origin.files.paths))
        if isinstance(origin.source, ScikitLearnSource):
            return Status(spec.name, "bundled", origin.source.title)
        if isinstance(origin.source, GeneratorSource) or origin.receipt is None:
            return Status(spec.name, "generated", origin.source.title)
        fetched_files(spec, origin.receipt, cache_dir)
        where = f"{origin.receipt.origin}, fetched {origin.receipt.fetched}, in {cache_folder(cache_dir)}"
        return Status(spec.name, "fetched", where)
    except DataUnavailableError:
        return Status(spec.name, "to fetch", spec.network_sources[0].title, f"elmbench data fetch {spec.name}")
    except ElmbenchError as error:
        return Status(spec.name, "bad", error.found, error.next_step or "")


def import_file(
    name: str, file: Path | str, data_dir: Path | str, *, test: Path | str | None = None, other_data: bool = False
) -> Dataset:
    """Check a file and copy it into a data directory under the name that it is found by; `name` may be an alias.

    Parameters
    ----------
    file : path
        A file of all rows, or of the training rows where `test` is given. Its ending says what it holds:
        .csv, .svm, .arff, .npz or .parquet, perhaps followed by .gz, .bz2 or .xz.
    data_dir : path
        The data directory; created if it is missing.
    test : path, optional
        A file of the test rows.
    other_data : bool
        Take the file also if its rows are not those of the public file.

    Raises
    ------
    ElmbenchError
        If the file is not the data set, or the data directory holds another file for it.
    """
    spec = load_dataset_specs().find(name)
    folder = Path(data_dir).expanduser()
    given = {"whole": Path(file)} if test is None else {"train": Path(file), "test": Path(test)}
    targets = {}
    for part, path in given.items():
        if not path.is_file():
            raise ElmbenchError(f"{path} is no file", expected="a file of rows", next_step="correct the path")
        targets[part] = folder / f"{spec.stem}{'' if part == 'whole' else '.' + part}{_ending(path)}"
    data = as_claimed(load_files(Files(**given), spec), spec, None, other_data)
    there = find_files(spec, folder) if folder.is_dir() else None
    strangers = [path for path in (there.paths if there else ()) if path not in targets.values()]
    if strangers:
        found = f"{folder} holds {', '.join(path.name for path in strangers)} for {spec.name} already"
        next_step = f"remove it, then: elmbench data import {spec.name} {file}"
        raise ElmbenchError(found, expected="no other file for it", next_step=next_step)
    for part, path in given.items():
        with replacing(targets[part]) as partial:
            shutil.copyfile(path, partial)
    return data


def _ending(path: Path) -> str:
    compression = compression_of(path)
    form = Path(path.name.removesuffix(compression)).suffix
    if form.removeprefix(".") not in FORMATS:
        found = f"{path.name} does not say by its ending what it holds"
        raise ElmbenchError(found, expected=PATTERN, next_step="rename the file by what it holds")
    return form + compression
