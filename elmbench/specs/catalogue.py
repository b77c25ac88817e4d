"""The catalogue of experiment files: the suite's, and those that a user adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.files import counting_order
from elmbench.metrics import unit_of
from elmbench.registry.scorers import is_metric
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiment_file import CHANGED_BY_NAME, ExperimentFile, overlay
from elmbench.specs.files import invalid, parse_spec, raw_names, read_yaml, spec_root
from elmbench.specs.measures import JUDGED
from elmbench.specs.papers import WIDEST_MARGIN, Paper
from elmbench.specs.splits import TASK_PREFIX

#: Yields the tables that it is given, and shows the progress.
Watch = Callable[[Sequence[ExperimentFile]], Iterable[ExperimentFile]]


#: Keys that no other table takes over.
_OF_ONE_TABLE = ("id", "aliases", "title", "label", "claims", "expect")


@dataclass
class _Added:
    """The tables of a user, by id.

    `blocked`: the errors of those that lack a plug-in. `alone`: True if the tables of a project
    hide those of the suite.
    """

    files: dict[str, ExperimentFile] = field(default_factory=dict)
    blocked: dict[str, ElmbenchError] = field(default_factory=dict)
    alone: bool = False


_added = _Added()


def add_experiments(
    files: Iterable[ExperimentFile],
    blocked: Mapping[str, ElmbenchError] | None = None,
    *,
    alone: bool = False,
) -> None:
    """Add the tables `files` of a user to those of `load_catalogue`.

    A table replaces an earlier one of the user with the same id. `blocked`: {id of a table that
    lacks a plug-in: its error}; `find_experiment` raises them. `alone`: True to hide the tables of
    the suite, from now on; a later False does not show them again. Raises ElmbenchError, and adds
    nothing, if two tables share an id or alias.
    """
    later = _added.files | {file.id: file for file in files}
    suite = (
        []
        if alone
        else [f for f in load_catalogue().values() if f.id not in _added.files]
    )
    _check_names([*suite, *later.values()])
    _added.files.update(later)
    _added.blocked.update(blocked or {})
    _added.alone = _added.alone or alone
    load_catalogue.cache_clear()


def blocked_tables() -> Mapping[str, ElmbenchError]:
    """Return {id of an added table that lacks a plug-in: its error}."""
    return _added.blocked


def refuse_blocked_tables(paper: str | None = None) -> None:
    """Raise the error of the first added table that lacks a plug-in, if there is one.

    `paper`: the key of a paper, to consider only its tables; None for all tables.
    """
    for id, error in _added.blocked.items():
        if paper in (None, id.partition("/")[0]):
            raise error


def is_project() -> bool:
    """Return True if a project has added tables that hide those of the suite."""
    return _added.alone


@cache
def load_catalogue(root: Path | None = None) -> dict[str, ExperimentFile]:
    """Return {id: experiment} of all: the suite's and those that a user has added.

    If the tables of a project hide those of the suite, return only the added ones. The suite's own
    tables are not checked, because the check takes as long as everything else. `root`: a folder
    with `experiments/`, to return and check only the experiments there; None for the suite and the
    user. The returned dict may be cached; do not change it.
    """
    if root is None and _added.alone:
        return dict(_added.files)
    files = read_papers(root or spec_root())
    if root:
        check_tables(files.values())
        return files
    return files | _added.files


def read_papers(root: Path) -> dict[str, ExperimentFile]:
    """Return {id: experiment} of the files in `experiments/*/` of the folder `root`.

    They are in the order of the folders' names, then of the numbers of the tables. Ids, aliases and
    the names of files are checked (ElmbenchError); the content of tables is not.
    """
    folder = root / "experiments"
    files: dict[str, ExperimentFile] = {}
    _read_file.cache_clear()
    for paper_path in sorted(folder.glob("*/paper.yaml")):
        files |= _read_paper(paper_path)
    _check_folder(folder)
    _check_names(files.values())
    return files


def check_tables(
    files: Collection[ExperimentFile], *, with_papers: bool = True
) -> None:
    """Raise ElmbenchError for the first fault of some tables, also under each of their readings.

    Each value of a reading is tried alone, with the defaults of the others. `with_papers`: True to
    check also the margins and the proposed models in the file of each paper, against all tables of
    the paper; False checks the tables alone.
    """
    # Tables without a base come first, so that an error in a base names its file.
    in_order = sorted(files, key=lambda file: "based-on" in _read_file(file.path))
    for file in in_order:
        check_table(file)
    for file in files:
        for choice in file.choices:
            file.apply_readings(choice)
    if not with_papers:
        return
    by_paper = {file.paper.key: file for file in files if file.tables}
    for file in by_paper.values():
        source = file.path.with_name("paper.yaml")
        _check_judgement(file.paper, file.tables, source)


def _check_judgement(
    paper: Paper, tables: Sequence[ExperimentFile], path: Path
) -> None:
    """Raise ElmbenchError if the margins or the proposed models of a paper are not valid.

    A margin is for a metric with verdicts, and is not too wide; a proposed model is that of a
    column. `tables`: all tables of the paper. `path`: its `paper.yaml`, for messages.
    """
    for metric in paper.margins:
        if metric not in JUDGED and not is_metric(metric):
            problem = (
                f"{path}: margins names the metric {metric!r}, which has no verdict"
            )
            raise invalid(problem, f"one of {', '.join(JUDGED)}")
        _check_margin(paper, metric, path)
    models = {column.model for table in tables for column in table.spec.models.values()}
    for model in paper.proposed:
        if model not in models:
            problem = f"{path}: proposed names the model {model!r}, which no table has"
            raise invalid(problem, f"one of {', '.join(sorted(models)) or 'none'}")


def _check_margin(paper: Paper, metric: str, path: Path) -> None:
    """Raise ElmbenchError if a margin of a paper is more than 5 times the standard one.

    `metric`: a metric that the paper gives a margin. `path`: its `paper.yaml`, for the message.
    """
    margin = paper.margins[metric]
    widest = WIDEST_MARGIN * unit_of(metric).margin
    if margin > widest * (1 + 1e-9):
        raise invalid(
            f"{path}: the margin of {metric} is {margin:g}",
            f"at most {widest:g}, {WIDEST_MARGIN} times the standard margin",
        )


def _check_folder(folder: Path) -> None:
    """Raise ElmbenchError if `folder`, that of all papers, has tables that would not be read.

    These are files `.yml`, and folders with tables but without a `paper.yaml`.
    """
    for path in folder.glob("*/*.yml"):
        raise invalid(
            f"{path} is not read", f"the ending .yaml: {path.with_suffix('.yaml').name}"
        )
    for subfolder in sorted({path.parent for path in folder.glob("*/*.yaml")}):
        if not (subfolder / "paper.yaml").is_file():
            raise invalid(
                f"{subfolder} holds experiments but no paper.yaml",
                "a paper.yaml with key, title, authors, year and doi (see experiments/kos-elm)",
            )


def check_table(file: ExperimentFile) -> None:
    """Raise ElmbenchError if a table is not valid.

    Its readings must be defined and change what exists, its CSV files must exist, and the metrics
    of its expectations must be published.
    """
    _check_csv_files(file)
    _check_expected_metrics(file)
    paper_path = file.path.parent / "paper.yaml"
    for name in file.spec.readings:
        if name not in file.paper.readings:
            defined = ", ".join(file.paper.readings) or "none"
            raise invalid(
                f"{file.path}: unknown reading {name!r}",
                f"one that {paper_path} defines: {defined}",
            )
        _check_changes(name, file, paper_path)


def _check_csv_files(file: ExperimentFile) -> None:
    """Raise ElmbenchError if a CSV file that a table names does not exist.

    These are the files of published values, of hyperparameters and of given splits. The name of an
    OpenML task in place of a file of splits is not checked.
    """
    published = file.spec.published
    protocol = file.spec.protocol
    if published is not None:
        names = [published.values, published.also_printed, *published.parameter_files]
        for name in filter(None, names):
            _check_csv_file(name, "published values", file)
    for dataset in file.spec.datasets:
        names = [protocol.outer.file_of(dataset), protocol.inner.file_of(dataset)]
        for name in filter(None, names):
            if not name.startswith(TASK_PREFIX):
                _check_csv_file(name, "splits", file)


def _check_csv_file(name: str, content: str, file: ExperimentFile) -> None:
    """Raise ElmbenchError if the CSV file `name` beside the file of a table does not exist.

    `content`: its content in words, for the message.
    """
    path = file.path.parent / name
    if not path.is_file():
        problem = f"{file.path}: {name} does not exist"
        raise invalid(problem, f"a CSV file of {content} at {path}")


def _check_expected_metrics(file: ExperimentFile) -> None:
    """Raise ElmbenchError if a verdict is expected on a metric that is not published for the table.

    An expectation on a metric of the whole table leaves out the value of a hyperparameter: it may
    name `gmean` if `gmean@h=50` is published.
    """
    for expectation in file.spec.expect:
        columns = [value.metric for value in file.published.values]
        if not expectation.model:
            columns = [column.partition("@")[0] for column in columns]
        if expectation.metric and expectation.metric not in columns:
            metrics = ", ".join(dict.fromkeys(columns)) or "none"
            raise invalid(
                f"{file.path}: expect names the metric {expectation.metric!r}, which is not "
                "published",
                f"one of {metrics}",
            )


def _check_changes(name: str, file: ExperimentFile, paper_path: Path) -> None:
    """Raise ElmbenchError if a reading changes something that no table of its paper has.

    These are models, grids and data sets. `name`: the reading. `file`: a table that lists it.
    `paper_path`: the file that defines it, for the message.
    """
    allowed: dict[str, set[str]] = {}
    for key, section in CHANGED_BY_NAME.items():
        names = [raw_names(table.content, section) for table in file.tables]
        allowed[key] = set().union(*names)
    for value in file.paper.readings[name].values.values():
        for key, names_in_tables in allowed.items():
            changed = set(raw_names(value.set, key))
            for unknown in sorted(changed - names_in_tables):
                raise invalid(
                    f"{paper_path}: the reading {name} changes {key}.{unknown}, which no table has",
                    f"one of {', '.join(sorted(names_in_tables))}",
                )


def _read_paper(path: Path) -> dict[str, ExperimentFile]:
    """Return {id: table} of the paper whose `paper.yaml` is `path`, in the order of their numbers.

    Each table has the list of all tables of the paper. Raises ElmbenchError if the key or an id
    does not match the name of the folder or file.
    """
    paper = parse_spec(Paper, read_yaml(path), path)
    if paper.key != path.parent.name:
        raise invalid(
            f"{path}: the key is {paper.key!r}",
            f"{path.parent.name!r}, as the folder is called",
        )
    tables: list[ExperimentFile] = []
    for file in sorted(
        path.parent.glob("*.yaml"), key=lambda path: counting_order(path.stem)
    ):
        if file.name != path.name:
            content = _merge_base(file)
            expected = f"{paper.key}/{file.stem}"
            if content.get("id") != expected:
                raise invalid(
                    f"{file}: the id is {content.get('id')!r}",
                    f"{expected!r}, as the file is called",
                )
            tables.append(ExperimentFile(file, content, paper, tables))
    return {table.id: table for table in tables}


def read_own_table(
    path: Path, datasets: tuple[DatasetSpec, ...] = ()
) -> ExperimentFile:
    """Return a user's table, which belongs to no paper, from its YAML file.

    Its content is not validated, but completed by that of the file it is based on. By default, its
    id is `own/NAME`, by the name of the file in lower case, with hyphens for other characters than
    letters and digits. `datasets`: the user's data sets that come with it.
    """
    words = re.sub(r"[^a-z0-9]+", "-", path.stem.lower())
    name = words.strip("-")
    defaults = {"id": f"own/{name}", "label": name, "title": name}
    content = defaults | _merge_base(path)
    folder, _, _ = str(content["id"]).partition("/")
    paper = Paper.unpublished(folder)
    return ExperimentFile(path, content, paper, datasets=datasets)


def _merge_base(path: Path, ancestors: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the content of a file, not validated, completed by that of the file it is `based-on`.

    Keys in `without`, and those such as id and title that belong to one table, are not taken over.
    A model that is null is removed, if the file has a base. `ancestors`: the files that are based
    on this one. Raises ElmbenchError if a file is not a mapping, for a circle, an unknown base, or
    a key in `without` that the base lacks.
    """
    content = _read_file(path)
    if not isinstance(content, dict):
        raise invalid(
            f"{path}: not a mapping", "keys with their values (id, title, ...)"
        )
    content = dict(content)
    base = content.pop("based-on", None)
    without = content.pop("without", [])
    if base is None:
        if without:
            raise invalid(
                f"{path}: without names keys of another table, but based-on names none",
                "both, or neither",
            )
        return content
    base_path = path.parent / f"{base}.yaml"
    others = sorted(
        p.stem
        for p in path.parent.glob("*.yaml")
        if p.stem not in ("paper", "datasets", path.stem)
    )
    if base not in others or base_path in ancestors:
        problem = (
            f"{path}: based on {base!r}, which is not another table of this folder, or is based on "
            "this one"
        )
        raise invalid(
            problem,
            f"one of {', '.join(others) or 'the other tables, of which there is none'}",
        )
    base_content = _merge_base(base_path, (*ancestors, path))
    for name in _OF_ONE_TABLE:
        base_content.pop(name, None)
    if not isinstance(without, list) or not set(without) <= set(base_content):
        problem = f"{path}: without is {without!r}"
        raise invalid(problem, f"a list of keys of {base}: {', '.join(base_content)}")
    for name in without:
        del base_content[name]
    merged = overlay(base_content, content, add=True)
    models = merged.get("models")
    if isinstance(models, dict):
        kept = {name: model for name, model in models.items() if model is not None}
        merged["models"] = kept
    return merged


