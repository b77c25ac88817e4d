"""The evaluation of one cell: fit with the chosen hyperparameters, timed apart; predict; measure."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.folds import FoldData, fold_data
from elmbench.evaluation.memory import check_memory
from elmbench.evaluation.metrics import check_predictions, classification_metrics, regression_metrics
from elmbench.evaluation.search import fixed_parameters, model_seed, note_solvers
from elmbench.specs.registry import find_model

#: Factories that this process has fitted before.
_warm: set[Callable[..., Any]] = set()


def evaluate_cell(
    unit: dict[str, Any], chosen: dict[str, Any], search_seconds: float, data_dir: str | None
) -> dict[str, Any]:
    """Evaluate one model on one outer fold.

    Parameters
    ----------
    unit : dict
        A unit of kind "cell".
    chosen : dict
        Hyperparameters that a search chose; empty where the unit fixes them.
    search_seconds : float
        What the search took.
    data_dir : str or None

    Returns
    -------
    dict
        What the store keeps of a cell: `status`, `reason`, `params`, `metrics`, `fit_seconds`, `search_seconds`,
        `predict_seconds`, `n_units`, `condition`, `n_train`, `n_test`; `outputs` (true labels and scores of the test
        rows) where the unit asks to keep them.
    """
    data = fold_data(unit, data_dir)
    entry = find_model(unit["model"])
    factory = entry.factory(unit["task"])
    params = chosen | unit["params"]
    fixed = fixed_parameters(factory, params, model_seed(unit))
    check_memory(factory, data.X_train, data.y_train, data.labels, fixed)
    _warm_up(factory, fixed, data)

    estimator = factory(**fixed)
    started = time.perf_counter()
    if unit["carry_over"] == "folds":
        _fit_through_folds(estimator, unit, data_dir)
    else:
        estimator.fit(data.X_train, data.y_train)
    fit_seconds = time.perf_counter() - started
    note_solvers(getattr(estimator, "solvers_", {}))

    started = time.perf_counter()
    predicted = estimator.predict(data.X_test)
    predict_seconds = time.perf_counter() - started
    predicted = check_predictions(data.y_test, predicted)

    result = {
        "status": "ok",
        "reason": "",
        "params": {name: value for name, value in fixed.items() if name != "random_state"},
        "metrics": {},
        "fit_seconds": fit_seconds,
        "search_seconds": search_seconds,
        "predict_seconds": predict_seconds,
        "n_units": model_size(estimator),
        "condition": _condition(estimator),
        "n_train": len(data.y_train),
        "n_test": len(data.y_test),
    }
    if not _all_finite(estimator, predicted, data):
        return result | {"status": "diverged", "reason": "a prediction is not finite"}
    if unit.get("keep_outputs"):
        outputs = estimator.decision_function(data.X_test)
        result["outputs"] = {"true": data.y_test.tolist(), "score": outputs.tolist()}
    return result | {"metrics": _metrics(data, predicted)}


def _metrics(data: FoldData, predicted: NDArray[Any]) -> dict[str, float]:
    if data.labels is None:
        return regression_metrics(data.y_test, predicted)
    return classification_metrics(data.y_test, predicted, data.labels)


def _all_finite(estimator: Any, predicted: NDArray[Any], data: FoldData) -> bool:
    """Tell whether what the predictions rest on is finite: labels always are, so a classifier's outputs are asked."""
    outputs = predicted
    if data.labels is not None and hasattr(estimator, "decision_function"):
        outputs = estimator.decision_function(data.X_test)
    return bool(np.isfinite(outputs).all())


def _warm_up(factory: Callable[..., Any], fixed: dict[str, Any], data: FoldData) -> None:
    """Fit and predict once on a few rows of each class, so that no compiling and no first import is timed."""
    if factory in _warm:
        return
    rows = np.arange(min(40, len(data.y_train)))
    if data.labels is not None:
        rows = np.concatenate([np.flatnonzero(data.y_train == label)[:20] for label in data.labels])
    # What a model says or raises here tells of too few rows; the fit that counts comes after.
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factory(**fixed).fit(data.X_train[rows], data.y_train[rows]).predict(data.X_train[rows])
    _warm.add(factory)


def _fit_through_folds(estimator: Any, unit: dict[str, Any], data_dir: str | None) -> None:
    """Learn the training rows of every fold of the run up to this one, in turn, without forgetting.

    This is what the authors' toolbox did (its dictionary is never cleared). Rows of this fold's test part have been
    learnt in the folds before, so the figure that comes out is leaking; it is offered to show just that.
    """
    for fold in range(unit["fold"] + 1):
        data = fold_data(unit | {"fold": fold}, data_dir)
        estimator.partial_fit(data.X_train, data.y_train)


def model_size(estimator: Any) -> int | None:
    """Return a fitted model's size: hidden nodes, dictionary, support vectors, coefficients or leaves."""
    own = getattr(estimator, "n_units_", None)
    if own is not None:
        return int(own)
    from elmbench.models.baselines import n_units

    return n_units(estimator)


def _condition(estimator: Any) -> float | None:
    """Return the model's condition estimate: infinite where it is not a number, None where the model has none.

    Six digits of it: the last bits depend on where arrays lie in memory, and so on the process.
    """
    value = getattr(estimator, "condition_", None)
    if value is None:
        return None
    return math.inf if math.isnan(value) else float(f"{value:.6g}")
