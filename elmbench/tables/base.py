"""Base class of the kinds of table: their measures, verdicts, lines and figures.

`elmbench.tables.KINDS` lists the kinds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from elmbench.metrics import PREQUENTIAL, columns, counts_rows
from elmbench.specs.datasets import LearningTask
from elmbench.specs.experiments import Experiment
from elmbench.specs.files import SpecPart, parse_spec
from elmbench.specs.measures import FACTS, UNJUDGED, Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL, PublishedValue
from elmbench.tables.drawing import (
    Figure,
    default_cells_by_model,
    figure_bytes,
    words_for,
)
from elmbench.tables.result_table import Column, Entry, Line, Note

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from elmbench.tasks.base import Task
    from elmbench.tasks.plan import Cell
    from elmbench.tasks.planner import DatasetPlanner
else:  # what only annotations need is not imported: pandas takes a third of a second
    DataFrame = Series = Task = DatasetPlanner = Any

VALUE = Column("value", "mean")
PUBLISHED = Column("published", "published")
VERDICT = Column("verdict", "verdict", whole=True)
DATASET = Column("dataset", "data set")
MODEL = Column("model", "model", whole=True)
MEASURE = Column("measure", "measure", whole=True)
#: The columns of a table without models, whose values are not means over cells.
WITHOUT_MODELS = (DATASET, MEASURE, Column("value", "found"), PUBLISHED, VERDICT)

#: The lines of the data of a figure.
Points = Iterable[dict[str, Any]]


class TableOptions(SpecPart):
    """The options of a kind of table, from `options` of the experiment file."""


@dataclass(frozen=True)
class Outputs:
    """The stored result of one cell, for the figure.

    The result of a fit has `predictions` (see `StoredPredictions`).
    """

    cell: Cell
    result: Mapping[str, Any]


class TableKind(ABC):
    """A kind of table.

    A kind of table is one class in one file; `elmbench.tables` or the `LAYOUTS` of a plug-in file
    gives its name.
    """

    #: The options that an experiment file may give.
    Options: ClassVar[type[TableOptions]] = TableOptions
    #: True if each outer fold has a cell; if not, one cell is measured on all rows.
    has_folds: ClassVar[bool] = True
    #: True if an entry has a value for each run, which gives the spread of a draw.
    has_runs: ClassVar[bool] = True
    #: True if the table has values over all data sets, of the data set `all`.
    has_values_over_all: ClassVar[bool] = False
    #: True if published values get a verdict.
    judges: ClassVar[bool] = True
    #: True if the figure shows stored results, and not only `cells.csv`.
    draws_from_store: ClassVar[bool] = False
    #: True if the table shows metrics of predictions, so that others can be added to it.
    shows_metrics: ClassVar[bool] = False
    #: True if the first metric ranks the models.
    ranks: ClassVar[bool] = False
    #: True if the subtitle shows the number of runs.
    shows_profile: ClassVar[bool] = True
    #: The heading of the table, if hyperparameters are not chosen.
    caption: ClassVar[str] = ""
    #: The marks of the figure in a sentence.
    figure_legend: ClassVar[str] = ""
    #: The columns of the table, if they do not depend on the experiment.
    own_columns: ClassVar[tuple[Column, ...]] = (
        DATASET,
        MODEL,
        MEASURE,
        VALUE,
        PUBLISHED,
        VERDICT,
    )

    def __init__(self, experiment: Resolved) -> None:
        self.experiment = experiment
        self.options: Any = self._read_options()

    @property
    def spec(self) -> Experiment:
        """The experiment as this profile and these readings run it."""
        return self.experiment.spec

    @property
    def tasks(self) -> list[LearningTask]:
        """The tasks of the data sets, each once: "classification", "regression" or both."""
        return sorted({spec.task for spec in self.experiment.datasets.values()})

    def task_of(self, dataset: str) -> LearningTask:
        """Return the task of a data set, "classification" or "regression"."""
        return self.experiment.dataset(dataset).task

    def check(self) -> None:
        """Raise ValueError if this kind cannot show its experiment; here, if it has no models.

        The message has the wrong and the expected value.
        """
        if not self.spec.models:
            raise ValueError("models is empty; expected at least one column")

    def _read_options(self) -> Any:
        """Return the options of the experiment as an object of `Options`.

        The key `dcs` is dropped if it only serves the choice of hyperparameters. Raises
        ElmbenchError, which names the experiment file, if an option is unknown or has a wrong
        value.
        """
        options = dict(self.spec.options)
        if (
            self.spec.protocol.criterion != "score"
            and "dcs" not in self.Options.model_fields
        ):
            options.pop("dcs", None)
        return parse_spec(
            self.Options, options, str(self.experiment.file.path), "options"
        )

    def plan(self, planner: DatasetPlanner) -> None:
        """Add the cells of one data set to the plan of a run, through the planner of this data set.

        By default, each column under each selection has a fit on every outer fold.
        """
        planner.add_fits()

    def models(self) -> list[str]:
        """Return the names of the table's model columns that the suite measures.

        They are all columns of its file, also those that a profile leaves out; models that a user
        adds are not among them.
        """
        return list(self.experiment.file.spec.models)

    def values(self, extra: Iterable[str] = ()) -> list[Measure]:
        """Return the measures that have a column in `cells.csv`, each once.

        Here, these are the metrics that each `cells.csv` has for the tasks of the data sets, then
        those of the protocol, without the prequential error. `extra`: models beside the table's own
        columns; only kinds whose measures depend on the model, such as curves, use it.
        """
        protocol = self.spec.protocol
        names: dict[str, None] = {}
        for task in self.tasks:
            names |= dict.fromkeys(columns(task))
        for task in self.tasks:
            names |= dict.fromkeys(protocol.metrics_for(task))
        for dataset in self.experiment.datasets.values():
            metrics = protocol.metrics_for(dataset.task, dataset.name)
            names |= dict.fromkeys(metrics)
        names.pop(PREQUENTIAL, None)
        return [Measure(name) for name in names]

    def summarised_cells(self, cells: DataFrame) -> DataFrame:
        """Return the lines that `summary.csv` summarises: the cells, or lines derived from them.

        `cells`: a line for each, with the columns of `cells.csv`. The lines have the data set,
        model, run, fold, selection, reading and status of a cell, and its measures. By default,
        they are the cells.
        """
        return cells

    @abstractmethod
    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the measures of a model on a data set that have a line in `summary.csv`.

        The table's own come first. `dataset`: the suite's name, or `all`. `model`: a column of the
        table or an added model.
        """

    def values_of(self, cells: DataFrame, measure: Measure) -> Series[float]:
        """Return the value of a measure in each cell, NaN if it has none.

        `cells`: with the columns of `cells.csv`; the result has their index.
        """
        return cells[measure.column].astype(float)

    def is_judged(self, measure: Measure) -> bool:
        """Return True if published values of a measure get a verdict.

        Times and sizes never do: times come from another machine.
        """
        return self.judges and measure.metric not in UNJUDGED

    def is_complete(self, dataset: str, runs: Iterable[int]) -> bool:
        """Return True if each run of a model on a data set has all of its folds.

        `runs`: the number of the run of each cell, such as [0, 0, 1, 1]. It is always True for the
        data set `all`, and for a table without folds. Runs without any cell do not matter, but
        without cells it is False.
        """
        if dataset == ALL or not self.has_folds:
            return True
        return set(Counter(list(runs)).values()) == {
            self.spec.protocol.outer.folds_of(dataset)
        }

    def complete(self, cells: DataFrame) -> Iterator[tuple[str, str, DataFrame]]:
        """Yield (data set, model, its cells) for each group of cells without failures and gaps.

        All cells of a group have ended ok, and each run has all of its folds. `cells`: lines of
        `cells.csv` of one selection and reading; those of several would make one group. Groups have
        the order of their first cells.
        """
        groups = cells.groupby(["dataset", "model"], sort=False)
        for names, group in groups:
            dataset, model = map(str, names)
            ended_ok = group["status"] == "ok"
            if not ended_ok.all():
                continue
            if self.is_complete(dataset, group["run"].tolist()):
                yield dataset, model, group

    def last_place(self, published: PublishedValue) -> float:
        """Return the weight of the last printed digit of a published value, such as 0.01 for 0.93.

        It is 0 if no value or a power is printed.
        """
        return published.last_place

    def places(self, measure: Measure, published: PublishedValue | None) -> int | None:
        """Return the number of decimals to show of a mean; None for three significant figures.

        It is one more than the paper prints, three if it prints no number or a power, and 0 for a
        count or a fact. Times and sizes without a published value give None. `published`: None if
        the paper prints no value.
        """
        if published is None and measure.metric in UNJUDGED:
            return None
        if counts_rows(measure.metric) or measure.metric in FACTS:
            return 0
        last_place = 0.0 if published is None else self.last_place(published)
        if last_place == 0:
            return 3
        printed_places = max(0, -math.floor(math.log10(last_place)))
        return printed_places + 1

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of the table for these data sets; by default, `own_columns`.

        `datasets`: the names of those that the table shows; by default they have no effect.
        """
        return self.own_columns

    def heading(self) -> str:
        """Return the heading of a section without a choice of hyperparameters.

        By default, it is `caption`.
        """
        return self.caption

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield the lines of a section as {name of the column: text}; here, one for each entry.

        `entries`: one for each measure of each model on each data set, in the order of the table.
        """
        for entry in entries:
            names = {
                "dataset": self.experiment.spelling(entry.dataset),
                "model": entry.model,
                "measure": words_for(entry.measure.column),
            }
            yield names | entry.texts()

    def notes(self, cells: DataFrame) -> Iterator[Note]:
        """Yield the notes that this kind of table shows with its lines; by default, none.

        `cells`: with the columns of `cells.csv`.
        """
        yield from ()

    def figure(self, cells: DataFrame, outputs: Iterable[Outputs]) -> Figure | None:
        """Return the figure of the table, drawn; None if it has none or there is nothing to draw.

        `cells`: with the columns of `cells.csv`. `outputs`: the stored results under the default
        readings, which most kinds do not need.
        """
        import pandas as pd

        points = pd.DataFrame(self.points_of(cells, outputs))
        return self.figure_of(points) if len(points) else None

    def figure_of(self, points: DataFrame) -> Figure:
        """Return the figure of these points: the data, the drawing and its PNG.

        `points`: a line for each point, with the columns that the kind's `points_of` returns; at
        least one line.
        """
        drawing = self.draw(points)
        return Figure(data=points, png=figure_bytes(drawing), drawing=drawing)

    def points_of(
        self, cells: DataFrame, outputs: Iterable[Outputs]
    ) -> Points | DataFrame:
        """Return the lines of the data of the figure, as dicts or as a data frame.

        By default, these are the dicts of `points_of_entry` for each model on each data set, with
        the keys `dataset` (as the paper spells it) and `model` in front; none if the kind of table
        has no figure. `cells`: the frame of `cells.csv`, of which only those under the default
        readings and the first selection count. `outputs`: the stored results under the default
        readings, in turn.
        """
        return (
            {"dataset": self.experiment.spelling(dataset), "model": model} | point
            for dataset, model, group in default_cells_by_model(cells)
            for point in self.points_of_entry(group, dataset, model)
        )

    def points_of_entry(self, cells: DataFrame, dataset: str, model: str) -> Points:
        """Return the points of one model on one data set for the figure, as dicts of columns.

        The columns `dataset` and `model` are added later, unless a point has its own. `cells`:
        those of this model and data set, under the default readings and the first selection. By
        default there are no points.
        """
        return ()

    def draw(self, points: DataFrame) -> Any:
        """Return a matplotlib figure of these points, a line for each.

        The columns are those of `points_of`: by default `dataset`, `model` and those of
        `points_of_entry`. A kind of table with points must define it (else NotImplementedError).
        """
        raise NotImplementedError
