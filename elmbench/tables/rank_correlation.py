"""The rank correlation of D_CS and its leading term, for each number of random hidden nodes."""

from typing import Literal

from pydantic import Field

from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.published import PublishedValue
from elmbench.tables.base import (
    WITHOUT_MODELS,
    DatasetPlanner,
    TableKind,
    TableOptions,
    Task,
)
from elmbench.tables.curves import CurvesTable


class RankCorrelationOptions(TableOptions):
    """The numbers of random hidden layers and operators, and the form of D_CS."""

    projections: int = Field(default=100, ge=1)
    operators: int = Field(default=100, ge=1)
    dcs: Literal["corrected", "as-printed"] = "corrected"


class RankCorrelationTable(CurvesTable):
    """A line for each number of nodes; the correlation is over all rows of a data set at once."""

    Options = RankCorrelationOptions
    takes_models = False
    has_folds = False
    caption = "rank correlation of D_CS and its leading term over random projections and operators"
    # All lines belong to one model and are shown; the paper draws no curves.
    own_columns = WITHOUT_MODELS
    lines = TableKind.lines
    points_of_entry = TableKind.points_of_entry

    def _check_column(self, column: str, model: ModelColumn) -> None:
        """Raise ValueError unless a column searches `n_hidden` alone and fixes an activation.

        It must inherit from no other column (`like`). `column`: its name, for the message.
        """
        if model.searched != ("n_hidden",):
            searched = ", ".join(model.searched) or "nothing"
            raise ValueError(f"models.{column} searches {searched}; expected n_hidden")
        super()._check_column(column, model)
        if "activation" not in model.params:
            raise ValueError(
                f"models.{column}.params lacks activation; expected that of the random hidden nodes"
            )

    def task(self, planner: DatasetPlanner, column: str, run: int, fold: int) -> Task:
        """Return the task that correlates D_CS with its leading term over all rows of a data set.

        `run`: seeds the random layers and operators. `fold` has no effect.
        """
        from elmbench.tasks.correlation import Correlation, Scaling

        scale = planner.protocol.scale_of(planner.dataset.name)
        options = self.options
        return Correlation(
            task=planner.dataset.task,
            dataset=planner.dataset_ref(run),
            protocol=Scaling(scale),
            run_number=run,
            model=planner.model_ref(column),
            params=planner.models[column].params,
            grid=planner.grid(column),
            draws={"projections": options.projections, "operators": options.operators},
            dcs=options.dcs,
        )

    def metric(self, task: str) -> str:
        """Return `spearman`, the rank correlation, for every task."""
        return "spearman"

    def last_place(self, published: PublishedValue) -> float:
        """Return the weight of the last printed digit of a published value, at most 0.001.

        The paper leaves out trailing zeros: its 1.0 is 1.000.
        """
        return min(published.last_place, 1e-3)
