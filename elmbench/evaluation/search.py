"""A grid of candidates evaluated on folds: by the model's own path over it, or by one fit each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.folds import Indices
from elmbench.evaluation.memory import check_memory
from elmbench.evaluation.metrics import check_predictions, score
from elmbench.models.protocols import Evaluated, GridPath, ProjectionPath
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.registry import parameter_names

_solvers: ContextVar[Counter[str] | None] = ContextVar("solvers", default=None)


@contextmanager
def solvers_of_unit() -> Iterator[Counter[str]]:
    """Yield a counter of the ways of solving that are taken within the block, also where it fails."""
    solvers: Counter[str] = Counter()
    token = _solvers.set(solvers)
    try:
        yield solvers
    finally:
        _solvers.reset(token)


def note_solvers(solvers: Mapping[str, int]) -> None:
    """Add to the solvers of the unit that is run, if one is."""
    total = _solvers.get()
    if total is not None:
        total.update(solvers)


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
    *,
    outputs: str = "predict",
) -> Iterator[Evaluated]:
    """Yield predictions from one fit each: what every path must equal.

    With `outputs` "project" what is yielded instead is that which the decision rests on: `project` of the model, or
    `decision_function` where it has none.
    """
    for i, candidate in enumerate(grid):
        for j, (train, test) in enumerate(folds):
            estimator = factory(**fixed, **candidate).fit(X[train], y[train])
            name = outputs if hasattr(estimator, outputs) else "decision_function"
            solvers = Counter(getattr(estimator, "solvers_", {})) + Counter({"clone and fit": 1})
            yield Evaluated(i, j, getattr(estimator, name)(X[test]), solvers)


def grid_outputs(
    factory: Callable[..., Any],
    X: NDArray[np.float64],
    y: NDArray[Any],
    folds: list[tuple[Indices, Indices]],
    grid: list[dict[str, Any]],
    fixed: dict[str, Any],
    labels: list[int] | None,
    *,
    paths: bool = True,
    outputs: str = "predict",
) -> Iterator[Evaluated]:
    """Yield the outputs of every candidate for the test rows of every fold, in any order.

    The model's own path over the grid is used where it has one that can yield such outputs and nothing forbids it.

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
    labels : list of int or None
    paths : bool, default=True
        False fits every candidate anew, whatever the model offers.
    outputs : {"predict", "project"}, default="predict"
        Labels or values; or the projections that labels are decided by, of shape (n_test,) for two classes.

    Raises
    ------
    MemoryError
        If a fit would need more than it may, before any is done.
    """
    largest = max(folds, key=lambda fold: len(fold[0]))[0]
    for candidate in grid:
        check_memory(factory, X[largest[:1]], y[largest], labels, fixed | candidate)
    found = clone_and_fit(factory, X, y, folds, grid, fixed, outputs=outputs)
    if paths and outputs == "predict" and isinstance(factory, GridPath):
        found = factory.evaluate_grid(X, y, folds, grid, **fixed)
    elif paths and outputs == "project" and isinstance(factory, ProjectionPath):
        found = factory.project_grid(X, y, folds, grid, **fixed)
    for evaluated in found:
        note_solvers(evaluated.solvers)
        yield evaluated


@dataclass
class Spent:
    """What the evaluation of a grid took on one fold.

    What is computed for several folds at once counts for the one that is evaluated first.

    Attributes
    ----------
    seconds : float
    solvers : Counter of str
        How often each way of solving was taken.
    """

    seconds: float = 0.0
    solvers: Counter[str] = field(default_factory=Counter)


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
) -> tuple[NDArray[np.float64], list[Spent]]:
    """Return the score of every candidate on every fold, and what each fold took.

    Parameters
    ----------
    factory, X, y, folds, grid, fixed, labels, paths
        As for `grid_outputs`.
    metric : str

    Returns
    -------
    scores : ndarray of shape (n_candidates, n_folds)
        Larger is better; NaN where a path yields nothing.
    spent : list of Spent
        By fold.
    """
    scores = np.full((len(grid), len(folds)), np.nan)
    spent = [Spent() for _ in folds]
    targets = [y[test] for _, test in folds]
    started = time.perf_counter()
    for i, j, predicted, solvers in grid_outputs(factory, X, y, folds, grid, fixed, labels, paths=paths):
        scores[i, j] = score(metric, targets[j], check_predictions(targets[j], predicted), labels)
        now = time.perf_counter()
        spent[j].seconds += now - started
        started = now
        spent[j].solvers.update(solvers)
    return scores, spent


def best(scores: NDArray[np.float64]) -> int:
    """Return the candidate of the best mean over folds; of equals the first in the order of the grid."""
    means = scores.mean(axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
