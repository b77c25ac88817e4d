"""A metric at each value of one hyperparameter, as a table of points and as curves."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, ClassVar

from elmbench.errors import ElmbenchError, wording
from elmbench.registry import registry
from elmbench.specs.measures import Measure
from elmbench.specs.model_columns import ModelColumn
from elmbench.tables.base import (
    DataFrame,
    DatasetPlanner,
    Entry,
    Points,
    TableKind,
    Task,
)
from elmbench.tables.drawing import (
    ProperNames,
    cells_ended_ok,
    common_value,
    exponents_of,
    headline,
    line_styles,
    mean_of,
    new_figure,
    words_for,
)
from elmbench.tables.result_table import Line

#: The name of a hyperparameter in the heading of a table.
_NAMES = {"n_hidden": "number of hidden nodes", "n_landmarks": "number of hidden nodes"}
#: The largest number of points that a table shows in full.
_MOST_POINTS = 20


class CurvesTable(TableKind):
    """A line for each value of the hyperparameter that a column varies; no value is chosen.

    Every column varies one hyperparameter and inherits none. The figure has a curve for each data
    set and model.
    """

    #: False if the table can only show its own columns.
    takes_models: ClassVar[bool] = True

    def check(self) -> None:
        """Raise ValueError if a column does not vary exactly one numeric hyperparameter.

        No models, a column that inherits from another one (`like`), and metrics of single data sets
        are errors too.
        """
        super().check()
        if self.spec.protocol.metrics_except:
            raise ValueError(
                "protocol.metrics-except is for tables without curves; expected metrics for all "
                "data sets"
            )
        for column, model in self.spec.models.items():
            self._check_column(column, model)
            for name, values in model.grid.values.items():
                if words := [
                    value for value in values if isinstance(value, str | list)
                ]:
                    raise ValueError(
                        f"models.{column} searches {name} over {words[0]!r}; expected numbers"
                    )

    def _check_column(self, column: str, model: ModelColumn) -> None:
        """Raise ValueError unless a column searches one hyperparameter and inherits from none.

        `column`: the name of the column, for the message.
        """
        if len(model.searched) != 1:
            names = ", ".join(model.searched) or "nothing"
            raise ValueError(
                f"models.{column} searches {names}; expected one hyperparameter"
            )
        if model.like is not None:
            raise ValueError(
                f"models.{column} is like {model.like!r}; expected a column that takes over nothing"
            )

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the measurement of each curve of one data set to a plan, on every outer fold.

        The selection is the first one of the protocol. Columns for another task are left out, and
        so is an added model without exactly one hyperparameter in its grid. Raises ElmbenchError if
        the user gives a grid, since the registry defines the points of an added model.
        """
        if planner.request.grids:
            raise ElmbenchError(
                f"{self.experiment.file.id} shows curves, and the grid of "
                f"{', '.join(planner.request.grids)} is given",
                expected="added models with their default grids",
                next_step=f"leave {wording('--grid', 'grids')} out",
            )
        planner.refuse_joint_estimates()
        folds = planner.folds if self.has_folds else 1
        outer = list(product(range(planner.runs), range(folds)))
        select = self.spec.protocol.selections[0]
        for column in planner.columns:
            varies_one = self.takes_models and len(planner.grid(column).names) == 1
            is_shown = column in self.spec.models or varies_one
            if is_shown and planner.does_task(column):
                planner.add_tasks(
                    column, outer, partial(self.task, planner, column), select
                )

    def task(self, planner: DatasetPlanner, column: str, run: int, fold: int) -> Task:
        """Return the task that measures a column at each value of its grid, on one outer fold.

        `run`, `fold`: counted from 0.
        """
        from elmbench.tasks.curve import Curve

        return Curve(**planner.grid_fields(column, run, fold), metric=planner.metric)

    def metric(self, task: str) -> str:
        """Return the metric that is measured at each value.

        `task`: "classification" or "regression". By default, it is the metric that chooses
        hyperparameters of the task.
        """
        return self.spec.protocol.metric_for(task)

    def points(self, column: str, task: str) -> list[Measure]:
        """Return the measures of a column: a metric at each value of its hyperparameter.

        `column`: a column of the table or an added model; none for an unknown name. `task`:
        "classification" or "regression", which determines the metric.
        """
        metric = self.metric(task)
        return [
            Measure.create(metric, name, value)
            for name, values in self._grid_of(column).items()
            for value in values
        ]

    def _grid_of(self, column: str) -> Mapping[str, Any]:
        """Return the grid of a column or of an added model: {hyperparameter: list of its values}.

        It is empty for an unknown name.
        """
        model = self.spec.models.get(column)
        if model is not None:
            return model.grid.values
        # The name is that of a results file: no module is imported by its address.
        models = registry()
        return models[column].grid if column in models else {}

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        """Return the measures that have a column in `cells.csv`: a metric at each value of a curve.

        Each measure is returned once. `extra`: models beside the table's own columns, whose curves
        follow; an unknown name adds none.
        """
        columns = [*self.spec.models, *extra]
        points: list[Measure] = []
        for task in self.tasks:
            for column in columns:
                points += self.points(column, task)
        distinct = dict.fromkeys(points)
        return list(distinct)

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the metric of a data set's task at each value of the hyperparameter of a model."""
        return self.points(model, self.task_of(dataset))

    def heading(self) -> str:
        """Return the heading of a section: the caption, or the varied hyperparameters in words."""
        names = [_NAMES.get(name, name) for name in self.varied_params()]
        return (
            self.caption
            or f"each {' or '.join(names)} on the outer test folds; none is chosen"
        )

    def varied_params(self) -> list[str]:
        """Return the hyperparameters that the columns vary, each once, by the suite's names."""
        return list(
            dict.fromkeys(
                name for model in self.spec.models.values() for name in model.searched
            )
        )

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield a line {name of the column: text} for each point of a curve, or for some of them.

        Of more than 20 points, about evenly spaced ones are shown (see `_thin_points`). `entries`:
        of one section, each with the measure at a point; the lines keep their order.
        """
        points = _thin_points(
            list(dict.fromkeys(point_of(entry.measure) for entry in entries))
        )
        yield from super().lines(
            [entry for entry in entries if point_of(entry.measure) in points]
        )

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Yield the points of a curve with `metric`, `parameter`, `value`, `mean`, `std` and `n`.

        `value` is that of the hyperparameter; the mean and the deviation are over the `n` cells
        that ended ok. `cells`: those of this model and data set. A value without a measurement has
        no point.
        """
        for measure in self.measures(dataset, model):
            values = self.values_of(cells_ended_ok(cells), measure).dropna()
            if len(values):
                point = {
                    "metric": measure.metric,
                    "parameter": measure.parameter,
                    "value": point_of(measure),
                }
                yield point | mean_of(values)

    def draw(self, points: DataFrame) -> Any:
        """Return a matplotlib figure with a line for each data set and model, in one panel.

        It is as in Fig. 3 of the EEM paper and Fig. 2 of the RKELM paper. `points`: with the
        columns `dataset`, `model`, `metric` and `parameter` (the same for all), `value` (of the
        hyperparameter) and `mean`. A line connects its points in their order.
        """
        figure, axes = new_figure(8, 4.8)
        varied = [name for name in ("dataset", "model") if len(set(points[name])) > 1]
        keys = varied or ["dataset"]
        points = ProperNames(self.experiment).rename_datasets(points)
        groups = points.groupby(["dataset", "model"], sort=False)
        curves = [curve for _, curve in groups]
        if keys != ["model"]:
            # The legend lists the lines in the order of their right ends, from the top; models have
            # the order of the table.
            curves.sort(key=lambda curve: -curve["mean"].iloc[-1])
        labels = []
        for curve in curves:
            names = [common_value(curve, key) for key in keys]
            labels.append(", ".join(names))
        styles = line_styles(labels)
        for number, (label, curve) in enumerate(zip(styles, curves, strict=True)):
            first_mark = number % 5 * len(curve) // 40
            distance = max(1, len(curve) // 8)
            axes.plot(
                curve["value"],
                curve["mean"],
                label=label,
                markersize=4,
                markevery=(first_mark, distance),
                **styles[label],
            )
        metric = common_value(points, "metric")
        parameter = common_value(points, "parameter")
        axes.set(
            xlabel=words_for(parameter),
            ylabel=f"{words_for(metric)}, mean over test folds",
        )
        _scale_axis(axes, points["value"], is_C=parameter == "C")
        detail = "" if "dataset" in keys else common_value(points, "dataset")
        axes.set_title(headline(self.experiment, detail), fontsize="medium")
        axes.grid(alpha=0.3)
        figure.legend(loc="outside right upper", fontsize="small")
        return figure


def _scale_axis(axes: Any, values: Any, *, is_C: bool) -> None:
    """Make the x axis logarithmic for three or more powers of two; for other values, start it at 0.

    `values`: the x values of all points, a series. `is_C`: they are of the hyperparameter C, whose
    ridges are added above a logarithmic axis.
    """
    if exponents_of(list(set(values))) is None:
        axes.set_xlim(0, values.max())
        return
    axes.set_xscale("log", base=2)
    axes.set_xlim(values.min(), values.max())
    if is_C:
        _add_ridges(axes)


def point_of(measure: Measure) -> float:
    """Return the x value of a measure on a curve.

    It is the value of its hyperparameter or its number of rows; 0 without one.
    """
    return float(measure.value or 0)


def _thin_points(values: list[float]) -> list[float]:
    """Return the x values at which the table shows a curve: all, if they are at most 20.

    Of more powers of two, both ends and those whose exponent is divisible by 5; of other values,
    the six nearest to 0, 1/5, ..., 1 times the largest, among which one may be repeated.
    """
    if len(values) <= _MOST_POINTS:
        return values
    if exponents_of(values) is None:
        return [
            min(values, key=lambda value: abs(value - i * max(values) / 5))
            for i in range(6)
        ]
    return [
        value
        for value in values
        if math.log2(value) % 5 == 0 or value in (min(values), max(values))
    ]


def _add_ridges(axes: Any) -> None:
    """Add an axis above the panel that labels the powers of two of C as ridges, 1/C.

    `axes`: has C on its x axis, which is logarithmic.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    top_axis = axes.secondary_xaxis("top")
    top_axis.xaxis.set_major_locator(LogLocator(base=2))
    top_axis.xaxis.set_minor_locator(NullLocator())
    top_axis.xaxis.set_major_formatter(
        FuncFormatter(lambda C, _: f"$2^{{{-round(math.log2(C))}}}$")
    )
    top_axis.set_xlabel("ridge 1/C")
