"""The printed tables of a paper, from the files of its experiments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from elmbench.evaluation.splits import part_sizes
from elmbench.judging.print_checks.printed_table import Parts, PrintedTable
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiment_file import ExperimentFile
from elmbench.specs.experiments import Experiment, Profile
from elmbench.specs.measures import OF_LEARNT_ROWS
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL, PublishedValue
from elmbench.specs.splits import BOOTSTRAPS, GIVEN, LEAVE_ONE_OUT, SIZED, Split

#: Kinds of folds whose sizes follow from the number of rows.
_KNOWN_FOLDS = ("kfold", "stratified-kfold")


def read_printed_tables(files: Iterable[ExperimentFile]) -> list[PrintedTable]:
    """Return the tables of one paper that have published values.

    `files`: those of all its tables, in its order; files without published values are left out, but
    the names and numbers of rows that any table prints serve all. A table with exactly the values
    of an earlier one is left out.
    """
    with_values = []
    seen = set()
    for file in files:
        content = _values_of(file)
        # A table that is based on another one may have the published values of that one.
        if content and content not in seen:
            seen.add(content)
            with_values.append(file)
    values = [value for file in with_values for value in _values_of(file)]
    spellings = list(
        dict.fromkeys(value.dataset for value in values if value.dataset != ALL)
    )
    facts = _printed_rows(values)
    return [_printed_table(file, spellings, facts) for file in with_values]


def _values_of(file: ExperimentFile) -> tuple[PublishedValue, ...]:
    """Return all values of a table under the metrics that the paper names.

    Those that only the checks of the print read follow.
    """
    return (*file.published.printed_values, *file.published.also_printed)


def _printed_table(
    file: ExperimentFile,
    spellings: Iterable[str],
    facts: Mapping[str, Mapping[str, int]],
) -> PrintedTable:
    """Return the printed table of a file.

    `spellings`: the names of data sets in all tables of the paper; those that the file does not
    have get a name only, and no parts. `file`: the table's, with published values. `facts`: the
    printed numbers of their rows, {data set: {fact: number}}, such as `instances`.
    """
    spec = file.spec
    resolved = Resolved(file=file, spec=spec, profile="paper", settings=Profile())
    of_paper = {spelling: resolved.dataset(spelling) for spelling in spellings}
    datasets = {
        spelling: dataset
        for spelling, dataset in of_paper.items()
        if dataset.name in spec.datasets
    }
    parts = {
        dataset.name: _parts(spec, dataset, facts.get(spelling, {}))
        for spelling, dataset in datasets.items()
    }
    return PrintedTable(
        id=file.id,
        label=spec.label,
        values=_values_of(file),
        names={spelling: dataset.name for spelling, dataset in of_paper.items()},
        parts=parts,
        measurements=dict(_measurements(file, datasets)),
        ranked_by=_ranking_metrics(spec, datasets.values()),
        std=spec.protocol.std,
        unknown_rows=frozenset(spec.other_rows),
        pairs=_pairs_of_tests(spec),
        pairs_called_close=frozenset(_pairs_called_close(spec)),
    )


def _printed_rows(values: Iterable[PublishedValue]) -> dict[str, dict[str, int]]:
    """Return the printed numbers of rows: {data set, as the paper spells it: {fact: number}}.

    `values`: printed values, of which only these facts count: train, test, instances, negatives and
    positives. If a fact is printed twice, the last number counts.
    """
    facts: dict[str, dict[str, int]] = {}
    for value in values:
        is_number_of_rows = value.metric in (
            "train", "test", "instances", "negatives", "positives"
        )  # fmt: skip
        if is_number_of_rows and value.value is not None:
            facts.setdefault(value.dataset, {})[value.metric] = int(value.value)
    return facts


def _parts(spec: Experiment, dataset: DatasetSpec, printed: Mapping[str, int]) -> Parts:
    """Return the numbers of rows, folds and runs that the values of a data set are measured on.

    The numbers of rows are the printed ones and those of the public file, without the latter if the
    table's file, `spec`, says that the paper has other rows; an unknown number is an empty set.
    `printed`: {fact: number}, such as `train`.
    """
    outer = spec.protocol.outer
    split = outer.split(dataset.name, dataset.task)
    has_public_rows = dataset.name not in spec.other_rows
    public_rows = {dataset.public.instances} if has_public_rows else set()
    all_rows = frozenset(public_rows | _printed_numbers_of_rows(printed))
    means_of = spec.published.means_of if spec.published else (1,)
    runs = frozenset((*means_of, outer.runs_of(dataset.name)))
    if split.folds > 1:
        return Parts(
            tested=all_rows if _tests_all_rows(split) else frozenset(),
            all_rows=all_rows,
            folds=split.folds,
            known_folds=_has_known_folds(split.kind, split.folds, dataset),
            runs=runs,
        )
    public_parts = _public_parts(split, dataset) if has_public_rows else None
    tested = all_rows if split.kind == LEAVE_ONE_OUT else _printed_part(printed, "test")
    trained = _printed_part(printed, "train")
    if public_parts is not None:
        n_train, n_test = public_parts
        trained |= {n_train}
        tested |= {n_test}
    return Parts(tested=tested, trained=trained, all_rows=all_rows, runs=runs)


def _printed_numbers_of_rows(printed: Mapping[str, int]) -> set[int]:
    """Return the numbers of all rows of a data set that a paper prints, itself or as a sum.

    `printed`: {fact: number}; the facts are instances, train, test, negatives and positives.
    """
    numbers = set()
    for names in (("instances",), ("train", "test"), ("negatives", "positives")):
        counts = [printed[name] for name in names if name in printed]
        if len(counts) == len(names):
            numbers.add(sum(counts))
    return numbers


def _printed_part(printed: Mapping[str, int], name: str) -> frozenset[int]:
    """Return the printed number of the rows of a part, `train` or `test`; empty if not printed.

    `printed`: {fact: number}. The result has at most one number.
    """
    return frozenset({printed[name]}) if name in printed else frozenset()


def _tests_all_rows(split: Split) -> bool:
    """Return True if the folds of a split test every row once.

    Given folds, ordered folds, bootstraps and splits of plug-ins need not.
    """
    is_built_in = not split.version
    return is_built_in and split.kind not in ("ordered-kfold", GIVEN, *BOOTSTRAPS)


def _public_parts(split: Split, dataset: DatasetSpec) -> tuple[int, int] | None:
    """Return the numbers of training and test rows of the public file.

    They are those of a split with sizes, or of the official split of the file. It is None for other
    kinds of split, or if the file has no official one.
    """
    if split.kind in SIZED:
        return part_sizes(split, dataset.public.instances)
    return dataset.public.split if split.kind == "official" else None


def _has_known_folds(kind: str, folds: int, dataset: DatasetSpec) -> bool:
    """Return True if the sizes of folds follow from the number of rows.

    Stratified folds do only if the public rows of each class are known and fill them: programs
    differ in where they put the rest. `folds`: their number. `kind`: that of the split; kinds
    without folds of known sizes are False.
    """
    if kind not in _KNOWN_FOLDS:
        return False
    if kind == "kfold":
        return True
    shape = dataset.public
    counts = [shape.count([label]) for label in shape.labels]
    return bool(counts) and all(
        count is not None and count % folds == 0 for count in counts
    )


def _measurements(
    file: ExperimentFile, datasets: Mapping[str, DatasetSpec]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield ((data set, column), text): what each column measures on each data set of the table.

    Equal texts are equal measurements. `datasets`: {the paper's spelling: data set}; the suite's
    names are yielded.
    """
    spec = file.spec
    published = file.published.parameters
    for spelling, dataset in datasets.items():
        protocol = _protocol_of(spec, dataset)
        for column, model in spec.models.items():
            definition = _column_of(spec, column, dataset.name)
            values = published.get((spelling, column), {})
            parameters = _used_parameters(values, model, dataset)
            in_order = sorted(parameters.items())
            content = [protocol, definition, in_order]
            text = json.dumps(content, sort_keys=True)
            yield (dataset.name, column), text


