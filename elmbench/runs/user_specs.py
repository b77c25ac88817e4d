"""A user's plug-ins, data sets and tables: those of a request, or else those of a project."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmbench.datasets.description import describe
from elmbench.datasets.sources.file import FileSource
from elmbench.datasets.user_data import UserData
from elmbench.errors import ElmbenchError
from elmbench.files import real_path
from elmbench.registry.plugins import load_plugin
from elmbench.runs.missing_plugins import missing_plugin, unknown_sources
from elmbench.specs.catalogue import (
    add_experiments,
    blocked_tables,
    check_table,
    check_tables,
    read_own_table,
    read_papers,
)
from elmbench.specs.datasets import (
    DatasetSpec,
    RowColumns,
    add_dataset_specs,
    parse_dataset_specs,
)
from elmbench.specs.datasets.source_registry import FileOptions
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.files import invalid, parse_spec, read_yaml
from elmbench.specs.project import Project

#: The file of a folder that describes data sets.
_DATASETS = "datasets.yaml"
#: The endings of the files of tables.
TABLE_ENDINGS = (".yaml", ".yml")


def add_table(path: Path) -> ExperimentFile:
    """Add a user's table, and the data sets of the `datasets.yaml` beside it, to the suite.

    Return the table. Raises ElmbenchError if one of the files is not valid.
    """
    path = real_path(path)
    datasets, _ = _add_datasets(path.parent / _DATASETS)
    file = read_own_table(path, datasets)
    check_table(file)
    add_experiments([file])
    return file


def add_spec_dir(folder: Path, *, alone: bool = False) -> None:
    """Add the data sets and tables of a folder to the suite.

    The folder has a `datasets.yaml`, files of tables beside it, or tables of papers in
    `experiments/<paper>/`. `alone`: hide the tables of the suite; its data sets stay. A table that
    lacks a plug-in is added as a blocked one, which cannot be run. Raises ElmbenchError if the
    folder holds no specs, or a file is not valid.
    """
    folder = real_path(folder)
    datasets = folder / _DATASETS
    tables = sorted(
        path
        for path in folder.glob("*")
        if path.suffix in TABLE_ENDINGS and path.name != _DATASETS
    )
    papers = (folder / "experiments").is_dir()
    if not (datasets.is_file() or tables or papers):
        problem = (
            f"{folder} {'holds no specs' if folder.is_dir() else 'does not exist'}"
        )
        expected = (
            f"a folder with {_DATASETS}, files of tables such as my-table.yaml, or "
            "experiments/<paper>/"
        )
        raise ElmbenchError(
            problem, expected=expected, next_step="correct the name of the folder"
        )
    if (folder / "paper.yaml").is_file():
        raise invalid(
            f"{folder / 'paper.yaml'} is not in the folder of a paper",
            f"the paper and its tables in {folder / 'experiments' / 'KEY'}",
        )
    specs, lacking = _add_datasets(datasets)
    of_papers = read_papers(folder).values() if papers else ()
    files = [*of_papers, *(read_own_table(path, specs) for path in tables)]
    blocked = {
        file.id: error for file in files if (error := missing_plugin(file, lacking))
    }
    usable = [
        replace(
            file,
            datasets=specs,
            tables=[one for one in file.tables if one.id not in blocked],
        )
        for file in files
        if file.id not in blocked
    ]
    # A paper may name models and metrics that only its blocked tables have.
    check_tables(usable, with_papers=not blocked)
    add_experiments(usable, blocked=blocked, alone=alone)


def load_plugins(
    files: Sequence[Path | str], project: Project | None, remark: Callable[[str], None]
) -> list[Path]:
    """Load the named plug-ins, or else those of the project; return their paths.

    `files`: the names; if empty, the project's are loaded, and none if `project` is None. Without
    files, the paths are in the order of the project. A plug-in of the project that fails is left
    out, which blocks only the tables that need it; `remark` is called with a sentence on it. A
    named one that fails raises ElmbenchError.
    """
    if files or project is None:
        return [load_plugin(file) for file in files]
    paths = []
    for path in project.plugins:
        try:
            paths.append(load_plugin(path))
        except ElmbenchError as error:
            remark(f"left out: {error.found} ({project.file})")
    return paths


def add_specs(
    folders: Sequence[Path | str],
    project: Project | None,
    remark: Callable[[str], None],
) -> None:
    """Add the data sets and tables of the named folders, or else those of a project, to the suite.

    Those of a project hide the tables of the suite. Without names and with None as `project`, none
    are added. `remark` is called with a sentence on each table that lacks a plug-in.
    """
    if folders:
        for folder in folders:
            add_spec_dir(Path(folder))
    elif project is not None:
        for folder in project.specs:
            add_spec_dir(folder, alone=True)
    for table, error in blocked_tables().items():
        remark(f"left out: {table}: {error.found}")


def _add_datasets(path: Path) -> tuple[tuple[DatasetSpec, ...], dict[str, str]]:
    """Add the data sets of a `datasets.yaml`, which may be missing, to the suite.

    Return their specs, and {data set: its unknown kind of source} of those that are left out
    because they have one.
    """
    if not path.is_file():
        return (), {}
    content = read_yaml(path)
    lacking: dict[str, str] = {}
    if isinstance(content, dict):
        lacking = unknown_sources(content)
        content = {
            name: _complete_entry(name, path, entry)
            for name, entry in content.items()
            if str(name) not in lacking
        }
    specs = tuple(parse_dataset_specs(content, str(path)).values())
    add_dataset_specs(specs, path)
    return specs, lacking


def _complete_entry(name: object, path: Path, entry: Any) -> Any:
    """Return an entry of a `datasets.yaml` with the paths of its sources made absolute.

    If its only source is a file, and it has neither `shape` nor `like`, the file is read, and the
    keys that the entry lacks are filled in from its rows. An entry without a list of sources is
    returned unchanged. `name`: of the data set. `path`: of the `datasets.yaml`, whose folder
    relative paths start from.
    """
    sources = entry.get("sources") if isinstance(entry, dict) else None
    if not isinstance(sources, list) or not all(
        isinstance(source, dict) for source in sources
    ):
        return entry
    sources = [
        source
        | {
            key: str(path.parent / str(source[key]))
            for key in ("path", "test")
            if {"kind", key} <= set(source)
        }
        for source in sources
    ]
    entry = entry | {"sources": sources}
    kinds = [source.get("kind") for source in sources if "path" in source]
    if "shape" in entry or "like" in entry or kinds != ["file"] or len(sources) > 1:
        return entry
    file = parse_spec(FileSource, sources[0], path, f"{name}.sources.0")
    options = {
        key: entry[key] for key in ("task", *RowColumns.model_fields) if key in entry
    }
    options |= file.model_dump(include=set(FileOptions.model_fields))
    options |= {
        "location": file.path,
        "target": file.target,
        "impute": bool(entry.get("by_fold", True)),
    }
    data = parse_spec(UserData, options, path, str(name))
    spec = describe(data)
    # The notes name the positive class.
    match entry.get("positive"):
        case [label] if (
            spec.positive not in ((), (str(label),)) and str(label) in spec.shape.labels
        ):
            spec = describe(data.model_copy(update={"positive": str(label)}))
    description = spec.model_dump(mode="json", exclude_defaults=True, exclude={"name"})
    return description | {
        key: value for key, value in entry.items() if key != "sources"
    }
