"""Hyperparameter search: a grid of candidates, evaluated on inner folds or on an outer one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.folds import Indices, fold_data, scale_columns, splitter, stratified_rows
from elmbench.evaluation.memory import check_memory
from elmbench.evaluation.metrics import check_predictions, score
from elmbench.numerics.counters import count
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.grids import candidates
from elmbench.specs.registry import find_model, parameter_names

Predictions = Iterator[tuple[int, int, NDArray[Any]]]


def model_seed(unit: dict[str, Any]) -> int:
    """Return the `random_state` of a unit's model.

    It does not depend on the grid or the reading, so these are compared on the same random nodes; a model that takes
    over another's hyperparameters takes over its stream too.
    """
    return integer_seed("model", unit["dataset"]["name"], unit["run"], unit["fold"], unit["stream"])


def fixed_parameters(factory: Callable[..., Any], params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the parameters that are the same for every candidate, with `random_state` where the model has one.

    Hyperparameters that were taken over from another model and that this one does not have are left out.
    """
    known = parameter_names(factory)
    if known is None:
        return dict(params)
    fixed = {name: value for name, value in params.items() if name in known}
    if "random_state" in known:
        fixed["random_state"] = seed
    return fixed


def clone_and_fit(
    factory: Callable[..., Any],
    X: NDArray[np.float64],
    y: NDArray[Any],
    folds: list[tuple[Indices, Indices]],
    grid: list[dict[str, Any]],
    fixed: dict[str, Any],
) -> Predictions:
    """Yield (candidate, fold, predictions) from one fit each: what every path must equal."""
    for i, candidate in enumerate(grid):
        for j, (train, test) in enumerate(folds):
            count("clone and fit")
            estimator = factory(**fixed, **candidate)
            yield i, j, estimator.fit(X[train], y[train]).predict(X[test])


def grid_scores(
    factory: Callable[..., Any],
    X: NDArray[np.float64],
    y: NDArray[Any],
    folds: list[tuple[Indices, Indices]],
    grid: list[dict[str, Any]],
    fixed: dict[str, Any],
    metric: str,
    labels: list[int] | None,
    *,
    paths: bool = True,
) -> NDArray[np.float64]:
    """Return the score of every candidate on every fold, of shape (n_candidates, n_folds), larger being better.

    The model's own path over the grid is used where it has one and nothing forbids it.

    Parameters
    ----------
    factory : callable
        The estimator class or factory.
    X, y : ndarray of shape (n_samples, n_features), (n_samples,)
    folds : list of (train, test) row numbers
    grid : list of dict
        The candidates.
    fixed : dict
        The other parameters.
    metric : str
    labels : list of int or None
    paths : bool, default=True
        False fits every candidate anew, whatever the model offers.
    """
    largest = max(folds, key=lambda fold: len(fold[0]))[0]
    for candidate in grid:
        check_memory(factory, X[largest[:1]], y[largest], labels, fixed | candidate)
    path = getattr(factory, "evaluate_grid", None) if paths else None
    predictions = path(X, y, folds, grid, **fixed) if path else clone_and_fit(factory, X, y, folds, grid, fixed)
    scores = np.full((len(grid), len(folds)), np.nan)
    for i, j, predicted in predictions:
        expected = y[folds[j][1]]
        scores[i, j] = score(metric, expected, check_predictions(expected, predicted), labels)
    return scores


def best(scores: NDArray[np.float64]) -> int:
    """Return the candidate of the best mean over folds; of equals the first in the order of the grid."""
    means = scores.mean(axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))


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
        `params` (those given and those chosen here), `scores` (mean over the inner folds, one a candidate) and
        `seconds`.
    """
    data = fold_data(unit, data_dir)
    X, y = data.X_train, data.y_train
    key = (unit["dataset"]["name"], unit["run"], unit["fold"])
    rows = unit["tune_rows"]
    if rows is not None and rows < len(y):
        keep = stratified_rows(y, rows, data.labels is not None, "tune", *key)
        X, y = X[keep], y[keep]
    inner = splitter(unit["inner"]["kind"], unit["inner"]["folds"], integer_seed("inner", *key))
    folds = list(inner.split(X, y))
    started = time.perf_counter()
    scores = _scores(unit, given, X, y, folds, data.labels)
    seconds = time.perf_counter() - started
    chosen = candidates(unit["grid"])[best(scores)]
    return {"params": given | chosen, "scores": scores.mean(axis=1).tolist(), "seconds": seconds}


def _scores(
    unit: dict[str, Any],
    given: dict[str, Any],
    X: NDArray[np.float64],
    y: NDArray[Any],
    folds: list[tuple[Indices, Indices]],
    labels: list[int] | None,
) -> NDArray[np.float64]:
    factory = find_model(unit["model"]).factory(unit["task"])
    grid = candidates(unit["grid"])
    fixed = _not_searched(factory, unit, given)
    scale = unit["protocol"]["scale"]
    paths = unit.get("paths", True)
    if scale is None or scale["fit-on"] == "all":
        return grid_scores(factory, X, y, folds, grid, fixed, unit["metric"], labels, paths=paths)
    # Scaled on the training rows only, the inputs differ from one inner fold to the next.
    columns = []
    for train, test in folds:
        scaled = scale_columns(X, train, *scale["range"])
        column = [(train, test)]
        columns.append(grid_scores(factory, scaled, y, column, grid, fixed, unit["metric"], labels, paths=paths))
    return np.hstack(columns)


def _not_searched(factory: Callable[..., Any], unit: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what is fixed during a search; what is taken over from another model and searched anew is not."""
    fixed = fixed_parameters(factory, given | unit["params"], model_seed(unit))
    return {name: value for name, value in fixed.items() if name not in unit["grid"]}


def evaluate_outer(unit: dict[str, Any], given: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Score every candidate on the test rows of one outer fold: a part of what `oracle` selection looks at.

    Parameters and returned keys are those of `search_inner`, without the choice.
    """
    data = fold_data(unit, data_dir)
    n_train = len(data.y_train)
    X = np.vstack([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    folds = [(np.arange(n_train), np.arange(n_train, len(y)))]
    factory = find_model(unit["model"]).factory(unit["task"])
    fixed = _not_searched(factory, unit, given)
    started = time.perf_counter()
    grid, paths = candidates(unit["grid"]), unit.get("paths", True)
    scores = grid_scores(factory, X, y, folds, grid, fixed, unit["metric"], data.labels, paths=paths)
    return {"scores": scores[:, 0].tolist(), "seconds": time.perf_counter() - started}


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
