"""Comparison of models on a user's data: means, ranks, a test against the best, and times."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from elmbench.evaluation.model_order import (
    FIT_TIME,
    RANK,
    SIZE,
    ModelOrder,
    metrics_of,
    order_of_means,
)
from elmbench.evaluation.score_comparison import (
    dummies,
    not_above_dummy,
    p_values,
    rivals_of,
    share_of_test_rows,
)
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.specs.experiments import Experiment
from elmbench.specs.measures import Measure
from elmbench.specs.published import ALL
from elmbench.tables.base import DATASET, MODEL, DataFrame, Entry, TableKind
from elmbench.tables.comparison_notes import MARK, REPEATED, RankingNotes
from elmbench.tables.drawing import cells_ended_ok, common_value, default_cells
from elmbench.tables.metrics import missing_metrics
from elmbench.tables.number_texts import p_text, quantity
from elmbench.tables.result_table import Column, Line, Note

#: The p-value of the difference of a model from the best one on a data set.
P = "p"
#: Costs that have a column, with its heading.
_COSTS = {"fit_seconds": "fit s", "search_seconds": "search s", "n_units": "size"}
_TIMES = ("fit_seconds", "search_seconds", "predict_seconds")
#: The headings of metrics in a terminal, where the further ones have no deviations.
_BRIEF = {
    "balanced_accuracy": "bal.\nacc.",
    "f1_macro": "macro\nF1",
    "roc_auc": "ROC\nAUC",
}


class ComparisonTable(TableKind):
    """A line for each model on each data set, the best first.

    Average ranks follow if there are several data sets. Models with equal means share a rank, and
    `ModelOrder` orders them.

    The test is the corrected resampled t-test of the differences on the same rows from the model of
    the best mean (Nadeau and Bengio, "Inference for the generalization error", 2003), by Holm's
    correction over the other models. Only models whose cells all ended ok are ranked.
    """

    shows_metrics = True
    ranks = True
    has_values_over_all = True
    judges = False

    def heading(self) -> str:
        """Return the heading: the order of the models, and the meaning of p.

        It also names the metrics if one ranks and another chooses hyperparameters. The meaning of p
        is left out if the splits of no data set allow a test.
        """
        tasks = dict.fromkeys(spec.task for spec in self.experiment.datasets.values())
        first = _first_metrics(self.spec, tasks)
        chooses = _first_metrics(self.experiment.file.spec, tasks)
        if first == chooses:
            order = "best first"
        else:
            order = f"best {first} first, hyperparameters chosen by {chooses}"
        if not any(map(self._allows_test, self.experiment.datasets)):
            return order
        return f"{order}; p: p-value of the difference from the best model"

    def _allows_test(self, dataset: str) -> bool:
        """Return True if the outer split of a data set has different test parts of known size."""
        outer = self.spec.protocol.outer
        n_parts = outer.runs_of(dataset) * outer.folds_of(dataset)
        share = share_of_test_rows(dataset, self.experiment)
        return n_parts > 1 and share is not None

    def measures(self, dataset: str, model: str) -> list[Measure]:
        """Return the metrics of the task, the rank, p, the times and the size of a model.

        For the data set `all`, it is only the average rank.
        """
        if dataset == ALL:
            return [Measure(RANK)]
        task = self.task_of(dataset)
        metrics = self.spec.protocol.metrics_for(task, dataset)
        names = [*metrics, RANK, P, *_TIMES, "n_units"]
        return list(map(Measure, names))

    def summarised_cells(self, cells: DataFrame) -> DataFrame:
        """Return the cells with the columns `rank` and `p` of their model; NaN for unranked models.

        Cells of average ranks follow if there are several data sets: one of the data set `all` for
        each model that is ranked on every one.
        """
        import pandas as pd

        groups = cells.groupby(["dataset", "select"], sort=False)
        parts = []
        for (dataset, _), group in groups:
            ranked = self._ranked(group, str(dataset))
            parts.append(ranked)
        if not parts:
            unranked = cells.assign(**{RANK: math.nan, P: math.nan})
            return unranked.reset_index(drop=True)
        table = pd.concat(parts, ignore_index=True)
        averages = _average_rank_cells(table)
        if averages is None:
            return table
        return pd.concat([table, averages], ignore_index=True)

    def _ranked(self, cells: DataFrame, dataset: str) -> DataFrame:
        """Return the cells of one data set and selection with the columns `rank` and `p`.

        They are the rank of the model (1 is the best; equal means share their average) and the
        p-value of its difference from the best model (1 for the best), the same in all of its
        cells. Models that are not ranked, such as a dummy, have NaN; so has p for all models if the
        split allows no test.

        `cells`: the lines of `cells.csv` of this data set and selection; the result is a copy.
        """
        metric = self.experiment.metric_of(dataset)
        all_scores = self._scores(cells, metric)
        scores = rivals_of(all_scores, self.experiment)
        order = self._order_in_cells(cells, scores)
        best = next(iter(order.models), "")
        test_share = share_of_test_rows(dataset, self.experiment, cells)
        p = p_values(scores, test_share, best=best)
        losses = without_round_off(-scores.mean())
        ranks = losses.rank()
        ranked = cells.copy()
        ranked[RANK] = cells["model"].map(ranks)
        ranked[P] = cells["model"].map(p)
        return ranked

    def _scores(self, cells: DataFrame, metric: str) -> DataFrame:
        """Return the score of each test part: a line for each part, a column for each model.

        A part is a run and fold; with the same test parts in every run, it is a fold, whose score
        is the mean over the runs. More is better: errors have a minus sign. A model with failed or
        missing cells, or without a score for some part, has no column. The index is (run, fold), or
        the fold alone. `cells`: those of one data set and selection. `metric`: a column of them.
        """
        import pandas as pd

        complete = self.complete(cells)
        scores = {
            model: group.set_index(["run", "fold"])[metric].astype(float)
            for _, model, group in complete
        }
        table = pd.DataFrame(scores).dropna(axis="columns")
        if self.spec.protocol.outer.kind in REPEATED:
            table = table.groupby("fold").mean()
        return -table if less_is_better(metric) else table

    def columns(self, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns of metrics, ranks, costs and hyperparameters for these data sets.

        Their order is: data set, model, the first metric of each task, further metrics, rank,
        p-value, costs, and chosen hyperparameters; the time of a prediction is last and optional.
        On a data set, metrics of a different task are empty. `datasets`: the suite's names of those
        that the table shows.
        """
        tasks = [self.task_of(name) for name in datasets]
        metrics_by_data = [self.spec.protocol.metrics_for(task) for task in tasks]
        first = dict.fromkeys(metrics[0] for metrics in metrics_by_data)
        further = dict.fromkeys(
            name for metrics in metrics_by_data for name in metrics[1:]
        )
        return (
            DATASET,
            MODEL,
            *map(_metric_column, first),
            *(_brief_column(name) for name in further if name not in first),
            Column(RANK, RANK, numeric=True),
            Column(P, "p", numeric=True, whole=True),
            *(Column(name, heading, numeric=True) for name, heading in _COSTS.items()),
            Column("chosen", "chosen"),
            Column("predict_seconds", "test s", numeric=True, optional=True),
        )

    def lines(self, entries: Sequence[Entry]) -> Iterator[Line]:
        """Yield the lines of each data set as {name of the column: text}, the best model first.

        Models with failed cells come last, without a rank. `entries`: of one section; those of a
        data set, and within it those of a model, stand together.
        """
        for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
            yield from self._lines_of_dataset(dataset, list(group))

    def _lines_of_dataset(
        self, dataset: str, entries: Sequence[Entry]
    ) -> Iterator[Line]:
        """Yield a line {name of the column: text} for each model on a data set, by rank.

        The dummy has no rank and stands before the first model that is no better; models without a
        rank come last. `dataset`: `all` for the average ranks over all of them. `entries`: those of
        this data set.
        """
        by_model = groupby(entries, key=lambda entry: entry.model)
        models = {model: tuple(part) for model, part in by_model}
        means = {model: _means_of(part) for model, part in models.items()}
        order = order_of_means(means, dataset, self.experiment)
        weak_models = self._weak_models(dataset, means)
        if dataset == ALL:
            title = "all data sets"
            dummy_rank = None
            ranks = _average_ranks(means)
        else:
            title = self.experiment.dataset(dataset).title
            dummy_rank = _dummy_rank(means, weak_models)
            ranks = _shared_ranks(means)
        for model in self._display_order(means, order, dummy_rank):
            p = _p_of(model, means, order)
            line = _texts(models[model], means[model], p)
            line["dataset"] = title
            line["model"] = f"{model}{MARK}" if model in weak_models else model
            if model in ranks:
                line[RANK] = ranks[model]
            yield line

    def _weak_models(
        self, dataset: str, means: Mapping[str, Mapping[str, float]]
    ) -> list[str]:
        """Return the models that are no better than the dummy on a data set; none for `all`.

        `means`: {model: {metric: mean}}; a model without the first metric is left out.
        """
        if dataset == ALL:
            return []
        metric = self.experiment.metric_of(dataset)
        scores = {
            model: mean[metric] for model, mean in means.items() if metric in mean
        }
        return not_above_dummy(scores, self.experiment, metric=metric)

    def _display_order(
        self,
        means: Mapping[str, Mapping[str, float]],
        order: ModelOrder,
        dummy_rank: float | None,
    ) -> list[str]:
        """Return the models in the order of their ranks; those without a rank come last.

        `means`: {model: {measure: mean}}. `order`: decides between equal ranks. `dummy_rank`: the
        rank at which the dummy, which has none, is shown; None for the end.
        """
        positions = {model: position for position, model in enumerate(order.models)}

        def sort_key(model: str) -> tuple[float, int, str]:
            """Return (rank of the model, its position in `order`, its name)."""
            rank = means[model].get(RANK, math.inf)
            if dummy_rank is not None and model in self._dummies:
                rank = dummy_rank
            return rank, positions.get(model, 0), model

        return sorted(means, key=sort_key)

    @property
    def _dummies(self) -> Sequence[str]:
        """The names of the models that ignore the features and always predict the same."""
        return dummies(self.experiment)

    def notes(self, cells: DataFrame) -> Iterator[Note]:
        """Yield the notes on each data set, then those on missing metrics.

        The notes on a data set are about its ranking, ties, the dummy, the best model and the power
        of the test, under the default readings and the first selection. `cells`: the frame of
        `cells.csv`.
        """
        for name, group in default_cells(cells).groupby("dataset", sort=False):
            yield from self._ranking_notes(str(name), group).notes()
        yield from missing_metrics(cells, self.experiment)

    def _ranking_notes(self, dataset: str, cells: DataFrame) -> RankingNotes:
        """Return the notes on one data set. `cells`: its lines of `cells.csv` of one selection."""
        metric = self.experiment.metric_of(dataset)
        scores = self._scores(cells, metric)
        rivals = rivals_of(scores, self.experiment)
        return RankingNotes(
            experiment=self.experiment,
            dataset=dataset,
            cells=cells,
            scores=scores,
            order=self._order_in_cells(cells, rivals),
        )

    def _order_in_cells(self, cells: DataFrame, scores: DataFrame) -> ModelOrder:
        """Return the order of the models that are columns of `scores`, by their means.

        `cells`: those of one data set; the means of its metrics, its size and the time of a fit are
        over the ones that ended ok. `scores`: only the names of its columns count.
        """
        dataset = common_value(cells, "dataset")
        metrics = metrics_of(dataset, self.experiment)
        measures = [name for name in (*metrics, SIZE, FIT_TIME) if name in cells]
        by_model = cells_ended_ok(cells).groupby("model")[measures]
        averages: Any = by_model.mean().astype(float)
        means: dict[str, dict[str, float]] = {}
        for model in scores:
            averages_of_model = averages.loc[model]
            means[str(model)] = averages_of_model.to_dict()
        return ModelOrder(metrics, means)


