"""The evaluation of a grid of candidates on folds: by the model's path over the grid, or by one fit
each.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchWarning
from elmbench.evaluation.predictions import FoldScores, outputs_for, sigmoids
from elmbench.evaluation.splits import Indices
from elmbench.metrics import Metric
from elmbench.models.protocols import Evaluated
from elmbench.numerics.arrays import Array
from elmbench.registry.scorers import find_metric
from elmbench.tasks.base import Context, check_memory


def weight_argument(model: Any) -> str | None:
    """Return the argument of a model's `fit` that takes the weights of rows; None if it takes
    none.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        argument = weight_argument(last)
        return f"{name}__{argument}" if argument else None
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else None


def fit_model(model: Any, X: Any, y: Any, weights: NDArray[Any] | None) -> Any:
    """Fit a model and return it; raise ValueError if there are weights of rows, but the model takes
    none.
    """
    if weights is None:
        return model.fit(X, y)
    argument = weight_argument(model)
    if argument is None:
        raise ValueError(f"{type(model).__name__} takes no weights of rows")
    return model.fit(X, y, **{argument: weights})


@dataclass(frozen=True)
class GridProblem:
    """A grid of candidates of one model, and the folds that they are evaluated on.

    `factory`: the estimator class or factory. `folds`: row numbers. `fixed`: the other parameters.
    `labels`: every label; None for regression. `paths`: False fits every candidate separately, even
    if the model has a path. `weights` (ndarray of shape (n_samples,) or None): weights of the rows;
    with weights, every candidate is fitted separately.
    """

    factory: Callable[..., Any]
    X: Any
    y: NDArray[Any]
    folds: list[tuple[Indices, Indices]]
    candidates: list[dict[str, Any]]
    fixed: dict[str, Any]
    labels: list[int] | None
    paths: bool = True
    context: Context = field(default_factory=Context)
    weights: Array | None = None

    def weights_of(self, rows: Indices) -> Array:
        """Return the weights of some rows, ones if there are none."""
        return np.ones(len(rows)) if self.weights is None else self.weights[rows]

    def projections(self) -> Iterator[Evaluated]:
        """Yield the real values that decide the labels, of shape (n_test,) for two classes; see
        `outputs`.
        """
        if hasattr(self.factory, "project_grid") or hasattr(self.factory, "project"):
            return self._evaluations("project_grid", lambda model, X: model.project(X))
        return self._evaluations("decision_grid", lambda model, X: model.decision_function(X))

    def outputs(self, metric: Metric) -> Iterator[Evaluated]:
        """Yield the outputs that a metric takes, of every candidate for the test rows of every
        fold, in any order.

        For probabilities, every candidate is fitted separately; a model without them yields
        decision values.

        Raises MemoryError before any fit if one would need more than the limit.
        """
        if self.calibrates(metric):
            metric = find_metric("roc_auc")
        path = "evaluate_grid" if metric.takes in ("counts", "values") else ""
        has_all_classes = all(
            len(np.unique(self.y[train])) == len(self.labels or ()) for train, _ in self.folds
        )
        if metric.takes == "scores" and has_all_classes:
            methods = filter(self.has_method, metric.methods(len(self.labels or ())))
            path = "decision_grid" if next(methods, "") == "decision_function" else ""
        return self._evaluations(path, lambda model, X: outputs_for(metric, model, X, self.labels))

    def calibrates(self, metric: Metric) -> bool:
        """Return True if a metric takes probabilities, and the model has only decision values."""
        has_scores = metric.takes == "probabilities" and self.has_method("decision_function")
        return has_scores and not self.has_method("predict_proba")

    def has_method(self, name: str) -> bool:
        """Return True if the model has a method with the parameters of the first candidate."""
        return hasattr(self.factory(**self.fixed, **self.candidates[0]), name)

    def _evaluations(self, path: str, outputs: Callable[[Any, Any], Any]) -> Iterator[Evaluated]:
        """Yield the outputs of a path of the model, by its name, or of separate fits if the model
        does not have it.
        """
        shape = max(len(train) for train, _ in self.folds), self.X.shape[1]
        for candidate in self.candidates:
            check_memory(
                self.factory, shape, self.labels, self.fixed | candidate, self.context.memory_limit
            )
        run = getattr(self.factory, path, None) if self.paths and self.weights is None else None
        done: set[tuple[int, int]] = set()
        try:
            for evaluation in (
                run(self.X, self.y, self.folds, self.candidates, **self.fixed) if run else ()
            ):
                done.add(evaluation[:2])
                self.context.solvers.update(evaluation.solvers)
                yield evaluation
        except (ArithmeticError, ValueError):  # of one candidate, which ends the path for all
            run = None
        for evaluation in () if run else self.clone_and_fit(outputs, done):
            self.context.solvers.update(evaluation.solvers)
            yield evaluation

    def clone_and_fit(
        self,
        outputs: Callable[[Any, Any], Any] = lambda model, X: model.predict(X),
        done: Container[tuple[int, int]] = (),
    ) -> Iterator[Evaluated]:
        """Yield the outputs of one fit for each candidate and fold that are not done; every path
        must agree with these.

        Candidates whose fit fails are left out, with a warning, unless all of them fail.
        """
        failures: dict[int, Exception] = {}
        for i, candidate in enumerate(self.candidates):
            for j, (train, test) in enumerate(self.folds):
                if (i, j) in done:
                    continue
                weights = None if self.weights is None else self.weights[train]
                try:
                    model = fit_model(
                        self.factory(**self.fixed, **candidate),
                        self.X[train],
                        self.y[train],
                        weights,
                    )
                    result = outputs(model, self.X[test])
                except (ArithmeticError, ValueError) as error:
                    failures[i] = error
                    break
                yield Evaluated(
                    i,
                    j,
                    result,
                    Counter(getattr(model, "solvers_", {})) + Counter({"clone and fit": 1}),
                )
        if failures:
            number, failure = next(iter(failures.items()))
            if len(failures) == len(self.candidates):
                raise failure
            warnings.warn(
                f"{len(failures)} of {len(self.candidates)} candidates fail and are not chosen, "
                "such as "
                f"{self.candidates[number]}: {type(failure).__name__}: {failure}",
                ElmbenchWarning,
                stacklevel=2,
            )


