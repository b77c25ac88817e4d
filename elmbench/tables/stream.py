"""Accuracy and size of models that learn in chunks, after each chunk, as a table of points and as
curves.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic import Field

from elmbench.metrics import PREQUENTIAL
from elmbench.specs.measures import OF_CHUNKS, Measure, rows_after_chunks
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.splits import SIZED
from elmbench.tables.base import (
    DATASET,
    DataFrame,
    DatasetPlanner,
    Entry,
    TableOptions,
    Task,
)
from elmbench.tables.curves import CurvesTable, point_of
from elmbench.tables.drawing import (
    BAND_LEGEND,
    ProperNames,
    common_value,
    finish,
    headline,
    line_styles,
    panels,
    plot_with_band,
    words_for,
)
from elmbench.tables.result_table import Column, Line

_ROWS = Column("rows", "rows", whole=True)
_WORDS = {
    "accuracy": "testing accuracy",
    "train_accuracy": "training accuracy",
    "nrmse": "testing NRMSE",
    "prequential_error": "prequential error",
    "n_units": "hidden nodes",
}
#: The axis of each metric; both accuracies share a panel.
_AXES = _WORDS | {"accuracy": "accuracy", "train_accuracy": "accuracy"}
#: The heights of a panel, in inches: of few rows and of many.
_PANEL = 3.4
_LOW_PANEL = 2.3
_METRICS = tuple(dict.fromkeys(name for names in OF_CHUNKS.values() for name in names))


class StreamOptions(TableOptions):
    """The number of training rows in a chunk."""

    chunk: int = Field(default=40, ge=1)


class StreamCurvesTable(CurvesTable):
    """A line for each measure of the protocol after each chunk of training rows, without a search.

    The figure has, for each data set, panels for accuracies, for errors and for the number of
    hidden nodes.
    """

    Options = StreamOptions
    judges = False
    takes_models = False
    figure_legend = BAND_LEGEND
    caption = "after each chunk of the training rows"

    def check(self) -> None:
        """Raise ValueError unless the table can show streams.

        The split must give the sizes of its parts, the protocol have a metric of streams, and
        columns have fixed parameters.
        """
        super().check()
        if self.spec.protocol.outer.kind not in SIZED:
            raise ValueError(
                f"protocol.outer.kind is {self.spec.protocol.outer.kind}; expected one of "
                f"{', '.join(SIZED)}"
            )
        if not self._metrics():
            raise ValueError(
                f"protocol.metrics has none of {', '.join(_METRICS)}; expected one of them or "
                "several"
            )

    def _check_column(self, column: str, model: ModelColumn) -> None:
        """Raise ValueError if a column searches hyperparameters.

        `column`: its name, for the message.
        """
        if model.searched:
            raise ValueError(
                f"models.{column} searches {', '.join(model.searched)}; expected fixed parameters"
            )

    def _metrics(self) -> list[str]:
        """Return those metrics of the protocol that can be measured after each chunk."""
        return [metric for metric in self.spec.protocol.metrics if metric in _METRICS]

    def task(self, planner: DatasetPlanner, column: str, run: int, fold: int) -> Task:
        """Return the task that learns the training rows of one outer fold in chunks.

        It measures the model after each chunk. `run`, `fold`: counted from 0.
        """
        from elmbench.tasks.stream import Stream

        return Stream(
            outer_fold=planner.outer_fold(run, fold),
            model=planner.model_ref(column),
            params=planner.models[column].params,
            chunk=self.options.chunk,
            prequential=PREQUENTIAL in self._metrics(),
        )

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        """Return the measures that have a column in `cells.csv`, by metric, then by number of rows.

        They are those of all data sets, each once. Models are not added to this table, so `extra`
        has no effect.
        """
        points = (
            point for name in self.spec.datasets for point in self.measures(name, "")
        )
        return sorted(
            dict.fromkeys(points),
            key=lambda point: (_METRICS.index(point.metric), point_of(point)),
        )

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return each metric of a data set's task after each chunk, such as `accuracy@rows=100`.

        The value is the number of rows learnt. The prequential error begins at the second chunk.
        `model` has no effect.
        """
        spec = self.experiment.dataset(dataset)
        split = self.spec.protocol.outer.split(dataset, spec.task)
        # NumPy, which validation does not need.
        from elmbench.evaluation.splits import (
            part_sizes,
        )

        n_train, _ = part_sizes(split, spec.shape.instances)
        sizes = rows_after_chunks(n_train, self.options.chunk)
        metrics = [
            metric for metric in self._metrics() if metric in OF_CHUNKS[spec.task]
        ]
        measures = []
        for metric in metrics:
            # The first chunk has no earlier rows that predict it.
            measured_sizes = sizes[1:] if metric == PREQUENTIAL else sizes
            measures += [Measure(metric, "rows", size) for size in measured_sizes]
        return measures

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the data set, the rows, and a column for each metric of each model.

        The heading of a column is the model, or model and metric if there are several metrics. Data
        sets make no difference.
        """
        metrics = self._metrics()
        columns = [
            Column(
                f"value {model} {metric}",
                model if len(metrics) == 1 else f"{model} {words_for(metric)}",
            )
            for model in self.spec.models
            for metric in metrics
        ]
        return (DATASET, _ROWS, *columns)

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield a line {name of the column: text} for each chunk of each data set.

        The columns are `dataset`, `rows` (the rows learnt, empty if nothing was measured) and those
        of the values. A data set without a measured value has a single line with the endings of its
        cells. `entries`: in any order within a data set, but those of a data set together.
        """
        for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
            points = sorted(group, key=_rows_learnt)
            title = self.experiment.spelling(dataset)
            is_measured = any(entry.mean is not None for entry in points)
            if not is_measured:
                yield _line(title, "", points)
                continue
            for n_rows, part in groupby(points, key=_rows_learnt):
                yield _line(title, f"{n_rows:g}", part)

    def draw(self, points: DataFrame) -> Any:
        """Return a figure of the measures over the rows learnt so far, in panels by data set.

        It is a figure of matplotlib, as Figs. 1 and 2 of the OSPVM paper. `points`: with the
        columns `dataset`, `model`, `metric`, `value` (the rows), `mean` and `std`.
        """
        points = ProperNames(self.experiment).rename_datasets(points)
        models = points["model"].unique()
        points = _with_axes_and_lines(points)
        styles = line_styles(points["line"])
        n_axes = points.groupby("dataset")["axis"].nunique()
        columns = _panels_in_a_row(n_axes.to_list())
        is_high = columns is not None and len(n_axes) > 2
        height = _LOW_PANEL if is_high else _PANEL
        figure, parts = panels(points, ["dataset", "axis"], height, columns=columns)
        for axes, group in parts:
            for line, curve in group.groupby("line", sort=False):
                plot_with_band(axes, "value", curve, styles[str(line)])
            axes.set_ylabel(_axis_label(group))
            if axes.get_subplotspec().is_last_row():
                axes.set_xlabel("training rows learnt")
        detail = str(models[0]) if len(models) == 1 else ""
        return finish(figure, styles, headline(self.experiment, detail))


