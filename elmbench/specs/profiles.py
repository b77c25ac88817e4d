"""An experiment under one profile and one choice of readings, and comparisons as recorded with
their results.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.files import read_json
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.comparison_ids import is_id_of, name_in_id
from elmbench.specs.datasets import DatasetSpec, parse_dataset_specs
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import PROFILES, Experiment, Profile
from elmbench.specs.files import parse_spec
from elmbench.specs.model_columns import StandIn
from elmbench.specs.papers import ChosenReading, Paper
from elmbench.specs.published import ALL, PublishedValue
from elmbench.specs.splits import OuterOverride

#: The profile of comparisons: their results are in `<results-dir>/compare/own/<name>-<digest>`.
COMPARE = "compare"


def command_for(profile: str, experiment: str) -> str:
    """Return the command that computes a table, to be shown: `elmbench run ...`.

    Under the profile `compare`, it is `elmbench compare FILE ... --name NAME`, with the name in the
    id `experiment`.
    """
    name = name_in_id(experiment).removeprefix("own/")
    compare = f"elmbench compare FILE ... --name {name}"
    return (
        compare
        if profile == COMPARE
        else f"elmbench run {experiment} --profile {profile}"
    )


@dataclass(frozen=True)
class Resolved:
    """An experiment under one profile and one choice of readings."""

    file: ExperimentFile
    spec: Experiment
    profile: str
    #: The profile as declared.
    settings: Profile
    #: The readings with a value other than the default.
    readings: tuple[ChosenReading, ...] = ()
    #: What later packages derive from this experiment once, by name: its kind of table.
    derived: dict[str, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def reading(self) -> str:
        """The readings other than the default in the notation of CSV files, `id=value;id=value`.

        It is empty if all have their defaults.
        """
        return ";".join(map(str, self.readings))

    @cached_property
    def datasets(self) -> Mapping[str, DatasetSpec]:
        """A dict {name: data set} of all data sets of the table, including those that this profile
        leaves out.

        Raises ElmbenchError, which names the experiment file, if one of them is unknown.
        """
        names = dict.fromkeys(
            (*self.file.spec.datasets, *self.spec.datasets, *self.settings.stand_ins)
        )
        try:
            return {name: self.file.find_dataset(name) for name in names}
        except ElmbenchError as error:
            error.add_source(self.file.path)
            raise

    def dataset(self, name: str) -> DatasetSpec:
        """Return the data set of a name or alias; raise ElmbenchError if there is none.

        It may be one that the table has no longer, but had when its results were computed.
        """
        return self.datasets.get(name) or self.file.find_dataset(name)

    def has_dataset(self, name: str) -> bool:
        """Return True if this installation has a data set of this name or alias."""
        try:
            return bool(self.dataset(name))
        except ElmbenchError:
            return False

    @cached_property
    def published(self) -> Mapping[tuple[str, str, str], PublishedValue]:
        """A dict {(data set, column, measure): value} of the paper's values of this table.

        Data sets have the suite's names, and measures the form of `Measure.column`. Data sets that
        stand in for others have the values of these.
        """
        return {
            (name, value.model, value.metric): value
            for name, value in self._by_suite_name(self.file.published.values)
        }

    @cached_property
    def published_in_paper(self) -> Mapping[tuple[str, str], set[tuple[str, float]]]:
        """A dict {(data set, metric): {(column, value), ...}} of what all tables of the paper
        print.

        Values are floats, data sets have the suite's names. Cited values, those over all data sets
        and blanks are left out. Values of a user's own table are those of the table itself.
        """
        in_paper: dict[tuple[str, str], set[tuple[str, float]]] = defaultdict(set)
        for table in self.file.tables or [self.file]:
            for dataset, published in self._by_suite_name(table.published.values):
                if dataset == ALL or published.cited or published.value is None:
                    continue
                values = in_paper[dataset, published.metric]
                values.add((published.model, published.number))
        return dict(in_paper)

    def _by_suite_name(
        self, values: Iterable[PublishedValue]
    ) -> list[tuple[str, PublishedValue]]:
        """Return (the suite's name of its data set, value) for each of the published `values`.

        Values of a data set that has a stand-in are repeated at the end under the name of the
        stand-in. Raises ElmbenchError if a data set is unknown.
        """
        suite_names = {ALL: ALL}
        pairs = []
        for value in values:
            spelling = value.dataset
            if spelling not in suite_names:
                suite_names[spelling] = self.file.find_dataset(spelling).name
            pairs.append((suite_names[spelling], value))
        of_stand_ins = [
            (stand_in, value)
            for stand_in, replaced in self.stand_ins.items()
            for name, value in pairs
            if name == replaced
        ]
        return pairs + of_stand_ins

    @property
    def mean_of(self) -> int:
        """The number of draws of the protocol in a published mean.

        If the paper does not print it, it is the smallest one possible.
        """
        return self.means_of[0]

    @property
    def means_of(self) -> tuple[int, ...]:
        """The numbers of draws of the protocol that a published mean may have, the smallest first.

        It is (1,) for a table without published values.
        """
        return self.file.spec.published.means_of if self.file.spec.published else (1,)

    def cuts(self, dataset: str) -> bool:
        """Return True if the profile does not use all rows of a data set, or uses other folds.

        These are compared with the rows of the public file and the printed folds; the number of
        runs does not count. For the data set `all`, return True if the profile does so on some data
        set.
        """
        if dataset == ALL:
            return any(map(self.cuts, self.spec.datasets))
        outer = self.spec.protocol.outer
        printed_outer = self.file.spec.protocol.outer
        if outer.folds_of(dataset) != printed_outer.folds_of(dataset):
            return True
        n_rows = self.settings.rows
        n_printed = self.dataset(dataset).public.instances
        return n_rows is not None and n_rows < n_printed

    def compares(self, dataset: str) -> bool:
        """Return True if our values on a data set are of the same rows as the published ones.

        That is, the profile does not reduce rows or folds (see `cuts`), and the public file has the
        paper's rows. For `all`: True if they are on every data set.
        """
        if dataset == ALL:
            return all(map(self.compares, self.spec.datasets))
        return not self.cuts(dataset) and dataset not in self.spec.other_rows

    def stand_in(self, column: str, dataset: str) -> StandIn | None:
        """Return the paper's model or parameters that a column replaces on a data set by our own.

        It is None if the column replaces nothing, or the table lacks it.
        """
        model = self.spec.models.get(column)
        return None if model is None else model.adapt(dataset).stands_in_for

    @property
    def stand_ins(self) -> Mapping[str, str]:
        """A dict {data set that stands in for another: the replaced data set}, by their names."""
        return self.spec.published.stand_ins if self.spec.published else {}

    def spelling(self, dataset: str) -> str:
        """Return a data set's name as the paper spells it; `dataset` is the suite's name.

        The suite's name is returned if the paper does not print the data set, or it is a stand-in.
        """
        if dataset in self.stand_ins:
            return dataset
        for (name, _, _), value in self.published.items():
            if name == dataset:
                return value.dataset
        return dataset

    def metric_of(self, dataset: str) -> str:
        """Return the metric by which hyperparameters are chosen, and models ranked, on a data set.

        Raises ElmbenchError if the table has no metric for its task.
        """
        return self.spec.protocol.metric_for(self.dataset(dataset).task, dataset)


def resolve(
    file: ExperimentFile, profile: str, readings: dict[str, str] | None = None
) -> Resolved:
    """Return the experiment under a profile and readings.

    `profile` ({"ci", "fast", "paper"}): a profile that the file lacks is the printed protocol.
    `readings`: {id of the reading: name of the value}; None for none. Other readings have their
    defaults, and only values that are not the default are in `readings` of the result. Raises
    ElmbenchError for an unknown profile, reading or value, or if the table has no results under the
    profile.
    """
    if profile not in PROFILES:
        raise unknown_name(
            "profile", profile, list(PROFILES), f"elmbench show {file.id}"
        )
    readings = readings or {}
    for name, value in readings.items():
        if name not in file.spec.readings:
            declared = f"one of {', '.join(file.spec.readings) or '(it has none)'}"
            unknown = f"{file.id} has no reading {name!r}"
            raise ElmbenchError(
                unknown, expected=declared, next_step="elmbench list readings"
            )
        values = list(file.paper.readings[name].values)
        if value not in values:
            raise unknown_name(
                f"value of the reading {name}:", value, values, "elmbench list readings"
            )
    spec = file.apply_readings(readings)
    settings = spec.profiles.get(profile, Profile())
    if settings is None:
        problem = (
            f"{file.id} has nothing to show under profile {profile}: its data do not come with the "
            "suite"
        )
        others = f"one of {', '.join(file.profiles)}"
        raise ElmbenchError(
            problem, expected=others, next_step=f"elmbench show {file.id}"
        )
    chosen = tuple(
        file.paper.choose(name, value)
        for name, value in sorted(readings.items())
        if value != file.paper.readings[name].default
    )
    return Resolved(file, _apply(spec, settings), profile, settings, chosen)


def _apply(spec: Experiment, profile: Profile) -> Experiment:
    """Return an experiment with the changes of a profile.

    For each data set, runs and folds come from the first of these that gives them: the data set's
    entry in the profile, the profile, the data set's printed entry, the printed protocol. The
    profile's numbers of rows change nothing here.
    """
    outer = spec.protocol.outer
    overrides = {}
    for name in (*outer.overrides, *profile.overrides):
        printed = outer.overrides.get(name, OuterOverride())
        override = profile.overrides.get(name, OuterOverride())
        overrides[name] = OuterOverride(
            runs=override.runs or profile.runs or printed.runs,
            folds=override.folds or profile.folds or printed.folds,
        )
    runs = profile.runs or outer.runs
    folds = profile.folds or outer.folds
    outer = outer.model_copy(
        update={"runs": runs, "folds": folds, "overrides": overrides}
    )
    select = profile.select or spec.protocol.select
    protocol = spec.protocol.model_copy(update={"outer": outer, "select": select})
    datasets = profile.stand_ins or profile.datasets or spec.datasets
    grids = spec.grids
    models = {column: spec.models[column] for column in profile.models or spec.models}
    if step := profile.thin_grids:
        grids = grids.thin(step)
        models = {column: model.thin(step) for column, model in models.items()}
    return spec.model_copy(
        update={
            "protocol": protocol,
            "datasets": datasets,
            "grids": grids,
            "models": models,
        }
    )


def comparison_of(
    content: dict[str, Any],
    settings: dict[str, Any],
    specs: Iterable[DatasetSpec],
    source: Path,
) -> Resolved:
    """Return the experiment of a comparison of the data sets `specs`.

    `content`: the keys of its table, as in an experiment file. `settings`: the keys of its profile,
    such as {"rows": 1000}; empty for the table as it is. `source`: the path of its file, which
    messages name.
    """
    file = ExperimentFile(
        source, content, Paper.unpublished("own"), datasets=tuple(specs)
    )
    return Resolved(file, file.spec, COMPARE, parse_spec(Profile, settings, source))


def comparison_json_dict(resolved: Resolved) -> dict[str, Any]:
    """Return {"spec": ...}, the content from which `recorded_comparison` reads a comparison.

    Its keys are `content` and `settings` (see `comparison_of`) and `data`, {data set: its entry} as
    in `datasets.yaml`.
    """
    data = {
        name: spec.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"name"}
        )
        for name, spec in resolved.datasets.items()
    }
    settings = resolved.settings.model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )
    return {
        "spec": {"content": resolved.file.content, "settings": settings, "data": data}
    }


def find_resolved(name: str, profile: str, results_dir: Path) -> Resolved:
    """Return a table under a profile with default readings, or a comparison.

    `name`: the id or alias of a table; or `own/<name>` that is not the id of a table: a comparison
    in the results folder, whose profile is always `compare`. Raises ElmbenchError if there is none.
    """
    if name.startswith("own/") and name not in load_catalogue():
        return recorded_comparison(name, results_dir)
    return resolve(find_experiment(name), profile)


def recorded_comparison(name: str, results_dir: Path) -> Resolved:
    """Return the comparison `own/<name>`, which is `name`, in a results folder.

    The digest at the end of its name may be left out if no other comparison has the rest. Raises
    ElmbenchError if there is none or several.
    """
    folder = results_dir / COMPARE
    paths = {
        f"own/{path.parent.name}": path
        for path in sorted(folder.glob("own/*/environment.json"))
        if _read_spec(path)
    }
    if not paths:
        problem = f"{results_dir} holds no comparison {name!r}"
        compare = f"elmbench compare FILE --name {name[4:]}"
        raise ElmbenchError(
            problem, expected="one that `elmbench compare` wrote", next_step=compare
        )
    ids = [id for id in paths if is_id_of(name, id)]
    if not ids:
        raise unknown_name(
            "comparison", name, [*paths], "elmbench compare FILE --name NAME"
        )
    if len(ids) > 1:
        raise _ambiguous(name, {id: paths[id] for id in ids})
    path = paths[ids[0]]
    spec = _read_spec(path)
    specs = parse_dataset_specs(spec["data"], str(path)).values()
    return comparison_of(spec["content"], spec["settings"], specs, path)


def _ambiguous(name: str, paths: Mapping[str, Path]) -> ElmbenchError:
    """Return the error for a name that several comparisons share; it lists them, the latest first.

    `paths`: {id of a comparison: path of its `environment.json`}.
    """
    times = {id: path.stat().st_mtime for id, path in paths.items()}
    latest_first = sorted(paths, key=lambda id: times[id], reverse=True)
    descriptions = []
    for id in latest_first:
        spec = _read_spec(paths[id])
        files = ", ".join(sorted(_data_files(spec)))
        time = datetime.fromtimestamp(times[id])
        descriptions.append(f"{id} ({files}, written {time:%Y-%m-%d %H:%M:%S})")
    return ElmbenchError(
        f"{name!r} is the name of {len(paths)} comparisons of different data",
        expected=f"one of {'; '.join(descriptions)}",
        next_step=f"elmbench table {latest_first[0]}",
    )


def _read_spec(path: Path) -> dict[str, Any]:
    """Return the `spec` of a comparison from its `environment.json`; empty if there is none.

    It has the keys `content`, `settings` and `data` (see `comparison_json_dict`).
    """
    spec = read_json(path).get("spec")
    return spec if isinstance(spec, dict) else {}


def _data_files(spec: Mapping[str, Any]) -> set[str]:
    """Return the paths of the data files in the `spec` of a comparison.

    `spec`: of its keys, only `data` is read; the result is empty without it.
    """
    sources = [
        source for entry in spec.get("data", {}).values() for source in entry["sources"]
    ]
    return {source["path"] for source in sources if "path" in source}
