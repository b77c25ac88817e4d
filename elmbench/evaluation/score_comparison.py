"""Comparison of scores on the same folds: the test against the best model, and the runs that it
needs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.splits import part_sizes
from elmbench.metrics import less_is_better
from elmbench.numerics.significance import (
    Region,
    corrected_t_test,
    holm,
    t_quantile,
    without_round_off,
)
from elmbench.registry.built_in import DUMMY
from elmbench.specs.profiles import Resolved
from elmbench.specs.splits import BOOTSTRAPS, SIZED

if TYPE_CHECKING:
    from pandas import DataFrame, Series
else:  # what only annotations need is not imported: pandas takes a third of a second
    DataFrame = Series = Any

#: The level of the test of two models.
LEVEL = 0.05
#: Scores are of the order of 1; smaller deviations of their differences are round-off.
ROUND_OFF = 1e-12
#: The most repetitions of the folds that a note advises.
MOST_RUNS = 100


def p_values(
    scores: DataFrame, test_share: float | None, n: int = 0, *, best: str = ""
) -> Series[float]:
    """Test each model against the best one; return the p-values after Holm's correction.

    The two-sided test is the corrected resampled t-test. The result has a value for each model, in
    the order of the columns; the best model has the p-value 1. It is empty if there are fewer than
    two folds, no model or no `test_share`.

    Parameters
    ----------
    scores : data frame
        A line for each fold, a column for each model, without NaN; more is better.
    test_share : float or None
        Test rows over training rows of a fold; None if the folds are not to be tested.
    n : int
        The number of folds to assume for these differences; 0 for the actual one.
    best : str
        The best model; by default the model with the best mean, the first by name if there are
        several.
    """
    import pandas as pd

    if len(scores) < 2 or not len(scores.columns) or test_share is None:
        return pd.Series(dtype=float)
    best = best or _best_by_mean(scores)
    differences = _differences(scores, best)
    p = _corrected_p_values(differences, test_share, n)
    p[best] = 1.0
    in_order = {str(name): p[name] for name in scores}
    return pd.Series(in_order, dtype=float)


def _best_by_mean(scores: DataFrame) -> Any:
    """Return the model (column of `scores`) with the best mean, the first by name if there are
    several.
    """
    return without_round_off(scores.mean().sort_index()).idxmax()


def _differences(scores: DataFrame, best: str) -> dict[Any, NDArray[np.float64]]:
    """Return, for each model but the best, the best model's score minus its own on each fold.

    `scores`: a line for each fold, a column for each model. An array is of shape (number of
    folds,).
    """
    best_scores = scores[best].to_numpy(dtype=float)
    return {
        rival: best_scores - scores[rival].to_numpy(dtype=float)
        for rival in scores.columns.drop([best])
    }


def _corrected_p_values(
    differences: Mapping[Any, NDArray[np.float64]], test_share: float, n: int
) -> dict[Any, float]:
    """Return {rival: its two-sided p-value after Holm's correction}.

    `differences`: {rival: the best model's scores less the rival's, on each fold}; they must not be
    negative on average. `test_share`: test rows over training rows of a fold. `n`: the number of
    folds to assume for these differences; 0 for the actual one.
    """
    two_sided = [
        2 * corrected_t_test(values, test_share, Region(low=0.0), n=n).confirming
        for values in differences.values()
    ]
    return dict(zip(differences, holm(two_sided), strict=True))


def needed_runs(
    scores: DataFrame,
    test_share: float | None,
    folds: int,
    max_runs: int,
    *,
    best: str = "",
) -> dict[str, int | None]:
    """Return the number of runs, in all, that would separate each close model from the best one.

    It is None for a model if `max_runs` would not suffice. A model is close if the folds do not
    separate it from the best one; models that are not close are left out. The result is empty if
    the folds cannot be tested.

    `scores`: a line for each fold of each run, a column for each model; more is better.
    `test_share`: test rows over training rows of a fold; None if the folds are not to be tested.
    `folds`: of a run. `best`: the best model; by default the one with the best mean. The
    differences are assumed to keep their means and deviations. Since training parts overlap, the
    variance of a mean difference never falls below s^2 x `test_share`.
    """
    p = p_values(scores, test_share, best=best)
    if not len(p):
        return {}
    best = best or str(_best_by_mean(scores))
    others = [str(model) for model in p.index if model != best]
    close = [model for model in others if p[model] >= LEVEL]
    counts: dict[str, int | None] = dict.fromkeys(close)
    assert test_share is not None  # without it, there are no p-values
    differences = _differences(scores, best)
    first_runs = len(scores) // folds + 1
    for runs in range(first_runs, max_runs + 1):
        unseparated = [model for model in close if counts[model] is None]
        if not unseparated:
            break
        p_of_runs = _corrected_p_values(differences, test_share, runs * folds)
        for model in unseparated:
            if p_of_runs[model] < LEVEL:
                counts[model] = runs
    return counts


def smallest_detectable_differences(
    scores: DataFrame, test_share: float | None, models: Collection[str], *, best: str
) -> list[float]:
    """Return the smallest differences from the best model that the folds could have shown.

    There is one for each of `models`, but in ascending order: the least difference of means that
    would be significant if the differences kept their deviations. Models whose scores differ from
    the best one's by a constant are left out. The result is empty without `test_share` or a second
    fold.

    `scores`: a line for each fold, a column for each model. `test_share`: test rows over training
    rows of a fold. `models`: all models that the folds do not separate from `best`, and no others:
    the level is .05 / their number, that of Holm's first test after the rejected ones.
    """
    if not models or test_share is None:
        return []
    n = len(scores)
    level = LEVEL / len(models)
    quantile = t_quantile(n - 1, 1 - level / 2)
    errors = []
    for model in models:
        differences = scores[best] - scores[model]
        deviation = float(differences.std(ddof=1))
        # Folds share training rows, which adds to the variance of a mean.
        error = deviation * math.sqrt(1 / n + test_share)
        if error > ROUND_OFF:
            errors.append(error)
    return sorted(quantile * error for error in errors)


def share_of_test_rows(
    dataset: str, resolved: Resolved, cells: DataFrame | None = None
) -> float | None:
    """Return test rows over training rows in the outer split of a data set.

    It is None if the test rows are the same in every run, or if the kind of split does not show
    their number, as for given splits. `dataset`: its name. `cells`: the results of the data set,
    whose column `n_test` shows the sizes of predefined folds. Without them (None), and if the
    profile limits the test rows, predefined folds count as equally large. Folds in the order of
    time count with their average training part.
    """
    spec = resolved.dataset(dataset)
    split = resolved.spec.protocol.outer.split(dataset, spec.task)
    if split.kind == "ordered-kfold":
        # A fold has 1/(k+1) of the rows, and the average training part has half of them.
        return 2 / (split.folds + 1)
    are_all_tested = resolved.settings.test_rows is None
    if split.kind == "predefined-kfold" and cells is not None and are_all_tested:
        n_test = float(cells["n_test"].mean())
        return n_test / (spec.shape.instances - n_test)
    if split.kind.endswith("kfold"):
        return 1 / (split.folds - 1)
    if split.kind in BOOTSTRAPS:
        # (1 - 1/n)^n of the rows are not drawn.
        return math.exp(-1) / (1 - math.exp(-1))
    if split.kind not in SIZED or split.kind == "in-order":
        return None
    train, test = part_sizes(split, spec.public.instances)
    return test / train


def dummies(resolved: Resolved) -> list[str]:
    """Return the names of the columns that hold the dummy model."""
    return [
        name for name, column in resolved.spec.models.items() if column.model == DUMMY
    ]


def not_above_dummy(
    means: Mapping[Any, float], resolved: Resolved, *, metric: str = ""
) -> list[str]:
    """Return the models whose mean is no better than the dummy's, without the dummies themselves.

    `means`: {model: mean}. The models are in this order; one with the mean NaN is left out. Of
    several dummies, the first of the table whose mean is a number counts; if there is none, the
    result is empty. `metric` says whether less is better; with an empty name, more is.
    """
    sign = -1 if less_is_better(metric) else 1
    scores = {str(name): without_round_off(sign * mean) for name, mean in means.items()}
    trivial = dummies(resolved)
    dummy = next(
        (name for name in trivial if not math.isnan(scores.get(name, math.nan))), None
    )
    if dummy is None:
        return []
    return [
        name
        for name, score in scores.items()
        if name not in trivial and score <= scores[dummy]
    ]


def rivals_of(scores: DataFrame, resolved: Resolved) -> DataFrame:
    """Return the scores without the columns of the dummy model."""
    return scores.drop(columns=dummies(resolved), errors="ignore")
