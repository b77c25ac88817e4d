"""Factories of estimators whose equal candidates share a fit."""

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partialmethod
from typing import Any

from numpy.typing import NDArray

from elmbench.models.protocols import Evaluated, Folds
from elmbench.numerics.arrays import Rows


class SharedFits:
    """A factory of estimators, of which several candidates may learn the same of few rows.

    Attributes
    ----------
    make : callable
        Returns the unfitted estimator of some parameters, which are the factory's.
    content : callable
        Returns, for all parameters of a candidate and the number of training rows, a key that is
        equal for candidates that learn the same.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        content: Callable[[Mapping[str, Any], int], Hashable],
    ) -> None:
        self.make = make
        self.content = content
        self.__signature__ = inspect.signature(make)

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Return an unfitted estimator."""
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
        for j, (train, test) in enumerate(folds):
            outputs: dict[Hashable, NDArray[Any]] = {}
            for i, candidate in enumerate(candidates):
                params = self._all_parameters({**fixed, **candidate})
                key = self.content(params, len(train))
                solvers: Counter[str] = Counter()
                if key not in outputs:
                    model = self.make(**params)
                    model.fit(X[train], y[train])
                    outputs[key] = getattr(model, method)(X[test])
                    solvers["clone and fit"] += 1
                yield Evaluated(
                    candidate=i, fold=j, outputs=outputs[key], solvers=solvers
                )

    evaluate_grid = partialmethod(_evaluate, "predict")
    decision_grid = partialmethod(_evaluate, "decision_function")

    def _all_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters of the factory, with the defaults of those that are not given."""
        bound = self.__signature__.bind(**params)
        bound.apply_defaults()
        return bound.arguments