def _average_rank_cells(cells: DataFrame) -> DataFrame | None:
    """Return a cell of the data set `all` for each model and selection, with its average rank.

    The result has the columns `select`, `model`, `rank`, `dataset` ("all"), `run` and `fold` (0),
    `reading` (empty) and `status` ("ok"). `cells`: those of all data sets, with the column `rank`;
    only those under the default reading count, and models that are ranked on every data set. It is
    None for a single data set, or if there is no such model.
    """
    is_default = cells["reading"] == ""
    cell = ["select", "model", "dataset"]
    by_cell = cells[is_default].groupby(cell, sort=False)
    ranks = by_cell[RANK].first().unstack()
    has_one_dataset = len(ranks.columns) < 2
    on_all = ranks.dropna()
    if has_one_dataset or on_all.empty:
        return None
    means = on_all.mean(axis=1)
    averages = means.rename(RANK).reset_index()
    return averages.assign(
        dataset=ALL,
        run=0,
        fold=0,
        reading="",
        status="ok",
    )


def _first_metrics(spec: Experiment, tasks: Iterable[str]) -> str:
    """Return the first metric of each task in words, such as `mcc or rmse`.

    `tasks`: "classification", "regression" or both.
    """
    return " or ".join(spec.protocol.metrics_for(task)[0] for task in tasks)


