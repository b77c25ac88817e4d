"""Metrics of each model, with its kernels and iterations, and a figure of the kernel weights by
iteration.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from elmbench.specs.measures import COUNTED, Measure
from elmbench.specs.published import PublishedValue
from elmbench.tables.base import DataFrame, DatasetPlanner, Outputs, TableOptions
from elmbench.tables.drawing import (
    PALETTE,
    ProperNames,
    common_value,
    default_cells,
    empty_figure,
    headline,
    line_styles,
)
from elmbench.tables.metrics import MetricsTable
from elmbench.tables.result_table import Column

#: The height of a row of panels, in inches.
_ROW_HEIGHT = 2.7
#: The most kernels with a colour and a name in a panel of weights by iteration.
_MOST_NAMED = 5


class WeightPathsOptions(TableOptions):
    """The names of the kernels on some data sets, for the figure.

    They are shown instead of the functions and parameters of the kernels.
    """

    kernels: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class WeightPathsTable(MetricsTable):
    """The table of metrics, with the mean numbers of kernels that have a weight and of iterations.

    The figure has a row for each data set: the objective of each model, as a share of its value for
    equal weights, the kernel weights of the first model by iteration, and the last weights of all
    models. It shows the first fold of the first run. Models without weights are left out.
    """

    Options = WeightPathsOptions
    draws_from_store = True
    figure_legend = (
        "Each row is a data set. In the middle, the kernels with the largest last weights have "
        "colours. A darker tile is a larger weight."
    )

    def check(self) -> None:
        """Raise ValueError if the names of kernels for a data set are not as many as the kernels.

        A column whose kernels are not listed, or that has a single one, is not checked.
        """
        super().check()
        for dataset, names in self.options.kernels.items():
            for column, model in self.spec.models.items():
                kernels = model.adapt(dataset).params.get("kernels")
                if not isinstance(kernels, list) or len(kernels) == 1:
                    continue
                if len(kernels) != len(names):
                    raise ValueError(
                        f"options.kernels has {len(names)} names for {dataset}, "
                        f"models.{column} {len(kernels)} kernels; expected a name for each"
                    )

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the fits of one data set to a plan, as tasks that also store the kernel weights."""
        from elmbench.tasks.kernel_weights import KernelWeights

        planner.add_fits(kind=KernelWeights)

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        """Return the measures that have a column in `cells.csv`.

        They are the metrics, and the numbers of kernels and iterations. `extra`: models beside the
        table's own columns, which make no difference.
        """
        return [*super().values(extra), *map(Measure, COUNTED)]

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the metrics, the time and size of a fit, and two more counts.

        These are the numbers of kernels with a weight and of iterations.
        """
        return [*super().measures(dataset, model), *map(Measure, COUNTED)]

    def places(self, measure: Measure, published: PublishedValue | None) -> int | None:
        """Return the decimals to show: 1 for the mean numbers of kernels and iterations.

        For others, one more than the paper prints or three, 0 for counts, None for three
        significant figures.
        """
        return 1 if measure.metric in COUNTED else super().places(measure, published)

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of metrics, kernels, iterations, optimism, times and ratios.

        `datasets`: the names of those that the table shows, whose metrics have columns.
        """
        columns = list(super().columns(datasets))
        i = [column.name for column in columns].index("optimism")
        return (
            *columns[:i],
            *(Column(name, name, numeric=True) for name in COUNTED),
            *columns[i:],
        )

    def points_of(self, cells: DataFrame, outputs: Iterable[Outputs]) -> DataFrame:
        """Return a line for each iteration of the first fold of the first run of each model.

        The columns are `dataset`, `model`, `run` and `fold` (both 1), `iteration` (0 is the start),
        `objective` and the weights `weight 1`, `weight 2`, ... Only the first selection of a model
        counts. Models with a single kernel, or without an iteration, are left out. Without any
        path, the frame has no columns. `cells`: the frame of `cells.csv`, which gives the order of
        the models. `outputs`: the stored results under the default readings.
        """
        import pandas as pd

        paths = {}
        for output in outputs:
            cell = output.cell
            path = output.result.get("paths", {})
            weights = pd.DataFrame(path.get("weights", ()))
            weights = weights.rename(columns=lambda p: f"weight {p + 1}")
            is_first = cell.run == cell.fold == 0
            # A single kernel has nothing to learn, and a path of one step has no iteration.
            if not is_first or min(weights.shape) <= 1:
                continue
            description = {
                "dataset": self.experiment.spelling(cell.dataset),
                "model": cell.model,
                "run": 1,
                "fold": 1,
                "iteration": range(len(weights)),
                "objective": path["objective"],
            }
            path_points = pd.concat([pd.DataFrame(description), weights], axis=1)
            paths[cell.dataset, cell.model, cell.select] = path_points
        order = default_cells(cells)[["dataset", "model", "select"]].drop_duplicates()
        drawn = [
            paths[group]
            for group in order.itertuples(index=False, name=None)
            if group in paths
        ]
        return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()

    def draw(self, points: DataFrame) -> Any:
        """Return a figure with a row of three panels for each data set.

        It is a figure of matplotlib. The panels show the objective of each model, the weights of
        the first model by iteration, and the last weights of all models. `points`: with the columns
        `dataset`, `model`, `iteration`, `objective`, `weight 1`, `weight 2`, ..., as `points_of`
        returns them.
        """
        proper_names = ProperNames(self.experiment)
        styles = line_styles(map(str, points["model"].unique()))
        groups = points.groupby("dataset", sort=False)
        figure = empty_figure(12.6, _ROW_HEIGHT * len(groups) + 0.6)
        grid: Any = figure.subplots(
            len(groups), 3, squeeze=False, width_ratios=(3, 3, 4)
        )
        for (objective, path, last), (dataset, group) in zip(grid, groups, strict=True):
            objective.set_ylabel(proper_names.dataset(str(dataset)), fontsize="large")
            kernels = self._kernels_of(group)
            _draw_objective(objective, group, styles)
            _draw_path(path, kernels, group)
            _draw_last_weights(last, kernels, group)
        first_model = points["model"].iloc[0]
        grid[0, 0].set_title("objective, share of the start", fontsize="medium")
        grid[0, 1].set_title(f"kernel weights, {first_model}", fontsize="medium")
        grid[0, 2].set_title(
            "weight of each kernel after the last iteration", fontsize="medium"
        )
        for axes in grid[-1, :2]:
            axes.set_xlabel("iteration", fontsize="small")
        figure.suptitle(
            headline(self.experiment, "first fold of the first run", width=100)
        )
        return figure

    def _kernels_of(self, points: DataFrame) -> dict[str, str]:
        """Return the name of each kernel of a data set, by its column such as `weight 1`.

        `points`: those of the data set, with the columns of `points_of`: `dataset`, `model` and
        `weight 1`, `weight 2`, ... The first model in them gives the names; columns with a missing
        weight are left out.
        """
        columns = points.filter(like="weight ").dropna(axis="columns").columns
        spelling = common_value(points, "dataset")
        suite_names = {
            self.experiment.spelling(name): name for name in self.experiment.datasets
        }
        dataset = suite_names[spelling]
        model = str(points["model"].iloc[0])
        names = self._kernel_names(dataset, model, len(columns))
        return dict(zip(columns, names, strict=True))

    def _kernel_names(self, dataset: str, model: str, count: int) -> Sequence[str]:
        """Return the names of the `count` kernels of a model on a data set, for the figure.

        They are those of the options; without them, the function with the parameters that tell
        kernels apart; and `kernel 1`, `kernel 2`, ... if the column does not list its kernels.
        `count` matters only in the last case.
        """
        names: Sequence[str] = self.options.kernels.get(dataset, ())
        if names:
            return names
        kernels: Any = None
        column = self.spec.models.get(model)
        if column is not None:
            kernels = column.adapt(dataset).params.get("kernels")
        if not isinstance(kernels, list):
            return [f"kernel {p + 1}" for p in range(count)]
        labels = []
        for kind, params in kernels:
            same_kind = [values for name, values in kernels if name == kind]
            labels.append(_kernel_text(kind, params, same_kind))
        return labels


