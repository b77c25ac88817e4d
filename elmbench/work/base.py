"""Base classes of the kinds of work: a key, inputs, a run, a rough duration, a label."""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from elmbench.errors import ElmbenchError
from elmbench.protocol.content import FLAT, OPTIONAL, content_of_fields, read_fields
from elmbench.protocol.folds import DatasetRef, OuterFold, labels_of
from elmbench.registry import find_model, is_built_in
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.grids import GridValue, candidates
from elmbench.work.model import OVERHEAD, ModelRef, fit_seconds, fixed_parameters, memory_over, model_seed

if TYPE_CHECKING:
    from elmbench.datasets.dataset import Dataset

Result = dict[str, Any]


def key_of(content: Any) -> str:
    """Return the key of some content: 32 hexadecimal digits of the SHA-256 of its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Context:
    """Settings of work that do not determine its value.

    `data_dir`: folder of data files. `memory_limit`: bytes; a fit that would need more by the model's own estimate is
    refused. `solvers`: the number of uses of each solver, updated during the work, so that failed work has them too.
    """

    data_dir: str | None = None
    memory_limit: int | None = None
    solvers: Counter[str] = field(default_factory=Counter)


class Work(ABC):
    """One unit of work. A concrete class is a frozen dataclass of what determines the value of its result.

    The key is a hash of `content()`, so two tables that need the same work share its result, and a reading recomputes
    only the work that it changes. A result is stored as JSON; `status` is "ok" unless the work says otherwise.
    """

    kind: ClassVar[str]
    #: True if the work only combines results of other work, so that it needs no worker process.
    immediate: ClassVar[bool] = False

    def content(self) -> dict[str, Any]:
        """Return the JSON content that determines the value."""
        return content_of_fields(self) | {"kind": self.kind}

    @classmethod
    def read(cls, content: Mapping[str, Any], spec: DatasetSpec | None = None) -> Self:
        """Return the work with this content.

        `spec`: of the data set; only needed to run or estimate the work.
        """
        return read_fields(cls, content, spec=spec)

    @abstractmethod
    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Do the work.

        `inputs`: results of the work that this needs, by key; all ended ok. The store keeps the result.
        """

    @abstractmethod
    def seconds(self) -> float:
        """Return a rough duration on one core, by the formula of its model."""

    @property
    def has_formula(self) -> bool:
        """True if the registry has a formula for the duration of the model."""
        return not self.model_name or find_model(self.model_name).cost is not None

    def memory_over(self, limit: int) -> bool:
        """Return True if the model, by its own estimate, needs more than a limit of memory in bytes."""
        return False

    @property
    @abstractmethod
    def label(self) -> str:
        """A short description."""

    @cached_property
    def key(self) -> str:
        """The key of its result in the store."""
        return key_of(self.content())

    @property
    def needs(self) -> tuple[str, ...]:
        """Keys of the work whose results are inputs of this."""
        return ()

    @property
    def data(self) -> DatasetRef | None:
        """The data set that the work uses; None for immediate work."""
        return None

    @property
    def model_name(self) -> str:
        """Name of the model that the work runs; empty if it runs none."""
        model = getattr(self, "model", None)
        return model.name if isinstance(model, ModelRef) else ""

    @property
    def is_from_outside(self) -> bool:
        """True if the kind of work or its model comes from a plug-in."""
        is_ours = type(self).__module__.partition(".")[0] == __name__.partition(".")[0]
        return not is_ours or bool(self.model_name and not is_built_in(self.model_name))

    @property
    def number_of_fits(self) -> int:
        """The number of models that the work fits."""
        return 0


@dataclass(frozen=True)
class Grid:
    """The values of each hyperparameter that is searched.

    `values`: the first of several equally good candidates wins, so the order of the names matters.
    """

    values: dict[str, list[GridValue]]

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the grid, which is part of the key."""
        return {"grid": self.values, "grid_order": list(self.values)}

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Self:
        """Return the grid with this content."""
        return cls({name: content["grid"][name] for name in content.get("grid_order", content["grid"])})

    def candidates(self) -> list[dict[str, GridValue]]:
        """Return every combination of the values, the last name varying fastest."""
        return candidates(self.values)

    def __len__(self) -> int:
        return math.prod(map(len, self.values.values()))


@dataclass(frozen=True)
class FoldWork(Work):
    """Work with one model on one outer fold; `params` are those that the column fixes."""

    outer_fold: OuterFold = field(metadata=FLAT)
    model: ModelRef = field(metadata=FLAT)
    params: dict[str, Any]

    @property
    def data(self) -> DatasetRef:
        return self.outer_fold.dataset

    def memory_over(self, limit: int) -> bool:
        return memory_over(self.model.name, self.outer_fold, self.params, limit)

    def factory_with(self, params: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return the factory of the model, and the parameters that it accepts, with its seed on this fold."""
        factory = find_model(self.model.name).factory(self.outer_fold.task)
        return factory, fixed_parameters(factory, params, model_seed(self.outer_fold, self.model))


@dataclass(frozen=True)
class GridWork(FoldWork):
    """Work that goes through a grid of hyperparameters of one model on one outer fold.

    `given`: key of the choice whose hyperparameters are taken over. `paths`: False fits each candidate separately, even
    if the model can share work between candidates.
    """

    grid: Grid = field(metadata=FLAT)
    given: str | None
    paths: bool = field(default=True, metadata=OPTIONAL)

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.given,) if self.given else ()

    @property
    def number_of_fits(self) -> int:
        return len(self.grid)

    @property
    def label(self) -> str:
        return f"search {self.model.name} on {self.outer_fold.dataset.name}"

    def seconds(self) -> float:
        return self.seconds_of(self.outer_fold.n_train)

    def memory_over(self, limit: int) -> bool:
        return memory_over(self.model.name, self.outer_fold, self.params | self._middle(), limit)

    def seconds_of(self, n_rows: int) -> float:
        """Return the rough duration of all fits with this number of rows."""
        one = fit_seconds(self.model.name, n_rows, self.outer_fold.dataset.n_features, self.params | self._middle())
        shared = find_model(self.model.name).sharing if self.paths else 1.0
        return self.number_of_fits * (OVERHEAD + shared * (one - OVERHEAD))

    def _middle(self) -> dict[str, GridValue]:
        return {name: values[len(values) // 2] for name, values in self.grid.values.items()}


def chosen_for(key: str | None, inputs: Mapping[str, Result]) -> Result:
    """Return the result of a choice; without a key, an empty one."""
    return inputs[key] if key else {"params": {}, "seconds": 0.0}


def check_two_classes(data: Dataset, next_step: str) -> None:
    """Raise ElmbenchError unless the data have two classes, as the divergence requires."""
    labels = labels_of(data)
    if labels is None or len(labels) != 2:
        raise ElmbenchError(
            f"{data.name} has {'no' if labels is None else len(labels)} classes, so there is no divergence of two",
            expected="data of two classes",
            next_step=next_step,
        )
