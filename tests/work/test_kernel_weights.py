"""Fits whose kernel weights are learnt: their counts, their paths, models without kernel weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_work import fit, fold_data, work_of
from toy_data import MakeUnit

from elmbench.models import MKELMClassifier, MKELMRegressor

KERNELS: list[Any] = [["rbf", {"gamma": 0.5}], ["polynomial", {"degree": 2}], ["linear", {"columns": [0, 2]}]]


@pytest.fixture
def unit(make_unit: MakeUnit) -> Callable[..., dict[str, Any]]:
    def make(**changes: Any) -> dict[str, Any]:
        return make_unit("kernel-weights", **{"model": "mk-elm", "params": {"kernels": KERNELS}} | changes)

    return make


@pytest.mark.parametrize(("dataset", "made"), [("three", MKELMClassifier), ("real", MKELMRegressor)])
def test_a_fit_with_its_paths(unit: MakeUnit, dataset: str, made: Any) -> None:
    content = unit(dataset=dataset, fold=1)
    result = fit(content, C=4.0)
    data = fold_data(content)
    model = made(C=4.0, kernels=KERNELS).fit(data.X_train, data.y_train)
    paths = result["paths"]
    assert paths["kernels"] == KERNELS
    np.testing.assert_allclose(paths["weights"], model.weights_path_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(paths["objective"], model.objective_, rtol=1e-6)
    assert result["measured"]["iterations"] == len(paths["objective"]) - 1 == len(paths["weights"]) - 1 > 0
    assert result["params"] == {"C": 4.0, "kernels": KERNELS}
    json.dumps(result)
    plain = fit(content | {"kind": "cell"}, C=4.0)
    assert plain["predictions"] == result["predictions"]
    assert set(result["measured"]) - set(plain["measured"]) == {"kernels", "iterations"}


def test_a_kernel_counts_from_a_hundredth_of_the_largest_weight_on(unit: MakeUnit) -> None:
    work: Any = work_of(unit())
    weights = np.array([50.0, 0.5, 0.49, 0.0])
    path = {"weights_path_": weights[np.newaxis], "objective_": np.ones(1), "kernels": KERNELS}
    result = work.more(SimpleNamespace(weights_=weights, n_iter_=7, **path), None)
    assert result["measured"] == {"kernels": 2.0, "iterations": 7.0}


def test_a_model_without_kernel_weights_has_neither_counts_nor_paths(unit: MakeUnit) -> None:
    content = unit(model="k-elm", params={})
    result, plain = (fit(content | {"kind": kind}, C=4.0, gamma=0.5) for kind in ("kernel-weights", "cell"))
    assert result["status"] == "ok"
    assert (result["predictions"], result["measured"], result.keys()) == (plain["predictions"], {}, plain.keys())
