"""Status of the data sets, the download from their public sources into the cache, and the import of
a user's file.
"""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.load import load_compared
from elmbench.datasets.openml_tasks import fetch_task, task_number
from elmbench.datasets.part_files import FORMATS, PATTERN, find_parts
from elmbench.datasets.readers import compression_of, form_of
from elmbench.datasets.sources.base import (
    FolderSource,
    NetworkSource,
    SourceRequest,
    fetch_job,
)
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import expand_home, replace_file
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs


@dataclass(frozen=True)
class Fetched:
    """The outcome of a fetch.

    `name`: of the data set, or `openml-task:ID`. `origin`: its source in words. `downloaded`: False
    if it was here already, or needs no download.
    """

    name: str
    origin: str
    downloaded: bool


def fetch_dataset(name: str, *, progress: bool = False, force: bool = False) -> Fetched:
    """Fetch a data set into the cache from the first source that has it; check that it loads.

    `name`: its name or alias, or `openml-task:ID` for the splits of an OpenML task. `progress`:
    True to show a bar on the terminal. `force`: fetch it even if it is in the cache; if the
    download fails, the cached files stay. Nothing is fetched, even with `force`, for a data set
    with a source that needs no download. The result names the source, and is marked as downloaded
    only if a file was fetched now. Raises DataUnavailableError if no source can be reached, and
    ElmbenchError if all sources fail and one of them was reached.
    """
    task = task_number(name)
    if task is not None:
        return Fetched(name, f"OpenML task {task}", fetch_task(task, force=force))
    spec = load_dataset_specs().find(name)
    sources = [source for source in spec.sources if isinstance(source, NetworkSource)]
    if len(sources) < len(spec.sources):
        return Fetched(spec.name, f"{spec.sources[0].kind}: nothing to fetch", False)
    for source in () if force else sources:
        with suppress(ElmbenchError):  # a changed file is fetched again
            if source.status(SourceRequest(spec)):
                return Fetched(spec.name, source.title, False)
    errors: dict[str, ElmbenchError] = {}
    for source in sources:
        try:
            _fetch_and_check(spec, source, progress)
            return Fetched(spec.name, source.title, True)
        except ElmbenchError as error:
            errors[source.title] = error
    kind = ElmbenchError
    if all(isinstance(error, DataUnavailableError) for error in errors.values()):
        kind = DataUnavailableError
    reasons = [
        f"{title}: {' '.join(error.found.splitlines())}"
        + (f" (expected {error.expected})" if error.expected else "")
        for title, error in errors.items()
    ]
    again = f"elmbench data fetch {spec.name}   (with a network)"
    by_hand = (
        f"or give a file {PATTERN.replace('<name>', spec.stem)}: elmbench data import {spec.name} "
        "FILE"
    )
    raise kind(
        f"the data set {spec.name!r} cannot be fetched: {'; '.join(reasons)}",
        expected="the data set from one of its sources",
        next_step=f"{again}, {by_hand}",
    )


def _fetch_and_check(spec: DatasetSpec, source: NetworkSource, progress: bool) -> None:
    """Download a data set into the cache and load it from there.

    The downloaded files replace the earlier ones of `source`, which stay if the download fails. If
    the files are not the expected data set, they are removed again and ElmbenchError is raised; the
    earlier ones are gone then, too. `progress`: True to show a bar on the terminal.
    """
    fingerprint = spec.fingerprint
    compares_all = fingerprint is not None and fingerprint.part == "all"
    is_compared = compares_all and not (spec.training_part or source.other_values)
    with fetch_job(spec.shape.features, is_compared, progress) as job:
        source.keep(spec, source.fetch(job), job.folder)
    try:
        load_compared(source, SourceRequest(spec))
    except ElmbenchError:
        source.keep(spec, {}, job.folder)
        raise


def import_file(
    name: str,
    file: Path | str,
    data_dir: Path | str,
    *,
    test: Path | str | None = None,
    other_data: bool = False,
) -> Dataset:
    """Check a file and copy it into a data directory under the name of a data set; return its rows.

    `name`: may be an alias. `file`: a file of all rows if `test` is None; else of the training
    rows, and `test` is that of the test rows. `data_dir`: created if it is missing. `other_data`:
    accept the file even if its rows are not those of the public file. Raises ElmbenchError if the
    file is not the data set, or the data directory holds another file for it. A file that this call
    gives for a part replaces the one of the same name.
    """
    spec = load_dataset_specs().find(name)
    folder = expand_home(data_dir)
    files = (
        {"all": Path(file)}
        if test is None
        else {"train": Path(file), "test": Path(test)}
    )
    targets = {}
    for part, path in files.items():
        if not path.is_file():
            raise ElmbenchError(
                f"{path} is not a file",
                expected="a file of rows",
                next_step="correct the path",
            )
        if form_of(path) not in FORMATS:
            problem = f"{path.name} does not tell its format by its ending"
            raise ElmbenchError(
                problem, expected=PATTERN, next_step="rename the file by what it holds"
            )
        stem = spec.stem if part == "all" else f"{spec.stem}.{part}"
        targets[part] = folder / f"{stem}.{form_of(path)}{compression_of(path)}"
    source = FolderSource(parts=files)
    data = load_compared(source, SourceRequest(spec), other_data)
    present = find_parts(spec, folder) if folder.is_dir() else {}
    others = [path.name for path in present.values() if path not in targets.values()]
    if others:
        problem = f"{folder} holds {', '.join(others)} for {spec.name} already"
        next_step = f"remove it, then: elmbench data import {spec.name} {file}"
        raise ElmbenchError(
            problem, expected="no other file for it", next_step=next_step
        )
    for part, path in files.items():
        with replace_file(targets[part]) as partial:
            shutil.copyfile(path, partial)
    return data