def _metric_column(metric: str) -> Column:
    """Return the column of a metric, with the name `value-<metric>`."""
    return Column(f"value-{metric}", metric, whole=True)


def _brief_column(metric: str) -> Column:
    """Return the column of a metric that does not rank, named `value-<metric>`.

    It is numeric, with a short heading in a terminal.
    """
    return replace(
        _metric_column(metric), brief=_BRIEF.get(metric, metric), numeric=True
    )


def _average_ranks(means: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return the average ranks over data sets as texts, by model; models without one are left out.

    `means`: {model: {measure: mean}}, those over all data sets.
    """
    return {model: f"{mean[RANK]:.3g}" for model, mean in means.items() if RANK in mean}


def _shared_ranks(means: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """Return the ranks on a data set as texts, by model, such as `3`; `=1` for equal ranks.

    Models with equal ranks share the first place among them; models without a rank are left out.
    `means`: {model: {measure: mean}}.
    """
    ranks = {model: mean[RANK] for model, mean in means.items() if RANK in mean}
    in_order = sorted(ranks.values())
    texts = {}
    for model, rank in ranks.items():
        place = str(in_order.index(rank) + 1)
        is_shared = in_order.count(rank) > 1
        if is_shared:
            place = f"={place}"
        texts[model] = place
    return texts


def _means_of(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the means of a model on a data set, {metric: mean}, without missing ones.

    `entries`: those of the model on the data set.
    """
    return {
        entry.measure.metric: entry.mean for entry in entries if entry.mean is not None
    }


def _dummy_rank(
    means: Mapping[str, Mapping[str, float]], weak_models: Sequence[str]
) -> float:
    """Return the rank at which the dummy is shown.

    It is half a rank before the first of `weak_models`, which are no better than it; after all
    models if there are none. `means`: {model: {measure: mean}}.
    """
    ranks = (means[model].get(RANK, math.inf) - 0.5 for model in weak_models)
    return min(ranks, default=len(means))


def _texts(
    entries: Sequence[Entry], means: Mapping[str, float], p: str
) -> dict[str, str]:
    """Return the texts of a model on a data set: {name of the column: text}.

    The columns are `value-METRIC` for each metric with a text, `p`, the times, `n_units` (the size)
    and `chosen` (hyperparameters). `entries`: those of the model on the data set, at least one.
    `means`: {measure: mean}; missing ones have no text. `p`: the text of its p-value.
    """
    line = {
        f"value-{entry.measure.metric}": entry.shown for entry in entries if entry.shown
    }
    if P in means:
        line[P] = p
    for name in _TIMES:
        if name in means:
            line[name] = quantity(means[name])
    if "n_units" in means:
        line["n_units"] = f"{means['n_units']:.0f}"
    line["chosen"] = entries[0].chosen
    return line


def _p_of(
    model: str, means: Mapping[str, Mapping[str, float]], order: ModelOrder
) -> str:
    """Return the p-value of a model as the table shows it.

    It is "best" for the best model, "tied" if its rank is the same, and empty without a p-value.
    `means`: {model: {measure: mean}}; a model with a p-value has a rank, too. `order`: its first
    model is the best one.
    """
    best = next(iter(order.models), "")
    if model == best:
        return "best"
    if P not in means[model]:
        return ""
    return (
        "tied" if means[model][RANK] == means[best][RANK] else p_text(means[model][P])
    )
