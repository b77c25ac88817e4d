"""Every kind of work: content, keys of results from before; streams, facts of data sets and learnt
kernel weights.
"""

import json
import pickle
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_work import attempted, do, fit, fold_data, task_from_content, task_from_spec
from toy_data import MakeUnit

from elmbench.datasets.dataset import Dataset
from elmbench.models import (
    KOSELMClassifier,
    KOSELMRegressor,
    MKELMClassifier,
    MKELMRegressor,
    OSPVMClassifier,
)
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.measures import rows_after_chunks
from elmbench.specs.profiles import resolve
from elmbench.tables.planning import make_plan
from elmbench.tasks.base import key_of
from elmbench.tasks.plan import RunRequest

DATASET = {"name": "two", "identity": "abc", "run": 0, "options": {}, "rows": None}
SCALE, OUTER = (
    {"range": [0.0, 1.0], "fit-on": "all"},
    {"kind": "stratified-kfold", "folds": 3},
)
PLACE = {
    "format": 1, "task": "classification", "dataset": DATASET, "run": 0, "fold": 2,
    "protocol": {"scale": SCALE, "outer": OUTER, "order": "shuffled"},
}  # fmt: skip
MODEL = {"model": "k-elm", "version": "1", "stream": "k-elm"}
FIT = {
    **PLACE,
    **MODEL,
    "kind": "cell",
    "params": {},
    "carry_over": "none",
    "chosen": None,
}
GRID = {"grid": {"gamma": [0.5, 4.0], "C": [0.1, 1.0]}, "grid_order": ["gamma", "C"]}
GRID_WORK = {**PLACE, **MODEL, **GRID, "params": {}, "given": None}
SEARCH = {
    **GRID_WORK,
    "kind": "search",
    "metric": "mcc",
    "inner": OUTER,
    "tune_rows": None,
}
CHOICE = {**GRID, "kind": "choice", "given": None, "evaluated": ["a"]}
VALUES = {"grid": {"C": [1.0, 2.0]}, "grid_order": ["C"]}
CORRELATION = {
    **{name: value for name, value in PLACE.items() if name != "fold"}, **MODEL,
    "protocol": {"scale": None},
    "grid": {"n_hidden": [1, 10]}, "grid_order": ["n_hidden"], "params": {"activation": "rbf"},
    "kind": "correlation",
    "draws": {"projections": 100, "operators": 100}, "dcs": "corrected",
}  # fmt: skip
DESCRIPTION = {
    "format": 1,
    "task": "classification",
    "dataset": DATASET,
    "kind": "description",
}
#: Content of stored results, and the keys that they have had since the first version.
KNOWN: list[tuple[dict[str, Any], str]] = [
    (FIT | {"params": {"C": 2.0}, "chosen": "s"}, "73c90a53a1a7d21a42602016e5d9bbfa"),
    (FIT | {"carry_over": "folds"}, "0f0f6685fcfae11864c0b3e7673af116"),
    (FIT | {"train_accuracy": True}, "922762e48fa5f7da255ebcef5805a5d1"),
    (SEARCH, "7931522a41512e9fa4da9d714b4c8c11"),
    (
        SEARCH | {"given": "g", "paths": False, "tune_rows": 100},
        "53f73d82beca2d61a82abe550ee1b36f",
    ),
    (GRID_WORK | {"kind": "grid", "metric": "mcc"}, "84ade066343867cd283748d99a333a3a"),
    (CHOICE | {"evaluated": ["a", "b"]}, "066f07d41b7f3a73da10a9d3c3c5fc0a"),
    (
        GRID_WORK | {"kind": "divergence", "tune_rows": None},
        "aec91d2efd53690e60862ab280543eeb",
    ),
    (
        CHOICE | {"criterion": "dcs-gaussians", "dcs": "corrected"},
        "31afa5f13177ed373d69a2e0c3e644b1",
    ),
    (
        CHOICE | {"criterion": "dcs-kde", "given": "g"},
        "8f32f2c2bdaa9ab4e399483b0409409b",
    ),
    (
        PLACE | MODEL | VALUES | {"params": {}, "kind": "curve", "metric": "gmean"},
        "4ff469c11d1a26091e539cd4b41a046d",
    ),
    (
        PLACE | MODEL | {"kind": "stream", "params": {}, "chunk": 40},
        "24a6b172c34cb661b4eecd1c96b06889",
    ),
    (CORRELATION, "7c6e6a05e26cd77f865fc2bd90467614"),
    (DESCRIPTION, "3b5aec67c02b8cf143f6e80ff63e25df"),
    (
        DESCRIPTION
        | {
            "task": "regression",
            "outer": {"kind": "holdout", "train": None, "test": 20},
        },
        "9062eb89c11a0219bf99f47198d3fa50",
    ),
]


