"""The choice of hyperparameters: on inner folds of the training part (nested), or on the outer test folds (oracle)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.folds import FoldData, Indices, fold_data, scale_columns, splitter, stratified_rows
from elmbench.evaluation.metrics import LESS_IS_BETTER, metric_at
from elmbench.evaluation.search import Spent, best, fixed_parameters, grid_scores, model_seed
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.grids import candidates
from elmbench.specs.registry import find_model


def search_inner(unit: dict[str, Any], given: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Choose hyperparameters on inner folds of the training part of one outer fold.

    Parameters
    ----------
    unit : dict
        A unit of kind "search": `model`, `params`, `grid`, `inner`, `metric`, `tune_rows` and the outer fold.
    given : dict
        Hyperparameters that were chosen for the model that this one is like.
    data_dir : str or None

    Returns
    -------
    dict
        `params` (those given and those chosen here), `scores` (mean over the inner folds, one a candidate), `seconds`
        and, where any was counted, `solvers`.
    """
    data = fold_data(unit, data_dir)
    X, y, folds = _inner_folds(unit, data)
    scale = unit["protocol"]["scale"]
    if scale is None or scale["fit-on"] == "all":
        return _chosen(unit, given, *_scores(unit, given, X, y, folds, data.labels))
    # Scaled on the training rows only, the inputs differ from one inner fold to the next.
    parts = [
        _scores(unit, given, scale_columns(X, train, *scale["range"]), y, [(train, test)], data.labels)
        for train, test in folds
    ]
    return _chosen(unit, given, np.hstack([scores for scores, _ in parts]), [spent for _, (spent,) in parts])


def _inner_folds(
    unit: dict[str, Any], data: FoldData
) -> tuple[NDArray[np.float64], NDArray[Any], list[tuple[Indices, Indices]]]:
    """Return the rows that hyperparameters are searched on, and the inner folds of them."""
    X, y = tuning_rows(unit, data)
    seed = integer_seed("inner", unit["dataset"]["name"], unit["run"], unit["fold"])
    return X, y, list(splitter(unit["inner"]["kind"], unit["inner"]["folds"], seed).split(X, y))


def tuning_rows(unit: dict[str, Any], data: FoldData) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the rows of the training part that hyperparameters are searched on: all, or `tune_rows` random ones."""
    rows = unit["tune_rows"]
    if rows is None or rows >= len(data.y_train):
        return data.X_train, data.y_train
    key = ("tune", unit["dataset"]["name"], unit["run"], unit["fold"])
    keep = stratified_rows(data.y_train, rows, data.labels is not None, *key)
    return data.X_train[keep], data.y_train[keep]


def _scores(
    unit: dict[str, Any],
    given: dict[str, Any],
    X: NDArray[np.float64],
    y: NDArray[Any],
    folds: list[tuple[Indices, Indices]],
    labels: list[int] | None,
) -> tuple[NDArray[np.float64], list[Spent]]:
    factory = find_model(unit["model"]).factory(unit["task"])
    fixed = not_searched(factory, unit, given)
    grid, paths = candidates(unit["grid"]), unit.get("paths", True)
    return grid_scores(factory, X, y, folds, grid, fixed, unit["metric"], labels, paths=paths)


def _chosen(
    unit: dict[str, Any], given: dict[str, Any], scores: NDArray[np.float64], spent: list[Spent]
) -> dict[str, Any]:
    chosen = candidates(unit["grid"])[best(scores)]
    return {"params": given | chosen, "scores": scores.mean(axis=1).tolist(), **_in_all(spent)}


def _in_all(spent: list[Spent]) -> dict[str, Any]:
    solvers = sum((fold.solvers for fold in spent), Counter[str]())
    return {"seconds": sum(fold.seconds for fold in spent)} | ({"solvers": dict(solvers)} if solvers else {})


def not_searched(factory: Callable[..., Any], unit: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what is fixed during a search; what is taken over from another model and searched anew is not."""
    fixed = fixed_parameters(factory, given | unit["params"], model_seed(unit))
    return {name: value for name, value in fixed.items() if name not in unit["grid"]}