@cache
def _read_file(path: Path) -> Any:
    """Return the content of a YAML file; do not change it.

    It is cached for all tables that are based on it.
    """
    return read_yaml(path)


def _check_names(files: Iterable[ExperimentFile]) -> None:
    """Raise ElmbenchError if two of the experiments `files` share a name: an id or an alias."""
    owners: dict[str, Path] = {}
    for file in files:
        for name in file.names:
            if name in owners:
                problem = f"{file.path}: the name {name!r} is taken by {owners[name]}"
                raise invalid(problem, "ids and aliases that occur once")
            owners[name] = file.path


def tables_by_paper() -> dict[str, list[ExperimentFile]]:
    """Return {key of a paper: its experiments}, of all in `load_catalogue`.

    Those of a user, which have no paper, have the first part of their ids as their key.
    """
    papers: dict[str, list[ExperimentFile]] = {}
    for file in load_catalogue().values():
        papers.setdefault(file.paper.key, []).append(file)
    return papers


def find_experiment(name: str) -> ExperimentFile:
    """Return an experiment by its id or alias.

    `name`: such as `kos-elm/table4`. Raises ElmbenchError for any other name: an unknown one, the
    key of a paper, or a comparison (`own/...`), which is no experiment. For a table that lacks a
    plug-in, the error names the plug-in.
    """
    files = load_catalogue()
    for file in files.values():
        if name in file.names:
            return file
    if name in _added.blocked:
        raise _added.blocked[name]
    if tables := [file.id for file in files.values() if file.paper.key == name]:
        all_tables = (
            "elmbench list experiments, or all tables of the paper: "
            f"elmbench run --paper {name}"
        )
        raise ElmbenchError(
            f"{name!r} is a paper",
            expected=f"one of {', '.join(tables)}",
            next_step=all_tables,
        )
    if name.startswith("own/"):
        problem = f"{name!r} is not an experiment"
        step = f"elmbench table {name} shows a comparison"
        raise ElmbenchError(
            problem, expected="one of `elmbench list experiments`", next_step=step
        )
    raise unknown_name("experiment", name, table_names(), "elmbench list experiments")


def table_names() -> list[str]:
    """Return the ids and aliases of all experiments."""
    return [name for file in load_catalogue().values() for name in file.names]
