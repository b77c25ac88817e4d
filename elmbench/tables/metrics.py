"""Metrics of each model on each data set, with the time of the fit."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, zip_longest

from elmbench.metrics import PREQUENTIAL, REGISTRY, columns, counts_rows
from elmbench.registry.scorers import find_metric
from elmbench.specs.measures import ALWAYS_SHOWN, MEASURES, Measure
from elmbench.specs.profiles import Resolved
from elmbench.tables.base import (
    DATASET,
    MODEL,
    PUBLISHED,
    VALUE,
    VERDICT,
    DataFrame,
    Entry,
    TableKind,
)
from elmbench.tables.drawing import cells_ended_ok, words_for
from elmbench.tables.number_texts import gain_text, quantity
from elmbench.tables.result_table import Column, Line, Note

TIMES = (
    Column("fit", "fit s", numeric=True),
    Column("published_fit", "publ. s", numeric=True),
)
#: Times of the predictions for the test rows.
TEST_TIMES = (
    Column("predict", "test s", numeric=True),
    Column("published_predict", "publ. s", numeric=True),
)
RATIOS = (
    Column("ratio", "fit ratio", numeric=True),
    Column("published_ratio", "publ. ratio", numeric=True),
)
_OPTIMISM = Column("optimism", "optimism", numeric=True)
#: The name of the columns of the second metric, of the third, and so on.
_SUFFIXES = ("", *map(str, range(2, 100)))
#: What a metric needs that is missing for some models.
_NEEDS = {
    "scores": "it takes decision values or probabilities",
    "probabilities": "it takes probabilities",
}


class MetricsTable(TableKind):
    """A line for each model on each data set: the metrics of the task, and the fit times.

    The metrics have the order of the protocol.
    """

    shows_metrics = True
    #: The columns of each metric.
    per_metric: tuple[Column, ...] = (VALUE, PUBLISHED, VERDICT)

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the metrics of the task, the time of a fit and the size of a model.

        The protocol's metrics come first, also if they are times. Counts of a confusion matrix and
        the prequential error are left out.
        """
        task = self.task_of(dataset)
        protocol = self.spec.protocol
        always = [name for name in columns(task) if not counts_rows(name)]
        always += ALWAYS_SHOWN
        measurable = {
            *always,
            *protocol.metrics_for(task, dataset),
            "predict_seconds",
        }
        measurable.discard(PREQUENTIAL)
        named = protocol.named_metrics(dataset)
        first = [name for name in named if name in measurable]
        names = dict.fromkeys([*first, *always])
        return list(map(Measure, names))

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of each metric, optimism, times and their ratios for these data sets.

        `datasets`: the names of those that the table shows, whose metrics have columns. A narrow
        table leaves the ratios out, since they are optional.
        """
        ratios = (replace(column, optional=True) for column in RATIOS)
        return (
            DATASET,
            MODEL,
            *self._metric_columns(datasets),
            _OPTIMISM,
            *TIMES,
            *TEST_TIMES,
            *ratios,
        )

    def notes(self, cells: DataFrame) -> Iterator[Note]:
        """Yield a note on each metric that some models have in no cell, with the reason.

        `cells`: the frame of `cells.csv`.
        """
        yield from missing_metrics(cells, self.experiment)

    def _metric_columns(self, datasets: Collection[str]) -> list[Column]:
        """Return the columns of each metric: by default our value, the published one, the verdict.

        `datasets`: the names of those that the table shows; without any, there is one metric
        without a name. The first metric of every data set comes first, then the second, ... The
        names of the columns end in 2, 3, ... from the second metric on. Data sets with different
        metrics share the columns; the heading joins the names, such as `MCC / NRMSE`.
        """
        protocol = self.spec.protocol
        metrics_by_data = [self._metrics_of(name) for name in datasets] or [[""]]
        columns = []
        # Data sets with different metrics share a column: its heading names all of them.
        for suffix, names in zip(
            _SUFFIXES, zip_longest(*metrics_by_data), strict=False
        ):
            heading = " / ".join(
                words_for(metric) for metric in protocol.all_metrics if metric in names
            )
            for column in self.per_metric:
                title = heading if column is VALUE else column.heading
                columns.append(
                    replace(column, name=column.name + suffix, heading=title)
                )
        return columns

    def _metrics_of(self, dataset: str) -> list[str]:
        """Return the metrics of the protocol for a data set, in the order of the protocol."""
        task = self.task_of(dataset)
        return self.spec.protocol.metrics_for(task, dataset)

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield a line {name of the column: text} for each model on each data set.

        The ratios divide fit times by those of the first model of the data set. `entries`: one for
        each measure, those of a data set and of a model together.
        """
        for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
            yield from self._lines_of_dataset(dataset, group)

    def _lines_of_dataset(
        self, dataset: str, entries: Iterable[Entry]
    ) -> Iterator[Line]:
        """Yield a line {name of the column: text} for each model on one data set.

        The ratios divide fit times by those of its first model. `entries`: those of the data set,
        with those of a model together.
        """
        first_times: dict[str, float] | None = None
        for model, group in groupby(entries, key=lambda entry: entry.model):
            by_metric = {entry.measure.metric: entry for entry in group}
            times = _fit_times(by_metric)
            if first_times is None:
                first_times = times
            line = self._line(dataset, model, by_metric)
            line |= _ratios(times, first_times)
            yield line

    def _line(
        self, dataset: str, model: str, by_metric: Mapping[str, Entry]
    ) -> dict[str, str]:
        """Return the texts of a model on a data set by column, without ratios.

        The columns are `dataset`, `model`, each metric by its name, the value, published value and
        verdict of each metric of the protocol (see `Entry.texts`), `optimism`, and `fit`,
        `predict`, `published_fit` and `published_predict` for the times; those without a text are
        missing. `by_metric`: its entries by the name of the metric; at least one.
        """
        line = {name: entry.shown for name, entry in by_metric.items() if entry.shown}
        line["dataset"] = self.experiment.spelling(dataset)
        line["model"] = model
        for metric, suffix in zip(self._metrics_of(dataset), _SUFFIXES, strict=False):
            if metric in by_metric:
                line.update(by_metric[metric].texts(suffix))
        optimism = next(iter(by_metric.values())).optimism
        if optimism is not None:
            line["optimism"] = gain_text(optimism)
        for name in ("fit", "predict"):
            entry = by_metric.get(f"{name}_seconds")
            if entry is None:
                continue
            if entry.mean is not None:
                line[name] = quantity(entry.mean)
            if entry.published:
                line[f"published_{name}"] = entry.published_text
        return line


