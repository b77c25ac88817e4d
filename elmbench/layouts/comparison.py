"""Comparison of models on a user's data: means, ranks, a test against the best, and times."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from elmbench.layouts.base import DATASET, MODEL, DataFrame, Entry, Layout, Series
from elmbench.layouts.figures import default_cells, words_for
from elmbench.layouts.metrics import missing_metrics
from elmbench.layouts.table import Column, Line, Note, quantity
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import Region, corrected_t_test, holm, without_round_off
from elmbench.protocol.splits import part_sizes
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.protocol import SIZED
from elmbench.specs.published import ALL

#: The rank of a model on a data set, and the p-value of its difference from the best one.
RANK, P = "rank", "p"
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


class Comparison(Layout):
    """A line for each model on each data set, the best first; average ranks if there are several
    data sets.

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
            scores = scores.drop(columns=dummies(resolved), errors="ignore")
            p = p_values(scores, share_of_test_rows(str(dataset), resolved, group))
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
            order = {model: mean.get(RANK, math.inf) for model, mean in means.items()}
            weak_models: list[str] = []
            if dataset != ALL:
                metric = resolved.metric_of(dataset)
                scores = {model: mean[metric] for model, mean in means.items() if metric in mean}
                weak_models = _not_above_dummy(scores, metric, resolved)
                for dummy in set(dummies(resolved)) & set(models):
                    order[dummy] = (
                        min((order[model] for model in weak_models), default=math.inf) - 0.5
                    )
            title = "all data sets" if dataset == ALL else resolved.dataset(dataset).title
            for model in sorted(models, key=lambda model: order[model]):
                names = {"dataset": title, "model": model + MARK * (model in weak_models)}
                yield names | _texts(models[model], means[model])

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
            rivals = scores.drop(columns=dummies(resolved), errors="ignore")
            outer = resolved.spec.protocol.outer
            most = 1 if outer.kind in REPEATED else MOST_RUNS
            share = share_of_test_rows(spec.name, resolved, group)
            counts = needed_runs(rivals, share, outer.folds_of(spec.name), most)
            if counts:
                best = rivals.mean().idxmax()
                yield Note(
                    "power",
                    f"{dataset}: these folds cannot separate {best} from {_group_by_runs(counts)}",
                )
        yield from missing_metrics(cells, resolved)


def ranking(summary: DataFrame, dataset: str) -> list[str]:
    """Return the ranked models of a data set, the best first."""
    lines = summary[(summary["dataset"] == dataset) & (summary["metric"] == RANK)].dropna(
        subset=["mean"]
    )
    return [str(model) for model in lines.sort_values("mean", kind="stable")["model"]]


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


def dummies(resolved: Resolved) -> list[str]:
    """Return the names of the columns that hold the dummy model."""
    return [name for name, column in resolved.spec.models.items() if column.model == DUMMY]


def _not_above_dummy(means: Mapping[Any, float], metric: str, resolved: Resolved) -> list[str]:
    """Return the models whose mean is no better than the dummy's; less is better for an error
    metric.
    """
    sign = -1 if less_is_better(metric) else 1
    names = dummies(resolved)
    bar = next((sign * means[name] for name in names if name in means), -math.inf)
    return [str(name) for name, mean in means.items() if name not in names and sign * mean <= bar]


def _texts(entries: Sequence[Entry], means: Mapping[str, float]) -> dict[str, str]:
    """Return the texts of a model on a data set, by column."""
    line = {f"value-{entry.measure.metric}": entry.shown for entry in entries if entry.shown}
    if RANK in means:
        line[RANK] = f"{means[RANK]:.3g}"
    if P in means:
        line[P] = "best" if means.get(RANK) == 1 else p_text(means[P])
    line |= {name: quantity(means[name]) for name in _TIMES if name in means}
    line["chosen"] = entries[0].chosen
    return line | ({"n_units": f"{means['n_units']:.0f}"} if "n_units" in means else {})


def p_text(p: float) -> str:
    """Return a p-value as tables show it."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_values(scores: DataFrame, test_share: float | None, n: int = 0) -> Series[float]:
    """Return the p-value of the difference of each model from the best one, by Holm's correction; 1
    for the best.

    `scores`: a line for each fold, a column for each model; more is better. `test_share` and `n`
    are those of `corrected_t_test`. The result is empty if there are fewer than two folds or no
    `test_share`.
    """
    import pandas as pd

    if len(scores) < 2 or not len(scores.columns) or test_share is None:
        return pd.Series(dtype=float)
    best = scores.mean().idxmax()
    better = Region(low=0.0)
    # The test is two-sided.
    rivals = scores.columns.drop([best])
    tests = (
        corrected_t_test(scores[best] - scores[name], test_share, better, n=n) for name in rivals
    )
    p = dict(zip(rivals, holm([2 * test.confirming for test in tests]), strict=True)) | {best: 1.0}
    return pd.Series({str(name): p[name] for name in scores}, dtype=float)


def needed_runs(
    scores: DataFrame, test_share: float | None, folds: int, max_runs: int
) -> dict[str, int | None]:
    """Return the runs that would separate models from the best one, for those that the folds do not
    separate.

    The differences keep their means and deviations. None means that `max_runs` would not suffice:
    since training parts overlap, the variance of a mean difference never falls below s^2 x
    `test_share`.
    """
    p = p_values(scores, test_share)
    best = scores.mean().idxmax() if len(p) else ""
    counts: dict[str, int | None] = {
        str(model): None for model in p.index if model != best and p[model] >= LEVEL
    }
    for runs in range(len(scores) // folds + 1, max_runs + 1) if counts else ():
        p = p_values(scores, test_share, runs * folds)
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
