"""The hyperparameters that a paper prints for one data set, as the columns of its table take them."""

from collections.abc import Iterator, Mapping
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.experiments import Model
from elmbench.specs.profiles import Resolved


class PrintedParameters:
    """The hyperparameters that a paper prints for one data set.

    `resolved`: the experiment under a profile and readings. `models`: every column by name.
    """

    def __init__(self, resolved: Resolved, dataset: DatasetSpec, models: Mapping[str, Model]) -> None:
        self._resolved = resolved
        self._dataset = dataset
        self._models = models
        name = resolved.stand_ins.get(dataset.name, dataset.name)
        self._by_column = {
            column: params
            for (spelled, column), params in resolved.file.printed_parameters.items()
            if resolved.dataset(spelled).name == name
        }

    def _like(self, model: Model) -> Iterator[str]:
        """Yield the columns that a column inherits from, the nearest first."""
        while model.like:
            yield model.like
            model = self._models[model.like]

    def of(self, column: str, model: Model) -> dict[str, Any]:
        """Return the printed hyperparameters of a column under the names of its model.

        Without `printed`, a column has the paper's names. With it, a column without printed values has those of the
        column that it inherits from.
        """
        if not model.printed:
            return dict(self._by_column.get(column, {}))
        printed = next((self._by_column[name] for name in (column, *self._like(model)) if name in self._by_column), {})
        values = {name: _value(expression, printed) for name, expression in model.printed.items()}
        return {name: value for name, value in values.items() if value is not None}

    def fixed(self, column: str, model: Model) -> Model:
        """Return a column with its printed hyperparameters fixed.

        Those that the column, or one that it inherits from, searches are not fixed.

        Raises ElmbenchError if the paper does not print a value.
        """
        alike = (self._models[name].on(self._dataset.name) for name in self._like(model))
        searched = {name for one in (model, *alike) for name in one.search}
        names = [name for name in model.printed if name not in searched and name not in model.params]
        if not names or not model.runs_on(self._dataset.name):
            return model
        printed = self.of(column, model)
        if missing := [name for name in names if name not in printed]:
            file, entry = self._resolved.file, f"except: {{{self._dataset.name}: {{params: {{{missing[0]}: ...}}}}}}"
            raise ElmbenchError(
                f"{file.path}: the paper prints no {' and no '.join(missing)} of {column} for {self._dataset.name}",
                expected=f"its value in models.{column}, as {entry}",
                next_step="elmbench validate",
            )
        return model.model_copy(update={"params": {name: printed[name] for name in names} | model.params})


def _value(expression: str, printed: Mapping[str, Any]) -> Any:
    """Return the printed value of a name, or its inverse; None if it is not printed."""
    value = printed.get(expression.removeprefix("1/"))
    return 1 / value if value is not None and expression.startswith("1/") else value
