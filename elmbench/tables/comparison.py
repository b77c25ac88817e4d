"""Comparison of models on a user's data: means, ranks, a test against the best, and times."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from elmbench.evaluation.splits import part_sizes
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import Region, corrected_t_test, holm, without_round_off
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import SIZED
from elmbench.specs.published import ALL
from elmbench.tables.base import DATASET, MODEL, DataFrame, Entry, Series, TableKind
from elmbench.tables.drawing import default_cells, words_for
from elmbench.tables.metrics import missing_metrics
from elmbench.tables.model_order import FIT_TIME, SIZE, ModelOrder, order_of_metrics
from elmbench.tables.result_table import Column, Line, Note, quantity

#: The rank of a model on a data set, and the p-value of its difference from the best one.
RANK = "rank"
P = "p"
_COSTS = {"fit_seconds": "fit s", "search_seconds": "search s", "n_units": "size"}
_TIMES = ("fit_seconds", "search_seconds", "predict_seconds")
#: The model that ignores the features: it has no rank; models that are no better are marked.
DUMMY = "dummy"
MARK = " *"
#: The level of the test of two models.
LEVEL = 0.05
#: The most repetitions of the folds that a note advises.
MOST_RUNS = 100
#: Splits with the same test parts in every run.
REPEATED = ("ordered-kfold", "predefined-kfold")


class ComparisonTable(TableKind):
    """A line for each model on each data set, the best first; average ranks if there are several
    data sets. Models with equal means share a rank, and `ModelOrder` orders them.

    The test is the corrected resampled t-test of the differences on the same rows from the model of
    the best mean (Nadeau and Bengio, "Inference for the generalization error", 2003), by Holm's
    correction over the other models. Only models whose cells all ended ok are ranked.
    """

    shows_metrics = True
    ranks = True
    judges = False

    def heading(self, resolved: Resolved) -> str:
        tasks = dict.fromkeys(spec.task for spec in resolved.datasets.values())
        first, chooses = (
            " or ".join(spec.protocol.metrics_for(task)[0] for task in tasks)
            for spec in (resolved.spec, resolved.file.spec)
        )
        order = (
            "best first"
            if first == chooses
            else f"best {first} first, hyperparameters chosen by {chooses}"
        )
        official = resolved.spec.protocol.outer.kind == "official"
        return order if official else f"{order}; p: p-value of the difference from the best model"

    def measures(self, resolved: Resolved, dataset: str, model: str) -> list[Measure]:
        if dataset == ALL:
            return [Measure(RANK)]
        metrics = resolved.spec.protocol.metrics_for(resolved.dataset(dataset).task)
        return [Measure(name) for name in (*metrics, RANK, P, *_TIMES, "n_units")]

    def entries_of(self, cells: DataFrame, resolved: Resolved) -> DataFrame:
        """Return the cells with the rank and the p-value of their model, and the average ranks over
        data sets.
        """
        import pandas as pd

        parts = []
        for (dataset, _), group in cells.groupby(["dataset", "select"], sort=False):
            scores = self._scores(group, resolved.metric_of(str(dataset)), resolved)
            scores = rivals_of(scores, resolved)
            best = next(iter(_order_in_cells(group, scores, resolved).models), "")
            p = p_values(scores, share_of_test_rows(str(dataset), resolved, group), best=best)
            ranks = without_round_off(-scores.mean()).rank()
            parts.append(
                group.assign(**{RANK: group["model"].map(ranks), P: group["model"].map(p)})
            )
        table = pd.concat(parts) if parts else cells.assign(**{RANK: math.nan, P: math.nan})
        default = table[table["reading"] == ""]
        by_data = (
            default.groupby(["select", "model", "dataset"], sort=False)[RANK].first().unstack()
        )
        # The average rank of each model that is ranked on every one of several data sets.
        means = by_data.dropna().mean(axis=1).rename(RANK).reset_index()
        if len(by_data.columns) < 2 or not len(means):
            return table.reset_index(drop=True)
        over_all = means.assign(dataset=ALL, run=0, fold=0, reading="", status="ok")
        return pd.concat([table, over_all], ignore_index=True)

    def _scores(self, cells: DataFrame, metric: str, resolved: Resolved) -> DataFrame:
        """Return the score of each test part (more is better), a column for each model that has
        them all.
        """
        import pandas as pd

        complete = self.complete(cells, resolved)
        scores = {
            model: group.set_index(["run", "fold"])[metric].astype(float)
            for _, model, group in complete
        }
        table = pd.DataFrame(scores).dropna(axis="columns")
        if resolved.spec.protocol.outer.kind in REPEATED:
            table = table.groupby("fold").mean()
        return -table if less_is_better(metric) else table

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        protocol = resolved.spec.protocol
        metrics_by_data = [protocol.metrics_for(resolved.dataset(name).task) for name in datasets]
        # The first metric of each task comes first; metrics of another task are empty.
        first = dict.fromkeys(metrics[0] for metrics in metrics_by_data)
        further = dict.fromkeys(
            name for metrics in metrics_by_data for name in metrics[1:] if name not in first
        )
        main, rest = (
            [Column(f"value-{m}", words_for(m), whole=True) for m in part]
            for part in (first, further)
        )
        rank = (Column(RANK, RANK, numeric=True), Column(P, "p", numeric=True, whole=True))
        times = (Column(name, heading, numeric=True) for name, heading in _COSTS.items())
        test = Column("predict_seconds", "test s", numeric=True, optional=True)
        return (DATASET, MODEL, *main, *rank, *times, *rest, Column("chosen", "chosen"), test)

    def lines(self, entries: Sequence[Entry], resolved: Resolved) -> Iterator[Line]:
        """Yield the lines of each data set, the best model first; models with failed cells come
        last.
        """
        for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
            models = {
                model: tuple(part) for model, part in groupby(group, key=lambda entry: entry.model)
            }
            means = {
                model: {
                    entry.measure.metric: entry.mean for entry in part if entry.mean is not None
                }
                for model, part in models.items()
            }
            ranked = _ranked(means, dataset, resolved)
            ranks = {model: mean.get(RANK, math.inf) for model, mean in means.items()}
            weak_models: list[str] = []
            if dataset != ALL:
                metric = resolved.metric_of(dataset)
                scores = {model: mean[metric] for model, mean in means.items() if metric in mean}
                weak_models = _not_above_dummy(scores, metric, resolved)
                for dummy in set(dummies(resolved)) & set(models):
                    ranks[dummy] = min(
                        (ranks[model] - 0.5 for model in weak_models), default=len(models)
                    )
            positions = {model: i for i, model in enumerate(ranked.models)}
            title = "all data sets" if dataset == ALL else resolved.dataset(dataset).title
            for model in sorted(
                models, key=lambda model: (ranks[model], positions.get(model, 0), model)
            ):
                names = {"dataset": title, "model": model + MARK * (model in weak_models)}
                yield names | _texts(models[model], means[model], _p_of(model, means, ranked))

    def notes(self, cells: DataFrame, resolved: Resolved) -> Iterator[Note]:
        """Yield the models without a rank, those no better than the dummy, and those that the folds
        cannot separate.
        """
        for dataset, group in default_cells(cells).groupby("dataset", sort=False):
            spec = resolved.dataset(str(dataset))
            metric = resolved.metric_of(spec.name)
            ok = group[(group["status"] == "ok") & ~group["model"].isin(dummies(resolved))]
            missing = ok[metric].isna().groupby(ok["model"], sort=False).mean()
            if partly := [str(model) for model in missing.index[(missing > 0) & (missing < 1)]]:
                why = f"{metric} is not defined for a test part, such as one that lacks a class"
                yield Note(
                    "metric",
                    f"{dataset}: {', '.join(partly)} without a rank: {why}; try fewer folds",
                )
            scores = self._scores(group, metric, resolved)
            order = _order_in_cells(group, rivals_of(scores, resolved), resolved)
            if order.ties:
                groups = "; ".join(", ".join(models) for models in order.ties)
                text = f"{dataset}: same mean {metric}: {groups}; ties are ordered by {order.rule}"
                yield Note("tie", text)
            weak_models = _not_above_dummy(scores.mean().to_dict(), "", resolved)
            if weak_models:
                predicts = (
                    "the most frequent class" if spec.task == "classification" else "the mean"
                )
                text = (
                    f"{dataset}:{MARK} no better than always predicting {predicts} (dummy): "
                    f"{', '.join(weak_models)}"
                )
                yield Note("dummy", text)
            rivals = rivals_of(scores, resolved)
            outer = resolved.spec.protocol.outer
            most = 1 if outer.kind in REPEATED else MOST_RUNS
            share = share_of_test_rows(spec.name, resolved, group)
            best = next(iter(order.models), "")
            counts = needed_runs(rivals, share, outer.folds_of(spec.name), most, best=best)
            if counts:
                close = {model: counts[model] for model in order.models if model in counts}
                yield Note(
                    "power",
                    f"{dataset}: these folds cannot separate {best} from {_group_by_runs(close)}",
                )
        yield from missing_metrics(cells, resolved)


def ranking(summary: DataFrame, dataset: str, resolved: Resolved) -> ModelOrder:
    """Return the order of the ranked models of a data set."""
    lines = summary[summary["dataset"] == dataset].dropna(subset=["mean"])
    means = {
        str(model): dict(zip(group["metric"], group["mean"].astype(float), strict=True))
        for model, group in lines.groupby("model", sort=False)
    }
    return _ranked(means, dataset, resolved)


def _ranked(
    means: Mapping[str, Mapping[str, float]], dataset: str, resolved: Resolved
) -> ModelOrder:
    """Return the order of the models of a data set, or of all, that have a rank."""
    ranked = {model: mean for model, mean in means.items() if RANK in mean}
    return ModelOrder(() if dataset == ALL else _metrics_of(dataset, resolved), ranked)


def _order_in_cells(cells: DataFrame, scores: DataFrame, resolved: Resolved) -> ModelOrder:
    """Return the order of the models with a column of scores, from the cells of one data set."""
    metrics = _metrics_of(str(cells["dataset"].iloc[0]), resolved)
    measures = [name for name in (*metrics, SIZE, FIT_TIME) if name in cells]
    means = cells[cells["status"] == "ok"].groupby("model")[measures].mean().astype(float)
    by_model: Any = means.to_dict("index")
    return ModelOrder(metrics, {name: by_model[name] for name in map(str, scores)})


def _metrics_of(dataset: str, resolved: Resolved) -> tuple[str, ...]:
    """Return the metrics of the table for a data set, the one that ranks first."""
    task = resolved.dataset(dataset).task
    return order_of_metrics(resolved.metric_of(dataset), resolved.spec.protocol.metrics_for(task))


def _group_by_runs(counts: Mapping[str, int | None]) -> str:
    """Return the names of models, grouped by the number of runs that would separate them from the
    best one.
    """
    groups = []
    for runs in sorted(set(counts.values()), key=lambda runs: runs or math.inf):
        models = ", ".join(model for model, count in counts.items() if count == runs)
        hint = (
            f"{runs} runs would, if the differences stay as large"
            if runs
            else "nor would more runs"
        )
        groups.append(f"{models} ({hint})")
    return " or ".join(groups)


def rivals_of(scores: DataFrame, resolved: Resolved) -> DataFrame:
    """Return the scores without those of the dummy model."""
    return scores.drop(columns=dummies(resolved), errors="ignore")


def dummies(resolved: Resolved) -> list[str]:
    """Return the names of the columns that hold the dummy model."""
    return [name for name, column in resolved.spec.models.items() if column.model == DUMMY]


def _not_above_dummy(means: Mapping[Any, float], metric: str, resolved: Resolved) -> list[str]:
    """Return the models whose mean is no better than the dummy's; less is better for an error
    metric.
    """
    sign = -1 if less_is_better(metric) else 1
    names = dummies(resolved)
    scores = {str(name): without_round_off(sign * mean) for name, mean in means.items()}
    bar = next((scores[name] for name in names if name in scores), -math.inf)
    return [name for name, score in scores.items() if name not in names and score <= bar]


def _texts(entries: Sequence[Entry], means: Mapping[str, float], p: str) -> dict[str, str]:
    """Return the texts of a model on a data set, by column, with that of its p-value."""
    line = {f"value-{entry.measure.metric}": entry.shown for entry in entries if entry.shown}
    if RANK in means:
        line[RANK] = f"{means[RANK]:.3g}"
    if P in means:
        line[P] = p
    line |= {name: quantity(means[name]) for name in _TIMES if name in means}
    line["chosen"] = entries[0].chosen
    return line | ({"n_units": f"{means['n_units']:.0f}"} if "n_units" in means else {})


def _p_of(model: str, means: Mapping[str, Mapping[str, float]], order: ModelOrder) -> str:
    """Return the p-value of a model as the table shows it; "tied" if its mean is the best one
    too.
    """
    best = next(iter(order.models), "")
    if model == best:
        return "best"
    if P not in means[model]:
        return ""
    return "tied" if means[model][RANK] == means[best][RANK] else p_text(means[model][P])


def p_text(p: float) -> str:
    """Return a p-value as tables show it."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_values(
    scores: DataFrame, test_share: float | None, n: int = 0, *, best: str = ""
) -> Series[float]:
    """Return the p-value of the difference of each model from the best one, by Holm's correction; 1
    for the best.

    `scores`: a line for each fold, a column for each model; more is better. `test_share` and `n`
    are those of `corrected_t_test`. `best`: the best model; by default that of the best mean, the
    first by name if there are several. The result is empty if there are fewer than two folds or no
    `test_share`.
    """
    import pandas as pd

    if len(scores) < 2 or not len(scores.columns) or test_share is None:
        return pd.Series(dtype=float)
    best = best or without_round_off(scores.mean().sort_index()).idxmax()
    better = Region(low=0.0)
    # The test is two-sided.
    rivals = scores.columns.drop([best])
    tests = (
        corrected_t_test(scores[best] - scores[name], test_share, better, n=n) for name in rivals
    )
    p = dict(zip(rivals, holm([2 * test.confirming for test in tests]), strict=True)) | {best: 1.0}
    return pd.Series({str(name): p[name] for name in scores}, dtype=float)


