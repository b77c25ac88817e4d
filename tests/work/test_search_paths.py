"""The path of a model over its grid: where it is taken, and that it finds what one fit each finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from made_work import do, fold_data, inner_folds, model_seed
from recorders import Recorder, WithPath
from toy_data import AddModel, MakeUnit

from elmbench.models.protocols import Evaluated
from elmbench.protocol.predictions import metric_value
from elmbench.work.scoring import GridProblem, best, grid_scores


def test_a_path_is_used_where_there_is_one(make_unit: MakeUnit, add_model: AddModel) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    unit = make_unit("search", model="with-path", grid={"C": [0.2, 0.5]}, params={"gamma": 7.0})
    result = do(unit, {})
    assert [entry.get("path") for entry in Recorder.seen] == [True]
    assert Recorder.seen[0]["fixed"] == {"gamma": 7.0, "random_state": model_seed(unit)}
    data = fold_data(unit)
    folds = inner_folds(unit, data.X_train, data.y_train)
    for C, mean in zip([0.2, 0.5], result["scores"], strict=True):
        predicted = np.where(data.X_train[:, 0] > C, 1, -1)
        values = [metric_value("mcc", data.y_train[test], predicted[test], [-1, 1]) for _, test in folds]
        assert mean == pytest.approx(np.mean(values))


@pytest.mark.parametrize("kind", ["search", "grid"])
@pytest.mark.parametrize("scale", ["all", "train"])
def test_a_path_is_left_aside_where_the_unit_says_so(
    make_unit: MakeUnit, add_model: AddModel, kind: str, scale: str
) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    how = {"model": "with-path", "grid": {"C": [0.2, 0.5]}, "scale": {"range": [0.0, 1.0], "fit-on": scale}}
    do(make_unit(kind, **how) | {"paths": False})
    assert len(Recorder.seen) == 2 * (3 if kind == "search" else 1)
    assert not any("path" in entry for entry in Recorder.seen)


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
