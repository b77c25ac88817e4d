"""Optional methods of an estimator: a path over a grid, and a memory estimate.

Each is a protocol of classmethods, so `isinstance` takes the class: ``isinstance(ELMClassifier,
GridPath)``.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

from elmbench.numerics.arrays import Array, Indices

Folds = list[tuple[Indices, Indices]]
"""Row numbers of the training part and of the test part, a pair a fold; rows may be in several test
parts, or none.
"""


class Evaluated(NamedTuple):
    """The outputs of a path for one candidate on one fold.

    Attributes
    ----------
    candidate, fold : int
        Their numbers in the lists of the call.
    outputs : ndarray of shape (n_test, ...)
        Predictions, decision values or projections for the test rows of the fold.
    solvers : mapping of str to int
        The uses of each solver and the failed bounds since the previous item, such as
        ``{"reduction": 22, "bound failed": 1}``. Work that candidates share counts for the first of
        them.
    """

    candidate: int
    fold: int
    outputs: NDArray[Any]
    solvers: Mapping[str, int] = MappingProxyType({})


@runtime_checkable
class GridPath(Protocol):
    """A class that evaluates a whole grid from shared work.

    The real outputs of a path and of separate fits agree to 1e-10 of the outputs' size, or to 10 x
    condition x machine precision of their norm over the training rows, or of the largest output of
    a test row, if that is more. The condition is that of the solved system. Labels follow from the
    outputs by the rule of `predict`, which also decides ties. So both choose equally good
    hyperparameters: the same ones, unless scores differ by this round-off only. Only
    `SVMClassifier` differs: its outputs agree within LIBSVM's tolerance.

    Classes with a method `decision_function` or `project` may have `decision_grid` or
    `project_grid` too: the same as `evaluate_grid`, with the values of that method as `outputs`.
    """

    @classmethod
    def evaluate_grid(
        cls,
        X: Array,
        y: NDArray[Any],
        folds: Folds,
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Iterator[Evaluated]:
        """Evaluate every candidate on every fold.

        Parameters
        ----------
        X, y : ndarray of shape (n_samples, n_features), (n_samples,) or (n_samples, n_targets)
        folds : list of (train, test)
            Row numbers.
        candidates : list of dict
            Parameters of the constructor, any of them.
        **fixed
            The other parameters; `random_state`, if the model has one, is an int.

        Yields
        ------
        Evaluated
            In any order; `outputs` are the predictions of ``cls(**fixed,
            **candidates[candidate])``, fitted to the training rows, for the test rows.

        Raises
        ------
        TypeError, ValueError
            The errors of `fit` for parameters out of range, before anything is learnt.
        """


@runtime_checkable
class MemoryEstimate(Protocol):
    """A class that estimates the memory of a fit."""

    @classmethod
    def memory_estimate(
        cls, n_samples: int, n_features: int, n_outputs: int = 1, **params: Any
    ) -> int:
        """Return the peak memory of `fit` in bytes, without that of its arguments.

        `n_outputs` is 1 for two classes, else the number of classes or targets; `params` are
        parameters of the constructor, the others have their defaults.
        """
