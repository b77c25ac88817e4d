"""The evaluation of a grid of candidates on folds: by the model's path over the grid, or by one fit
each.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.calibration import HeldOutDecisions, sigmoids_of_folds
from elmbench.evaluation.predictions import FoldScores, outputs_for
from elmbench.evaluation.splits import Indices
from elmbench.metrics import Metric
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.protocols import Evaluated
from elmbench.numerics.arrays import Array
from elmbench.registry.scorers import find_metric
from elmbench.tasks.base import Context, check_memory


@dataclass(frozen=True)
class GridProblem(CandidateProblem):
    """Candidates of a task, whose outputs a metric takes.

    Attributes
    ----------
    labels : list of int or None
        Every label; None for regression.
    paths : bool
        False fits every candidate separately, even if the model has a path.
    context : Context
        The limits of the task, and the solvers that it used.
    """

    labels: list[int] | None = None
    paths: bool = True
    context: Context = field(default_factory=Context)

    def weights_of(self, rows: Indices) -> Array:
        """Return the weights of some rows, of shape (n_rows,), ones if the problem has none.

        `rows`: positions in `X`.
        """
        return np.ones(len(rows)) if self.weights is None else self.weights[rows]

    def projections(self) -> Iterator[Evaluated]:
        """Yield the projections of every candidate for the test rows of every fold.

        They are the real values that decide the labels, of shape (n_test,) for two classes. Models
        without projections yield decision values. Each item has the numbers of `candidate` and
        `fold`, and `outputs`. Fits that fail or need too much memory are treated as in `outputs`.
        """
        has_projections = hasattr(self.factory, "project")
        if has_projections or hasattr(self.factory, "project_grid"):
            return self._evaluations("project_grid", _project)
        return self._evaluations("decision_grid", _decide)

    def outputs(self, metric: Metric) -> Iterator[Evaluated]:
        """Yield, for every candidate and fold in any order, the test outputs that a metric takes.

        They are labels, values, decision values or probabilities. For probabilities, every
        candidate is fitted separately; a model without them yields decision values. Raises
        MemoryError before any fit if one would need more than the limit. Each item has the numbers
        of `candidate` and `fold`, and `outputs`. If a fit fails, this and the later folds of the
        candidate are left out, with a warning; if all candidates fail, the first error is raised.
        """
        if self.calibrates(metric):
            return self.decision_values()
        path = self._path_for(metric)
        return self._evaluations(
            path, lambda model, X: outputs_for(metric, model, X, self.labels)
        )

    def decision_values(self) -> Iterator[Evaluated]:
        """Yield, for every candidate and fold in any order, the decision values of the test rows.

        Only for models without `predict_proba`; others may yield probabilities. Each item has the
        numbers of `candidate` and `fold`, and `outputs`. Fits that fail or need too much memory are
        treated as in `outputs`.
        """
        # The area under the curve takes decision values.
        return self.outputs(find_metric("roc_auc"))

    def _path_for(self, metric: Metric) -> str:
        """Return the name of the method (a path over the grid) whose outputs a metric takes.

        It is "evaluate_grid" for a metric of predictions. For one of scores, it is "decision_grid"
        if the metric takes decision values of the model, and every fold has all classes. Otherwise
        it is empty: candidates must be fitted separately. The model may lack the method.
        """
        if metric.takes in ("counts", "values"):
            return "evaluate_grid"
        if metric.takes != "scores" or not self._has_all_classes():
            return ""
        n_classes = len(self.labels or ())
        for method in metric.methods(n_classes):
            if self.has_method(method):
                return "decision_grid" if method == "decision_function" else ""
        return ""

    def _has_all_classes(self) -> bool:
        """Return True if the training rows of every fold have all classes of the data set.

        False for a regression.
        """
        n_classes = len(self.labels or ())
        for train, _ in self.folds:
            present = np.unique(self.y[train])
            if len(present) != n_classes:
                return False
        return True

    def calibrates(self, metric: Metric) -> bool:
        """Return True if a metric takes probabilities, and the model has only decision values.

        Its decision values are then calibrated.
        """
        has_scores = metric.takes == "probabilities" and self.has_method(
            "decision_function"
        )
        return has_scores and not self.has_method("predict_proba")

    def has_method(self, name: str) -> bool:
        """Return True if the model of the first candidate has a method of this name."""
        return hasattr(self.make(self.candidates[0]), name)

    def _evaluations(
        self, path: str, outputs: Callable[[Any, Any], Any]
    ) -> Iterator[Evaluated]:
        """Yield the outputs of every candidate on every fold: by a path of the model, or by fits.

        Candidates are fitted separately if the model does not have this path, or the path fails for
        those that it has not yielded. `path`: the name of the path, such as "decision_grid"; empty
        for none. `outputs`: takes a fitted model and rows, and returns the outputs. The uses of
        solvers are added to the context, in place. Raises MemoryError before any fit if one would
        need more than the limit. Each item has the numbers of `candidate` and `fold`, and
        `outputs`. If a fit fails, this and the later folds of the candidate are left out, with a
        warning; if all candidates fail, the first error is raised.
        """
        self._check_memory()
        done: set[tuple[int, int]] = set()
        if path and self.paths and self.has_path(path):
            try:
                for evaluation in self.evaluate_by_path(path):
                    done.add(evaluation[:2])
                    self.context.solvers.update(evaluation.solvers)
                    yield evaluation
            except (ArithmeticError, ValueError):
                pass  # An error of one candidate ends the path for all: the rest is fitted.
            else:
                return
        for evaluation in self.evaluate_by_fits(outputs, done):
            self.context.solvers.update(evaluation.solvers)
            yield evaluation

    def _check_memory(self) -> None:
        """Raise MemoryError if the fit of a candidate would need more memory than the limit.

        The fold with the most training rows counts.
        """
        most_rows = max(len(train) for train, _ in self.folds)
        shape = (most_rows, self.X.shape[1])
        for candidate in self.candidates:
            check_memory(
                self.factory,
                shape,
                labels=self.labels,
                params=self.parameters_of(candidate),
                limit=self.context.memory_limit,
            )


def _project(model: Any, X: Any) -> Any:
    """Return the projections of a fitted model for the rows `X`."""
    return model.project(X)


def _decide(model: Any, X: Any) -> Any:
    """Return the decision values of a fitted model for the rows `X`."""
    return model.decision_function(X)


def grid_scores(
    problems: Iterable[GridProblem], metric_name: str
) -> tuple[NDArray[np.float64], float]:
    """Return the score of every candidate on every fold, and the seconds that this takes.

    `problems`: the same grid on different folds. Scores have the shape (n_candidates, n_folds) for
    the folds of all problems; larger is better, -inf for outputs that are not finite, NaN where a
    fit fails or a path yields nothing. If a metric needs probabilities and the model has none, one
    sigmoid for each candidate calibrates its decision values on all folds, as in the fit of the
    chosen one. `metric_name`: of the registry.
    """
    metric = find_metric(metric_name)
    scores_of_folds: list[FoldScores] = []
    uncalibrated: dict[int, list[_Uncalibrated]] = defaultdict(list)
    start_time = time.perf_counter()
    for problem in problems:
        scores_of_problem = _empty_scores(problem, metric)
        if problem.calibrates(metric):
            for candidate, part in _uncalibrated_parts(problem, scores_of_problem):
                uncalibrated[candidate].append(part)
        else:
            _add_outputs(problem, metric, scores_of_problem)
        scores_of_folds += scores_of_problem
    for candidate, parts in uncalibrated.items():
        _add_calibrated(candidate, parts)
    scores = np.column_stack([fold.scores for fold in scores_of_folds])
    seconds = time.perf_counter() - start_time
    return scores, seconds


def _empty_scores(problem: GridProblem, metric: Metric) -> list[FoldScores]:
    """Return, for each fold of a grid, an object that collects the scores of its candidates."""
    n_candidates = len(problem.candidates)
    test_parts = [test for _, test in problem.folds]
    return [
        FoldScores(metric, problem.y[test], problem.labels, n_candidates)
        for test in test_parts
    ]


def _add_outputs(
    problem: GridProblem, metric: Metric, scores_of_folds: list[FoldScores]
) -> None:
    """Score the outputs of every candidate on every fold of a grid, in place.

    `scores_of_folds`: collects the scores, one object for each fold of the problem, which are
    finished at the end.
    """
    for evaluated in problem.outputs(metric):
        scores_of_folds[evaluated.fold].add(evaluated.candidate, evaluated.outputs)
    for fold in scores_of_folds:
        fold.finish()


@dataclass(frozen=True, kw_only=True)
class _Uncalibrated:
    """The decision values of a candidate on a fold, to be calibrated.

    `scores` collects the scores of the fold, to which those of the probabilities are added.
    """

    scores: FoldScores
    decisions: HeldOutDecisions


def _uncalibrated_parts(
    problem: GridProblem, scores_of_folds: list[FoldScores]
) -> Iterator[tuple[int, _Uncalibrated]]:
    """Yield pairs of a candidate's number and its decision values on one fold, in any order.

    `scores_of_folds`: collects the scores, one object for each fold of the problem.
    """
    for evaluated in problem.decision_values():
        fold_scores = scores_of_folds[evaluated.fold]
        _, test = problem.folds[evaluated.fold]
        decisions = HeldOutDecisions(
            values=evaluated.outputs,
            classes=fold_scores.true,
            weights=problem.weights_of(test),
        )
        yield (
            evaluated.candidate,
            _Uncalibrated(scores=fold_scores, decisions=decisions),
        )


def _add_calibrated(candidate: int, folds: list[_Uncalibrated]) -> None:
    """Score the calibrated probabilities of a candidate on each of its folds, in place.

    Its decision values are scored instead if they are not all finite. `candidate`: its number.
    """
    probabilities_of = sigmoids_of_folds([fold.decisions for fold in folds])
    for fold in folds:
        outputs = fold.decisions.values
        if probabilities_of is not None:
            outputs = probabilities_of(outputs)
        fold.scores.add(candidate, outputs)


def best(scores: NDArray[np.float64]) -> int:
    """Return the number of the candidate with the best mean over folds, the first of equal ones.

    `scores`: of shape (n_candidates, n_folds), larger is better. A mean of NaN counts as -inf, so 0
    is returned if all are NaN.
    """
    means = scores.mean(axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
