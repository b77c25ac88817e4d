"""The hyperparameters that were chosen, averaged over runs and folds."""

from __future__ import annotations

import json
from collections.abc import Iterator

from elmbench.registry import registry
from elmbench.specs.measures import Measure
from elmbench.specs.published import PublishedValue
from elmbench.tables.base import DataFrame, DatasetPlanner, Series, TableKind
from elmbench.tables.result_table import Note


class ParametersTable(TableKind):
    """A line for each hyperparameter that a column searches itself.

    One that it inherits from another column has no line. There are no verdicts: the mean of a
    hyperparameter over runs is not a result. It has three significant figures.
    """

    judges = False

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the searches of one data set as cells of a plan.

        Nothing is fitted with the chosen hyperparameters.
        """
        planner.add_fits(choices_only=True)

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the hyperparameters that a column searches itself, by the suite's names.

        For an added model they are those of its default grid; none for an unknown name.
        """
        if column := self.experiment.file.spec.models.get(model):
            return [Measure(name) for name in column.searched]
        # The name is that of a results file: no module is imported by its address.
        return (
            [Measure(name) for name in registry()[model].grid]
            if model in registry()
            else []
        )

    def values_of(self, cells: DataFrame, measure: Measure) -> Series[float]:
        """Return the chosen value of a hyperparameter, the metric of the measure, in each cell.

        It is NaN for a cell without one. `cells`: lines of `cells.csv`; the result has their index.
        """
        return chosen_values(cells, measure.metric)

    def notes(self, cells: DataFrame) -> Iterator[Note]:
        """Yield a note on each hyperparameter that the paper prints as an inverse, such as 1/C.

        `cells` has no effect.
        """
        for model, column in self.spec.models.items():
            for name in column.searched:
                if (printed := column.printed.get(name, "")).startswith("1/"):
                    yield Note(
                        "published",
                        f"{model}: the {name} of the paper is {printed} here",
                    )

    def places(self, measure: Measure, published: PublishedValue | None) -> int | None:
        """Return None, for three significant figures, for every hyperparameter."""
        return None


def chosen_values(cells: DataFrame, parameter: str) -> Series[float]:
    """Return the value of a hyperparameter in each cell, from the JSON in its column `params`.

    It is NaN for a cell without one; a value that is not a number raises ValueError.
    """
    import pandas as pd

    values = [json.loads(text).get(parameter) for text in cells["params"]]
    return pd.Series(values, index=cells.index, dtype=float)
