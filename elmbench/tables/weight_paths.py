"""Metrics of each model, with its kernels and iterations, and a figure of the kernel weights by
iteration.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import cycle, islice
from typing import Any

from pydantic import Field

from elmbench.specs.measures import COUNTED, Measure
from elmbench.specs.published import PublishedValue
from elmbench.tables.base import DataFrame, DatasetPlanner, Outputs, TableOptions
from elmbench.tables.drawing import default_cells, drawing, line_styles, title_of
from elmbench.tables.metrics import MetricsTable
from elmbench.tables.result_table import Column

#: Line styles of the kernels, in turn.
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), "-.")


class WeightPathsOptions(TableOptions):
    """The names of the kernels on some data sets, to be shown instead of their functions and
    parameters.
    """

    kernels: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class WeightPathsTable(MetricsTable):
    """The table of metrics, with the mean numbers of kernels that have a weight and of iterations.

    The figure has a row for each data set: a panel of the objective of each model, as a share of
    its value for equal weights, and a panel of the kernel weights of each model. It shows the first
    fold of the first run. Models without weights are left out.
    """

    Options = WeightPathsOptions
    draws_from_store = True

    def check(self) -> None:
        super().check()
        for dataset, names in self.options.kernels.items():
            for column, model in self.spec.models.items():
                kernels = model.adapt(dataset).params.get("kernels")
                if isinstance(kernels, list) and len(kernels) not in (1, len(names)):
                    counts = (
                        f"options.kernels has {len(names)} names for {dataset}, models.{column} "
                        f"{len(kernels)}"
                    )
                    raise ValueError(f"{counts} kernels; expected a name for each")

    def plan(self, planner: DatasetPlanner) -> None:
        from elmbench.tasks.kernel_weights import KernelWeights

        planner.add_fits(kind=KernelWeights)

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        return [*super().values(extra), *map(Measure, COUNTED)]

    def measures(self, dataset: str, model: str) -> list[Measure]:
        return [*super().measures(dataset, model), *map(Measure, COUNTED)]

    def places(self, measure: Measure, published: PublishedValue | None) -> int | None:
        return 1 if measure.metric in COUNTED else super().places(measure, published)

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        columns = list(super().columns(datasets))
        i = [column.name for column in columns].index("optimism")
        return (*columns[:i], *(Column(name, name, numeric=True) for name in COUNTED), *columns[i:])

    def points_of(self, cells: DataFrame, outputs: Iterable[Outputs]) -> DataFrame:
        """Return the weights of the kernels and the objective by iteration; 0 is the start."""
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
            paths[entry] for entry in order.itertuples(index=False, name=None) if entry in paths
        ]
        return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()

    def draw(self, points: DataFrame) -> Any:
        """Draw a row for each data set, with a panel for the objective and one for the weights of
        each model.
        """
        models = list(map(str, points["model"].unique()))
        groups = points.groupby("dataset", sort=False)
        figure = drawing(2.3 * (len(models) + 1) + 1.8, 2.3 * len(groups) + 0.6)
        grid: Any = figure.subplots(len(groups), len(models) + 1, squeeze=False)
        for panels, (dataset, paths) in zip(grid, groups, strict=True):
            panels[0].set_ylabel(dataset, fontsize="large")
            self._draw_row(panels, paths, models)
        headings = ["objective, share of the start", *models]
        for axes, heading in zip(grid[0], headings, strict=True):
            axes.set_title(heading, fontsize="medium")
        for axes in grid.flat:
            axes.set_xscale("symlog", linthresh=1.0)
            axes.set_xlim(left=0)
            axes.grid(alpha=0.3)
            axes.tick_params(which="both", labelsize="x-small")
        for axes in grid[-1]:
            axes.set_xlabel("iteration", fontsize="small")
        figure.suptitle(
            f"Kernel weights by iteration, first fold of the first run\n{title_of(self.experiment)}"
        )
        return figure

    def _draw_row(self, panels: Any, paths: DataFrame, models: Sequence[str]) -> None:
        """Draw the panels of one data set: the objective of all models, then the weights of
        each.
        """
        objective, *weight_panels = panels
        columns = paths.filter(like="weight ").dropna(axis="columns").columns
        styles = line_styles(models)
        lines: Sequence[Any] = ()
        for axes, model in zip(weight_panels, models, strict=True):
            path = paths[paths["model"] == model]
            if path.empty:
                continue
            share = path["objective"] / path["objective"].iloc[0]
            style = styles[model] | {"marker": ""}
            objective.plot(path["iteration"], share, label=model, **style)
            axes.set_prop_cycle(**_kernel_styles(len(columns)))
            lines = axes.plot(path["iteration"], path[columns], linewidth=1.3)
        objective.legend(fontsize="x-small")
        # The weights of all models have one scale, from zero on.
        top = max(axes.get_ylim()[1] for axes in weight_panels if axes.lines)
        for axes in weight_panels:
            axes.set_ylim(0, top)
        suite_names = {self.experiment.spelling(name): name for name in self.experiment.datasets}
        dataset = suite_names[str(paths["dataset"].iloc[0])]
        names = self._kernel_names(dataset, str(paths["model"].iloc[0]), len(columns))
        weight_panels[-1].legend(
            lines, names, loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="x-small"
        )

    def _kernel_names(self, dataset: str, model: str, count: int) -> Sequence[str]:
        """Return the names of kernels, by default with parameters that tell them apart; matrices
        are numbered.
        """
        names: Sequence[str] = self.options.kernels.get(dataset, ())
        if names:
            return names
        column = self.spec.models.get(model)
        kernels: Any = column.adapt(dataset).params.get("kernels") if column else None
        if not isinstance(kernels, list):
            return [f"kernel {p + 1}" for p in range(count)]
        labels = []
        for name, params in kernels:
            same_kind = [values for kind, values in kernels if kind == name]
            words = [
                _parameter_text(key, value)
                for key, value in params.items()
                if any(values.get(key) != value for values in same_kind)
            ]
            labels.append(", ".join([name, *words]))
        return labels


def _kernel_styles(count: int) -> dict[str, Any]:
    """Return the colour and the dashes of each kernel."""
    import numpy as np
    from matplotlib import colormaps

    return {
        "color": colormaps["viridis"](np.linspace(0, 0.9, count)),
        "linestyle": list(islice(cycle(_DASHES), count)),
    }


def _parameter_text(name: str, value: Any) -> str:
    """Return a parameter of a kernel in words."""
    return f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
