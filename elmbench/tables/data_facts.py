"""Facts of the data sets: rows, columns and classes, and the rows of both parts if the paper prints
them.
"""

from collections.abc import Iterable

from elmbench.specs.experiments import Experiment
from elmbench.specs.measures import FACTS, PARTS, Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import DATA
from elmbench.tables.base import WITHOUT_MODELS, DatasetPlanner, TableKind


class DataFactsTable(TableKind):
    """A line for each fact of each data set; nothing is fitted."""

    has_folds = False
    shows_profile = False
    caption = "the data that were loaded"
    own_columns = WITHOUT_MODELS

    def check(self, spec: Experiment) -> None:
        """Accept a table without models."""

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the description of a data set, which needs no model."""
        from elmbench.tasks.description import Description

        task = planner.dataset.task
        data = planner.dataset_ref
        split = planner.split if _prints_parts(planner.resolved) else None
        planner.add_works(
            DATA, [(0, 0)], lambda run, _: Description(task, data(run), outer=split), "published"
        )

    def models(self, resolved: Resolved) -> list[str]:
        return [DATA]

    def values(self, resolved: Resolved, extra: Iterable[str] = ()) -> list[Measure]:
        return [Measure(fact) for fact in FACTS if fact not in PARTS or _prints_parts(resolved)]

    def measures(self, resolved: Resolved, dataset: str, model: str) -> list[Measure]:
        """Return the facts of a data set, without those that follow from printed ones."""
        printed = {figure.metric for figure in resolved.file.figures}
        # If the paper counts the rows of each class, their sum and the number of classes follow.
        redundant = {"instances", "classes"} if {"negatives", "positives"} <= printed else set()
        absent = redundant - printed
        if resolved.dataset(dataset).task != "classification":
            absent |= {"classes", "negatives", "positives"}
        return [measure for measure in self.values(resolved) if measure.metric not in absent]


def _prints_parts(resolved: Resolved) -> bool:
    """Return True if the paper prints the sizes of training and test parts."""
    return any(figure.metric in PARTS for figure in resolved.file.figures)
