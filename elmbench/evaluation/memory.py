"""Refusing a fit that would not fit: the model's own estimate against a budget, before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy.typing import NDArray

from elmbench.specs.limits import in_words

_budget: ContextVar[int | None] = ContextVar("memory_budget", default=None)


@contextmanager
def memory_budget(limit: int | None) -> Iterator[None]:
    """Set the bytes that a fit may need, within the block."""
    token = _budget.set(limit)
    try:
        yield
    finally:
        _budget.reset(token)


def check_memory(
    factory: Callable[..., Any], X: NDArray[Any], y: NDArray[Any], labels: list[int] | None, params: dict[str, Any]
) -> None:
    """Refuse a fit that needs more memory than the budget, by the model's `memory_estimate`.

    Parameters
    ----------
    factory : callable
        A model without `memory_estimate` is not checked.
    X : ndarray of shape (any, n_features)
    y : ndarray of shape (n_samples,)
    labels : list of int or None
    params : dict

    Raises
    ------
    MemoryError
        With both figures.
    """
    limit, estimate = _budget.get(), getattr(factory, "memory_estimate", None)
    if limit is None or estimate is None:
        return
    outputs = len(labels) if labels is not None and len(labels) > 2 else 1
    needed = estimate(len(y), X.shape[1], outputs, **params)
    if needed > limit:
        raise MemoryError(f"would need about {in_words(needed)}; the limit is {in_words(limit)}")
