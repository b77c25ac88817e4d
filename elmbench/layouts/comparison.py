"""Models side by side on data of a user's own: means, ranks, a test against the best, times, and a picture."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from elmbench.layouts.base import DATASET, MODEL, Entry, Gains, Layout, Outputs
from elmbench.layouts.figures import default_cells, panel_title, panels, png, words_for
from elmbench.layouts.table import Column, Item, Line, Note, Quantity, Text
from elmbench.metrics import less_is_better
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL

#: The rank of a model on a data set, and the probability of a difference from the best one like that which was found,
#: were they equally good.
RANK, P = "rank", "p"
_COSTS = {"fit_seconds": "fit s", "search_seconds": "search s", "n_units": "size"}
_TIMES = ("fit_seconds", "search_seconds", "predict_seconds")
#: The model that learns nothing from the features: it has no rank, and marks the models that it beats.
DUMMY = "dummy"
MARK = " *"
#: p-values below it tell two models apart.
LEVEL = 0.05
#: Repetitions of the folds that are worth advising.
MOST_RUNS = 100


@dataclass(frozen=True)
class NotAboveDummy(Note):
    """Models that are no better than the dummy."""

    kind = "dummy"
    dataset: str
    models: tuple[str, ...]
    task: str

    @property
    def text(self) -> str:
        predicts = "the most frequent class" if self.task == "classification" else "the mean"
        return f"{self.dataset}:{MARK} no better than always predicting {predicts} (dummy): {', '.join(self.models)}"


@dataclass(frozen=True)
class NotSeparated(Note):
    """Models that the folds cannot tell from the best one, each with the runs that would; None if no number would."""

    kind = "power"
    dataset: str
    best: str
    runs: tuple[tuple[str, int | None], ...]

    @property
    def text(self) -> str:
        parts = []
        for runs, group in groupby(sorted(self.runs, key=lambda pair: pair[1] or math.inf), key=lambda pair: pair[1]):
            models = ", ".join(model for model, _ in group)
            parts.append(f"{models} ({f'--runs {runs} would' if runs else 'nor would more runs'})")
        last = "" if all(runs is None for _, runs in self.runs) else "; if the differences stay as large as they are"
        return f"{self.dataset}: these folds cannot separate {self.best} from {'; '.join(parts)}{last}"


class Comparison(Layout):
    """A line for each model on each data set, the best first; of several data sets, the average ranks at the end.

    The test is the corrected resampled t-test of the differences on the same rows from the model of the best mean
    (Nadeau and Bengio, "Inference for the generalization error", 2003), by Holm's correction over the other models.
    Only models of which every cell ended ok are ranked.
    """

    def heading(self, resolved: Resolved) -> str:
        """Return what the lines show."""
        return "best first; p: p-value of the difference from the best model"

    def measures(self, resolved: Resolved, dataset: str, model: str) -> list[Measure]:
        """Return the metrics of the task in the protocol's order, rank and probability, times and sizes."""
        if dataset == ALL:
            return [Measure(RANK)]
        own = resolved.spec.protocol.metrics_for(resolved.dataset(dataset).task)
        return [Measure(name) for name in (*own, RANK, P, *_TIMES, "n_units")]

    def entries_of(self, cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
        """Return the cells with the rank and the probability of their model, and the average ranks over data sets."""
        parts = []
        for (dataset, _), group in cells.groupby(["dataset", "select"], sort=False):
            metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
            scores = self._scores(group, metric, resolved).drop(columns=dummies(resolved), errors="ignore")
            p = against_best(scores, _test_share(resolved, str(dataset)))
            ranks = (-scores.mean()).rank()
            parts.append(group.assign(**{RANK: group["model"].map(ranks), P: group["model"].map(p)}))
        found = pd.concat(parts) if parts else cells.assign(**{RANK: math.nan, P: math.nan})
        return pd.concat([found, *_over_data_sets(found)], ignore_index=True)

    def _scores(self, cells: pd.DataFrame, metric: str, resolved: Resolved) -> pd.DataFrame:
        """Return the score of each fold (more is better), a column for each model that has them all."""
        found: dict[str, pd.Series[float]] = {}
        for model, own in cells.groupby("model", sort=False):
            if (own["status"] == "ok").all() and super().is_complete(own, resolved):
                found[str(model)] = own.set_index(["run", "fold"])[metric].astype(float)
        table = pd.DataFrame(found).dropna(axis="columns")
        return -table if less_is_better(metric) else table

    def is_complete(self, cells: pd.DataFrame, resolved: Resolved) -> bool:
        """Tell whether the cells of an entry have all folds; an average rank is of data sets that have."""
        return str(cells["dataset"].iloc[0]) == ALL or super().is_complete(cells, resolved)

    def is_judged(self, measure: Measure) -> bool:
        """Tell that nothing is judged: nothing is published."""
        return False

    def columns(self, resolved: Resolved, datasets: Collection[str]) -> tuple[Column, ...]:
        """Return the columns: the first metric, rank and probability, the other metrics, times and size."""
        protocol = resolved.spec.protocol
        shown = [protocol.metrics_for(resolved.dataset(name).task) for name in datasets]
        # That of each task first; what a data set's task has not is left empty.
        first = dict.fromkeys(own[0] for own in shown)
        others = dict.fromkeys(name for own in shown for name in own[1:] if name not in first)
        ranked, more = ([Column(_column(name), words_for(name), whole=True) for name in of] for of in (first, others))
        rank = (Column(RANK, RANK, numeric=True), Column(P, "p", numeric=True, whole=True))
        times = (Column(name, heading, numeric=True) for name, heading in _COSTS.items())
        return (DATASET, MODEL, *ranked, *rank, *times, *more, Column("predict_seconds", "test s", True, optional=True))

    def lines(self, entries: Sequence[Entry], gains: Gains, resolved: Resolved) -> Iterator[Line]:
        """Yield the lines of each data set, the best model first; models with failed cells come last."""
        for dataset, group in groupby(entries, key=lambda entry: entry.dataset):
            models = {
                model: {entry.measure.metric: entry for entry in own}
                for model, own in groupby(group, key=lambda entry: entry.model)
            }
            ranks = {model: found[RANK].mean for model, found in models.items() if RANK in found}
            order = {model: math.inf if rank is None else rank for model, rank in ranks.items()}
            if dataset != ALL:
                metric = resolved.spec.protocol.metric_for(resolved.dataset(dataset).task)
                means = {model: found[metric].mean for model, found in models.items() if metric in found}
                beaten = _not_above_dummy(means, metric, resolved)
                for dummy in set(dummies(resolved)) & set(means):
                    order[dummy] = min((order[model] for model in beaten), default=math.inf) - 0.5
            else:
                beaten = []
            for model in sorted(models, key=lambda model: order.get(model, math.inf)):
                name = model + MARK * (model in beaten)
                yield _line(dataset, name, models[model], resolved)

    def notes(self, cells: pd.DataFrame, resolved: Resolved) -> Iterator[Note]:
        """Yield which models are no better than the dummy, and which the folds cannot tell from the best one."""
        for dataset, group in default_cells(cells).groupby("dataset", sort=False):
            spec = resolved.dataset(str(dataset))
            metric = resolved.spec.protocol.metric_for(spec.task)
            scores = self._scores(group, metric, resolved)
            beaten = _not_above_dummy(scores.mean().to_dict(), "", resolved)
            if beaten:
                yield NotAboveDummy(str(dataset), tuple(beaten), spec.task)
            rivals = scores.drop(columns=dummies(resolved), errors="ignore")
            outer = resolved.spec.protocol.outer
            most = 1 if outer.kind == "ordered-kfold" else MOST_RUNS
            needed = runs_needed(rivals, _test_share(resolved, str(dataset)), outer.folds_of(str(dataset)), most)
            if needed:
                yield NotSeparated(str(dataset), str(rivals.mean().idxmax()), tuple(needed.items()))

    def points_of(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
        """Return the score of each model on each fold."""
        parts = []
        for dataset, group in default_cells(cells[cells["status"] == "ok"]).groupby("dataset", sort=False):
            metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
            places = group[["dataset", "model", "run", "fold"]]
            parts.append(places.assign(metric=metric, value=group[metric].astype(float)))
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def draw(self, points: pd.DataFrame, resolved: Resolved) -> bytes:
        return draw_scores(points, resolved)


def dummies(resolved: Resolved) -> list[str]:
    """Return the columns of the dummy."""
    return [name for name, column in resolved.spec.models.items() if column.model == DUMMY]


def _not_above_dummy(means: Mapping[Any, float | None], metric: str, resolved: Resolved) -> list[str]:
    """Return the models whose mean is no better than the dummy's; less is better for an error metric."""
    sign = -1 if less_is_better(metric) else 1
    dummy = next((mean for name in dummies(resolved) if (mean := means.get(name)) is not None), None)
    if dummy is None:
        return []
    others = ((name, mean) for name, mean in means.items() if name not in dummies(resolved) and mean is not None)
    return [str(name) for name, mean in others if sign * mean <= sign * dummy]


def _line(dataset: str, model: str, found: dict[str, Entry], resolved: Resolved) -> Line:
    over_all = dataset == ALL
    line: dict[str, Item] = {
        "dataset": Text("all data sets" if over_all else resolved.dataset(dataset).title),
        "model": Text(model),
    }
    metrics = [] if over_all else resolved.spec.protocol.metrics_for(resolved.dataset(dataset).task)
    for metric in metrics:
        item = found[metric].found if metric in found else None
        if item is not None:
            line[_column(metric)] = item
    means = {name: entry.mean for name, entry in found.items() if entry.mean is not None}
    if RANK in means:
        line[RANK] = Text(f"{means[RANK]:.3g}")
    if P in means:
        p = means[P]
        line[P] = Text("best" if means.get(RANK) == 1 else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0"))
    line |= {name: Quantity(means[name]) for name in _TIMES if name in means}
    return line | ({"n_units": Text(f"{means['n_units']:.0f}")} if "n_units" in means else {})


def _column(metric: str) -> str:
    """Return the name of a metric's column."""
    return f"value-{metric}"


def against_best(scores: pd.DataFrame, test_share: float, n: int | None = None) -> pd.Series[float]:
    """Return for each model the probability of a difference from the best one like that found, were they equally good.

    Parameters
    ----------
    scores : DataFrame
        A line for each fold, a column for each model; more is better.
    test_share : float
        Test rows over training rows: the variance of the mean of n differences is s^2 (1/n + test_share).
    n : int, optional
        Take the mean and the deviation of the differences as those of so many folds.

    Returns
    -------
    Series
        By model, by Holm's correction; 1 for the best. Empty where there are fewer than two folds.
    """
    from scipy.special import stdtr

    n_scores = len(scores)
    n = n_scores if n is None else n
    if n_scores < 2 or not len(scores.columns):
        return pd.Series(dtype=float)
    best = scores.mean().idxmax()
    p: dict[str, float] = {}
    for model in map(str, scores):
        apart: NDArray[np.float64] = (scores[best] - scores[model]).to_numpy()
        mean, error = float(apart.mean()), float(apart.std(ddof=1)) * math.sqrt(1 / n + test_share)
        p[model] = 1.0 if mean == 0 else 2 * float(stdtr(n - 1, -mean / error)) if error > 0 else 0.0
    others = [model for model in p if model != best]
    return pd.Series(p | dict(zip(others, holm([p[model] for model in others]), strict=True)), dtype=float)


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction: the smallest times their number, the next times one less, and so on."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p, float)[order] * np.arange(len(p), 0, -1)))
    return [float(one) for one in corrected]


def runs_needed(scores: pd.DataFrame, test_share: float, folds: int, most: int = MOST_RUNS) -> dict[str, int | None]:
    """Return the runs that would separate models from the best one, for those that the folds do not separate.

    The differences keep their means and deviations. None means that `most` runs would not do: training parts overlap,
    so the variance of a mean difference does not fall below s^2 x `test_share`.
    """
    p = against_best(scores, test_share)
    best = scores.mean().idxmax() if len(p) else ""
    needed: dict[str, int | None] = {str(model): None for model in p.index if model != best and p[model] >= LEVEL}
    for runs in range(len(scores) // folds + 1, most + 1) if needed else ():
        p = against_best(scores, test_share, runs * folds)
        needed |= {model: runs for model, known in needed.items() if known is None and p[model] < LEVEL}
    return needed


def _test_share(resolved: Resolved, dataset: str) -> float:
    outer = resolved.spec.protocol.outer
    folds = outer.folds_of(dataset)
    # Of rows in their order a fold is 1/(k+1) of all, and half of all are learnt on average.
    return 2 / (folds + 1) if outer.kind == "ordered-kfold" else 1 / (folds - 1)


def _over_data_sets(cells: pd.DataFrame) -> list[pd.DataFrame]:
    """Return a line for each model that is ranked on every one of several data sets: its average rank."""
    default = cells[cells["reading"] == ""]
    ranks = default.groupby(["select", "model", "dataset"], sort=False)[RANK].first().unstack()
    if len(ranks.columns) < 2:
        return []
    means = ranks.dropna().mean(axis=1).rename(RANK).reset_index()
    return [means.assign(dataset=ALL, run=0, fold=0, reading="", status="ok")] if len(means) else []


def draw_scores(data: pd.DataFrame, resolved: Resolved) -> bytes:
    """Return the picture of scores by model and fold as PNG: a dot a fold, a bar at the mean, the best model on top."""
    groups = list(data.groupby("dataset", sort=False))
    most = max(group["model"].nunique() for _, group in groups)
    figure, axes = panels(len(groups), height=0.9 + 0.28 * most)
    for one, (dataset, group) in zip(axes, groups, strict=True):
        metric = str(group["metric"].iloc[0])
        means = group.groupby("model", sort=False)["value"].mean()
        order = means.sort_values(ascending=not less_is_better(metric))
        for place, model in enumerate(order.index):
            values = group.loc[group["model"] == model, "value"]
            one.plot(values, [place] * len(values), "o", color="C0", alpha=0.35, markersize=4, markeredgewidth=0)
            one.plot([order[model]], [place], "|", color="C3", markersize=13, markeredgewidth=2)
        one.set_yticks(range(len(order)), list(order.index))
        one.set_xlabel(f"{words_for(metric)}: each test part (dots), mean (bar)", fontsize="small")
        panel_title(one, resolved.dataset(str(dataset)).title)
    return png(figure)