def _used_parameters(
    values: Mapping[str, float], column: ModelColumn, dataset: DatasetSpec
) -> dict[str, float]:
    """Return those of the printed hyperparameters that a column uses on a data set.

    `values`: the printed ones of the column and data set, {printed name: number}; a name has no
    `1/` before it, even if the column uses the reciprocal.
    """
    printed = column.adapt(dataset.name).printed.values()
    names = {name.removeprefix("1/") for name in printed}
    return {name: value for name, value in values.items() if name in names}


def _column_of(spec: Experiment, column: str, dataset: str) -> object:
    """Return the definition of a column on a data set, without its name, as data for JSON.

    It has its parameters and its grid, and the definition of the column whose hyperparameters it
    uses, if any.
    """
    adapted = spec.models[column].adapt(dataset)
    elsewhere = {"overrides", "only", "not_run", "like", "search"}
    content = adapted.model_dump(mode="json", exclude=elsewhere)
    grid = adapted.grid.values
    # A column has the hyperparameters of the one that it is like.
    parent = None
    if adapted.like is not None:
        parent = _column_of(spec, adapted.like, dataset)
    return [content, grid, parent]


def _protocol_of(spec: Experiment, dataset: DatasetSpec) -> object:
    """Return how every model is measured on a data set, as data for JSON.

    Equal lists are equal protocols: the data, their scaling, targets, split, runs and selection.
    """
    protocol = spec.protocol
    scale = protocol.scale_of(dataset.name)
    return [
        dataset.name,
        spec.data.get(dataset.name, {}),
        scale and scale.content(),
        protocol.targets and protocol.targets.content(),
        dataset.name in protocol.raw_targets,
        protocol.outer.split(dataset.name, dataset.task).content(),
        protocol.outer.runs_of(dataset.name),
        protocol.selections[0],
        protocol.criterion,
        protocol.order,
    ]


def _ranking_metrics(
    spec: Experiment, datasets: Iterable[DatasetSpec]
) -> dict[str, str]:
    """Return the metric by which models are ranked on each data set, {data set: metric}.

    It is the first metric of test rows in the table's file, `spec`. Data sets without one are left
    out; the names are the suite's.
    """
    metrics = {}
    for dataset in datasets:
        of_task = spec.protocol.metrics_for(dataset.task, dataset.name)
        names = [name for name in of_task if name not in OF_LEARNT_ROWS]
        if names:
            metrics[dataset.name] = names[0]
    return metrics


def _pairs_of_tests(spec: Experiment) -> dict[str, tuple[str, str]]:
    """Return the columns that a table of tests compares, {name of the test: (column, column)}.

    It is empty for other tables; entries that are no pair are left out.
    """
    pairs = spec.options.get("pairs")
    if spec.layout != "t-test" or not isinstance(pairs, dict):
        return {}
    return {
        name: (str(pair[0]), str(pair[1]))
        for name, pair in pairs.items()
        if isinstance(pair, list) and len(pair) == 2
    }


def _pairs_called_close(spec: Experiment) -> Iterator[frozenset[str]]:
    """Yield each pair of columns that a claim of the paper calls close, as a set."""
    for claim in spec.claims:
        for part in claim.comparisons:
            if part.relation == "close" and part.than != "others":
                yield from (frozenset((part.model, other)) for other in part.than)