def evaluate_outer(unit: dict[str, Any], given: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Score every candidate on the test rows of one outer fold: a part of what `oracle` selection looks at.

    Parameters and returned keys are those of `search_inner`, without the choice.
    """
    data = fold_data(unit, data_dir)
    X, y, outer = _outer_fold(data)
    scores, spent = _scores(unit, given, X, y, [outer], data.labels)
    return {"scores": scores[:, 0].tolist(), **_in_all(spent)}


def evaluate_curve(unit: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Measure a model on the test rows of one outer fold for every value of one hyperparameter: nothing is chosen.

    Parameters
    ----------
    unit : dict
        A unit of kind "curve": as for `evaluate_outer`, of a grid of one name.
    data_dir : str or None

    Returns
    -------
    dict
        In the form of a cell's result; `metrics` are `gmean@h=5` and so on, not a number where predictions are not
        finite.
    """
    found = evaluate_outer(unit, {}, data_dir)
    ((name, values),) = unit["grid"].items()
    scores = np.where(np.isfinite(found["scores"]), found["scores"], np.nan)
    if unit["metric"] in LESS_IS_BETTER:
        scores = -scores
    metrics = {metric_at(unit["metric"], name, value): s for value, s in zip(values, scores.tolist(), strict=True)}
    return {"params": unit["params"], "metrics": metrics, "search_seconds": found["seconds"]}


def _outer_fold(data: FoldData) -> tuple[NDArray[np.float64], NDArray[Any], tuple[Indices, Indices]]:
    """Return all rows of an outer fold, the training rows first, and the numbers of the two parts."""
    X, y = np.vstack([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])
    return X, y, (np.arange(len(data.y_train)), np.arange(len(data.y_train), len(y)))


def search_and_evaluate(unit: dict[str, Any], data_dir: str | None) -> dict[str, dict[str, Any]]:
    """Do what `search_inner` and `evaluate_outer` do in one pass over the folds, which share what a path can share.

    The choice is that of the inner folds, blind to the test rows of the outer one.

    Parameters
    ----------
    unit : dict
        As for `search_inner`, of a model that takes nothing over from another.
    data_dir : str or None

    Returns
    -------
    dict
        `search` and `grid`: what the two would have returned.
    """
    data = fold_data(unit, data_dir)
    _, y_inner, inner = _inner_folds(unit, data)
    scale = unit["protocol"]["scale"]
    if len(y_inner) < len(data.y_train) or (scale is not None and scale["fit-on"] == "train"):
        # Other rows, or others' scales: there is nothing to share.
        return {"search": search_inner(unit, {}, data_dir), "grid": evaluate_outer(unit, {}, data_dir)}
    X, y, outer = _outer_fold(data)
    scores, spent = _scores(unit, {}, X, y, [*inner, outer], data.labels)
    return {
        "search": _chosen(unit, {}, scores[:, :-1], spent[:-1]),
        "grid": {"scores": scores[:, -1].tolist(), **_in_all(spent[-1:])},
    }


def choose(unit: dict[str, Any], evaluated: list[dict[str, Any]], given: dict[str, Any]) -> dict[str, Any]:
    """Choose the candidate of the best mean over all outer test folds and runs (`oracle`).

    Parameters
    ----------
    unit : dict
        A unit of kind "choice", with `grid`.
    evaluated : list of dict
        The results of `evaluate_outer`, one an outer fold.
    given : dict
        Hyperparameters that were chosen for the model that this one is like.
    """
    scores = np.array([part["scores"] for part in evaluated]).T
    chosen = candidates(unit["grid"])[best(scores)]
    return {
        "params": given | chosen,
        "scores": scores.mean(axis=1).tolist(),
        "seconds": float(sum(part["seconds"] for part in evaluated)) / len(evaluated),
    }
