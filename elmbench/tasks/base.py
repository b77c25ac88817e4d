"""Base classes of the kinds of task: a key, inputs, a run, a rough duration, a label."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from elmbench.errors import ElmbenchError
from elmbench.evaluation.content import FLAT, content_name, content_of_fields
from elmbench.evaluation.folds import DatasetRef, OuterFold
from elmbench.metrics import registered_metric
from elmbench.models.protocols import MemoryEstimate
from elmbench.numerics.seeds import integer_seed
from elmbench.registry import BUILT_IN, find_model, parameter_names
from elmbench.specs.limits import byte_text
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.splits import Split

Result = dict[str, Any]

#: Floating-point operations a second that the dense part of these models reaches on one core of a
#: desk machine.
RATE = 3e10
#: The least seconds of a fit, or of a candidate of a path.
OVERHEAD = 5e-4


#: Of the canonical JSON of keys.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(content: Any) -> str:
    """Return the key of content in the types of JSON: 32 hexadecimal digits of its SHA-256.

    The order of the keys of dicts does not count. Raises ValueError for NaN and infinity.
    """
    text = _ENCODER.encode(content)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Context:
    """Settings of a task that do not determine its value.

    `data_dir`: folder of data files. `memory_limit`: bytes; a fit that would need more by the
    model's own estimate is refused. `solvers`: the number of uses of each solver, updated during
    the task, so that a failed task has them too.
    """

    data_dir: str | None = None
    memory_limit: int | None = None
    solvers: Counter[str] = field(default_factory=Counter)


class Task(ABC):
    """A unit of a run that is computed once and stored under its key.

    A concrete class is a frozen dataclass of what determines the value of its result.

    The key is a hash of `content()`, so two tables that need the same task share its result, and a
    reading recomputes only the tasks that it changes. A result is stored as JSON; its `status` is
    "ok" unless the task says otherwise.
    """

    kind: ClassVar[str]
    #: True if the task only combines results of other tasks, so that it needs no worker process.
    immediate: ClassVar[bool] = False

    def content(self) -> dict[str, Any]:
        """Return the JSON content that determines the value of the result: the fields and `kind`.

        For a plug-in's kind, also the name of its module, which holds the version of its code.
        """
        code = {} if self._is_built_in else {"code": type(self).__module__}
        return content_of_fields(self) | {"kind": self.kind} | code

    @abstractmethod
    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Run the task and return its result, a dict in the types of JSON that the store keeps.

        `inputs`: {key: result} of the tasks in `needs`. `context`: data folder and memory limit;
        its counts of solvers are updated in place.
        """

    def seconds(self) -> float:
        """Return a rough duration on one core in seconds, by the formula of its model.

        0 if it is negligible, as here.
        """
        return 0.0

    @property
    def has_formula(self) -> bool:
        """True if the registry has a formula for the duration of the model.

        Also True for a task without a model.
        """
        return not self.model_name or find_model(self.model_name).cost is not None

    def exceeds_memory(self, limit: int) -> bool:
        """Return True if the model, by its own estimate, needs more than `limit` bytes of memory.

        False without an estimate, as here.
        """
        return False

    @property
    def label(self) -> str:
        """A short description: kind, model and data set, as far as it has them."""
        words = (
            self.kind,
            self.model_name,
            f"on {self.data.name}" if self.data is not None else "",
        )
        return " ".join(filter(None, words))

    @cached_property
    def key(self) -> str:
        """The key of its result in the store: a hash of its content, 32 hexadecimal digits."""
        return key_of(self.content())

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys of the tasks whose results are inputs of this one; empty if it needs none."""
        return ()

    @property
    def data(self) -> DatasetRef | None:
        """The data set that the task uses; None for tasks that only combine results."""
        return getattr(self, "dataset", None)

    @property
    def model_name(self) -> str:
        """Name of the model that the task runs; empty if it runs none."""
        model = getattr(self, "model", None)
        return model.name if isinstance(model, ModelRef) else ""

    @property
    def outside_code(self) -> str:
        """The code from outside that the task runs, in words; empty if it runs none.

        It names its kind, its model, its metric, its splits and the kinds of source of its data, if
        they are from a plug-in file, a package or an address, separated by commas. A worker that
        has run such code runs no other tasks.
        """
        parts = []
        if not self._is_built_in:
            parts.append(f"work {self.kind}")
        model_name = self.model_name
        if model_name and model_name not in BUILT_IN:
            parts.append(f"model {model_name}")
        metric_name = getattr(self, "metric", "")
        metric = registered_metric(metric_name)
        if metric is not None and metric.version:
            parts.append(f"metric {metric.name}")
        for split in self.splits:
            if split.version:
                parts.append(f"split {split.kind}")
        spec = None if self.data is None else self.data.spec
        if spec is not None:
            for kind in spec.outside_kinds:
                parts.append(f"source {kind}")
        return ", ".join(parts)

    @property
    def splits(self) -> tuple[Split, ...]:
        """The outer and the inner split that the task uses, without those that it lacks."""
        outer_fold = getattr(self, "outer_fold", None)
        inner = getattr(self, "inner", None)
        splits = (outer_fold.protocol.outer if outer_fold is not None else None, inner)
        return tuple(split for split in splits if isinstance(split, Split))

    @property
    def _is_built_in(self) -> bool:
        """True if the class of the task belongs to this package."""
        return type(self).__module__.partition(".")[0] == __name__.partition(".")[0]

    @property
    def number_of_fits(self) -> int:
        """The number of models that the task fits; 0 for a task without a model."""
        return 0


@dataclass(frozen=True)
class ModelRef:
    """A model of the registry, as a part of a task.

    `name`: in the registry. `version`: that of its code (see `model_version`). `stream`: name of
    the model whose random stream it uses: its own, or that of the first of the columns that its
    hyperparameters are inherited from.
    """

    name: str = field(metadata=content_name("model"))
    version: str
    stream: str


@dataclass(frozen=True)
class FoldTask(Task):
    """A task with one model on one outer fold.

    `params`: {name: value} of the parameters that the column fixes, with the printed ones (see
    `merge_parameters`).
    """

    outer_fold: OuterFold = field(metadata=FLAT)
    model: ModelRef = field(metadata=FLAT)
    params: dict[str, Any]

    @property
    def data(self) -> DatasetRef:
        """The data set of the outer fold."""
        return self.outer_fold.dataset

    @property
    def number_of_fits(self) -> int:
        """The number of models that the task fits: one."""
        return 1

    @property
    def typical_candidate(self) -> dict[str, Any]:
        """The searched parameters, {name: value}, for which duration and memory are estimated.

        Empty without a search.
        """
        return {}

    def fit_seconds(self, n_rows: int | None = None) -> float:
        """Return the rough seconds of one fit to `n_rows` rows; None or 0 for all training rows."""
        n = n_rows or self.outer_fold.n_train
        return OVERHEAD + self._fit_operations(n) / RATE

    def _fit_operations(self, n_rows: int) -> float:
        """Return the rough number of floating-point operations of a fit to `n_rows` rows.

        That of a cheap linear model if the registry has no formula for the model.
        """
        d = self.data.n_features
        cost = find_model(self.model.name).cost
        if cost is None:
            return 1e3 * n_rows * d
        params = merge_parameters(chosen=self.typical_candidate, fixed=self.params)
        return cost(n_rows, d, params)

    def exceeds_memory(self, limit: int) -> bool:
        """Return True if a fit needs more than `limit` bytes by the model's own estimate.

        The fit is that of the typical candidate to all training rows. False without an estimate, or
        if a matrix of shape (n, n) fits.
        """
        n = self.outer_fold.n_train
        if 8 * n**2 <= limit:  # only an n x n matrix can exceed it
            return False
        factory, params = self.factory_with(chosen=self.typical_candidate)
        shape = n, self.data.n_features
        return (
            isinstance(factory, MemoryEstimate)
            and factory.memory_estimate(*shape, **params) > limit
        )

    def factory_with(
        self, chosen: Mapping[str, Any]
    ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return the factory of the model, and the parameters to call it with, {name: value}.

        `chosen`: searched or inherited hyperparameters, which the fixed parameters of the column
        replace. The result also has the seed of the fold, unless they have a `random_state`.
        Parameters that the factory does not have are left out; a factory that accepts any gets no
        seed. The seed does not depend on the grid or the reading, so these are compared on the same
        random nodes.
        """
        entry = find_model(self.model.name)
        factory = entry.factory(self.outer_fold.task)
        names = parameter_names(factory)
        if names is None:
            # A seed might not be accepted.
            return factory, merge_parameters(chosen=chosen, fixed=self.params)
        params = merge_parameters(
            seed=self.seed,
            chosen=chosen,
            fixed=self.params,
        )
        accepted = {name: value for name, value in params.items() if name in names}
        return factory, accepted

    @property
    def seed(self) -> dict[str, int]:
        """The seed of the model on this fold, {"random_state": number}."""
        return {
            "random_state": integer_seed(
                "model", *self.outer_fold.seed_key, self.model.stream
            )
        }

    def recorded_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a model that a result records: all but the seed of this fold.

        `params`: {name: value}. A seed of another value, which the column fixes, is recorded.
        """
        seed = self.seed.items()
        return {
            name: value for name, value in params.items() if (name, value) not in seed
        }


def check_memory(
    factory: Any,
    shape: tuple[int, int],
    labels: list[int] | None,
    params: dict[str, Any],
    limit: int | None,
) -> None:
    """Raise MemoryError if a fit needs more bytes than the limit by the model's own estimate.

    `factory`: of the model; nothing is checked if it has no estimate. `shape`: (rows, features).
    `labels`: every label, None for a regression; with more than two, the model has an output for
    each, else one. `params`: {name: value} for the factory. `limit`: bytes; None for no limit.
    """
    if limit is None or not isinstance(factory, MemoryEstimate):
        return
    n_outputs = 1
    if labels is not None and len(labels) > 2:
        n_outputs = len(labels)
    n_bytes = factory.memory_estimate(*shape, n_outputs, **params)
    if n_bytes > limit:
        raise MemoryError(
            f"would need about {byte_text(n_bytes)}; the limit is {byte_text(limit)}"
        )


def choice_result(key: str | None, inputs: Mapping[str, Result]) -> Result:
    """Return the result of the choice with this key, from the inputs, {key: result}.

    Without a key (None or empty), return one without parameters that took no time: {"params": {},
    "seconds": 0.0}.
    """
    return inputs[key] if key else {"params": {}, "seconds": 0.0}


def finish_result(result: Result, choice: Result) -> Result:
    """Return a result with the `seconds` of an earlier choice added to its own.

    If it has `params`, those of the choice are added, too, unless it has parameters of these names.
    Both results have `seconds`; neither is changed.
    """
    finished = result | {"seconds": result["seconds"] + choice["seconds"]}
    if "params" in result:
        finished["params"] = merge_parameters(
            inherited=choice["params"], chosen=result["params"]
        )
    return finished


def check_two_classes(dataset: str, labels: list[int] | None, next_step: str) -> None:
    """Raise ElmbenchError unless a data set has two classes, as the divergence requires.

    `dataset`: its name; `next_step`: the advice, for the error. `labels`: every label; None for a
    regression.
    """
    if labels is None or len(labels) != 2:
        raise ElmbenchError(
            f"{dataset} has {'no' if labels is None else len(labels)} classes, so there is no "
            "divergence of two",
            expected="data of two classes",
            next_step=next_step,
        )
