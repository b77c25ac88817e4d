"""The source of the rows of a data set here and now, without reading them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from elmbench.datasets.part_files import PATTERN, find_parts
from elmbench.datasets.sources.base import (
    FolderSource,
    NetworkSource,
    Source,
    SourceRequest,
    State,
)
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import expand_home
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.experiment_file import ExperimentFile


def data_folder(data_dir: Path | str | None = None) -> Path | None:
    """Return the folder of the user's files: `data_dir`, or else `ELMBENCH_DATA_DIR`.

    None if neither is set. Raises ElmbenchError if it is not a folder.
    """
    name = data_dir or os.environ.get("ELMBENCH_DATA_DIR")
    folder = expand_home(name) if name else None
    if folder is not None and not folder.is_dir():
        problem = f"the data directory {folder} is not a folder"
        raise ElmbenchError(
            problem,
            expected="a folder of data files",
            next_step="name a folder that exists",
        )
    return folder


def find_source(spec: DatasetSpec, data_dir: Path | str | None = None) -> Source:
    """Return the source that `load_from_spec` uses for a data set, without reading its rows.

    It is an existing file that the spec names, else files in the data directory, else the first
    available source of the spec; the network is not used. `data_dir`: by default
    `ELMBENCH_DATA_DIR`. Raises DataUnavailableError if there is none.
    """
    request = SourceRequest(spec)
    sources = cast(tuple[Source, ...], spec.sources)
    for source in sources:
        if source.kind == "file" and source.status(request):
            return source
    folder = data_folder(data_dir)
    if folder is not None and (parts := find_parts(spec, folder)):
        return FolderSource(parts=dict(parts))
    for source in sources:
        if (
            source.files(request)
            if isinstance(source, NetworkSource)
            else source.status(request)
        ):
            return source
    kinds = ", ".join(dict.fromkeys(source.kind for source in sources))
    lack = (
        f"neither {folder} nor the cache holds"
        if folder
        else "no data directory is given and the cache lacks"
    )
    problem = f"the data set {spec.name!r} is not here: {lack} it"
    expected = (
        f"a file {PATTERN.replace('<name>', spec.stem)}, or the download (from {kinds})"
    )
    next_step = f"elmbench data fetch {spec.name}, or put {spec.stem}.csv into the data directory"
    raise DataUnavailableError(problem, expected=expected, next_step=next_step)


@dataclass(frozen=True)
class Status:
    """The state of a data set: the place of its rows, or how to get them."""

    name: str
    state: State
    #: The files, the generator, or the first source to try.
    where: str
    #: The command that fetches or repairs it; empty if it is present.
    next_step: str = ""

    @property
    def is_present(self) -> bool:
        """True if a run can read the rows.

        False if they must be fetched, or are damaged.
        """
        return self.state not in ("to fetch", "bad")


def dataset_statuses(
    names: Iterable[str] | None = None, data_dir: Path | str | None = None
) -> list[Status]:
    """Return the status of each named data set, in this order, without reading rows or a network.

    `names`: None for all data sets of `datasets.yaml`. `data_dir`: by default `ELMBENCH_DATA_DIR`.
    """
    specs = load_dataset_specs()
    chosen = (
        list(specs.values()) if names is None else [specs.find(name) for name in names]
    )
    folder = data_folder(data_dir)
    return [status_of(spec, folder) for spec in chosen]


def status_of(spec: DatasetSpec, data_dir: Path | None) -> Status:
    """Return where the rows of a data set come from, or the problem with them; no rows are read.

    If no source is available, the state is `to fetch`; any other ElmbenchError becomes the state
    `bad`. `data_dir`: None for `ELMBENCH_DATA_DIR`.
    """
    try:
        state = find_source(spec, data_dir).status(SourceRequest(spec))
        return Status(spec.name, *(state or ("bad", "")))
    except DataUnavailableError:
        return Status(
            spec.name,
            "to fetch",
            spec.sources[0].title,
            f"elmbench data fetch {spec.name}",
        )
    except ElmbenchError as error:
        return Status(spec.name, "bad", error.found, error.next_step or "")


class MissingDatasets:
    """The names of the data sets of tables that are not here; each is looked up once.

    `data_dir`: the folder of the user's files; None for `ELMBENCH_DATA_DIR`.
    """

    def __init__(self, data_dir: Path | str | None) -> None:
        self._folder = data_folder(data_dir)
        #: By the folder of the table, which may have data sets of its own, and name.
        self._is_present: dict[tuple[Path, str], bool] = {}

    def of_table(self, file: ExperimentFile) -> list[str]:
        """Return the names of the data sets of a table that are not here, in the spec's order.

        `file`: of the table.
        """
        return [name for name in file.spec.datasets if not self._has(file, name)]

    def _has(self, file: ExperimentFile, name: str) -> bool:
        """Return True if the data set `name` of a table is present; the answer is remembered."""
        folder = file.path.parent
        key = (folder, name)
        if key not in self._is_present:
            spec = file.find_dataset(name)
            status = status_of(spec, self._folder)
            self._is_present[key] = status.is_present
        return self._is_present[key]
