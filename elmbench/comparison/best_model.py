"""The choice of the best model of a comparison."""

from dataclasses import dataclass

from elmbench.errors import ElmbenchError
from elmbench.evaluation.model_order import means_by_model, order_of_means
from elmbench.evaluation.score_comparison import dummies, not_above_dummy
from elmbench.report.table_results import Results


@dataclass(frozen=True)
class BestModel:
    """The best model of a comparison.

    Attributes
    ----------
    model : str
        Its column in the table.
    reason : str
        The reason why it was chosen, in words.
    is_above_dummy : bool
        False for the dummy, and for a model whose mean is no better than the dummy's.
    """

    model: str
    reason: str
    is_above_dummy: bool = True


def choose_best(results: Results) -> BestModel:
    """Return the best model of a comparison on one data set, or its only model.

    Raises ElmbenchError if there are several models and none has a rank, as without scores on all
    folds. `results`: of exactly one data set.
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
    """Return the best model of a comparison on one data set, or its only model.

    The best one is the first in the order of ranks. The reason is the measure that decides between
    tied models, the best mean of the metric, or that it is the only model. None if there are
    several models and none has a rank. `results`: of exactly one data set.
    """
    resolved = results.resolved
    (name,) = resolved.datasets
    means = means_by_model(results.summary, name)
    order = order_of_means(means, name, resolved)
    if order.models:
        best = order.models[0]
        metric = order.metrics[0]
        values = {
            model: mean[metric] for model, mean in means.items() if metric in mean
        }
        weak_models = not_above_dummy(values, resolved, metric=metric)
        return BestModel(
            model=best,
            reason=order.advantages_of_best() or f"the best mean {metric}",
            is_above_dummy=best not in weak_models,
        )
    columns = list(resolved.spec.models)
    if len(columns) != 1:
        return None
    return BestModel(
        model=columns[0],
        reason="the only model",
        is_above_dummy=columns[0] not in dummies(resolved),
    )
