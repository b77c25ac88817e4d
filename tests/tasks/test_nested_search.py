"""The search on inner folds, the evaluation of a grid on outer folds, and the paths of models: by
brute force.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from made_work import (
    choose,
    do,
    evaluate,
    fold_data,
    inner_folds,
    model_seed,
    outer_split,
    task_from_content,
)
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from toy_data import AddModel, MakeUnit, forget_data

from elmbench.datasets.dataset import Dataset
from elmbench.errors import ElmbenchWarning
from elmbench.evaluation import folds, preprocessing
from elmbench.evaluation.predictions import checked_metric, metric_value
from elmbench.evaluation.splits import sample_rows
from elmbench.models import (
    EEMClassifier,
    FBKOSELMClassifier,
    KELMClassifier,
    KELMRegressor,
)
from elmbench.models.protocols import Evaluated
from elmbench.registry import find_model
from elmbench.registry.scorers import find_metric
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.nested_search import PreparedInputs
from elmbench.tasks.scoring import GridProblem, best, grid_scores


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the first label and remembers what it was given."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def __init__(
        self, C: float = 1.0, gamma: float = 1.0, random_state: int | None = None
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        self.seen.append({"X": X.copy(), "y": y.copy(), **self.get_params()})
        self.first_ = np.min(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.first_)


class WithPath(Recorder):
    """A model whose path is told from its fits."""

    @classmethod
    def evaluate_grid(
        cls, X: Any, y: Any, folds: list[Any], candidates: list[Any], **fixed: Any
    ) -> Any:
        cls.seen.append({"path": True, "fixed": fixed})
        # In an order of its own.
        for (j, (_, test)), (i, one) in itertools.product(
            enumerate(folds), reversed(list(enumerate(candidates)))
        ):
            yield Evaluated(i, j, np.where(X[test, 0] > one["C"], 1, -1))


@pytest.mark.parametrize("model", [EEMClassifier, KELMClassifier, LogisticRegression])
def test_a_ranking_by_three_classes_takes_probabilities_if_there_are_any(
    model: Any,
) -> None:
    X, y = load_iris(return_X_y=True)
    problem = GridProblem(
        model, X, y, [(np.arange(0, 150, 2), np.arange(1, 150, 2))], [{}], {}, [0, 1, 2]
    )
    ((_, _, outputs, _),) = problem.outputs(find_metric("roc_auc"))
    assert np.allclose(outputs.sum(axis=1), 1) == hasattr(model, "predict_proba")


@pytest.fixture
def recorder(add_model: AddModel) -> list[dict[str, Any]]:
    """The arguments of each fit of the models `recorder` and `with-path`."""
    Recorder.seen.clear()
    add_model("recorder", Recorder)
    add_model("with-path", WithPath)
    return Recorder.seen


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
def test_the_best_mean_and_of_equals_the_first(
    scores: list[list[float]], winner: int
) -> None:
    assert best(np.array(scores)) == winner


def mean_scores(unit: dict[str, Any], models: list[Any]) -> list[float]:
    """Return the mean of the metric of a unit over its inner folds, of one fit each."""
    data = fold_data(unit)
    X, y = data.X_train, data.y_train
    splits = inner_folds(unit, X, y)

    def score(model: Any, train: Any, test: Any) -> float:
        return checked_metric(
            unit["metric"], model.fit(X[train], y[train]), X[test], y[test], data.labels
        )

    return [
        float(np.mean([score(model, *fold) for fold in splits])) for model in models
    ]


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
def test_nested_is_brute_force_over_the_inner_folds(
    make_unit: MakeUnit, dataset: str
) -> None:
    unit = make_unit("search", dataset=dataset, run=1, fold=2)
    result = do(unit, {})
    model, sign = (KELMRegressor, -1) if dataset == "real" else (KELMClassifier, 1)
    means = mean_scores(
        unit,
        [model(**candidate) for candidate in SearchGrid(unit["grid"]).candidates()],
    )
    assert result["scores"] == pytest.approx([sign * mean for mean in means], abs=1e-8)
    assert (
        result["params"]
        == SearchGrid(unit["grid"]).candidates()[int(np.argmax(result["scores"]))]
    )
    assert result["seconds"] > 0


@pytest.mark.parametrize("tune_rows", [None, 30])
@pytest.mark.parametrize("fold", [0, 1, 2])
def test_nested_never_sees_the_test_rows(
    toys: dict[str, Dataset],
    make_unit: MakeUnit,
    monkeypatch: pytest.MonkeyPatch,
    tune_rows: int | None,
    fold: int,
) -> None:
    """Other labels of the test rows change nothing; nor, scaled on the training part, do other
    inputs.
    """
    unit = make_unit(
        "search",
        fold=fold,
        tune_rows=tune_rows,
        scale={"range": [0.0, 1.0], "fit-on": "train"},
    )
    before = do(unit, {})
    train, test = outer_split(toys["two"], unit["protocol"], 0, fold)
    toys["two"].y[test] *= -1
    toys["two"].X[test] = np.random.default_rng(0).normal(size=(30, 3)) * 1e3
    # The split stays, although the labels that it was stratified by are changed.
    monkeypatch.setattr(folds, "outer_parts", lambda *_: [(np.sort(train), test)] * 3)
    forget_data()
    after = do(unit, {})
    assert after["scores"] == before["scores"]
    assert after["params"] == before["params"]


def test_inner_folds_are_scaled_on_their_own_training_rows(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    scale = {"range": [0.0, 1.0], "fit-on": "train"}
    do(make_unit("search", model="recorder", scale=scale, grid={"C": [1.0, 2.0]}), {})
    assert len(recorder) == 6
    for fit in recorder:
        np.testing.assert_allclose(fit["X"].min(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(fit["X"].max(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("most_values", [10**6, 1])
def test_the_models_of_a_fold_share_the_inputs_of_inner_folds(
    make_unit: MakeUnit,
    recorder: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    most_values: int,
) -> None:
    """Large inputs are not kept; neither are those of other rows."""
    forget_data()
    monkeypatch.setattr(PreparedInputs, "MOST_VALUES", most_values)
    calls: list[int] = []
    prepared_inputs = preprocessing.prepared_inputs

    def count(X: Any, rows: Any, *options: Any) -> Any:
        calls.append(len(rows))
        return prepared_inputs(X, rows, *options)

    monkeypatch.setattr(preprocessing, "prepared_inputs", count)
    how = {"scale": {"range": [0, 1], "fit-on": "train"}, "grid": {"C": [1.0, 2.0]}}
    do(make_unit("search", model="recorder", **how), {})
    alone = [fit["X"] for fit in recorder]
    n_first = len(calls)
    recorder.clear()
    do(make_unit("search", model="recorder", stream="elm", **how), {})
    assert len(calls) - n_first == (0 if most_values > 1 else 3)
    for inputs, fit in zip(alone, recorder, strict=True):
        np.testing.assert_array_equal(inputs, fit["X"])
    n_second = len(calls)
    do(make_unit("search", model="recorder", fold=1, **how), {})
    do(make_unit("search", model="recorder", tune_rows=30, **how), {})
    assert len(calls) - n_second >= 6


def test_tuning_on_fewer_rows(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    unit = make_unit(
        "search", model="recorder", scale=None, grid={"C": [1.0, 2.0]}, tune_rows=30
    )
    do(unit, {})
    data = fold_data(unit)
    keep = sample_rows(data.y_train, 30, True, "tune", "two", 0, 0)
    assert {len(fit["X"]) for fit in recorder} == {20}
    learnt = {tuple(row) for fit in recorder for row in fit["X"]}
    assert learnt == {tuple(row) for row in data.X_train[keep]}
    # In the order in which they are presented.
    row_of = {tuple(row): i for i, row in enumerate(data.X_train)}
    for fit in recorder:
        rows = [row_of[tuple(row)] for row in fit["X"]]
        assert rows == sorted(rows)


@pytest.mark.parametrize("model", ["recorder", "with-path"])
def test_a_single_candidate_is_chosen_without_a_fit(
    make_unit: MakeUnit, recorder: list[dict[str, Any]], model: str
) -> None:
    unit = make_unit("search", model=model, grid={"C": [3.0]})
    result = do(unit, {"C": 1.0, "gamma": 5.0})
    assert result["params"] == {"C": 3.0, "gamma": 5.0}
    assert (result["scores"], result["seconds"]) == ([], 0.0)
    assert recorder == []
    assert task_from_content(unit).number_of_fits == 0
    assert task_from_content(unit).seconds() == 0.0


def test_one_model_takes_over_the_hyperparameters_of_another(
    make_unit: MakeUnit,
) -> None:
    """FB-KOS-ELM has K-ELM's gamma and C when it searches its budget."""
    given = do(make_unit("search"), {})["params"]
    unit = make_unit(
        "search", model="fb-kos-elm", stream="k-elm", grid={"budget": [5, 15, 25]}
    )
    result = do(unit, given)
    assert {name: result["params"][name] for name in given} == given
    means = mean_scores(
        unit, [FBKOSELMClassifier(budget=budget, **given) for budget in (5, 15, 25)]
    )
    assert result["scores"] == pytest.approx(means, abs=1e-8)
    assert result["params"]["budget"] == (5, 15, 25)[int(np.argmax(means))]