@pytest.mark.parametrize(
    ("content", "key"), KNOWN, ids=[content["kind"] for content, _ in KNOWN]
)
def test_keys_stay_what_they_are(content: dict[str, Any], key: str) -> None:
    """Stored results of users are looked up by these keys."""
    task = task_from_spec(content)
    assert task.content() == content
    assert task.key == key


@pytest.mark.exhaustive
@pytest.mark.usefixtures("without_data")
@pytest.mark.parametrize("profile", ["ci", "fast", "paper"])
def test_a_worker_reads_the_work_that_was_planned(profile: str) -> None:
    kinds = set()
    for file in load_catalogue().values():
        if profile not in file.profiles:
            continue
        for select in ((), ("nested",)):
            plan = make_plan(resolve(file, profile), RunRequest(runs=1, select=select))
            for key, task in list(plan.tasks.items())[:: 1 if profile == "ci" else 50]:
                again = pickle.loads(pickle.dumps(task))
                assert type(again) is type(task)
                assert again == task
                assert again.key == key == key_of(task.content())
                assert again.needs == task.needs
                assert (again.seconds(), again.number_of_fits) == (
                    task.seconds(),
                    task.number_of_fits,
                )
                assert task.label
                kinds.add(task.kind)
    assert {
        "cell",
        "search",
        "grid",
        "choice",
        "divergence",
        "curve",
        "correlation",
        "stream",
    } <= kinds


def test_a_description_has_the_counts_of_the_data_set(
    toys: dict[str, Dataset], make_unit: Callable[..., dict[str, Any]]
) -> None:
    def facts(name: str, **changes: Any) -> Any:
        unit = make_unit("description", dataset=name)
        return do({key: unit[key] for key in ("task", "dataset", "kind")} | changes)[
            "measured"
        ]

    positives = int((toys["two"].y == 1).sum())
    shape = {"features": 3, "instances": 90}
    assert facts("two") == {
        **shape,
        "classes": 2,
        "negatives": 90 - positives,
        "positives": positives,
    }
    assert facts("three") == {**shape, "classes": 3}
    assert facts("real") == shape
    # Of the 90 rows; those of a split that gives only one of its sizes, and of three folds.
    holdout = {"kind": "holdout", "train": None, "test": 20}
    assert facts("real", outer=holdout) == {**shape, "train": 70, "test": 20}
    assert facts("real", outer={"kind": "kfold", "folds": 3}) == {
        **shape,
        "train": 60,
        "test": 30,
    }
    half = make_unit("description", dataset="real")["dataset"] | {"rows": 45}
    cut = facts("real", outer=holdout, dataset=half)
    assert cut == {"features": 3, "instances": 45, "train": 35, "test": 10}


KERNELS: list[Any] = [
    ["rbf", {"gamma": 0.5}],
    ["polynomial", {"degree": 2}],
    ["linear", {"columns": [0, 2]}],
]


@pytest.fixture
def unit(make_unit: MakeUnit) -> MakeUnit:
    return partial(
        make_unit, "kernel-weights", model="mk-elm", params={"kernels": KERNELS}
    )


@pytest.mark.parametrize(
    ("dataset", "made"), [("three", MKELMClassifier), ("real", MKELMRegressor)]
)
def test_a_fit_with_its_paths(unit: MakeUnit, dataset: str, made: Any) -> None:
    content = unit(dataset=dataset, fold=1)
    result = fit(content, C=4.0)
    data = fold_data(content)
    model = made(C=4.0, kernels=KERNELS).fit(data.X_train, data.y_train)
    paths = result["paths"]
    assert paths["kernels"] == KERNELS
    np.testing.assert_allclose(
        paths["weights"], model.weights_path_, rtol=1e-6, atol=1e-8
    )
    np.testing.assert_allclose(paths["objective"], model.objective_, rtol=1e-6)
    assert (
        result["measured"]["iterations"]
        == len(paths["objective"]) - 1
        == len(paths["weights"]) - 1
        > 0
    )
    assert result["params"] == {"C": 4.0, "kernels": KERNELS}
    json.dumps(result)
    plain = fit(content | {"kind": "cell"}, C=4.0)
    assert plain["predictions"] == result["predictions"]
    assert set(result["measured"]) - set(plain["measured"]) == {"kernels", "iterations"}


