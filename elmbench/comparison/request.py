"""A comparison of models on a user's data: its experiment in memory, and its plan.

The default models, metrics and limits are in `elmbench.comparison.defaults`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from elmbench.comparison.class_advice import with_class_advice
from elmbench.comparison.defaults import (
    DEFAULT_LIMIT,
    DEFAULT_METRICS,
    DEFAULT_MODELS,
    FOLDS,
    INNER_FOLDS,
    LARGE_MODELS,
    MANY_ROWS,
    MOST_ROWS,
    SVM_STEPS,
    TUNE_ROWS,
)
from elmbench.datasets.dataset import Dataset
from elmbench.datasets.description import describe
from elmbench.datasets.load import load_from_spec
from elmbench.datasets.mapped_rows import share_rows
from elmbench.datasets.sources.base import hash_of
from elmbench.datasets.table import unused_name
from elmbench.datasets.user_data import UserData, short_slug
from elmbench.errors import ElmbenchError, amount, option, unknown_name, wording
from elmbench.evaluation.splits import (
    check_counts,
    check_splittable,
    count_parts,
    outer_parts,
)
from elmbench.metrics import Metric, counts_rows, metric_names
from elmbench.models.candidate_problem import weight_argument
from elmbench.registry import (
    ModelEntry,
    check_parameters,
    find_model,
    has_method,
    try_factory,
)
from elmbench.registry.built_in import DUMMY
from elmbench.registry.scorers import find_metric
from elmbench.runs.prepare import PreparedRun, RunOptions, prepare_tables
from elmbench.specs.comparison_ids import comparison_id
from elmbench.specs.datasets import DatasetSpec, is_of_suite
from elmbench.specs.profiles import COMPARE, Resolved, comparison_of
from elmbench.specs.splits import Split
from elmbench.tables import SIDE_BY_SIDE
from elmbench.tables.planning import extra_column
from elmbench.tasks.plan import RunRequest


@dataclass(frozen=True)
class ComparisonRequest:
    """A request for a comparison of models on one or several data sets.

    Attributes
    ----------
    data : tuple of UserData
        The data sets.
    models : tuple of str
        Names or addresses; if empty, the models of `DEFAULT_MODELS` for the task.
    grids : mapping of str to mapping
        Grids in place of the models' own: {model: {hyperparameter: values}}.
    metrics : tuple of str
        Metrics in front of `DEFAULT_METRICS`; the first that fits the task chooses
        hyperparameters and ranks.
    folds : int, optional
        Outer folds; None for `FOLDS`, or for the user's own split.
    runs : int
        Repetitions of the folds.
    limit : str
        Limit of each search and fit, such as "time=60s"; `DEFAULT_LIMIT` if empty.
    name : str
        Name of the results folder, before a digest of the data; the names of the data if empty.
    left_out : mapping of str to str
        Models that are not run, with the reasons.
    train_rows : mapping of str to int
        The most training rows that a model learns in a fold, by model; models without an entry
        learn all.
    test_rows : int, optional
        The most test rows of a fold; None for all.
    """

    data: tuple[UserData, ...]
    models: tuple[str, ...] = ()
    grids: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    folds: int | None = None
    runs: int = 1
    limit: str = ""
    name: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    train_rows: Mapping[str, int] = field(default_factory=dict)
    test_rows: int | None = None


#: Metrics that divide by the variation of the targets of a test part.
_UNDEFINED_FOR_ONE_ROW = ("nrmse", "r2")

#: Yields the data that it is given, and shows that they are read meanwhile.
WatchData = Callable[[Iterable[UserData]], Iterable[UserData]]


def prepare_comparison(
    comparison: ComparisonRequest,
    options: RunOptions,
    results_dir: Path,
    watch: WatchData = iter,
) -> PreparedRun:
    """Read the data of a comparison and plan it; compute nothing yet.

    `watch`: yields the data that it is given, and shows that they are read meanwhile. Raises
    ElmbenchError if the data or the request cannot be used.
    """
    specs = describe_data(watch(comparison.data))
    return plan_comparison(comparison, specs, options, results_dir)


def describe_data(data: Iterable[UserData]) -> list[DatasetSpec]:
    """Read data sets and return their specs, in the same order.

    Their names are changed, if needed, so that they differ from each other and from the data sets
    of the suite. The rows of large data are written to a file that processes share. Raises
    ElmbenchError if the data cannot be used.
    """
    specs: list[DatasetSpec] = []
    for described in map(describe, data):
        # The names differ from each other and from all data sets of the suite.
        name = described.name
        if is_of_suite(name):
            name = f"own-{name}"
        names = [dataset.name for dataset in specs]
        spec = described.model_copy(update={"name": unused_name(name, names)})
        share_rows(spec)
        specs.append(spec)
    return specs


def plan_comparison(
    comparison: ComparisonRequest,
    specs: Sequence[DatasetSpec],
    options: RunOptions,
    results_dir: Path,
) -> PreparedRun:
    """Plan a comparison of data sets that have been read; compute nothing yet.

    Data sets, metrics, folds and models are those of `comparison`. `specs`: of `comparison.data`,
    by `describe_data`; advice on the classes is added to the notes of copies. `options`: its
    profile is replaced. Raises ElmbenchError if the request does not fit the data, as for too few
    rows, groups or times for the folds.
    """
    folds = comparison.folds or FOLDS
    specs = [
        with_class_advice(spec, comparison.metrics, folds, comparison.runs)
        for spec in specs
    ]
    resolved = experiment_of(comparison, specs)
    for spec in specs:
        split = resolved.spec.protocol.outer.split(spec.name, spec.task)
        if spec.groups is None:
            classes = spec.shape.classes if isinstance(spec.shape.classes, dict) else {}
            check_counts(
                spec.title,
                split,
                spec.shape.instances,
                [*filter(None, classes.values())],
            )
        _check_test_parts(spec, split, resolved.metric_of(spec.name))
        if spec.groups is not None or spec.ordered_by is not None:
            _check_training_parts(load_from_spec(spec), split)
    return prepare_tables(
        replace(options, profile=COMPARE, whole=True),
        [(resolved, RunRequest())],
        results_dir,
    )


def _check_test_parts(spec: DatasetSpec, split: Split, metric: str) -> None:
    """Raise ElmbenchError if a test part may have a single row and the metric needs two.

    `split`: the outer one. `metric`: the one that ranks; only nrmse and r2 need two rows.
    """
    least_rows = 2 * count_parts(split)
    if metric in _UNDEFINED_FOR_ONE_ROW and spec.shape.instances < least_rows:
        raise ElmbenchError(
            f"{spec.title}: {split.folds} folds have test parts of 1 row, for which {metric} is "
            "not defined",
            expected=f"test parts of 2 rows or more, or {option('metric')} mae",
            next_step="lower the number of folds, or choose another metric",
        )


def _check_training_parts(data: Dataset, split: Split) -> None:
    """Raise ElmbenchError unless each outer training part has enough groups or times.

    The inner folds need three groups, or four different times. `data`: with groups or times.
    `split`: the outer one.
    """
    units = data.groups
    unit = "group"
    least = INNER_FOLDS
    if units is None:
        units = data.times
        unit = "different time"
        least = INNER_FOLDS + 1
    assert units is not None
    n_units = min(
        len(np.unique(units[train])) for train, _ in outer_parts(data, split, run=0)
    )
    if n_units < least:
        of_folds = f"a training part of {amount(split.folds, 'fold')}"
        problem = f"{data.name}: {of_folds} has {amount(n_units, unit)} of rows"
        raise ElmbenchError(
            problem,
            expected=f"at least {least}, for the {INNER_FOLDS} inner folds",
            next_step=f"change the number of folds, or give more {unit}s",
        )


def experiment_of(
    comparison: ComparisonRequest, specs: Sequence[DatasetSpec]
) -> Resolved:
    """Return the experiment of a comparison of some data sets, as if it were read from a file.

    It has an id, which ends in a digest of the data, a protocol, and a column for each model. With
    many rows, searches use only a part of them; the fits on the test folds use all, unless the
    request has a limit for a model. Raises ElmbenchError if the request does not fit the data.
    """
    names = [spec.name for spec in specs]
    of_data = (
        "-".join(names) if len(names) <= 3 else f"{names[0]}-and-{len(names) - 1}-more"
    )
    name = short_slug(comparison.name) if comparison.name else of_data
    content = {
        "id": comparison_id(name, _digest(specs)),
        "title": ", ".join(spec.title for spec in specs),
        "label": "Comparison",
        "datasets": names,
        "protocol": _protocol(comparison, specs),
        "models": _columns(comparison, specs),
        "layout": SIDE_BY_SIDE,
        "limit": comparison.limit or DEFAULT_LIMIT,
    }
    most_rows = max(spec.shape.instances for spec in specs)
    settings = {}
    if most_rows > MANY_ROWS:
        settings["tune-rows"] = TUNE_ROWS
    if comparison.test_rows is not None and most_rows > comparison.test_rows:
        settings["test-rows"] = comparison.test_rows
    return comparison_of(content, settings, specs, Path("elmbench compare"))


def _digest(specs: Iterable[DatasetSpec]) -> str:
    """Return a hash of data sets, of which the id of a comparison has the first digits.

    It covers their rows and how they are read, not their names, notes and paths.
    """
    others = {"name", "title", "notes", "citation", "sources"}
    content = [
        [
            spec.model_dump(mode="json", exclude=others, exclude_defaults=True),
            *(
                source.model_dump(
                    mode="json", exclude={"path", "test"}, exclude_defaults=True
                )
                for source in spec.sources
            ),
        ]
        for spec in specs
    ]
    return hash_of(content)


def _protocol(
    comparison: ComparisonRequest, specs: Sequence[DatasetSpec]
) -> dict[str, Any]:
    """Return the protocol of a comparison as an experiment file writes it: {key: content}.

    Its keys are scale, scale-except, targets, outer, inner, select, metrics, std and order. Raises
    ElmbenchError if metrics or splits do not fit the data.
    """
    _check_metrics(comparison.metrics, specs)
    kind = _kind_of_folds(specs)
    by_column = {"kind": "standard", "fit-on": "train"}
    return {
        "scale": by_column,
        "scale-except": {
            spec.name: {"kind": "max-abs", "fit-on": "train"}
            for spec in specs
            if spec.sparse
        },
        "targets": by_column | {"metrics": "original"},
        "outer": _outer(comparison, specs, kind) | {"runs": comparison.runs},
        "inner": {"kind": kind, "folds": INNER_FOLDS},
        "select": "nested",
        "metrics": list(dict.fromkeys((*comparison.metrics, *DEFAULT_METRICS))),
        "std": "of-folds",
        "order": "stored" if kind == "ordered-kfold" else "shuffled",
    }


def _check_metrics(metrics: Iterable[str], specs: Sequence[DatasetSpec]) -> None:
    """Raise ElmbenchError for a metric that no data set of the comparison can have.

    Such are unknown metrics, those of another task, and those that count rows. `metrics`: their
    names, perhaps none. `specs`: of the data sets, whose tasks count.
    """
    tasks = {spec.task for spec in specs}
    for name in metrics:
        if find_metric(name).task not in tasks or counts_rows(name):
            task = specs[0].task
            raise ElmbenchError(
                f"{name!r} is not a {task} metric; {specs[0].title} is a {task} task",
                expected=f"one of {', '.join(metric_names(task))}, or a scorer of scikit-learn for "
                f"{task}",
                next_step="choose another metric, or another task or target",
            )


def _kind_of_folds(specs: Sequence[DatasetSpec]) -> str:
    """Return the kind of folds for some data sets: by groups, by the order of rows, or stratified.

    It is "stratified-group-kfold", "ordered-kfold" or "stratified-kfold"; the last one has plain
    folds for a regression. `specs`: of all data sets of the comparison, of which one with groups or
    an order decides for all. Raises ElmbenchError if both groups and an order are given.
    """
    has_groups = any(spec.groups for spec in specs)
    has_order = any(spec.ordered_by for spec in specs)
    if has_groups and has_order:
        raise ElmbenchError(
            "both groups and an order of the rows are given",
            expected="one of the two",
            next_step=f"leave {option('groups')} or {option('time-order')} out",
        )
    if has_groups:
        return "stratified-group-kfold"
    if has_order:
        return "ordered-kfold"
    # Folds of a regression are not stratified: a split knows its task.
    return "stratified-kfold"


def _outer(
    comparison: ComparisonRequest, specs: Sequence[DatasetSpec], kind: str
) -> dict[str, Any]:
    """Return the outer splits as an experiment file writes them, {"kind": ..., "folds": ...}.

    They are held-out rows ("official", without folds) or a column of folds ("predefined-kfold")
    that the user gave, or else folds of `kind`, an argument that counts only for these. `specs`: of
    all data sets; only the first one is asked for a split of the user. Raises ElmbenchError if two
    splits are given, or the user's own with several data sets or a number of folds.
    """
    splits = [
        option(name)
        for name, value in (("test", specs[0].shape.split), ("fold", specs[0].fold))
        if value
    ]
    if not splits:
        return {"kind": kind, "folds": comparison.folds or FOLDS}
    if comparison.folds is not None:
        problem = f"{option('folds')} is given with {splits[0]}"
        step = f"leave {option('folds')} or {splits[0]} out"
        raise ElmbenchError(problem, expected="one of the two", next_step=step)
    if len(splits) > 1 or len(specs) > 1:
        problem = f"{splits[0]} is given with " + (
            splits[1] if len(splits) > 1 else f"{len(specs)} data sets"
        )
        raise ElmbenchError(
            problem,
            expected="one split of one data set",
            next_step="compare them one by one",
        )
    if splits == [option("test")]:
        return {"kind": "official"}
    data = load_from_spec(specs[0])
    assert data.folds is not None
    split = Split("predefined-kfold", int(data.folds.max()) + 1)
    check_splittable(data, split)
    return {"kind": split.kind, "folds": split.folds}


def _columns(
    comparison: ComparisonRequest, specs: Sequence[DatasetSpec]
) -> dict[str, Any]:
    """Return the columns of the table as an experiment file writes them: {model: content}.

    They are those of the requested or default models and the dummy. The content has the grid, and
    under "not-run" the reason for each data set that the model does not run on. A default model
    without the task is left out. Raises ElmbenchError for a requested model without the task, or a
    grid of a model that is not compared.
    """
    columns = {}
    for name in dict.fromkeys((*(comparison.models or DEFAULT_MODELS), DUMMY)):
        entry = find_model(name)
        suitable = [spec for spec in specs if getattr(entry, spec.task) is not None]
        if suitable:
            column = _column(name, entry, comparison, suitable[0].task)
            column["not-run"] = _reasons_not_to_run(name, entry, comparison, suitable)
            if entry.name in comparison.left_out:
                reason = comparison.left_out[entry.name]
                column["not-run"] |= dict.fromkeys(
                    [spec.name for spec in specs], reason
                )
            columns[entry.name] = column
        elif name in comparison.models:
            tasks = {spec.task for spec in specs}
            entry.factory(next(iter(tasks)))  # says which task it has
    for name in comparison.grids:
        if name not in columns:
            step = wording(
                "correct --grid, or add it with -m",
                "correct grids, or add it to models",
            )
            raise unknown_name("model of the comparison:", name, list(columns), step)
    return columns


def _column(
    name: str, entry: ModelEntry, comparison: ComparisonRequest, task: str
) -> dict[str, Any]:
    """Return the content of the column of a model, as an experiment file writes it.

    Its keys are those of a column in such a file: model, search, params and train-rows, as far as
    they are needed. It has the model's own grid or the requested one, and, if they apply, its limit
    of training rows and the limit of steps of the SVM. `name`: as it was requested. `entry`: of the
    registry. `task`: that of the data sets, for which a requested grid is checked; raises
    ElmbenchError if it does not fit.
    """
    column = extra_column(name).model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )
    if entry.name == "svm":
        column["params"] = {"max_iter": SVM_STEPS}
    if entry.name in comparison.train_rows:
        column["train-rows"] = comparison.train_rows[entry.name]
    if name in comparison.grids:
        grid = comparison.grids[name]
        check_parameters(entry, task, grid)
        column["search"] = {key: _grid(values) for key, values in grid.items()}
    return column


def _reasons_not_to_run(
    name: str,
    entry: ModelEntry,
    comparison: ComparisonRequest,
    specs: Iterable[DatasetSpec],
) -> dict[str, str]:
    """Return {data set: reason} of those that a model does not run on; {} if it runs on all.

    It may be too slow for the rows, unable to take weights, or without scores for the metric.
    `name`: as it was requested; only default models are too slow. `specs`: data sets with a task of
    the model.
    """
    metrics = [
        find_metric(metric) for metric in (*comparison.metrics, *DEFAULT_METRICS)
    ]
    folds = comparison.folds or FOLDS
    is_large_default = not comparison.models and name in LARGE_MODELS
    reasons = {}
    for spec in specs:
        criterion = next(metric for metric in metrics if metric.task == spec.task)
        rows = spec.shape.instances * (folds - 1) // folds
        if is_large_default and rows > MOST_ROWS:
            step = wording(f"-m {name}", f"models=[{name!r}]")
            reason = (
                f"its time and memory grow with the square of {rows} rows, or faster; {step} runs "
                "it anyway"
            )
        else:
            reason = _exclusion_reason(entry, spec, criterion)
        if reason:
            reasons[spec.name] = reason
    return reasons


def _grid(values: Any) -> Any:
    """Return the values of a hyperparameter as a list, as an experiment file writes them.

    A single value or text becomes a list of one, and types of NumPy become those of Python. A dict,
    such as a range, is returned unchanged.
    """
    if isinstance(values, dict):
        return values
    values = (
        values
        if isinstance(values, Iterable) and not isinstance(values, str)
        else [values]
    )
    return [
        value.item() if isinstance(value, np.generic) else value for value in values
    ]


def _exclusion_reason(entry: ModelEntry, spec: DatasetSpec, metric: Metric) -> str:
    """Return why a model cannot be compared on a data set; empty if it can.

    The model may have none of the methods whose outputs `metric`, the one that ranks, takes; for
    probabilities, decision values will do, as they are calibrated. Or it has no argument for
    weights of rows, and the data have weights. The estimator of a factory that needs parameters
    counts as having both.
    """
    weighted = spec.weights is not None
    if "predict" in metric.methods() and not weighted:
        return ""
    factory = entry.factory(spec.task)
    methods = list(metric.methods())
    if metric.takes == "probabilities" and "decision_function" not in methods:
        methods.append("decision_function")
    if not has_method(factory, *methods):
        return f"it has no {' or '.join(methods)}, which {metric.name} takes"
    if not weighted:
        return ""
    model = factory if isinstance(factory, type) else try_factory(factory)
    if model is None or weight_argument(model) is not None:
        return ""
    return "it takes no weights of rows"
