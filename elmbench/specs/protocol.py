"""The protocol of a table: splits, scaling, selection and measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from elmbench.metrics import metric_names
from elmbench.registry.scorers import find_metric
from elmbench.specs.files import invalid
from elmbench.specs.measures import OF_FITS, OF_LEARNT_ROWS, MeasureName, MeasureNames
from elmbench.specs.papers import Spec
from elmbench.specs.scaling import Scale, TargetScale
from elmbench.specs.splits import Outer, Splitter

Selection = Literal["nested", "once", "oracle", "published"]
#: The selection on inner splits of all rows, which the outer splits then test with fixed
#: hyperparameters.
ONCE = "once"
Selections = Annotated[tuple[Selection, ...], Field(min_length=1)]


class Protocol(Spec):
    """The evaluation of every model."""

    #: Scaling of the inputs; null leaves them as they are.
    scale: Scale | None
    #: Scaling of the inputs of single data sets: sparse rows, for instance, cannot be centred.
    scale_except: dict[str, Scale | None] = Field(default_factory=dict)
    #: Scaling of the targets of a regression.
    targets: TargetScale | None = None
    #: Data sets whose targets are not scaled.
    raw_targets: tuple[str, ...] = ()
    #: The splits that measure.
    outer: Outer
    #: The splits on which hyperparameters are chosen. Required if a column searches some.
    inner: Splitter = Splitter(kind="stratified-kfold", folds=3)
    #: The choice of hyperparameters: `nested` on the inner splits of each training part, `once` on
    #: the inner splits of all rows, `oracle` on the outer test parts; `published` takes the printed
    #: ones. Required if a column searches some.
    select: Selection | Selections = "published"
    #: Measures of the table. Hyperparameters are chosen by the first one for the task that is of
    #: test rows.
    metrics: tuple[MeasureName, ...] = Field(min_length=1)
    #: Measures of single data sets in place of `metrics`.
    metrics_except: dict[str, MeasureNames] = Field(default_factory=dict)
    #: The unit of the deviations, both of the printed ones and of ours.
    std: Literal["of-run-means", "of-folds"] = "of-run-means"
    #: The order in which a sequential model learns the training rows.
    order: Literal["shuffled", "stored"] = "shuffled"
    #: The criterion of `nested` selection: `score` on inner folds, or a divergence of the projected
    #: training rows.
    criterion: Literal["score", "dcs-gaussians", "dcs-kde"] = "score"

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """The measures of the table and those of single data sets, each once."""
        of_datasets = (name for names in self.metrics_except.values() for name in names)
        return tuple(dict.fromkeys((*self.metrics, *of_datasets)))

    def named_metrics(self, dataset: str = "") -> tuple[str, ...]:
        """Return the measures that a data set has of its own, or else those of the table.

        `dataset`: empty for the measures of the table.
        """
        return self.metrics_except.get(dataset, self.metrics)

    def with_metrics(self, names: Sequence[str], *, first: bool) -> Protocol:
        """Return the protocol with additional measures, the `names`, on all data sets.

        Data sets with measures of their own have them too. `first`: True to put them before the
        others, so that the first of them chooses hyperparameters; else after them. Each measure
        occurs once.
        """

        def join(metrics: tuple[str, ...]) -> tuple[str, ...]:
            """Return `metrics` with the new ones before or after them (`first`), each once."""
            joined = (*names, *metrics) if first else (*metrics, *names)
            return tuple(dict.fromkeys(joined))

        of_datasets = {
            dataset: join(metrics) for dataset, metrics in self.metrics_except.items()
        }
        change = {"metrics": join(self.metrics), "metrics_except": of_datasets}
        return self.model_copy(update=change)

    def metric_for(self, task: str, dataset: str = "") -> str:
        """Return the metric that chooses hyperparameters: the first one of test rows for the task.

        `task`: "classification" or "regression". `dataset`: the data set, which may have measures
        of its own; empty for those of the table. Raises ElmbenchError if there is none.
        """
        for metric in self.metrics_for(task, dataset):
            if metric not in OF_LEARNT_ROWS:
                return metric
        key = "metrics"
        if dataset in self.metrics_except:
            key = f"metrics-except.{dataset}"
        named = ", ".join(self.named_metrics(dataset))
        problem = f"protocol.{key} is {named}, without a {task} metric"
        raise invalid(problem, f"one of {', '.join(metric_names(task))}")

    def metrics_for(self, task: str, dataset: str = "") -> list[str]:
        """Return the measures for a task that compare models, in the table's order.

        Times and sizes are left out; measures of learnt rows are included. `task`: "classification"
        or "regression". `dataset`: the data set, which may have measures of its own; empty for
        those of the table.
        """
        names = (name for name in self.named_metrics(dataset) if name not in OF_FITS)
        return [
            name
            for name in names
            if task in (OF_LEARNT_ROWS.get(name) or (find_metric(name).task,))
        ]

    def scale_of(self, dataset: str) -> Scale | None:
        """Return the scaling of the inputs of a data set; None if they are not scaled."""
        return self.scale_except.get(dataset, self.scale)

    @property
    def selections(self) -> tuple[Selection, ...]:
        """The choices of hyperparameters as a tuple; the first one is the table's own."""
        return (self.select,) if isinstance(self.select, str) else self.select
