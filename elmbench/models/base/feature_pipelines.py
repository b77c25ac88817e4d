"""Factories of pipelines of features and a model, with a path over a grid."""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partialmethod
from typing import Any

from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from elmbench.models.base.ridge_candidates import model_outputs
from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Rows


class FeaturePipelines:
    """A factory of unfitted pipelines of features and a model; its candidates share the features of
    a fold.

    Attributes
    ----------
    make : callable
        Returns the pipeline of some parameters, which are the factory's.
    """

    #: The names under which paths count the fits of features and of models; None is not counted.
    feature_solver: str | None = None
    model_solver: str | None = "clone and fit"

    def __init__(self, make: Callable[..., Pipeline]) -> None:
        self.make = make
        self.__signature__ = inspect.signature(make)

    def __call__(self, *args: Any, **params: Any) -> Pipeline:
        """Return a pipeline."""
        return self.make(*args, **params)

    def _evaluate(
        self,
        method: str,
        X: Rows,
        y: NDArray[Any],
        folds: Folds,
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Iterator[Evaluated]:
        """Yield the outputs of a method of every candidate on every fold, see
        `elmbench.models.protocols.GridPath`.
        """
        pipelines = [self.make(**fixed, **candidate) for candidate in candidates]
        for fold, (train, test) in enumerate(folds):
            n_rows = len(train)
            targets = y[train]
            for group in _group_by_features(pipelines, n_rows):
                features, _ = pipelines[group[0]]
                inputs = features.fit_transform(X[train])
                probes = features.transform(X[test])
                solvers = _count(self.feature_solver)
                by_content = {
                    _content(pipelines[candidate][1], n_rows): candidate
                    for candidate in group
                }
                models = [pipelines[candidate][1] for candidate in by_content.values()]
                results = model_outputs(models, method, inputs, targets, probes)
                outputs = dict(zip(by_content, results, strict=True))
                for _ in models:
                    solvers += _count(self.model_solver)
                for candidate in group:
                    content = _content(pipelines[candidate][1], n_rows)
                    yield Evaluated(
                        candidate=candidate,
                        fold=fold,
                        outputs=outputs[content],
                        solvers=solvers,
                    )
                    solvers = Counter()

    evaluate_grid = partialmethod(_evaluate, "predict")
    decision_grid = partialmethod(_evaluate, "decision_function")


def _group_by_features(pipelines: list[Pipeline], n_rows: int) -> list[list[int]]:
    """Return the numbers of the pipelines, in groups that learn the same features of so many
    rows.
    """
    groups: dict[str, list[int]] = {}
    for number, (features, _) in enumerate(pipelines):
        content = _content(features, n_rows)
        group = groups.setdefault(content, [])
        group.append(number)
    return list(groups.values())


def _content(step: Any, n_rows: int) -> str:
    """Return the parameters of a step, equal for steps that learn the same of so many rows."""
    params = step.get_params()
    if isinstance(step, Nystroem):
        params["n_components"] = min(params["n_components"], n_rows)
    return repr(params)


def _count(solver: str | None) -> Counter[str]:
    """Return a single use of a solver, or none without a solver."""
    return Counter() if solver is None else Counter([solver])
