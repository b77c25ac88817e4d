"""The path of a model over its grid: where it is taken, and that it finds what one fit each finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_work import do, fold_data, inner_folds, model_seed
from recorders import Recorder, WithPath
from sklearn.model_selection import StratifiedKFold

from elmbench.datasets.dataset import Dataset
from elmbench.models.protocols import Evaluated
from elmbench.numerics.seeds import integer_seed
from elmbench.protocol.predictions import metric_value
from elmbench.registry import find_model
from elmbench.specs.grids import candidates
from elmbench.work.scoring import GridProblem, best, fixed_parameters, grid_scores

MakeUnit = Callable[..., dict[str, Any]]
AddModel = Callable[..., None]


def test_a_path_is_used_where_there_is_one(toys: dict[str, Dataset], make_unit: MakeUnit, add_model: AddModel) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    unit = make_unit("search", model="with-path", grid={"C": [0.2, 0.5]}, params={"gamma": 7.0})
    result = do(unit, {})
    assert [entry.get("path") for entry in Recorder.seen] == [True]
    assert Recorder.seen[0]["fixed"] == {"gamma": 7.0, "random_state": model_seed(unit)}
    data = fold_data(unit)
    splitter = StratifiedKFold(3, shuffle=True, random_state=integer_seed("inner", "two", 0, 0))
    for C, mean in zip([0.2, 0.5], result["scores"], strict=True):
        predicted = np.where(data.X_train[:, 0] > C, 1, -1)
        values = [
            metric_value("mcc", data.y_train[test], predicted[test], [-1, 1])
            for _, test in splitter.split(data.X_train, data.y_train)
        ]
        assert mean == pytest.approx(np.mean(values))


@pytest.mark.parametrize("kind", ["search", "grid"])
@pytest.mark.parametrize("scale", ["all", "train"])
def test_a_path_is_left_aside_where_the_unit_says_so(
    toys: dict[str, Dataset], make_unit: MakeUnit, add_model: AddModel, kind: str, scale: str
) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    how = {"model": "with-path", "grid": {"C": [0.2, 0.5]}, "scale": {"range": [0.0, 1.0], "fit-on": scale}}
    do(make_unit(kind, **how) | {"paths": False})
    assert len(Recorder.seen) == 2 * (3 if kind == "search" else 1)
    assert not any("path" in entry for entry in Recorder.seen)


OWN = ["elm", "os-elm", "k-elm", "kos-elm", "fb-kos-elm", "ald-kos-elm"]
SMALL = {"n_hidden": [4, 9], "C": [0.1, 100.0], "gamma": [0.5, 4.0], "budget": [5, 20], "delta": [0.01, 0.2]}


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
@pytest.mark.parametrize("name", OWN)
def test_paths_equal_one_fit_each(toys: dict[str, Dataset], make_unit: MakeUnit, name: str, dataset: str) -> None:
    unit = make_unit("search", dataset=dataset, model=name)
    factory = find_model(name).factory(unit["task"])
    grid = candidates({key: SMALL[key] for key in find_model(name).grid})
    data = fold_data(unit)
    X, y = data.X_train, data.y_train
    inner = inner_folds(unit, X, y, 0)
    extra = {"initial_batch": 15, "batch_size": 10, "start": "ridge"} if name == "os-elm" else {}
    fixed = fixed_parameters(factory, extra, 5)
    problem = GridProblem(factory, X, y, inner, grid, fixed, data.labels)
    result, _ = grid_scores([problem], unit["metric"])
    expected = np.full((len(grid), 3), np.nan)
    for i, j, predicted, _ in problem.clone_and_fit():
        value = metric_value(unit["metric"], y[inner[j][1]], predicted, data.labels)
        expected[i, j] = -value if data.labels is None else value
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)


def test_a_path_that_leaves_one_out_never_chooses_it() -> None:
    class Partial(WithPath):
        @classmethod
        def evaluate_grid(cls, X: Any, y: Any, folds: Any, candidates: Any, **fixed: Any) -> Any:
            yield Evaluated(1, 0, y[folds[0][1]])

    y = np.array([-1, 1, 1, -1])
    inner = [(np.array([1, 2]), np.arange(4))]
    problem = GridProblem(Partial, y[:, None] * 1.0, y, inner, [{"C": 1}, {"C": 2}], {}, [-1, 1])
    scores, _ = grid_scores([problem], "mcc")
    assert best(scores) == 1
