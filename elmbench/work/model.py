"""The model of some work: its random stream, its parameters, its duration and its memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from elmbench.models.protocols import MemoryEstimate
from elmbench.numerics.seeds import integer_seed
from elmbench.protocol.content import named
from elmbench.protocol.folds import OuterFold
from elmbench.registry import find_model, parameter_names
from elmbench.specs.limits import in_words

#: Floating-point operations a second that the dense part of these models reaches on one core of a desk machine.
RATE = 3e10
#: The least seconds of a fit, or of a candidate of a path.
OVERHEAD = 5e-4


@dataclass(frozen=True)
class ModelRef:
    """A model of the registry.

    `stream`: name of the model whose random stream it uses. Columns that inherit hyperparameters use the stream of the
    first one.
    """

    name: str = field(metadata=named("model"))
    version: str
    stream: str


def model_seed(outer_fold: OuterFold, model: ModelRef) -> int:
    """Return the `random_state` of a model on an outer fold.

    It does not depend on the grid or the reading, so these are compared on the same random nodes. A model that inherits
    the hyperparameters of another one uses its stream too.
    """
    return integer_seed("model", outer_fold.dataset.name, outer_fold.run, outer_fold.fold, model.stream)


def fixed_parameters(factory: Callable[..., Any], params: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the parameters that are the same for every candidate, with `random_state` if the model has one.

    Inherited hyperparameters that this model does not have are left out.
    """
    known = parameter_names(factory)
    if known is None:
        return dict(params)
    fixed = {name: value for name, value in params.items() if name in known}
    if "random_state" in known:
        fixed["random_state"] = seed
    return fixed


def shown_parameters(fixed: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that a result records: all but the seed of its random stream."""
    return {name: value for name, value in fixed.items() if name != "random_state"}


def fit_seconds(model: str, n: int, d: int, params: Mapping[str, Any]) -> float:
    """Return the rough duration of one fit to n rows of d features."""
    cost = find_model(model).cost
    operations = cost(n, d, params) if cost is not None else 1e3 * n * d
    return OVERHEAD + operations / RATE


def memory_over(model: str, outer_fold: OuterFold, params: Mapping[str, Any], limit: int) -> bool:
    """Return True if a model with an n x n matrix needs more bytes than a limit, by its own estimate."""
    n = outer_fold.n_train
    if 8 * n**2 <= limit:
        return False
    factory = find_model(model).factory(outer_fold.task)
    if not isinstance(factory, MemoryEstimate):
        return False
    names = parameter_names(factory) or ()
    known = {name: value for name, value in params.items() if name in names}
    return factory.memory_estimate(n, outer_fold.dataset.n_features, **known) > limit


def check_memory(
    factory: Callable[..., Any], shape: tuple[int, int, int], params: dict[str, Any], limit: int | None
) -> None:
    """Raise MemoryError if a fit needs more memory than the limit, by the model's own estimate.

    `factory`: a model without `memory_estimate` is not checked. `shape`: training rows, features and outputs. `limit`:
    bytes.

    The error names both figures.
    """
    if limit is None or not isinstance(factory, MemoryEstimate):
        return
    needed = factory.memory_estimate(*shape, **params)
    if needed > limit:
        raise MemoryError(f"would need about {in_words(needed)}; the limit is {in_words(limit)}")


def n_outputs(labels: list[int] | None) -> int:
    """Return the number of outputs of a model: one, or one for each of more than two classes."""
    return len(labels) if labels is not None and len(labels) > 2 else 1