def needed_runs(
    scores: DataFrame, test_share: float | None, folds: int, max_runs: int, *, best: str = ""
) -> dict[str, int | None]:
    """Return the runs that would separate models from the best one, for those that the folds do not
    separate. `best` is that of `p_values`.

    The differences keep their means and deviations. None means that `max_runs` would not suffice:
    since training parts overlap, the variance of a mean difference never falls below s^2 x
    `test_share`.
    """
    p = p_values(scores, test_share, best=best)
    best = best or str(p.idxmax() if len(p) else "")
    counts: dict[str, int | None] = {
        str(model): None for model in p.index if model != best and p[model] >= LEVEL
    }
    for runs in range(len(scores) // folds + 1, max_runs + 1) if counts else ():
        p = p_values(scores, test_share, runs * folds, best=best)
        counts |= {
            model: runs for model, count in counts.items() if count is None and p[model] < LEVEL
        }
    return counts


def share_of_test_rows(
    dataset: str, resolved: Resolved, cells: DataFrame | None = None
) -> float | None:
    """Return test rows over training rows of a split; None if the test rows are the same in every
    run.

    `cells` of the data set tell how many rows are in none of the predefined test parts.
    """
    spec = resolved.dataset(dataset)
    split = resolved.spec.protocol.outer.split(dataset, spec.task)
    if split.kind == "ordered-kfold":
        # A fold has 1/(k+1) of the rows, and the average training part has half of them.
        return 2 / (split.folds + 1)
    if split.kind == "predefined-kfold" and cells is not None:
        n_test = float(cells["n_test"].mean())
        return n_test / (spec.shape.instances - n_test)
    if split.kind.endswith("kfold"):
        return 1 / (split.folds - 1)
    if split.kind not in SIZED or split.kind == "in-order":
        return None
    train, test = part_sizes(split, spec.public.instances)
    return test / train
