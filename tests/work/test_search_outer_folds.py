"""A grid on the outer folds: what oracle chooses by it, and a curve, where nothing is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from made_work import choose, do, evaluate, fold_data, model_seed
from recorders import Recorder
from toy_data import AddModel, MakeUnit

from elmbench.models import KELMClassifier, KELMRegressor
from elmbench.protocol.predictions import metric_value
from elmbench.registry import find_model
from elmbench.specs.grids import candidates


@pytest.mark.parametrize("dataset", ["two", "real"])
def test_oracle_is_brute_force_over_the_outer_folds(make_unit: MakeUnit, dataset: str) -> None:
    units = [make_unit("grid", dataset=dataset, run=run, fold=fold) for run in (0, 1) for fold in range(3)]
    evaluated = [evaluate(unit, {}) for unit in units]
    grid = candidates(units[0]["grid"])
    means = np.zeros(len(grid))
    for unit, part in zip(units, evaluated, strict=True):
        data = fold_data(unit)
        for i, candidate in enumerate(grid):
            model = KELMRegressor if data.labels is None else KELMClassifier
            predicted = model(**candidate).fit(data.X_train, data.y_train).predict(data.X_test)
            value = metric_value(unit["metric"], data.y_test, predicted, data.labels)
            value = -value if data.labels is None else value
            assert part["scores"][i] == pytest.approx(value, abs=1e-8)
            means[i] += value / len(units)
    result = choose({"grid": units[0]["grid"]}, evaluated, {"budget": 3})
    assert result["params"] == {"budget": 3, **grid[int(np.argmax(means))]}
    assert result["scores"] == pytest.approx(means, abs=1e-8)
    assert result["seconds"] == pytest.approx(np.mean([part["seconds"] for part in evaluated]))


@pytest.mark.parametrize(("dataset", "metric"), [("two", "gmean"), ("three", "accuracy"), ("real", "rmse")])
def test_a_curve_is_one_fit_for_each_value(make_unit: MakeUnit, dataset: str, metric: str) -> None:
    grid = {"n_hidden": [3, 20, 8]}
    unit = make_unit("grid", dataset=dataset, model="elm", grid=grid, metric=metric, params={"C": 5.0}, fold=1)
    result = do(unit | {"kind": "curve"})
    assert result["search_seconds"] > 0
    data = fold_data(unit)
    factory = find_model("elm").factory(unit["task"])
    expected = {}
    for n_hidden in (3, 20, 8):
        model = factory(n_hidden=n_hidden, C=5.0, random_state=model_seed(unit)).fit(data.X_train, data.y_train)
        predicted = model.predict(data.X_test)
        expected[f"{metric}@h={n_hidden}"] = metric_value(metric, data.y_test, predicted, data.labels)
    assert list(result["measured"]) == list(expected)
    assert result["measured"] == pytest.approx(expected, rel=1e-6)


def test_a_curve_goes_on_where_predictions_are_not_finite(make_unit: MakeUnit, add_model: AddModel) -> None:
    class Broken(Recorder):
        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), np.nan if self.gamma == 2.5 else 1.0)

    add_model("broken", None, Broken)
    result = do(make_unit("grid", dataset="real", model="broken", grid={"gamma": [1.0, 2.5]}) | {"kind": "curve"})
    assert result["measured"]["nrmse@gamma=1"] > 0
    assert np.isnan(result["measured"]["nrmse@gamma=2.5"])
