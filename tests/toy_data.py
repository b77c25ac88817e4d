"""Small data sets in place of the real ones, models that are made for a test, and units of work."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.sources import file
from elmbench.evaluation import folds
from elmbench.registry import ModelEntry, plugins
from elmbench.specs.datasets import DatasetSpec, Shape, load_dataset_specs
from elmbench.tasks import fit, nested_search

MakeUnit = Callable[..., dict[str, Any]]
AddModel = Callable[..., None]


def forget_data() -> None:
    """Drop the cached data."""
    caches = (
        folds.load_rows,
        folds._scaled_rows,
        folds._cached_parts,
        folds._all_inputs,
        folds._fitted_scaling,
        folds._random_rows,
        folds._small_inputs,
        folds._large_inputs,
        nested_search.PREPARED,
    )
    for cached in caches:
        cached.cache_clear()
    file._described_tables.clear()


def toy(name: str, seed: int = 0) -> Dataset:
    """Return a data set of 90 rows; its columns are on different scales."""
    rng = np.random.default_rng([seed, *name.encode()])
    X = rng.normal(size=(90, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
    signal = X[:, 0] + 0.1 * X[:, 1] + 0.3 * rng.normal(size=90)
    classes: tuple[str, ...] | None = None
    y: np.ndarray
    if name == "two":
        classes, y = ("no", "yes"), np.where(signal > 0.9, 1, -1).astype(np.int8)
    elif name == "three":
        classes, y = ("a", "b", "c"), np.digitize(signal, [-0.2, 1.0]).astype(np.int64)
    else:
        y = signal
    return Dataset(
        X,
        y,
        name,
        "regression" if classes is None else "classification",
        classes,
        ("p", "q", "r"),
        "toy",
        "",
    )


def toy_spec(name: str) -> DatasetSpec:
    """Return what there is to say of a data set, which may be one of the suite's."""
    known = load_dataset_specs()
    return (
        known[name]
        if name in known
        else DatasetSpec.model_construct(
            name=name, shape=Shape(instances=90, features=3)
        )
    )


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Dataset]]:
    """The data sets that are loaded by name; `redrawn` is another one in every run. A test may
    change them.
    """
    content = {name: toy(name) for name in ("two", "three", "real")}

    def load(spec: DatasetSpec, data_dir: str | None, run: int) -> Dataset:
        return (
            toy("redrawn", seed=run) if spec.name == "redrawn" else content[spec.name]
        )

    monkeypatch.setattr("elmbench.datasets.load.load_from_spec", load)
    monkeypatch.setattr(fit, "_warm", set())
    forget_data()
    yield content
    forget_data()


@pytest.fixture
def add_model() -> AddModel:
    """Enter estimator classes into the registry."""

    def add(name: str, classification: Any = None, regression: Any = None) -> None:
        entry = ModelEntry(name, "made for a test", classification, regression)
        plugins._declared["MODELS", name] = entry, Path("test")

    return add


UNIT: dict[str, Any] = {
    "kind": "cell",
    "task": "classification",
    "dataset": {"name": "two", "identity": "", "run": 0, "options": {}, "rows": None},
    "protocol": {
        "scale": {"range": [0.0, 1.0], "fit-on": "all"},
        "outer": {"kind": "stratified-kfold", "folds": 3},
        "order": "shuffled",
    },
    "run": 0,
    "fold": 0,
    "model": "k-elm",
    "version": "1",
    "stream": "k-elm",
    "params": {},
    "carry_over": "none",
}
SEARCH: dict[str, Any] = {
    "kind": "search",
    "grid": {"gamma": [0.5, 4.0], "C": [0.1, 1.0, 100.0]},
    "inner": {"kind": "stratified-kfold", "folds": 3},
    "metric": "mcc",
    "tune_rows": None,
}


@pytest.fixture
def make_unit(toys: dict[str, Dataset]) -> MakeUnit:
    """Make a unit of a toy: `make_unit("search", dataset="two", scale=None, order="stored",
    model="elm", ...)`.
    """

    def make(kind: str = "cell", **changes: Any) -> dict[str, Any]:
        unit = copy.deepcopy(UNIT | (SEARCH if kind in ("search", "grid") else {})) | {
            "kind": kind
        }
        dataset = changes.pop("dataset", "two")
        unit["dataset"]["name"] = dataset
        if dataset in ("real", "redrawn"):
            unit |= {"task": "regression"} | (
                {"metric": "nrmse"} if "metric" in unit else {}
            )
            unit["protocol"]["outer"]["kind"] = "kfold"
            if "inner" in unit:
                unit["inner"]["kind"] = "kfold"
        for name in ("rows", "options"):
            if name in changes:
                unit["dataset"][name] = changes.pop(name)
        for name in ("scale", "order", "outer"):
            if name in changes:
                unit["protocol"][name] = changes.pop(name)
        if "model" in changes and "stream" not in changes:
            changes["stream"] = changes["model"]
        if dataset == "redrawn":
            unit["dataset"]["run"] = changes.get("run", 0)
        return unit | changes

    return make