def test_an_inherited_hyperparameter_may_be_searched_again(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    unit = make_unit("search", model="recorder", grid={"C": [3.0, 4.0]})
    assert do(unit, {"C": 1.0, "gamma": 5.0})["params"] == {"C": 3.0, "gamma": 5.0}
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0), (4.0, 5.0)}
    recorder.clear()
    evaluate(
        make_unit("grid", model="recorder", grid={"C": [3.0]}), {"C": 1.0, "gamma": 5.0}
    )
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0)}


def test_the_seed_depends_on_data_set_run_fold_and_first_model(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    """It is one of data set, run, fold and the first model of the chain; not of grid, reading or
    selection.
    """
    seed = model_seed(make_unit("search", model="os-elm", stream="elm"))
    assert model_seed(make_unit("cell", model="elm")) == seed
    assert (
        model_seed(
            make_unit("grid", model="elm", grid={"C": [5]}, order="stored", scale=None)
        )
        == seed
    )
    others = [{"run": 1}, {"fold": 1}, {"model": "k-elm"}, {"dataset": "three"}]
    assert (
        len(
            {
                seed,
                *(
                    model_seed(make_unit(**({"model": "elm"} | other)))
                    for other in others
                ),
            }
        )
        == 5
    )
    do(make_unit("search", model="recorder", stream="elm", grid={"C": [1.0, 2.0]}), {})
    assert {fit["random_state"] for fit in recorder} == {seed}


@pytest.mark.parametrize("dataset", ["two", "real"])
def test_oracle_is_brute_force_over_the_outer_folds(
    make_unit: MakeUnit, dataset: str
) -> None:
    units = [
        make_unit("grid", dataset=dataset, run=run, fold=fold)
        for run in (0, 1)
        for fold in range(3)
    ]
    evaluated = [evaluate(unit, {}) for unit in units]
    grid = SearchGrid(units[0]["grid"]).candidates()
    means = np.zeros(len(grid))
    for unit, part in zip(units, evaluated, strict=True):
        data = fold_data(unit)
        for i, candidate in enumerate(grid):
            factory, sign = (
                (KELMRegressor, -1) if data.labels is None else (KELMClassifier, 1)
            )
            model = factory(**candidate).fit(data.X_train, data.y_train)
            value = sign * checked_metric(
                unit["metric"], model, data.X_test, data.y_test, data.labels
            )
            assert part["scores"][i] == pytest.approx(value, abs=1e-8)
            means[i] += value / len(units)
    result = choose({"grid": units[0]["grid"]}, evaluated, {"budget": 3})
    assert result["params"] == {"budget": 3, **grid[int(np.argmax(means))]}
    assert result["scores"] == pytest.approx(means, abs=1e-8)
    assert result["seconds"] == pytest.approx(
        np.mean([part["seconds"] for part in evaluated])
    )


@pytest.mark.parametrize(
    ("dataset", "metric"), [("two", "gmean"), ("three", "accuracy"), ("real", "rmse")]
)
def test_a_curve_is_one_fit_for_each_value(
    make_unit: MakeUnit, dataset: str, metric: str
) -> None:
    grid = {"n_hidden": [3, 20, 8]}
    unit = make_unit(
        "grid",
        dataset=dataset,
        model="elm",
        grid=grid,
        metric=metric,
        params={"C": 5.0},
        fold=1,
    )
    result = do(unit | {"kind": "curve"})
    assert result["search_seconds"] > 0
    data = fold_data(unit)
    factory = find_model("elm").factory(unit["task"])
    expected = {}
    for n_hidden in (3, 20, 8):
        model = factory(n_hidden=n_hidden, C=5.0, random_state=model_seed(unit)).fit(
            data.X_train, data.y_train
        )
        expected[f"{metric}@h={n_hidden}"] = checked_metric(
            metric, model, data.X_test, data.y_test, data.labels
        )
    assert list(result["measured"]) == list(expected)
    assert result["measured"] == pytest.approx(expected, rel=1e-6)


def test_a_curve_goes_on_where_predictions_are_not_finite(
    make_unit: MakeUnit, add_model: AddModel
) -> None:
    class Broken(Recorder):
        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), np.nan if self.gamma == 2.5 else 1.0)

    add_model("broken", None, Broken)
    result = do(
        make_unit("grid", dataset="real", model="broken", grid={"gamma": [1.0, 2.5]})
        | {"kind": "curve"}
    )
    assert result["measured"]["nrmse@gamma=1"] > 0
    assert np.isnan(result["measured"]["nrmse@gamma=2.5"])


