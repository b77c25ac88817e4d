"""One outer fold of a data set: which rows, in which order, scaled how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets import Dataset, load
from elmbench.protocol.scaling import scale_columns, scale_targets
from elmbench.protocol.splits import Indices, cut_to, outer_split, subsample
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.protocol import Scale, Split

#: Raised when the meaning of a stored result changes without anything in its key changing.
FORMAT = 1


@dataclass(frozen=True)
class DatasetRef:
    """The data that work is done on.

    Attributes
    ----------
    name : str
        The suite's name.
    checksum : str
        Of the prepared arrays, or of what they are drawn from.
    run : int
        0 where the data are the same in every run.
    options : tuple of (str, float)
        Of generated data, by name in alphabetical order.
    rows : int or None
        How many a profile keeps.
    spec : DatasetSpec or None
        What `datasets.yaml` says of it; None where a stored result is only read.
    """

    name: str
    checksum: str
    run: int = 0
    options: tuple[tuple[str, float], ...] = ()
    rows: int | None = None
    spec: DatasetSpec | None = field(default=None, compare=False, repr=False)

    def content(self) -> dict[str, Any]:
        """Return what determines the rows, as the key of a stored result has it."""
        return {
            "name": self.name,
            "identity": self.checksum,
            "run": self.run,
            "options": dict(self.options),
            "rows": self.rows,
        }

    @classmethod
    def from_content(cls, content: dict[str, Any], spec: DatasetSpec | None = None) -> Self:
        """Return what `content` was made from."""
        options = tuple(sorted(content["options"].items()))
        return cls(content["name"], content["identity"], content["run"], options, content["rows"], spec)

    @property
    def n_rows(self) -> int:
        """Rows that are used, as far as the spec tells."""
        assert self.spec is not None
        return min(self.spec.shape.instances, self.rows or self.spec.shape.instances)

    @property
    def n_features(self) -> int:
        """Features, as far as the spec tells."""
        assert self.spec is not None
        return self.spec.shape.features


@dataclass(frozen=True)
class OuterFold:
    """One outer fold of one run, and how its rows are scaled.

    Attributes
    ----------
    task : {"classification", "regression"}
    dataset : DatasetRef
    split : Split
    order : {"shuffled", "stored"}
        The order in which training rows are presented.
    scale, targets : Scale or None
        Of the inputs, and of the targets of a regression.
    run, fold : int
        Counted from 0.
    """

    task: str
    dataset: DatasetRef
    split: Split
    order: str
    scale: Scale | None
    targets: Scale | None
    run: int
    fold: int

    def content(self) -> dict[str, Any]:
        """Return what determines the rows of the fold, as the key of a stored result has it."""
        protocol = {
            "scale": self.scale.content() if self.scale else None,
            "outer": self.split.content(),
            "order": self.order,
            **({"targets": self.targets.content()} if self.targets else {}),
        }
        return {
            "format": FORMAT,
            "task": self.task,
            "dataset": self.dataset.content(),
            "protocol": protocol,
            "run": self.run,
            "fold": self.fold,
        }

    @classmethod
    def from_content(cls, content: dict[str, Any], spec: DatasetSpec | None = None) -> Self:
        """Return what `content` was made from."""
        protocol = content["protocol"]
        scale, targets = (Scale.model_validate(s) if (s := protocol.get(k)) else None for k in ("scale", "targets"))
        dataset = DatasetRef.from_content(content["dataset"], spec)
        split = Split(**protocol["outer"])
        place = (content["run"], content["fold"])
        return cls(content["task"], dataset, split, protocol["order"], scale, targets, *place)

    @property
    def n_train(self) -> int:
        """Rows of the training part, as far as the spec tells."""
        n = self.dataset.n_rows
        if self.split.kind.endswith("kfold"):
            return n * (self.split.folds - 1) // self.split.folds
        spec = self.dataset.spec
        official = spec.shape.split if spec else None
        if self.split.kind == "official":
            return official[0] if official else n
        return self.split.train or n - (self.split.test or 0)


@dataclass(frozen=True)
class FoldData:
    """The rows of one outer fold, scaled.

    Attributes
    ----------
    X_train, X_test : ndarray or CSR matrix of shape (n_train, n_features), (n_test, n_features)
        The training rows stand in the order in which a sequential model sees them.
    y_train, y_test : ndarray of shape (n_train,), (n_test,)
        -1/+1 for two classes, 0, 1, ... for more, real values for regression.
    labels : list of int or None
        Every label of the data set; None for regression.
    """

    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    labels: list[int] | None


def labels_of(data: Dataset) -> list[int] | None:
    """Return every label that `data.y` may hold: -1 and +1, or 0, 1, ...; None for regression."""
    if data.classes is None:
        return None
    return [-1, 1] if len(data.classes) == 2 else list(range(len(data.classes)))


@lru_cache(maxsize=4)
def load_rows(dataset: DatasetRef, data_dir: str | None) -> Dataset:
    """Return the rows that work is done on; the last few data sets are kept."""
    assert dataset.spec is not None
    data = load(dataset.spec, data_dir, dataset.run, dict(dataset.options))
    keep = subsample(data, dataset.rows)
    if len(keep) == len(data.y):
        return data
    splits = data.splits and {part: np.flatnonzero(np.isin(keep, rows)) for part, rows in data.splits.items()}
    return replace(data, X=data.X[keep], y=data.y[keep], splits=splits)


@lru_cache(maxsize=2)
def _scaled(dataset: DatasetRef, data_dir: str | None, scale: Scale) -> Any:
    return scale_columns(load_rows(dataset, data_dir).X, slice(None), scale)


def scaled_inputs(dataset: DatasetRef, data_dir: str | None, scale: Scale | None, train: Indices) -> Any:
    """Return all rows of a data set, scaled as the protocol says.

    Parameters
    ----------
    dataset : DatasetRef
    data_dir : str or None
    scale : Scale or None
    train : ndarray of int
        The training rows.
    """
    if scale is None:
        return load_rows(dataset, data_dir).X
    if scale.fit_on == "train":
        return scale_columns(load_rows(dataset, data_dir).X, train, scale)
    return _scaled(dataset, data_dir, scale)


def fold_data(place: OuterFold, data_dir: str | None) -> FoldData:
    """Return the scaled rows of an outer fold."""
    data = load_rows(place.dataset, data_dir)
    whole = place.dataset.spec.shape.instances if place.dataset.spec else len(data.y)
    split = place.split if place.dataset.rows is None else cut_to(place.split, len(data.y), whole)
    train, test = outer_split(data, split, place.order, place.run, place.fold)
    X, y = scaled_inputs(place.dataset, data_dir, place.scale, train), data.y
    if place.targets is not None and data.classes is None:
        y = scale_targets(y, train if place.targets.fit_on == "train" else slice(None), place.targets)
    return FoldData(X[train], y[train], X[test], y[test], labels_of(data))


def forget_data() -> None:
    """Drop the data that are kept in memory."""
    load_rows.cache_clear()
    _scaled.cache_clear()
