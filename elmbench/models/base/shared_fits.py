"""Factories of estimators whose equal candidates share a fit."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from elmbench.models.base.path_factory import PathFactory, outputs_of_fit
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.protocols import Evaluated


class SharedFits(PathFactory):
    """A factory of estimators; candidates that learn the same of few rows share a fit.

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
        super().__init__(make)
        self.content = content

    def outputs(self, method: str, problem: CandidateProblem) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for every candidate and fold, fold by fold.

        `method`: "predict" or "decision_function", of a fitted model: its values for the test rows.
        The first of equal candidates of a fold is fitted; `solvers` of the others are empty.
        """
        for fold, (train, test) in enumerate(problem.folds):
            outputs: dict[Hashable, NDArray[Any]] = {}
            for number, candidate in enumerate(problem.candidates):
                params = self._all_parameters(problem.parameters_of(candidate))
                key = self.content(params, len(train))
                solvers: Counter[str] = Counter()
                if key not in outputs:
                    outputs[key] = outputs_of_fit(
                        model=self.make(**params),
                        method=method,
                        X=problem.X[train],
                        y=problem.y[train],
                        probes=problem.X[test],
                    )
                    solvers["clone and fit"] += 1
                yield Evaluated(
                    candidate=number,
                    fold=fold,
                    outputs=outputs[key],
                    solvers=solvers,
                )

    def _all_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return {parameter of the factory: value}: those given in `params` and the defaults of the
        others. A TypeError is raised for an unknown name, and for a parameter without a value.
        """
        bound = self.__signature__.bind(**params)
        bound.apply_defaults()
        return bound.arguments
