"""Factories of estimators with a path over a grid."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partialmethod
from typing import Any

from numpy.typing import NDArray

from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Rows


class PathFactory(ABC):
    """A factory of unfitted estimators whose candidates share work.

    Attributes
    ----------
    make : callable
        Returns the estimator of some parameters, which are the factory's.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make
        self.__signature__ = inspect.signature(make)

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Return an unfitted estimator."""
        return self.make(*args, **params)

    @abstractmethod
    def outputs(self, method: str, problem: CandidateProblem) -> Iterator[Evaluated]:
        """Yield the outputs of every candidate on every fold, in any order.

        `method` is that of a fitted estimator, "predict" or "decision_function".
        """

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
        problem = CandidateProblem(
            factory=self.make,
            X=X,
            y=y,
            folds=folds,
            candidates=candidates,
            fixed=fixed,
        )
        yield from self.outputs(method, problem)

    evaluate_grid = partialmethod(_evaluate, "predict")
    decision_grid = partialmethod(_evaluate, "decision_function")
