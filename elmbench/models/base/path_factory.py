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
        """Return an unfitted estimator with these parameters, which are those of `make`."""
        return self.make(*args, **params)

    @abstractmethod
    def outputs(self, method: str, problem: CandidateProblem) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for every candidate of the problem on every fold, in any order.

        `method`: that of a fitted estimator, "predict" or "decision_function", whose values for the
        test rows are the outputs.
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
        """Yield an `Evaluated` for every candidate on every fold, in any order.

        `method`: "predict" or "decision_function", whose values for the test rows are the outputs.
        `folds`: pairs of the numbers of training and test rows. `candidates`: {parameter: value} of
        each. `fixed`: {parameter: value} that all of them share.
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


def outputs_of_fit(
    model: Any, method: str, X: Rows, y: NDArray[Any], probes: Rows
) -> NDArray[Any]:
    """Fit a model in place to the rows `X` and targets `y`; return the outputs of its `method`,
    such as "predict", for the test rows `probes`.
    """
    model.fit(X, y)
    output_of = getattr(model, method)
    outputs: NDArray[Any] = output_of(probes)
    return outputs