def _draw_objective(axes: Any, points: DataFrame, styles: Mapping[str, Any]) -> None:
    """Draw the objective of each model by iteration, as a share of its value at the start.

    `points`: the lines of the figure's data for one data set, with the columns `model`, `iteration`
    and `objective`; the first line of a model is its start. `styles`: {model: arguments of `plot`}.
    """
    for model, path in points.groupby("model", sort=False):
        objective = path["objective"]
        share = objective / objective.iloc[0]
        style = styles[str(model)] | {"marker": ""}
        axes.plot(path["iteration"], share, label=model, **style)
    _scale_iterations(axes)
    axes.legend(fontsize="x-small")


def _draw_path(axes: Any, kernels: Mapping[str, str], points: DataFrame) -> None:
    """Draw the weights of the first model by iteration.

    The 5 largest last weights have colours and names, the others are grey. `kernels`: {column of
    the weight, such as `weight 1`: name of the kernel}. `points`: the lines of the figure's data
    for one data set, with the columns `model`, `iteration` and these; the last line of a model is
    its last iteration.
    """
    is_of_first = points["model"] == points["model"].iloc[0]
    path = points[is_of_first]
    iterations = path["iteration"]
    last = path[[*kernels]].iloc[-1]
    in_order = last.sort_values(ascending=False, kind="stable")
    largest = list(in_order.index[:_MOST_NAMED])
    for column in kernels:
        if column not in largest:
            axes.plot(iterations, path[column], color="lightgrey", linewidth=1.3)
    for colour, column in zip(PALETTE, largest, strict=False):
        axes.plot(
            iterations,
            path[column],
            color=colour,
            linewidth=1.6,
            label=kernels[column],
        )
    _scale_iterations(axes)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="x-small")