def grid_scores(
    problems: Iterable[GridProblem], metric_name: str
) -> tuple[NDArray[np.float64], float]:
    """Return the score of every candidate on every fold, and the seconds that this takes.

    `problems`: the same grid on different folds. Scores have the shape (n_candidates, n_folds);
    larger is better, NaN where a path yields nothing. If a metric needs probabilities and the model
    has none, one sigmoid for each candidate calibrates its decision values on all folds, as in the
    fit of the chosen one.
    """
    metric = find_metric(metric_name)
    all_folds: list[FoldScores] = []
    uncalibrated: dict[int, list[_Uncalibrated]] = {}
    start_time = time.perf_counter()
    for grid in problems:
        calibrates = grid.calibrates(metric)
        folds = [
            FoldScores(metric, grid.y[test], grid.labels, len(grid.candidates))
            for _, test in grid.folds
        ]
        for i, j, outputs, _ in grid.outputs(metric):
            if calibrates:
                weights = grid.weights_of(grid.folds[j][1])
                uncalibrated.setdefault(i, []).append(_Uncalibrated(folds[j], outputs, weights))
            else:
                folds[j].add(i, outputs)
        for fold in folds:
            fold.finish()
        all_folds += folds
    for i, parts in uncalibrated.items():
        _calibrate(candidate=i, folds=parts)
    return np.column_stack([fold.scores for fold in all_folds]), time.perf_counter() - start_time


@dataclass(frozen=True)
class _Uncalibrated:
    """The decision values of a candidate on the test rows of a fold, and these rows' weights."""

    scores: FoldScores
    outputs: NDArray[Any]
    weights: Array


def _calibrate(candidate: int, folds: list[_Uncalibrated]) -> None:
    """Add the probabilities of a candidate to the scores of its folds, from its decision values
    there.
    """
    values = np.concatenate([fold.outputs for fold in folds])
    if not np.isfinite(values).all():
        for fold in folds:
            fold.scores.add(candidate, fold.outputs)
        return
    true = np.concatenate([fold.scores.true for fold in folds])
    weights = np.concatenate([fold.weights for fold in folds])
    to_probabilities = sigmoids(values, true, weights)
    for fold in folds:
        fold.scores.add(candidate, to_probabilities(fold.outputs))


def best(scores: NDArray[np.float64]) -> int:
    """Return the candidate with the best mean over folds; the first of several equally good
    ones.
    """
    means = scores.mean(axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