def test_a_kernel_counts_from_a_hundredth_of_the_largest_weight_on(
    unit: MakeUnit,
) -> None:
    task: Any = task_from_content(unit())
    weights = np.array([50.0, 0.5, 0.49, 0.0])
    path = {
        "weights_path_": weights[np.newaxis],
        "objective_": np.ones(1),
        "kernels": KERNELS,
    }
    result = task.extra_values(
        SimpleNamespace(weights_=weights, n_iter_=7, **path), None
    )
    assert result["measured"] == {"kernels": 2.0, "iterations": 7.0}


def test_a_model_without_kernel_weights_has_neither_counts_nor_paths(
    unit: MakeUnit,
) -> None:
    content = unit(model="k-elm", params={})
    result, plain = (
        fit(content | {"kind": kind}, C=4.0, gamma=0.5)
        for kind in ("kernel-weights", "cell")
    )
    assert result["status"] == "ok"
    assert (result["predictions"], result["measured"], result.keys()) == (
        plain["predictions"],
        {},
        plain.keys(),
    )


@pytest.mark.parametrize(
    ("n_rows", "chunk", "sizes"),
    [(100, 40, [40, 80, 100]), (80, 40, [40, 80]), (3, 40, [3]), (3, 1, [1, 2, 3])],
)
def test_numbers_of_rows_after_each_chunk(
    n_rows: int, chunk: int, sizes: list[int]
) -> None:
    assert rows_after_chunks(n_rows, chunk) == sizes


@pytest.mark.parametrize("dataset", ["two", "three"])
def test_a_stream_is_measured_after_each_chunk(
    make_unit: MakeUnit, dataset: str
) -> None:
    unit = make_unit(
        "stream", dataset=dataset, model="os-pvm", params={"n_hidden": 2}
    ) | {"chunk": 25}
    result = do(unit)
    assert result["params"] == {"n_hidden": 2}
    assert result["fit_seconds"] > 0
    data = fold_data(unit)
    assert len(data.y_train) == 60
    expected: dict[str, float] = {}
    for n in (25, 50, 60):
        # Rows learnt in any chunks give the model of all of them.
        model = OSPVMClassifier(n_hidden=2, initial_batch=n).fit(
            data.X_train[:n], data.y_train[:n]
        )
        expected[f"accuracy@rows={n}"] = float(
            np.mean(model.predict(data.X_test) == data.y_test)
        )
        right = model.predict(data.X_train[:n]) == data.y_train[:n]
        expected[f"train_accuracy@rows={n}"] = float(np.mean(right))
        expected[f"n_units@rows={n}"] = model.n_units_
    assert result["measured"] == pytest.approx(expected)


def test_the_first_rows_may_lack_a_class(make_unit: MakeUnit) -> None:
    unit = make_unit(
        "stream", dataset="three", model="os-pvm", params={"n_hidden": 2}
    ) | {"chunk": 1}
    result = attempted(unit)
    assert result["status"] == "ok"
    assert result["measured"]["train_accuracy@rows=1"] == 1
    assert "warnings" not in result or not result["warnings"]


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
def test_a_chunk_is_predicted_before_it_is_learnt(
    make_unit: MakeUnit, dataset: str
) -> None:
    params = {"gamma": 0.5, "C": 4.0}
    unit = make_unit("stream", dataset=dataset, model="kos-elm", params=params) | {
        "chunk": 25,
        "prequential": True,
    }
    result = do(unit)
    data = fold_data(unit)
    model = (
        KOSELMRegressor(**params) if data.labels is None else KOSELMClassifier(**params)
    )
    classes = {"classes": data.labels} if data.labels else {}
    predicted: list[float] = []
    for start, stop in [(0, 25), (25, 50), (50, len(data.y_train))]:
        if start:
            predicted += model.predict(data.X_train[start:stop]).tolist()
            true = data.y_train[25:stop]
            wrong = np.array(predicted) - true
            error = (
                np.mean(wrong != 0)
                if data.labels
                else np.sqrt(np.mean(wrong**2) / np.var(true, ddof=1))
            )
            assert result["measured"][
                f"prequential_error@rows={stop}"
            ] == pytest.approx(error)
        model.partial_fit(data.X_train[start:stop], data.y_train[start:stop], **classes)
    assert "prequential_error@rows=25" not in result["measured"]
    assert ("nrmse@rows=50" in result["measured"]) == (data.labels is None)


def test_what_is_predicted_ahead_changes_nothing_else(make_unit: MakeUnit) -> None:
    unit = make_unit(
        "stream", dataset="two", model="fb-kos-elm", params={"budget": 5}
    ) | {"chunk": 20}
    alone, beside = attempted(unit), attempted(unit | {"prequential": True})
    assert alone["measured"].items() <= beside["measured"].items()
    assert len(beside["measured"]) > len(alone["measured"])
