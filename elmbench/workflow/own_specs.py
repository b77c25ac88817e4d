"""Data sets and tables of a user's own, from YAML files beside the suite's."""

from pathlib import Path
from typing import Any

from elmbench.datasets.own import OwnData, describe
from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import ExperimentFile, add_experiments, load_catalogue, read_own_table
from elmbench.specs.datasets import add_dataset_specs, parse_dataset_specs
from elmbench.specs.datasets.sources import FileSource
from elmbench.specs.files import invalid, parse_spec, read_yaml

#: The file of a folder that describes data sets.
DATASETS = "datasets.yaml"
_ENDINGS = (".yaml", ".yml")
#: Keys of a file that say how it is read.
_OF_FILE = {"drop", "words", "separator", "decimal", "header", "drop_missing_target"}


def is_table_file(name: str) -> bool:
    """Tell whether an experiment is named by the file of a table."""
    return name.endswith(_ENDINGS)


def add_table(path: Path) -> ExperimentFile:
    """Let the suite know a table of a user's own, and the data sets of the `datasets.yaml` beside it; return it.

    Raises
    ------
    ElmbenchError
        If a file is not there or says something wrong.
    """
    path = path.expanduser().resolve()
    if (path.parent / DATASETS).is_file():
        _add_datasets(path.parent / DATASETS)
    file = read_own_table(path)
    add_experiments([file])
    return file


def add_spec_dir(folder: Path) -> None:
    """Let the suite know the data sets and tables of a folder.

    It has a `datasets.yaml`, files of tables beside it, and tables of papers in `experiments/<paper>/` as the suite
    has them; any of these may be missing.

    Raises
    ------
    ElmbenchError
        If there is no such folder, nothing in it, or a file says something wrong.
    """
    folder = folder.expanduser().resolve()
    datasets = folder / DATASETS
    tables = sorted(path for path in folder.glob("*") if path.suffix in _ENDINGS and path.name != DATASETS)
    papers = (folder / "experiments").is_dir()
    if not (datasets.is_file() or tables or papers):
        found = f"{folder} {'holds no specs' if folder.is_dir() else 'is not there'}"
        expected = f"a folder with {DATASETS}, files of tables such as my-table.yaml, or experiments/<paper>/"
        raise ElmbenchError(found, expected=expected, next_step="correct --spec-dir")
    if datasets.is_file():
        _add_datasets(datasets)
    add_experiments([*(load_catalogue(folder).values() if papers else ()), *map(read_own_table, tables)])


def _add_datasets(path: Path) -> None:
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise invalid(f"{path}: is no mapping", "data set names, each with its keys")
    add_dataset_specs(
        parse_dataset_specs({str(name): _filled(name, path, own) for name, own in content.items()}, str(path)).values()
    )


def _filled(name: object, path: Path, entry: Any) -> Any:
    """Return an entry with paths that lead from anywhere; one of a file alone, with what its rows say of themselves."""
    sources = entry.get("sources") if isinstance(entry, dict) else None
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        return entry
    here = [
        source | {"path": str(path.parent / str(source["path"]))} if {"kind", "path"} <= set(source) else source
        for source in sources
    ]
    entry = entry | {"sources": here}
    if "shape" in entry or "like" in entry or len(here) != 1 or here[0].get("kind") != "file" or "path" not in here[0]:
        return entry
    file = parse_spec(FileSource, here[0], path, f"{name}.sources.0")
    options = {key: entry[key] for key in ("groups", "ordered_by", "day_first", "task") if key in entry}
    options |= file.model_dump(include=_OF_FILE)
    own = OwnData(file.path, str(file.target), impute=bool(entry.get("by_fold", False)), **options)
    found = describe(own).model_dump(mode="json", exclude_defaults=True, exclude={"name"})
    return found | {key: value for key, value in entry.items() if key != "sources"}
