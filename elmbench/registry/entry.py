"""Entries of the registry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.lazy import load

TASKS = ("classification", "regression")
#: Beginning of the addresses of scikit-learn's estimators under the parameter names of this package.
BASELINES = "elmbench.models.baselines:"


@dataclass(frozen=True)
class ModelEntry:
    """A model of the registry.

    Attributes
    ----------
    name : str
        The name in commands: `k-elm`.
    title : str
        One line for `elmbench list models`.
    classification, regression : str or callable or None
        The estimator class or factory for each task, or its address `module:name`; None if the model has none.
    grid : mapping of str to sequence
        Default grid.
    baseline : bool
        True for a model that `--with-baselines` adds to a run.
    version : str
        Part of every stored result's key, unless the estimator has a `model_version`.
    origin : str
        The origin of the entry, for `elmbench list models`.
    cost : callable or None
        Floating-point operations of one fit, from the rows, the columns and the hyperparameters; None if unknown.
    sharing : float
        Cost of a search as a share of the cost of all its fits, if the model shares work between them.
    """

    name: str
    title: str
    classification: str | Callable[..., Any] | None = None
    regression: str | Callable[..., Any] | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    baseline: bool = False
    version: str = ""
    origin: str = "built-in"
    cost: Callable[[int, int, Mapping[str, Any]], float] | None = None
    sharing: float = 0.3

    @property
    def is_of_scikit_learn(self) -> bool:
        """True if its estimators are scikit-learn's own, which takes two seconds to import."""
        return str(self.classification).startswith((BASELINES, "sklearn."))

    def factory(self, task: str) -> Callable[..., Any]:
        """Return the estimator class or factory for a task."""
        target = getattr(self, task)
        if target is None:
            other = next(t for t in TASKS if getattr(self, t) is not None)
            problem = f"the model {self.name!r} has no estimator for {task}"
            expected = f"a model for {task}; {self.name!r} does {other}"
            raise ElmbenchError(problem, expected=expected, next_step="elmbench list models")
        return self._import_factory(target) if isinstance(target, str) else target

    def _import_factory(self, address: str) -> Callable[..., Any]:
        try:
            factory: Callable[..., Any] = load(address)
        except (ImportError, AttributeError, ValueError) as error:
            failed = f"the model {self.name!r} ({self.origin}) is at {address!r}, which cannot be imported: {error}"
            next_step = "correct it where it is declared"
            raise ElmbenchError(failed, expected="an address `module:name`", next_step=next_step) from error
        return factory
