"""Metrics of each model, with its kernels and iterations, and a figure of the kernel weights by iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pydantic import Field

from elmbench.layouts.base import Entry, Gains, LayoutOptions, Outputs
from elmbench.layouts.figures import Figure, default_cells, line_styles, png, title_of
from elmbench.layouts.metrics import Metrics
from elmbench.layouts.table import Column, Line
from elmbench.specs.experiments import Experiment
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import PublishedValue

if TYPE_CHECKING:
    import pandas as pd

    from elmbench.work.planner import DatasetPlanner

#: Kernels that have a weight, and updates of the weights.
COUNTED = ("kernels", "iterations")
_COLUMNS = tuple(Column(name, name, numeric=True) for name in COUNTED)
#: Line styles of the kernels, which repeat after four.
_DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), "-.")

Labels = Mapping[str, Sequence[str]]
"""The names of the kernels on each data set."""


class Options(LayoutOptions):
    """The names of the kernels on some data sets, to be shown instead of their functions and parameters."""

    kernels: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class WeightPaths(Metrics):
    """The table of metrics, with the mean numbers of kernels that have a weight and of iterations.

    The figure has a row for each data set: a panel of the objective of each model, as a share of its value for equal
    weights, and a panel of the kernel weights of each model. It shows the first fold of the first run. Models without
    weights are left out.
    """

    Options = Options
    compares_readings = False
    draws_from_store = True

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

    def is_judged(self, measure: Measure) -> bool:
        return measure.metric not in COUNTED and super().is_judged(measure)

    def places(self, measure: Measure, figure: PublishedValue | None) -> int | None:
        return 1 if measure.metric in COUNTED else super().places(measure, figure)

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of metrics with those of the counts after the last metric."""
        columns = list(super().columns(resolved, datasets))
        i = [column.name for column in columns].index("optimism")
        return (*columns[:i], *_COLUMNS, *columns[i:])

    def lines(self, entries: Sequence[Entry], gains: Gains, resolved: Resolved) -> Iterator[Line]:
        groups = groupby(entries, key=lambda entry: (entry.dataset, entry.model))
        for line, (_, group) in zip(super().lines(entries, gains, resolved), groups, strict=True):
            counts = {entry.measure.metric: entry.shown for entry in group if entry.measure.metric in COUNTED}
            yield {**line, **{name: item for name, item in counts.items() if item is not None}}

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        default = default_cells(cells)
        selected = dict(zip(zip(default["dataset"], default["model"], strict=True), default["select"], strict=True))
        drawn = [one for one in outputs if _is_drawn(one, selected)]
        order = list(selected)
        drawn.sort(key=lambda one: order.index((one.cell.dataset, one.cell.model)))
        if not drawn:
            return None
        paths = weight_paths(drawn, resolved)
        names = self.options(resolved.spec).kernels
        labels = {
            resolved.spelling(one.cell.dataset): names.get(one.cell.dataset) or kernel_labels(one.result["paths"])
            for one in drawn
        }
        return Figure(paths, draw_weight_paths(paths, labels, title_of(resolved)))


def _is_drawn(outputs: Outputs, selected: Mapping[tuple[str, str], str]) -> bool:
    """Return True for the first fold under the table's first selection, if it has weights."""
    cell, weights = outputs.cell, outputs.result.get("paths", {}).get("weights", ())
    first = cell.run == cell.fold == 0 and cell.select == selected.get((cell.dataset, cell.model))
    # A single kernel has nothing to learn, and a path of one step has no iteration.
    return first and len(weights) > 1 and len(weights[0]) > 1


