"""Facts of the data sets: rows, columns and classes, and the rows of both parts if the paper prints
them.
"""

from collections.abc import Iterable

from elmbench.specs.measures import FACTS, PARTS, Measure
from elmbench.specs.published import DATA
from elmbench.tables.base import WITHOUT_MODELS, DatasetPlanner, TableKind


class DataFactsTable(TableKind):
    """A line for each fact of each data set; nothing is fitted."""

    has_folds = False
    shows_profile = False
    caption = "the data that were loaded"
    own_columns = WITHOUT_MODELS

    def check(self) -> None:
        """Raise nothing: a table of facts needs no models."""

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the description of a data set, which needs no model, to the plan: one cell.

        It counts the rows of both parts of the split only if the paper prints them.
        """
        from elmbench.tasks.description import Description

        task = planner.dataset.task
        data = planner.dataset_ref
        split = planner.split if self._prints_parts() else None
        planner.add_tasks(
            DATA,
            [(0, 0)],
            lambda run, _: Description(task, data(run), outer=split),
            "published",
        )

    def models(self) -> list[str]:
        """Return `data`, the only column, which has the published facts."""
        return [DATA]

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        """Return the facts of data sets; those of both parts only if the paper prints them.

        They do not depend on models, so `extra` has no effect.
        """
        return [
            Measure(fact) for fact in FACTS if fact not in PARTS or self._prints_parts()
        ]

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the facts of a data set, without those that follow from printed ones.

        If the paper counts the rows of both classes, these are the numbers of rows and classes
        unless they are printed too. Facts of classes are left out for a regression. `model` has no
        effect.
        """
        printed = {value.metric for value in self.experiment.file.published.values}
        # If the paper counts the rows of each class, their sum and the number of classes follow.
        absent: set[str] = set()
        if {"negatives", "positives"} <= printed:
            absent = {"instances", "classes"} - printed
        if self.task_of(dataset) != "classification":
            absent |= {"classes", "negatives", "positives"}
        return [measure for measure in self.values() if measure.metric not in absent]

    def _prints_parts(self) -> bool:
        """Return True if the paper prints the sizes of training and test parts."""
        return any(
            value.metric in PARTS for value in self.experiment.file.published.values
        )
