"""The search on inner folds: by brute force, blind to the test rows, and what one model takes over from another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_work import do, evaluate, fold_data, inner_folds, model_seed, outer_split
from toy_data import MakeUnit

from elmbench.datasets.dataset import Dataset
from elmbench.models import FBKOSELMClassifier, KELMClassifier, KELMRegressor
from elmbench.protocol.predictions import metric_value
from elmbench.protocol.splits import stratified_rows
from elmbench.specs.grids import candidates
from elmbench.work.scoring import best


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ([[0.1, 0.2], [0.3, 0.4], [0.2, 0.1]], 1),
        ([[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]], 0),
        ([[0.1, 0.1], [0.5, 0.5], [0.5, 0.5]], 1),
        ([[-np.inf, 0.9], [0.1, 0.1]], 1),
        ([[np.nan, 0.9], [0.1, 0.1]], 1),
        ([[-np.inf, -np.inf], [-np.inf, 0.0]], 0),
    ],
)
def test_the_best_mean_and_of_equals_the_first(scores: list[list[float]], winner: int) -> None:
    assert best(np.array(scores)) == winner


def test_of_equal_candidates_the_first_in_the_order_of_the_grid(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    result = do(make_unit("search", model="recorder", grid={"C": [3.0, 1.0], "gamma": [2.0, 1.0]}), {})
    assert result["params"] == {"C": 3.0, "gamma": 2.0}
    assert len(result["scores"]) == 4
    assert len(set(result["scores"])) == 1


def mean_scores(unit: dict[str, Any], models: list[Any]) -> list[float]:
    """Return the mean of the metric of a unit over its inner folds, of one fit each."""
    data = fold_data(unit)
    X, y = data.X_train, data.y_train
    return [
        np.mean(
            [
                metric_value(unit["metric"], y[test], model.fit(X[train], y[train]).predict(X[test]), data.labels)
                for train, test in inner_folds(unit, X, y)
            ]
        )
        for model in models
    ]


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
def test_nested_is_brute_force_over_the_inner_folds(make_unit: MakeUnit, dataset: str) -> None:
    unit = make_unit("search", dataset=dataset, run=1, fold=2)
    result = do(unit, {})
    model, sign = (KELMRegressor, -1) if dataset == "real" else (KELMClassifier, 1)
    means = mean_scores(unit, [model(**candidate) for candidate in candidates(unit["grid"])])
    assert result["scores"] == pytest.approx([sign * mean for mean in means], abs=1e-8)
    assert result["params"] == candidates(unit["grid"])[int(np.argmax(result["scores"]))]
    assert result["seconds"] > 0


@pytest.mark.parametrize("tune_rows", [None, 30])
@pytest.mark.parametrize("fold", [0, 1, 2])
def test_nested_never_sees_the_test_rows(
    toys: dict[str, Dataset], make_unit: MakeUnit, keep_split: Callable[[Any], None], tune_rows: int | None, fold: int
) -> None:
    """Other labels of the test rows change nothing; nor, scaled on the training part, do other inputs."""
    unit = make_unit("search", fold=fold, tune_rows=tune_rows, scale={"range": [0.0, 1.0], "fit-on": "train"})
    before = do(unit, {})
    split = outer_split(toys["two"], unit["protocol"], 0, fold)
    toys["two"].y[split[1]] *= -1
    toys["two"].X[split[1]] = np.random.default_rng(0).normal(size=(30, 3)) * 1e3
    keep_split(split)
    after = do(unit, {})
    assert after["scores"] == before["scores"]
    assert after["params"] == before["params"]


def test_inner_folds_are_scaled_on_their_own_training_rows(make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    scale = {"range": [0.0, 1.0], "fit-on": "train"}
    do(make_unit("search", model="recorder", scale=scale, grid={"C": [1.0, 2.0]}), {})
    assert len(recorder) == 6
    for fit in recorder:
        np.testing.assert_allclose(fit["X"].min(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(fit["X"].max(axis=0), 1, atol=1e-12)


def test_tuning_on_fewer_rows(make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    unit = make_unit("search", model="recorder", scale=None, grid={"C": [1.0]}, tune_rows=30)
    do(unit, {})
    data = fold_data(unit)
    keep = stratified_rows(data.y_train, 30, True, "tune", "two", 0, 0)
    assert {len(fit["X"]) for fit in recorder} == {20}
    learnt = {tuple(row) for fit in recorder for row in fit["X"]}
    assert learnt == {tuple(row) for row in data.X_train[keep]}
    # In the order in which they are presented.
    row_of = {tuple(row): i for i, row in enumerate(data.X_train)}
    for fit in recorder:
        rows = [row_of[tuple(row)] for row in fit["X"]]
        assert rows == sorted(rows)


def test_one_model_takes_over_the_hyperparameters_of_another(make_unit: MakeUnit) -> None:
    """FB-KOS-ELM has K-ELM's gamma and C when it searches its budget."""
    given = do(make_unit("search"), {})["params"]
    unit = make_unit("search", model="fb-kos-elm", stream="k-elm", grid={"budget": [5, 15, 25]})
    result = do(unit, given)
    assert {name: result["params"][name] for name in given} == given
    means = mean_scores(unit, [FBKOSELMClassifier(budget=budget, **given) for budget in (5, 15, 25)])
    assert result["scores"] == pytest.approx(means, abs=1e-8)
    assert result["params"]["budget"] == (5, 15, 25)[int(np.argmax(means))]


def test_what_is_taken_over_may_be_searched_anew(make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    unit = make_unit("search", model="recorder", grid={"C": [3.0]})
    assert do(unit, {"C": 1.0, "gamma": 5.0})["params"] == {"C": 3.0, "gamma": 5.0}
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0)}
    recorder.clear()
    evaluate(make_unit("grid", model="recorder", grid={"C": [3.0]}), {"C": 1.0, "gamma": 5.0})
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0)}


def test_the_random_stream(make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    """It is one of data set, run, fold and the first model of the chain; not of grid, reading or selection."""
    seed = model_seed(make_unit("search", model="os-elm", stream="elm"))
    assert model_seed(make_unit("cell", model="elm")) == seed
    assert model_seed(make_unit("grid", model="elm", grid={"C": [5]}, order="stored", scale=None)) == seed
    others = [{"run": 1}, {"fold": 1}, {"model": "k-elm"}, {"dataset": "three"}]
    assert len({seed, *(model_seed(make_unit(**({"model": "elm"} | other))) for other in others)}) == 5
    do(make_unit("search", model="recorder", stream="elm", grid={"C": [1.0, 2.0]}), {})
    assert {fit["random_state"] for fit in recorder} == {seed}