def _fit_times(by_metric: Mapping[str, Entry]) -> dict[str, float]:
    """Return {"ratio": our time of a fit, "published_ratio": the published one} in seconds.

    The keys are the columns of their ratios. A missing time is left out. `by_metric`: the entries
    of a model by the name of the metric.
    """
    fit = by_metric.get("fit_seconds")
    if fit is None:
        return {}
    times: dict[str, float] = {}
    if fit.mean is not None:
        times["ratio"] = fit.mean
    if fit.published and fit.published.value is not None:
        times["published_ratio"] = float(fit.published.value)
    return times


def _ratios(
    times: Mapping[str, float], first_times: Mapping[str, float]
) -> dict[str, str]:
    """Return times as multiples of those of the first model, as texts by the same keys.

    The keys are the columns "ratio" (of our times) and "published_ratio", if there are such times.
    `times`, `first_times`: {key: seconds} of the model and of the first one; both may be the same.
    A time that the first model lacks, or has as 0, is left out.
    """
    return {
        name: f"{seconds / first_times[name]:.2g}"
        for name, seconds in times.items()
        if first_times.get(name)
    }


def missing_metrics(cells: DataFrame, resolved: Resolved) -> Iterator[Note]:
    """Yield a note on each metric of the protocol that some models have in no cell.

    The note lists the models and says why. Only cells that ended ok, of data sets of the metric's
    task, count; a model without such cells is not listed. Measures that are no metrics, and metrics
    without a column, are skipped. `cells`: with the columns of `cells.csv`.
    """
    ok = cells_ended_ok(cells)
    task = ok["dataset"].map(lambda name: resolved.dataset(name).task)
    for name in resolved.spec.protocol.all_metrics:
        is_metric = name in REGISTRY or name not in MEASURES
        if name not in cells or not is_metric:
            continue
        metric = find_metric(name)
        lines = ok[task == metric.task]
        models = _models_without(name, lines)
        if models:
            reason = _NEEDS.get(metric.takes, "it is not defined for their predictions")
            text = f"{name} is missing for {', '.join(models)}: {reason}"
            yield Note("metric", text)


def _models_without(metric: str, cells: DataFrame) -> list[str]:
    """Return the names of the models that have no value of a metric in any of their cells.

    They are in the order of their first cells. `cells`: lines of `cells.csv`, in which the metric
    is a column.
    """
    is_empty = cells[metric].isna()
    by_model = is_empty.groupby(cells["model"], sort=False)
    is_missing = by_model.all()
    return list(is_missing.index[is_missing])
