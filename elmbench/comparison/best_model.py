"""The choice of the best model of a comparison."""

from dataclasses import dataclass

from elmbench.errors import ElmbenchError
from elmbench.evaluation.model_order import rank_models
from elmbench.report.table_results import Results


@dataclass(frozen=True)
class BestModel:
    """The best model of a comparison.

    `model`: its column in the table. `reason`: why it was chosen, in words.
    """

    model: str
    reason: str


def choose_best(results: Results) -> BestModel:
    """Return the best model of a comparison on one data set, or the only one; raise ElmbenchError
    if no model has a rank.
    """
    best = find_best(results)
    if best is None:
        (spec,) = results.resolved.datasets.values()
        metric = results.resolved.metric_of(spec.name)
        raise ElmbenchError(
            f"no model but the dummy has a {metric} on all folds of {spec.title}",
            expected="a model with a rank",
            next_step="elmbench status shows how the cells ended; the notes name undefined metrics",
        )
    return best


def find_best(results: Results) -> BestModel | None:
    """Return the best model of a comparison on one data set, or the only one; None if no model has
    a rank.
    """
    resolved = results.resolved
    (name,) = resolved.datasets
    order = rank_models(results.summary, name, resolved)
    if order.models:
        metric = order.metrics[0]
        reason = order.advantages_of_best() or f"the best mean {metric}"
        return BestModel(order.models[0], reason)
    columns = list(resolved.spec.models)
    if len(columns) != 1:
        return None
    return BestModel(columns[0], "the only model")
