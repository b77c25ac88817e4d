"""The order of the models of a comparison on one data set, and its rule for ties.

Models are ordered by the mean of the metric that ranks. Those with the same mean are ordered by the
further metrics of the table, then by size, by fit time and by name. The order of naming never
counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elmbench.metrics import less_is_better
from elmbench.numerics.significance import without_round_off
from elmbench.specs.profiles import Resolved
from elmbench.specs.published import ALL

if TYPE_CHECKING:
    from pandas import DataFrame

#: The measure of a model that has a rank on a data set.
RANK = "rank"
SIZE = "n_units"
FIT_TIME = "fit_seconds"
#: The advantage of a model that a cost puts before another one.
_ADVANTAGES = {SIZE: "smaller size", FIT_TIME: "shorter fit time"}


@dataclass(frozen=True)
class ModelOrder:
    """The models on one data set, the best first.

    Attributes
    ----------
    metrics : tuple of str
        The metrics of the table for the data set; the first one ranks.
    means : mapping of str to mapping of str to float
        The mean of each measure, by model and then by measure. A model may lack some measures.
    """

    metrics: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]

    @property
    def criteria(self) -> tuple[str, ...]:
        """The measures that order models, before their names."""
        return (*self.metrics, SIZE, FIT_TIME)

    def key(self, model: str) -> tuple[float, ...]:
        """Return the sort key of a model: a number for each of `criteria`, less is better.

        Values that differ by round-off are equal; a measure that the model lacks is infinite.
        """
        means = self.means[model]
        return tuple(_loss(name, means.get(name, math.nan)) for name in self.criteria)

    @property
    def models(self) -> list[str]:
        """The models, the best first."""
        return sorted(self.means, key=lambda model: (self.key(model), model))

    @property
    def ties(self) -> list[list[str]]:
        """The groups of two or more models with the same finite mean of the metric that ranks.

        The best group comes first; the models of a group are in their order. Without metrics, the
        models of a group have the same size.
        """
        groups: dict[float, list[str]] = {}
        for model in self.models:
            mean = self.key(model)[0]
            group = groups.setdefault(mean, [])
            group.append(model)
        return [
            group
            for mean, group in groups.items()
            if len(group) > 1 and math.isfinite(mean)
        ]

    @property
    def rule(self) -> str:
        """The rule for ties on the metric that ranks, in words.

        Such as "the better f1, then the smaller size, then the shorter fit time, then the name".
        """
        better = [f"the better {name}" for name in self.metrics[1:]]
        costs = [f"the {advantage}" for advantage in _ADVANTAGES.values()]
        return ", then ".join([*better, *costs, "the name"])

    def advantages_of_best(self) -> str:
        """Return a text on why the best model comes before those tied with it; empty without a tie.

        Such as "tied with svm on accuracy; shorter fit time". The order must have metrics.
        """
        rivals = self._tied_with_best
        if not rivals:
            return ""
        best = self.models[0]
        by_advantage: dict[str, list[str]] = {}
        for rival in rivals:
            advantage = self._advantage(best, rival)
            inferior = by_advantage.setdefault(advantage, [])
            inferior.append(rival)
        tie = f"tied with {', '.join(rivals)} on {self.metrics[0]}"
        return f"{tie}; {_advantages_text(by_advantage)}"

    @property
    def _tied_with_best(self) -> list[str]:
        """The other models that are tied with the best one, in order; empty without a tie."""
        best = self.models[0] if self.means else ""
        return next((group[1:] for group in self.ties if group[0] == best), [])

    def _advantage(self, model: str, rival: str) -> str:
        """Return the first criterion by which a model comes before another one, in words.

        Such as "better f1" or "shorter fit time"; "the earlier name" if they are equal in all.
        `model`, `rival`: names; the first one comes before the second.
        """
        for name, ours, theirs in zip(
            self.criteria, self.key(model), self.key(rival), strict=True
        ):
            if ours != theirs:
                return _ADVANTAGES.get(name, f"better {name}")
        return "the earlier name"


def _advantages_text(by_advantage: Mapping[str, list[str]]) -> str:
    """Return the advantages of a model in words.

    `by_advantage`: rivals by the advantage over them, such as {"shorter fit time": ["svm"]}. The
    rivals are only named if there are several advantages.
    """
    if len(by_advantage) == 1:
        return next(iter(by_advantage))
    return "; ".join(
        f"{advantage} than {', '.join(rivals)}"
        for advantage, rivals in by_advantage.items()
    )


def _loss(criterion: str, mean: float) -> float:
    """Return the mean of a measure as a number of which less is better, rounded.

    `criterion`: the measure, a metric, size or fit time. If more of it is better, the mean changes
    its sign. NaN becomes infinite. Means that differ by round-off become equal.
    """
    is_loss = criterion in _ADVANTAGES or less_is_better(criterion)
    value = mean if is_loss else -1 * mean
    return math.inf if math.isnan(value) else float(without_round_off(value))


def rank_models(summary: DataFrame, dataset: str, resolved: Resolved) -> ModelOrder:
    """Return the order of the models on a data set, or over all for the data set "all".

    `summary`: a table with the columns dataset, model, metric and mean. Models without a line of
    the metric "rank" are left out.
    """
    return order_of_means(means_by_model(summary, dataset), dataset, resolved)


def means_by_model(summary: DataFrame, dataset: str) -> dict[str, dict[str, float]]:
    """Return the mean of each measure on a data set: {model: {metric: mean}}.

    `summary`: a table with the columns dataset, model, metric and mean. Lines without a mean are
    left out; of several other lines of a model and metric, the last one counts.
    """
    lines = summary[summary["dataset"] == dataset].dropna(subset=["mean"])
    groups = lines.groupby("model", sort=False)
    return {str(model): _means_of(group) for model, group in groups}


def _means_of(lines: DataFrame) -> dict[str, float]:
    """Return {metric: mean} of one model.

    `lines`: the model's lines of a summary, with the columns metric and mean.
    """
    means = lines["mean"].astype(float)
    return dict(zip(lines["metric"], means, strict=True))


def order_of_means(
    means: Mapping[str, Mapping[str, float]], dataset: str, resolved: Resolved
) -> ModelOrder:
    """Return the order of the models that have a rank on a data set, or over all of them.

    `means`: the mean of each measure, {model: {measure: mean}}; only a model with the measure
    "rank" has a rank. `dataset`: its name, or "all" for the ranks over all, which are ordered
    without metrics.
    """
    ranked = {model: mean for model, mean in means.items() if RANK in mean}
    metrics = () if dataset == ALL else metrics_of(dataset, resolved)
    return ModelOrder(metrics, ranked)


def metrics_of(dataset: str, resolved: Resolved) -> tuple[str, ...]:
    """Return the metrics that a table shows for a data set, each once.

    The metric that ranks the models comes first, then those of the protocol in its order.
    `dataset`: its name. `resolved`: the table under a profile.
    """
    ranking_metric = resolved.metric_of(dataset)
    task = resolved.dataset(dataset).task
    shown = resolved.spec.protocol.metrics_for(task, dataset)
    return tuple(dict.fromkeys((ranking_metric, *shown)))