def _line(title: str, rows: str, entries: Iterable[Entry]) -> Line:
    """Return the line of some measures of a data set, {name of the column: text}.

    The columns are `dataset`, `rows` and `value <model> <metric>` for each of `entries`, those of
    one chunk, that has a text. `title`: the printed name of the data set. `rows`: the number of
    rows learnt as text, or empty.
    """
    return {"dataset": title, "rows": rows, **_texts(entries)}


def _rows_learnt(entry: Entry) -> float:
    """Return the number of rows that the model had learnt when an entry was measured."""
    return point_of(entry.measure)


def _with_axes_and_lines(points: DataFrame) -> DataFrame:
    """Return points with two more columns, `axis` and `line`: the labels of their axis and line.

    A line is a model; if an axis has several metrics, it is the metric for a single model, else
    both. `points`: with the columns `model` and `metric`.
    """
    words = points["metric"].map(_WORDS)
    axes = points["metric"].map(_AXES)
    points = points.assign(axis=axes, line=points["model"])
    metrics_on_axes = points.groupby("axis")["metric"].nunique()
    if metrics_on_axes.max() <= 1:
        return points
    has_one_model = points["model"].nunique() == 1
    lines = words if has_one_model else points["model"] + ", " + words
    return points.assign(line=lines)


def _panels_in_a_row(n_axes: Sequence[int]) -> int | None:
    """Return the number of panels in a row, so that a row has the panels of one data set.

    `n_axes`: the number of axes of each data set. It is None, for no such number, if there is one
    data set, or if data sets have one axis or different numbers of them.
    """
    sizes = set(n_axes)
    if len(n_axes) < 2 or len(sizes) > 1:
        return None
    (size,) = sizes
    return size if size > 1 else None


def _axis_label(points: DataFrame) -> str:
    """Return the label of the y axis of a panel: its metric, or the common word of several.

    `points`: those of the panel, with the columns `metric` and `axis`.
    """
    metrics = points["metric"].unique()
    if len(metrics) > 1:
        return common_value(points, "axis")
    return _WORDS[metrics[0]]


def _texts(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the values of a chunk as texts, by the name of the column, `value <model> <metric>`.

    `entries`: those of one data set and number of rows; entries without a text are left out.
    """
    return {
        f"value {entry.model} {entry.measure.metric}": entry.shown
        for entry in entries
        if entry.shown
    }
