"""Metrics of each model, with its kernels and iterations, and a figure of the kernel weights by iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from elmbench.layouts.base import DataFrame, DatasetPlanner, LayoutOptions, Outputs
from elmbench.layouts.figures import Figure, default_cells, drawing, line_styles, png, title_of
from elmbench.layouts.metrics import Metrics
from elmbench.layouts.table import COUNTED, Column
from elmbench.specs.experiments import Experiment
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

#: Line styles of the kernels, which repeat after four.
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), "-.")


class WeightPaths(Metrics):
    """The table of metrics, with the mean numbers of kernels that have a weight and of iterations.

    The figure has a row for each data set: a panel of the objective of each model, as a share of its value for equal
    weights, and a panel of the kernel weights of each model. It shows the first fold of the first run. Models without
    weights are left out.
    """

    draws_from_store = True

    class Options(LayoutOptions):
        """The names of the kernels on some data sets, to be shown instead of their functions and parameters."""

        kernels: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def check(self, spec: Experiment) -> None:
        super().check(spec)
        for dataset, names in self.options(spec).kernels.items():
            for column, model in spec.models.items():
                kernels = model.on(dataset).params.get("kernels")
                if isinstance(kernels, list) and len(kernels) not in (1, len(names)):
                    counts = f"options.kernels has {len(names)} names for {dataset}, models.{column} {len(kernels)}"
                    raise ValueError(f"{counts} kernels; expected a name for each")

    def plan(self, planner: DatasetPlanner) -> None:
        from elmbench.work.kernel_weights import KernelWeights

        planner.add_fits(kind=KernelWeights)

    def values(self, resolved: Resolved, extra: Iterable[str] = ()) -> list[Measure]:
        return [*super().values(resolved, extra), *map(Measure, COUNTED)]

    def measures(self, resolved: Resolved, dataset: str, model: str) -> list[Measure]:
        return [*super().measures(resolved, dataset, model), *map(Measure, COUNTED)]

    def places(self, measure: Measure, figure: PublishedValue | None) -> int | None:
        return 1 if measure.metric in COUNTED else super().places(measure, figure)

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        columns = list(super().columns(resolved, datasets))
        i = [column.name for column in columns].index("optimism")
        return (*columns[:i], *(Column(name, name, numeric=True) for name in COUNTED), *columns[i:])

    def figure(self, cells: DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        import pandas as pd

        def has_path(output: Outputs) -> bool:
            """A single kernel has nothing to learn, and a path of one step has no iteration."""
            cell, weights = output.cell, output.result.get("paths", {}).get("weights", ())
            return cell.run == cell.fold == 0 and len(weights) > 1 and len(weights[0]) > 1

        by_entry = {(o.cell.dataset, o.cell.model, o.cell.select): o for o in outputs if has_path(o)}
        order = default_cells(cells)[["dataset", "model", "select"]].drop_duplicates()
        drawn = [by_entry[entry] for entry in order.itertuples(index=False, name=None) if entry in by_entry]
        if not drawn:
            return None
        names, spelling = self.options(resolved.spec).kernels, resolved.spelling
        pairs = ((output.cell.dataset, output.result["paths"]) for output in drawn)
        labels = {spelling(name): names.get(name) or kernel_labels(path) for name, path in pairs}
        paths = pd.concat([_path_of(output, resolved) for output in drawn], ignore_index=True)
        return Figure(paths, png(draw_weight_paths(paths, labels, title_of(resolved))))


def _path_of(output: Outputs, resolved: Resolved) -> DataFrame:
    """Return the weights of a cell, in the order of the kernels, and the objective by iteration; 0 is the start."""
    import pandas as pd

    path, cell = output.result["paths"], output.cell
    weights = pd.DataFrame(path["weights"]).rename(columns=lambda p: f"weight {p + 1}")
    lines = {"dataset": resolved.spelling(cell.dataset), "model": cell.model, "run": cell.run + 1}
    lines |= {"fold": cell.fold + 1, "iteration": range(len(weights)), "objective": path["objective"]}
    return pd.concat([pd.DataFrame(lines), weights], axis=1)


def kernel_labels(paths: Mapping[str, Any]) -> list[str]:
    """Return the names of kernels, with parameters that tell them apart; default kernels and matrices are numbered."""
    kernels = paths["kernels"]
    if not isinstance(kernels, list):
        return [f"kernel {p + 1}" for p in range(len(paths["weights"][0]))]
    labels = []
    for name, params in kernels:
        group = [values for kind, values in kernels if kind == name]
        diff = {key: value for key, value in params.items() if any(values.get(key) != value for values in group)}
        words = [f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in diff.items()]
        labels.append(", ".join([name, *words]))
    return labels


def draw_weight_paths(paths: DataFrame, labels: Mapping[str, Sequence[str]], title: str) -> Any:
    """Draw a row for each data set, a panel for each model; `labels` are the names of the kernels by data set."""
    from matplotlib import colormaps

    datasets, models = paths["dataset"].unique(), paths["model"].unique()
    figure = drawing(2.3 * (len(models) + 1) + 1.8, 2.3 * len(datasets) + 0.6)
    grid: Any = figure.subplots(len(datasets), len(models) + 1, squeeze=False)
    for row, dataset in zip(grid, datasets, strict=True):
        names = labels[dataset]
        row[0].set_ylabel(dataset, fontsize="large")
        panels = []
        for axes, (model, style) in zip(row[1:], line_styles(models).items(), strict=True):
            path = paths[(paths["dataset"] == dataset) & (paths["model"] == model)]
            if path.empty:
                continue
            panels.append(axes)
            share = path["objective"] / path["objective"].iloc[0]
            row[0].plot(path["iteration"], share, label=model, **style | {"marker": ""})
            for p in range(len(names)):
                colour = colormaps["turbo"](0.05 + 0.9 * p / (len(names) - 1))
                look: Any = {"color": colour, "linestyle": _DASHES[p % len(_DASHES)], "linewidth": 1.3}
                axes.plot(path["iteration"], path[f"weight {p + 1}"], **look)
        row[0].legend(fontsize="x-small")
        # The weights of all models have one scale, from zero on.
        top = max(axes.get_ylim()[1] for axes in panels)
        for axes in row[1:]:
            axes.set_ylim(0, top)
        lines = panels[0].get_lines()
        row[-1].legend(lines, names, loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="x-small")
    for axes, heading in zip(grid[0], ["objective, share of the start", *models], strict=True):
        axes.set_title(heading, fontsize="medium")
    for axes in grid.flat:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.tick_params(which="both", labelsize="x-small")
    for axes in grid[-1]:
        axes.set_xlabel("iteration", fontsize="small")
    figure.suptitle(f"{title}: kernel weights in the first fold of the first run")
    return figure
