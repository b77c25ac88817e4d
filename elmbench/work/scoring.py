"""The evaluation of a grid of candidates on folds: by the model's own path over the grid, or by one fit each."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.models.protocols import Evaluated, GridPath, MemoryEstimate, ProjectionPath
from elmbench.numerics.seeds import integer_seed
from elmbench.protocol.folds import OuterFold
from elmbench.protocol.metrics import score
from elmbench.protocol.predictions import check_predictions
from elmbench.protocol.splits import Indices
from elmbench.registry import parameter_names
from elmbench.specs.limits import in_words
from elmbench.work.base import Context, ModelRef


def model_seed(place: OuterFold, model: ModelRef) -> int:
    """Return the `random_state` of a model on an outer fold.

    It does not depend on the grid or the reading, so these are compared on the same random nodes; a model that takes
    over another's hyperparameters takes over its stream too.
    """
    return integer_seed("model", place.dataset.name, place.run, place.fold, model.stream)


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


def shown_parameters(fixed: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that a result tells: the seed of its random stream is none of them."""
    return {name: value for name, value in fixed.items() if name != "random_state"}


def check_memory(
    factory: Callable[..., Any], shape: tuple[int, int, int], params: dict[str, Any], limit: int | None
) -> None:
    """Refuse a fit that needs more memory than the limit, by the model's own estimate, before anything is allocated.

    Parameters
    ----------
    factory : callable
        A model without `memory_estimate` is not checked.
    shape : (int, int, int)
        Training rows, features and outputs.
    limit : int or None
        Bytes.

    Raises
    ------
    MemoryError
        With both figures.
    """
    if limit is None or not isinstance(factory, MemoryEstimate):
        return
    needed = factory.memory_estimate(*shape, **params)
    if needed > limit:
        raise MemoryError(f"would need about {in_words(needed)}; the limit is {in_words(limit)}")


def n_outputs(labels: list[int] | None) -> int:
    """Return the number of outputs of a model: one, or one a class where there are more than two."""
    return len(labels) if labels is not None and len(labels) > 2 else 1


@dataclass
class Spent:
    """What the evaluation of a grid took on one fold.

    What is computed for several folds at once counts for the one that is evaluated first.

    Attributes
    ----------
    solvers : Counter of str
        How often each way of solving was taken.
    """

    seconds: float = 0.0
    solvers: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class GridProblem:
    """A grid of candidates of one model, and the folds that they are evaluated on.

    Attributes
    ----------
    factory : callable
        The estimator class or factory.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    folds : list of (train, test)
        Row numbers.
    fixed : dict
        The other parameters.
    labels : list of int or None
        Every label; None for regression.
    paths : bool
        False fits every candidate by itself, whatever the model offers.
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

    def clone_and_fit(self, outputs: str = "predict") -> Iterator[Evaluated]:
        """Yield predictions from one fit each: what every path must agree with.

        With `outputs` "project" the yield is what labels are decided by: `project` of the model, or
        `decision_function` where it has none.
        """
        for i, candidate in enumerate(self.candidates):
            for j, (train, test) in enumerate(self.folds):
                estimator = self.factory(**self.fixed, **candidate).fit(self.X[train], self.y[train])
                name = outputs if hasattr(estimator, outputs) else "decision_function"
                solvers = Counter(getattr(estimator, "solvers_", {})) + Counter({"clone and fit": 1})
                yield Evaluated(i, j, getattr(estimator, name)(self.X[test]), solvers)

    def outputs(self, outputs: str = "predict") -> Iterator[Evaluated]:
        """Yield the outputs of every candidate for the test rows of every fold, in any order.

        The model's own path over the grid is used where it has one that can yield such outputs.

        Parameters
        ----------
        outputs : {"predict", "project"}, default="predict"
            Labels or values; or the projections that labels are decided by, of shape (n_test,) for two classes.

        Raises
        ------
        MemoryError
            If a fit would need more than it may, before any is done.
        """
        largest = max(len(train) for train, _ in self.folds)
        shape = (largest, self.X.shape[1], n_outputs(self.labels))
        for candidate in self.candidates:
            check_memory(self.factory, shape, self.fixed | candidate, self.context.memory_limit)
        grid = self.X, self.y, self.folds, self.candidates
        if self.paths and outputs == "predict" and isinstance(self.factory, GridPath):
            found = self.factory.evaluate_grid(*grid, **self.fixed)
        elif self.paths and outputs == "project" and isinstance(self.factory, ProjectionPath):
            found = self.factory.project_grid(*grid, **self.fixed)
        else:
            found = self.clone_and_fit(outputs)
        for evaluated in found:
            self.context.solvers.update(evaluated.solvers)
            yield evaluated

    def scores(self, metric: str) -> tuple[NDArray[np.float64], list[Spent]]:
        """Return the score of every candidate on every fold, and what each fold took.

        Returns
        -------
        scores : ndarray of shape (n_candidates, n_folds)
            Larger is better; NaN where a path yields nothing.
        spent : list of Spent
            By fold.
        """
        scores = np.full((len(self.candidates), len(self.folds)), np.nan)
        spent = [Spent() for _ in self.folds]
        targets = [self.y[test] for _, test in self.folds]
        started = time.perf_counter()
        for i, j, outputs, solvers in self.outputs():
            predicted = check_predictions(targets[j], outputs, self.labels)
            scores[i, j] = score(metric, targets[j], predicted, self.labels)
            now = time.perf_counter()
            spent[j].seconds += now - started
            spent[j].solvers.update(solvers)
            started = now
        return scores, spent


def best(scores: NDArray[np.float64]) -> int:
    """Return the candidate of the best mean over folds; of equals the first in the order of the grid."""
    means = scores.mean(axis=1)
    return int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