def _scale_iterations(axes: Any) -> None:
    """Make the axis of iterations logarithmic, but linear from 0 to 1 so that it has the start."""
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    axes.tick_params(which="both", labelsize="x-small")


def _draw_last_weights(
    axes: Any, kernels: Mapping[str, str], points: DataFrame
) -> None:
    """Draw the last weights as tiles: a row for each kernel, a column for each model.

    `kernels`: {column of the weight, such as `weight 1`: name of the kernel}. `points`: the
    lines of the figure's data for one data set, with the columns `model` and these, in the order of
    iterations.
    """
    weights = list(kernels)
    by_model = points.groupby("model", sort=False)
    last = by_model[weights].last().T
    models = list(last.columns)
    image = axes.imshow(last, cmap="Blues", vmin=0, aspect="auto")
    axes.set_yticks(range(len(weights)), kernels.values(), fontsize="x-small")
    axes.set_xticks(range(len(models)), models, fontsize="x-small")
    scale = axes.figure.colorbar(image, ax=axes)
    scale.ax.tick_params(labelsize="x-small")


def _kernel_text(
    kind: str, params: Mapping[str, Any], same_kind: Sequence[Mapping[str, Any]]
) -> str:
    """Return a kernel in words, such as `rbf, gamma 0.5`.

    It is its `kind`, and the parameters that differ from those of another kernel of the same kind.
    `params`: {name: value} of the kernel. `same_kind`: those of all kernels of this kind, with this
    one; a single one is shown by its kind alone.
    """
    words = [kind]
    for name, value in params.items():
        differs = any(values.get(name) != value for values in same_kind)
        if differs:
            words.append(_parameter_text(name, value))
    return ", ".join(words)


def _parameter_text(name: str, value: Any) -> str:
    """Return a parameter of a kernel in words, such as `gamma 0.5`; a float has three figures."""
    return f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
