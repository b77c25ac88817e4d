"""The evaluation of candidates on folds: by the path of a model over a grid, or by one fit each.

`PathSearchCV` and the searches of a benchmark evaluate their candidates here.
"""

import operator
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from elmbench.errors import ElmbenchWarning
from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Array, Indices


def weight_argument(model: Any) -> str | None:
    """Return the name of the argument of a model's `fit` that takes the weights of rows; None if it
    takes none.

    It is "sample_weight", for a pipeline after the name of its last step, as in
    "svc__sample_weight".
    """
    # The process of a comparison does without scikit-learn, which its workers import.
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        argument = weight_argument(last)
        return f"{name}__{argument}" if argument else None
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else None


def fit_model(model: Any, X: Any, y: Any, weights: NDArray[Any] | None) -> Any:
    """Fit a model in place and return it.

    `weights`: of the rows, of shape (n,); None if all are 1. A ValueError is raised if there are
    weights, but the model takes none.
    """
    if weights is None:
        return model.fit(X, y)
    argument = weight_argument(model)
    if argument is None:
        raise ValueError(f"{type(model).__name__} takes no weights of rows")
    return model.fit(X, y, **{argument: weights})


@dataclass(frozen=True)
class CandidateProblem:
    """Candidates of one model, and the folds that they are evaluated on.

    Attributes
    ----------
    factory : callable
        The class of the estimator, or a function that makes one.
    X, y : arrays of shape (n_samples, n_features) and (n_samples,) or (n_samples, n_targets)
        The rows and their targets.
    folds : list of (train, test)
        Numbers of rows.
    candidates : list of dict
        The hyperparameters of each candidate.
    fixed : dict
        The other parameters, which no candidate has.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows, which a path does not take.
    take : callable
        Returns the rows or targets with some numbers for a fit; arrays are indexed by default.
    """

    factory: Callable[..., Any]
    X: Any
    y: NDArray[Any]
    folds: Folds
    candidates: list[dict[str, Any]]
    fixed: dict[str, Any]
    weights: Array | None = field(default=None, kw_only=True)
    take: Callable[[Any, Indices], Any] = field(default=operator.getitem, kw_only=True)

    def make(self, candidate: dict[str, Any]) -> Any:
        """Return a new unfitted model with the parameters `candidate` and the fixed ones.

        `candidate`: {parameter: value}.
        """
        return self.factory(**self.parameters_of(candidate))

    def parameters_of(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """Return {parameter: value} of a candidate: its own and the fixed ones.

        `candidate`: {parameter: value} of its own.
        """
        return {**self.fixed, **candidate}

    def has_path(self, name: str) -> bool:
        """Return True if the factory has a path of this name, and rows have no weights, which paths
        do not take.

        `name`: "evaluate_grid", "decision_grid" or "project_grid".
        """
        return self.weights is None and hasattr(self.factory, name)

    def evaluate_by_path(self, name: str) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for every candidate and fold, in any order, by a path of the
        factory.

        `name`: the path: "evaluate_grid" for predictions, "decision_grid" for decision values, or
        "project_grid" for projections. An AttributeError is raised if the factory lacks it. The
        weights of the rows are ignored.
        """
        path = getattr(self.factory, name)
        yield from path(self.X, self.y, self.folds, self.candidates, **self.fixed)

    def evaluate_by_fits(
        self,
        outputs: Callable[[Any, Any], Any] = lambda model, X: model.predict(X),
        done: Container[tuple[int, int]] = (),
    ) -> Iterator[Evaluated]:
        """Yield an `Evaluated` of one fit for each candidate and fold, candidate by candidate;
        every path must agree with these.

        `outputs` takes a fitted model and the test rows; by default, it predicts. `done` holds
        pairs (candidate, fold) that are skipped. If a fit or its outputs fail with an
        ArithmeticError or a ValueError, this fold and the later ones of the candidate are left out.
        At the end, these candidates are reported in a warning; if all candidates fail, the first
        error is raised.
        """
        failures: dict[int, Exception] = {}
        for i in range(len(self.candidates)):
            for j in range(len(self.folds)):
                if (i, j) in done:
                    continue
                try:
                    evaluation = self._fit_once(i, j, outputs)
                except (ArithmeticError, ValueError) as error:
                    failures[i] = error
                    break
                yield evaluation
        if failures:
            self._report(failures)

    def _fit_once(
        self, number: int, fold: int, outputs: Callable[[Any, Any], Any]
    ) -> Evaluated:
        """Fit a candidate to the training rows of a fold; return its outputs for the test rows.

        `number`: of the candidate. `fold`: its number. `outputs`: the function of a fitted model
        and the test rows. "clone and fit" is added to the solvers that the model reports.
        """
        train, test = self.folds[fold]
        model = self._fit(self.candidates[number], train)
        reported = getattr(model, "solvers_", {})
        solvers = Counter(reported)
        solvers["clone and fit"] += 1
        predicted = outputs(model, self.take(self.X, test))
        return Evaluated(
            candidate=number,
            fold=fold,
            outputs=predicted,
            solvers=solvers,
        )

    def _fit(self, candidate: dict[str, Any], train: Indices) -> Any:
        """Return a new model of a candidate, fitted to some rows with their weights.

        `candidate`: {parameter: value}. `train`: numbers of the rows, whose copies are freed at the
        end of this call.
        """
        weights = self.weights
        if weights is not None:
            weights = weights[train]
        return fit_model(
            model=self.make(candidate),
            X=self.take(self.X, train),
            y=self.take(self.y, train),
            weights=weights,
        )

    def _report(self, failures: dict[int, Exception]) -> None:
        """Raise the first failure if all candidates fail; otherwise, warn of the failures.

        `failures`: {number of a candidate: its error}, not empty.
        """
        number, failure = next(iter(failures.items()))
        if len(failures) == len(self.candidates):
            raise failure
        warnings.warn(
            f"{len(failures)} of {len(self.candidates)} candidates fail and are not chosen, such "
            f"as {self.candidates[number]}: {type(failure).__name__}: {failure}",
            ElmbenchWarning,
            stacklevel=3,
        )
