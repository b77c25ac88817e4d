"""The sizes of models: hidden nodes or weights, and the dimensions of projected rows."""

from __future__ import annotations

from elmbench.specs.measures import Measure
from elmbench.tables.base import DataFrame, Series, TableKind
from elmbench.tables.parameters import chosen_values

#: The parameter of a model that projects its rows before it is fitted.
_DIMENSIONS = "n_components"


class SizesTable(TableKind):
    """A line for the size of each model, and one for its target dimensions if it projects the rows.

    There are no verdicts: most sizes are inputs, not results.
    """

    judges = False

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return `n_units`, the size of a model; also `target_dimensions` if it projects rows.

        It projects them if its column has the parameter `n_components` on this data set. For an
        added model, it is only `n_units`.
        """
        names = ["n_units"]
        column = self.experiment.file.spec.models.get(model)
        if column is not None:
            variant = column.adapt(dataset)
            parameters = {*variant.params, *variant.printed, *column.searched}
            if _DIMENSIONS in parameters:
                names.append("target_dimensions")
        return [Measure(name) for name in names]

    def values_of(self, cells: DataFrame, measure: Measure) -> Series[float]:
        """Return the size of the model in each cell, or the chosen target dimensions; NaN for none.

        `measure`: `n_units` or `target_dimensions`, the parameter `n_components`.
        """
        if measure.metric == "target_dimensions":
            return chosen_values(cells, _DIMENSIONS)
        return super().values_of(cells, measure)
