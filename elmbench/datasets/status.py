"""Status of the data sets, and the import of a user's file."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.load import compared, data_folder, find_source, load_from
from elmbench.datasets.parts import PATTERN, find_parts
from elmbench.datasets.readers import FORMATS, compression_of
from elmbench.datasets.sources.base import FolderSource, Request, State
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import replacing
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs


@dataclass(frozen=True)
class Status:
    """The origin of a data set."""

    name: str
    state: State
    #: The files, the generator, or the first source to try.
    where: str
    #: The command that fetches or repairs it; empty if it is present.
    next_step: str = ""


def status(names: Iterable[str] | None = None, data_dir: Path | str | None = None) -> list[Status]:
    """Return the origin of each named data set, by default of all, without reading it or using a network."""
    specs = load_dataset_specs()
    chosen = list(specs.values()) if names is None else [specs.find(name) for name in names]
    folder = data_folder(data_dir)
    return [_status(spec, folder) for spec in chosen]


def _status(spec: DatasetSpec, data_dir: Path | None) -> Status:
    try:
        here = find_source(spec, data_dir).status(Request(spec))
        return Status(spec.name, *(here or ("bad", "")))
    except DataUnavailableError:
        return Status(spec.name, "to fetch", spec.sources[0].title, f"elmbench data fetch {spec.name}")
    except ElmbenchError as error:
        return Status(spec.name, "bad", error.found, error.next_step or "")


def import_file(
    name: str, file: Path | str, data_dir: Path | str, *, test: Path | str | None = None, other_data: bool = False
) -> Dataset:
    """Check a file and copy it into a data directory under the name of a data set; `name` may be an alias.

    `file`: a file of all rows, or of the training rows if `test`, a file of the test rows, is given. `data_dir`:
    created if it is missing. `other_data`: accept the file even if its rows are not those of the public file. Raises
    ElmbenchError if the file is not the data set, or the data directory holds another file for it.
    """
    spec = load_dataset_specs().find(name)
    folder = Path(data_dir).expanduser()
    given = {"all": Path(file)} if test is None else {"train": Path(file), "test": Path(test)}
    targets = {}
    for part, path in given.items():
        if not path.is_file():
            raise ElmbenchError(f"{path} is not a file", expected="a file of rows", next_step="correct the path")
        targets[part] = folder / f"{spec.stem}{'' if part == 'all' else '.' + part}{_ending(path)}"
    source = FolderSource(parts=given)
    data = compared(load_from(source, Request(spec)), spec, source, other_data)
    present = find_parts(spec, folder) if folder.is_dir() else {}
    others = [path.name for path in present.values() if path not in targets.values()]
    if others:
        problem = f"{folder} holds {', '.join(others)} for {spec.name} already"
        next_step = f"remove it, then: elmbench data import {spec.name} {file}"
        raise ElmbenchError(problem, expected="no other file for it", next_step=next_step)
    for part, path in given.items():
        with replacing(targets[part]) as partial:
            shutil.copyfile(path, partial)
    return data


def _ending(path: Path) -> str:
    compression = compression_of(path)
    form = Path(path.name.removesuffix(compression)).suffix
    if form.removeprefix(".") not in FORMATS:
        problem = f"{path.name} does not tell its format by its ending"
        raise ElmbenchError(problem, expected=PATTERN, next_step="rename the file by what it holds")
    return form + compression
