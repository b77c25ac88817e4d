"""The counts of the confusion matrix, averaged over runs and folds."""

from elmbench.metrics import COUNTS
from elmbench.specs.measures import Measure
from elmbench.tables.base import TableKind


class ConfusionTable(TableKind):
    """A line for each count of each model: true and false negatives, false and true positives."""

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the counts tn, fp, fn and tp, for every data set and model."""
        return [Measure(count) for count in COUNTS]