def weight_paths(drawn: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
    """Return the weights and the objective by iteration.

    The columns are dataset (as the paper spells it), model, run and fold (counted from 1), iteration (0 is the start),
    objective, and weight 1, weight 2, ... in the order of the kernels; those that a data set lacks are empty.
    """
    import pandas as pd

    parts = []
    for one in drawn:
        path = one.result["paths"]
        weights = pd.DataFrame(path["weights"])
        weights.columns = [f"weight {p + 1}" for p in range(weights.shape[1])]
        cell = one.cell
        lines = {"dataset": resolved.spelling(cell.dataset), "model": cell.model, "run": cell.run + 1}
        lines |= {"fold": cell.fold + 1, "iteration": range(len(weights)), "objective": path["objective"]}
        parts.append(pd.concat([pd.DataFrame(lines), weights], axis=1))
    return pd.concat(parts, ignore_index=True)


def kernel_labels(paths: Mapping[str, Any]) -> list[str]:
    """Return labels of kernels: their names, with the parameters in which kernels of one name differ.

    The model's default kernels, and kernels given as matrices, are numbered.
    """
    kernels = paths["kernels"]
    if not isinstance(kernels, list):
        return [f"kernel {p + 1}" for p in range(len(paths["weights"][0]))]
    labels = []
    for name, params in kernels:
        alike = [other for kind, other in kernels if kind == name]
        shown = {key: value for key, value in params.items() if any(other.get(key) != value for other in alike)}
        words = [f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in shown.items()]
        labels.append(", ".join([name, *words]))
    return labels


def draw_weight_paths(paths: pd.DataFrame, labels: Labels, title: str) -> bytes:
    """Return the picture of objectives and weights by iteration: a row for each data set, a panel for each model.

    Parameters
    ----------
    paths : DataFrame
        As `weight_paths` returns it.
    labels : dict of str to sequence of str
        The names of the kernels, by the data set in `paths`.
    """
    from matplotlib.figure import Figure as Drawing

    datasets, models = list(dict.fromkeys(paths["dataset"])), list(dict.fromkeys(paths["model"]))
    size = (2.3 * (len(models) + 1) + 1.8, 2.3 * len(datasets) + 0.6)
    figure = Drawing(figsize=size, dpi=150, layout="constrained")
    every: Any = figure.subplots(len(datasets), len(models) + 1, squeeze=False)
    for row, dataset in zip(every, datasets, strict=True):
        group = paths[paths["dataset"] == dataset]
        _draw_objectives(row[0], group, models)
        row[0].set_ylabel(dataset, fontsize="large")
        for axes, model in zip(row[1:], models, strict=True):
            _draw_weights(axes, group[group["model"] == model], labels[dataset])
        _share_scale(row[1:])
        # At least one panel has lines, or the data set would not have a row.
        lines = next(axes.get_lines() for axes in row[1:] if axes.get_lines())
        row[-1].legend(lines, labels[dataset], loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize="x-small")
    for axes, heading in zip(every[0], ["objective, share of the start", *models], strict=True):
        axes.set_title(heading, fontsize="medium")
    for axes in every.flat:
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.tick_params(which="both", labelsize="x-small")
    for axes in every[-1]:
        axes.set_xlabel("iteration", fontsize="small")
    figure.suptitle(f"{title}: kernel weights in the first fold of the first run")
    return png(figure)


def _draw_objectives(axes: Any, paths: pd.DataFrame, models: Sequence[str]) -> None:
    for model, style in line_styles(models).items():
        path = paths[paths["model"] == model]
        if len(path):
            share = path["objective"] / path["objective"].iloc[0]
            axes.plot(path["iteration"], share, label=model, **style | {"marker": ""})
    axes.legend(fontsize="x-small")


def _draw_weights(axes: Any, paths: pd.DataFrame, labels: Sequence[str]) -> None:
    from matplotlib import colormaps

    for p in range(len(labels) if len(paths) else 0):
        colour = colormaps["turbo"](0.05 + 0.9 * p / (len(labels) - 1))
        look: Any = {"color": colour, "linestyle": _DASHES[p % len(_DASHES)], "linewidth": 1.3}
        axes.plot(paths["iteration"], paths[f"weight {p + 1}"], **look)


def _share_scale(row: Sequence[Any]) -> None:
    """Show the weights of all models on one scale, from zero on."""
    top = max(axes.get_ylim()[1] for axes in row if axes.get_lines())
    for axes in row:
        axes.set_ylim(0, top)