def test_a_path_is_used_where_there_is_one(
    make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    unit = make_unit(
        "search", model="with-path", grid={"C": [0.2, 0.5]}, params={"gamma": 7.0}
    )
    result = do(unit, {})
    assert [entry.get("path") for entry in recorder] == [True]
    assert recorder[0]["fixed"] == {"gamma": 7.0, "random_state": model_seed(unit)}
    data = fold_data(unit)
    inner = inner_folds(unit, data.X_train, data.y_train)
    for C, mean in zip([0.2, 0.5], result["scores"], strict=True):
        predicted = np.where(data.X_train[:, 0] > C, 1, -1)
        values = [
            metric_value("mcc", data.y_train[test], predicted[test], [-1, 1])
            for _, test in inner
        ]
        assert mean == pytest.approx(np.mean(values))


@pytest.mark.parametrize("kind", ["search", "grid"])
@pytest.mark.parametrize("scale", ["all", "train"])
def test_a_path_is_not_used_if_the_task_forbids_it(
    make_unit: MakeUnit, recorder: list[dict[str, Any]], kind: str, scale: str
) -> None:
    how = {
        "model": "with-path",
        "grid": {"C": [0.2, 0.5]},
        "scale": {"range": [0.0, 1.0], "fit-on": scale},
    }
    do(make_unit(kind, **how) | {"paths": False})
    assert len(recorder) == 2 * (3 if kind == "search" else 1)
    assert not any("path" in entry for entry in recorder)


@pytest.mark.parametrize("paths", [True, False])
@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_a_candidate_that_fails_does_not_lose_the_others(
    paths: bool, metric: str
) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    folds = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    grid = [
        {"degree": degree} for degree in (1, 2.5, 2)
    ]  # a broken power of a negative number
    problem = GridProblem(
        KELMClassifier,
        X,
        y,
        folds,
        grid,
        {"kernel": "poly", "gamma": 1.0},
        [-1, 1],
        paths,
    )
    with pytest.warns(
        ElmbenchWarning,
        match=r"1 of 3 candidates fail .*\{'degree': 2.5\}: ValueError: kernel",
    ):
        scores, _ = grid_scores([problem], metric)
    others, _ = grid_scores([replace(problem, candidates=[grid[0], grid[2]])], metric)
    np.testing.assert_allclose(scores[[0, 2]], others, atol=1e-12)
    assert np.isnan(scores[1]).all()
    with pytest.raises(ValueError, match="kernel: expected finite values"):
        grid_scores([replace(problem, candidates=[grid[1]])], metric)


def test_a_path_that_leaves_one_out_never_chooses_it() -> None:
    class Partial(WithPath):
        @classmethod
        def evaluate_grid(
            cls, X: Any, y: Any, folds: Any, candidates: Any, **fixed: Any
        ) -> Any:
            yield Evaluated(1, 0, y[folds[0][1]])

    y = np.array([-1, 1, 1, -1])
    inner = [(np.array([1, 2]), np.arange(4))]
    problem = GridProblem(
        Partial, y[:, None] * 1.0, y, inner, [{"C": 1}, {"C": 2}], {}, [-1, 1]
    )
    scores, _ = grid_scores([problem], "mcc")
    assert best(scores) == 1
