"""Kinds of table, one class in each file, by their names in the key `layout` of experiment
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from elmbench.errors import ElmbenchError, unknown_name, wording
from elmbench.lazy import load_object

if TYPE_CHECKING:
    from elmbench.specs.profiles import Resolved
    from elmbench.tables.base import TableKind

#: The kind of table that compares models on a user's data.
SIDE_BY_SIDE = "comparison"
#: The module and class of each kind of table, imported when it is needed.
KINDS = {
    "metrics": "elmbench.tables.metrics:MetricsTable",
    SIDE_BY_SIDE: "elmbench.tables.comparison:ComparisonTable",
    "times": "elmbench.tables.times:TimesTable",
    "parameters": "elmbench.tables.parameters:ParametersTable",
    "datasets": "elmbench.tables.data_facts:DataFactsTable",
    "confusion": "elmbench.tables.confusion:ConfusionTable",
    "curves": "elmbench.tables.curves:CurvesTable",
    "option-curves": "elmbench.tables.option_curves:OptionCurvesTable",
    "surface": "elmbench.tables.surface:SurfaceTable",
    "trials": "elmbench.tables.trials:TrialsTable",
    "size-curves": "elmbench.tables.size_curves:SizeCurvesTable",
    "weight-paths": "elmbench.tables.weight_paths:WeightPathsTable",
    "precision-recall": "elmbench.tables.precision_recall:PrecisionRecallTable",
    "stream-curves": "elmbench.tables.stream:StreamCurvesTable",
    "model-sizes": "elmbench.tables.sizes:SizesTable",
    "t-test": "elmbench.tables.paired_tests:PairedTestsTable",
    "rank-correlation": "elmbench.tables.rank_correlation:RankCorrelationTable",
}


#: The name of the kind of table in `Resolved.derived`.
_TABLE = "kind of table"


def kind_of_table(resolved: Resolved) -> TableKind:
    """Return the kind of table of an experiment, by its key `layout`; the same object at each call.

    It is checked on the first call. Raises ElmbenchError, which names the experiment file, if its
    layout is unknown or cannot show it.
    """
    if _TABLE not in resolved.derived:
        resolved.derived[_TABLE] = _bind_kind(resolved)
    table: TableKind = resolved.derived[_TABLE]
    return table


def _bind_kind(resolved: Resolved) -> TableKind:
    """Return a new, checked object of the kind of table that an experiment's `layout` names.

    Kinds of plug-in files count too. Raises ElmbenchError, which names the experiment file, if the
    layout is unknown or cannot show the experiment.
    """
    from elmbench.registry.plugins import plugin_objects

    spec = resolved.spec
    source = resolved.file.path
    kinds: dict[str, Any] = KINDS | plugin_objects("LAYOUTS")
    if spec.layout not in kinds:
        plugin = wording("--plugin FILE", "plugins=[FILE]")
        step = f"correct it, or load its plug-in: {plugin}"
        raise unknown_name("kind of table", spec.layout, list(kinds), step).add_source(
            source
        )
    kind = kinds[spec.layout]
    table_class: type[TableKind] = load_object(kind) if isinstance(kind, str) else kind
    table = table_class(resolved)
    try:
        table.check()
    except ValueError as error:
        raise ElmbenchError(
            f"{source}: {error}", next_step="correct it, then: elmbench validate"
        ) from error
    return table


def add_metrics(resolved: Resolved, names: Sequence[str]) -> Resolved:
    """Return an experiment that shows additional metrics, given by their `names`.

    In a table that ranks models, they come before its own, so the first of them ranks; else after
    them. Without names, the experiment is returned as it is. Raises ElmbenchError if a metric is
    unknown, counts rows or belongs to a task that no data set has, or if the table shows no
    metrics.
    """
    from elmbench.metrics import LIST_COMMAND, metric_names
    from elmbench.registry.scorers import find_metric

    if not names:
        return resolved
    table = kind_of_table(resolved)
    tasks = sorted({dataset.task for dataset in resolved.datasets.values()})
    for name in names:
        metric = find_metric(name)
        if not table.shows_metrics or metric.counts_rows:
            problem = (
                f"{resolved.file.id} is a table of kind {resolved.spec.layout}, which cannot show "
                f"{name}"
            )
            raise ElmbenchError(
                problem,
                expected="a table of metrics",
                next_step=f"elmbench show {resolved.file.id}",
            )
        if metric.task not in tasks:
            allowed = ", ".join(
                metric for task in tasks for metric in metric_names(task)
            )
            problem = (
                f"{name} is not a metric for {tasks[0]}, the task of {resolved.file.id}"
            )
            expected = f"one of {allowed}, or a scorer of scikit-learn"
            raise ElmbenchError(problem, expected=expected, next_step=LIST_COMMAND)
    spec = resolved.spec
    protocol = spec.protocol.with_metrics(names, first=table.ranks)
    return replace(resolved, spec=spec.model_copy(update={"protocol": protocol}))
