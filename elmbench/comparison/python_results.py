"""The results of a comparison in Python: the table, the pictures and the best model."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from elmbench.comparison.final_model import fit_final
from elmbench.comparison.plots import Kind, plot
from elmbench.errors import messages_for_python
from elmbench.evaluation.model_order import rank_models
from elmbench.registry.plugins import loaded_plugins
from elmbench.report.table_results import Results
from elmbench.results.predictions_file import predictions_frame
from elmbench.runs.prepare import PreparedRun
from elmbench.tables.result_table import ResultTable


@dataclass(frozen=True, repr=False)
class ComparisonResults(Results):
    """The results of a comparison of models on one data set, from Python.

    Attributes
    ----------
    run : PreparedRun
        The carried-out plan.
    plugins : tuple of path
        Plug-in files of the comparison, and of its estimators.
    targets : ndarray
        The targets, as they were given.
    """

    run: PreparedRun
    plugins: tuple[Path, ...] = ()
    targets: Any = ()

    @cached_property
    def table(self) -> ResultTable:
        """The table with its notes, whose next steps are those of Python."""
        with messages_for_python():
            return super().table

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """A line of means for each model that has any, the best first, those without a rank last.

        The index is the model. The columns are the metrics, the rank, the p-value of the difference
        from the best model, and the costs, under the names of the metrics in `summary.csv`; NaN
        where a model has none.
        """
        (spec,) = self.resolved.datasets.values()
        is_of_data = self.summary["dataset"] == spec.name
        lines = self.summary[is_of_data]
        means = lines.pivot_table(
            values="mean",
            index="model",
            columns="metric",
            sort=False,
        )
        order = rank_models(self.summary, spec.name, self.resolved)
        ranked = order.models
        unranked = means.index.difference(ranked, sort=False)
        return means.loc[[*ranked, *unranked]]

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """A line for each test row, fold and model, with the columns of `predictions.csv`.

        Such are `row` (its number in the data, from 0), `model`, `fold`, `true`, `predicted` and,
        of a classification, `probability_<class>` if the model has them. Without predictions, there
        are no lines and no columns.
        """
        ((_, plan),) = self.run.tables
        with loaded_plugins(self.plugins):
            return predictions_frame(plan.cells, self.run.store, self.resolved)

    def plot(self, kind: Kind = "scores", model: str = "", ax: Any = None) -> Any:
        """Draw a picture on matplotlib's axes and return these.

        `kind`: "scores" of all models with intervals; of one model, "confusion" or "calibration"
        for classes, "residuals" for numbers. `model`: the best one if empty. `ax`: the axes; None
        for new ones. Raises ElmbenchError if the model has no such picture.
        """
        with messages_for_python():
            needs_predictions = kind != "scores"
            rows = self.predictions if needs_predictions else pd.DataFrame()
            return plot(self, rows, kind, model, ax)

    def best_estimator(self, model: str = "") -> Any:
        """Return the best model, or a named one, fitted to all rows as a scikit-learn estimator.

        Its hyperparameters are searched once more, on these rows. Held-out rows of `test` are
        neither searched nor fitted, so that the scores in the table are those of this model. It is
        a pipeline that encodes, imputes and scales, for data frames with the columns that were
        compared, or for sparse rows; of a regression, a `TransformedTargetRegressor` of it. Each
        call fits it again. Raises ElmbenchError for an unknown `model`, or without a name if no
        model has a rank.
        """
        from sklearn import config_context

        with loaded_plugins(self.plugins), config_context(transform_output="default"):
            return fit_final(self.run, self, model, self.targets)
