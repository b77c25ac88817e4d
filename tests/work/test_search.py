"""The search: by brute force, blind to the test rows, and what one model takes over from another."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_work import both, choose, do, evaluate, fold_data, inner_folds, model_seed, outer_split, work_of
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from elmbench.datasets import Dataset
from elmbench.errors import ElmbenchError
from elmbench.models import FBKOSELMClassifier, KELMClassifier, KELMRegressor
from elmbench.models.protocols import Evaluated
from elmbench.numerics.seeds import integer_seed
from elmbench.protocol import folds
from elmbench.protocol.metrics import classification_metrics, regression_metrics
from elmbench.protocol.splits import stratified_rows
from elmbench.specs.grids import candidates
from elmbench.specs.registry import find_model
from elmbench.work import scoring
from elmbench.work.base import Context
from elmbench.work.scoring import GridProblem, best, fixed_parameters
from elmbench.work.shared_pass import SharedPass

MakeUnit = Callable[..., dict[str, Any]]
AddModel = Callable[..., None]
NOTHING: dict[str, Any] = {}


# --- Which one is best -----------------------------------------------------------------------------------------------


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


class Recorder(ClassifierMixin, BaseEstimator):
    """Predicts the first label and remembers what it was given."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012 - shared on purpose

    def __init__(self, C: float = 1.0, gamma: float = 1.0, random_state: int | None = None) -> None:
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        self.seen.append({"X": X.copy(), "y": y.copy(), **self.get_params()})
        self.first_ = np.min(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.first_)


@pytest.fixture
def recorder(add_model: AddModel) -> list[dict[str, Any]]:
    Recorder.seen.clear()
    add_model("recorder", Recorder)
    return Recorder.seen


def test_of_equal_candidates_the_first_in_the_order_of_the_grid(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    found = do(make_unit("search", model="recorder", grid={"C": [3.0, 1.0], "gamma": [2.0, 1.0]}), {})
    assert found["params"] == {"C": 3.0, "gamma": 2.0}
    assert len(found["scores"]) == 4
    assert len(set(found["scores"])) == 1


# --- Nested ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
def test_nested_is_brute_force_over_the_inner_folds(
    toys: dict[str, Dataset], make_unit: MakeUnit, dataset: str
) -> None:
    unit = make_unit("search", dataset=dataset, run=1, fold=2)
    found = do(unit, {})
    data = fold_data(unit)
    splits = inner_folds(unit, data.X_train, data.y_train)
    means = []
    for candidate in candidates(unit["grid"]):
        values = []
        for train, test in splits:
            model = KELMRegressor if data.labels is None else KELMClassifier
            predicted = model(**candidate).fit(data.X_train[train], data.y_train[train]).predict(data.X_train[test])
            if data.labels is None:
                values.append(-regression_metrics(data.y_train[test], predicted)["nrmse"])
            else:
                values.append(classification_metrics(data.y_train[test], predicted, data.labels)["mcc"])
        means.append(np.mean(values))
    assert found["scores"] == pytest.approx(means, abs=1e-8)
    assert found["params"] == candidates(unit["grid"])[int(np.argmax(means))]
    assert found["seconds"] > 0


@pytest.fixture
def keep_split(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Hold an outer split although the labels that it was stratified by are changed; forget the data as loaded."""

    def keep(split: Any) -> None:
        train, test = split
        monkeypatch.setattr(folds, "outer_parts", lambda *_: [(np.sort(train), test)] * 3)
        folds.forget_data()

    return keep


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


def test_nested_never_sees_the_test_rows_by_value(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    for fold in range(3):
        recorder.clear()
        unit = make_unit("search", model="recorder", scale=None, fold=fold, grid={"C": [1.0]})
        do(unit, {})
        test = {tuple(row) for row in toys["two"].X[outer_split(toys["two"], unit["protocol"], 0, fold)[1]]}
        learnt = {tuple(row) for fit in recorder for row in fit["X"]}
        assert len(recorder) == 3
        assert len(learnt) == 60
        assert not learnt & test


def test_inner_folds_are_scaled_on_their_own_training_rows(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    scale = {"range": [0.0, 1.0], "fit-on": "train"}
    do(make_unit("search", model="recorder", scale=scale, grid={"C": [1.0, 2.0]}), {})
    assert len(recorder) == 6
    for fit in recorder:
        np.testing.assert_allclose(fit["X"].min(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(fit["X"].max(axis=0), 1, atol=1e-12)


def test_inner_folds_of_data_scaled_as_a_whole_keep_that_scale(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    do(make_unit("search", model="recorder", grid={"C": [1.0]}), {})
    X = toys["two"].X
    allowed = {tuple(row) for row in ((X - X.min(axis=0)) / np.ptp(X, axis=0)).round(9)}
    assert {tuple(row) for fit in recorder for row in fit["X"].round(9)} <= allowed


def test_tuning_on_fewer_rows(toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    unit = make_unit("search", model="recorder", scale=None, grid={"C": [1.0]}, tune_rows=30)
    do(unit, {})
    data = fold_data(unit)
    keep = stratified_rows(data.y_train, 30, True, "tune", "two", 0, 0)
    assert {len(fit["X"]) for fit in recorder} == {20}
    learnt = {tuple(row) for fit in recorder for row in fit["X"]}
    assert learnt == {tuple(row) for row in data.X_train[keep]}
    # In the order in which they are presented.
    place = {tuple(row): i for i, row in enumerate(data.X_train)}
    for fit in recorder:
        places = [place[tuple(row)] for row in fit["X"]]
        assert places == sorted(places)


def test_more_tuning_rows_than_there_are(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    do(make_unit("search", model="recorder", grid={"C": [1.0]}, tune_rows=1000), {})
    assert {len(fit["X"]) for fit in recorder} == {40}


# --- Oracle ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["two", "real"])
def test_oracle_is_brute_force_over_the_outer_folds(
    toys: dict[str, Dataset], make_unit: MakeUnit, dataset: str
) -> None:
    units = [make_unit("grid", dataset=dataset, run=run, fold=fold) for run in (0, 1) for fold in range(3)]
    evaluated = [evaluate(unit, {}) for unit in units]
    grid = candidates(units[0]["grid"])
    means = np.zeros(len(grid))
    for unit, part in zip(units, evaluated, strict=True):
        data = fold_data(unit)
        for i, candidate in enumerate(grid):
            model = KELMRegressor if data.labels is None else KELMClassifier
            predicted = model(**candidate).fit(data.X_train, data.y_train).predict(data.X_test)
            if data.labels is None:
                value = -regression_metrics(data.y_test, predicted)["nrmse"]
            else:
                value = classification_metrics(data.y_test, predicted, data.labels)["mcc"]
            assert part["scores"][i] == pytest.approx(value, abs=1e-8)
            means[i] += value / len(units)
    found = choose({"grid": units[0]["grid"]}, evaluated, {"budget": 3})
    assert found["params"] == {"budget": 3, **grid[int(np.argmax(means))]}
    assert found["scores"] == pytest.approx(means, abs=1e-8)
    assert found["seconds"] == pytest.approx(np.mean([part["seconds"] for part in evaluated]))


def test_oracle_does_see_the_test_rows(
    toys: dict[str, Dataset], make_unit: MakeUnit, keep_split: Callable[[Any], None]
) -> None:
    unit = make_unit("grid")
    before = evaluate(unit, {})["scores"]
    split = outer_split(toys["two"], unit["protocol"], 0, 0)
    toys["two"].y[split[1]] *= -1
    keep_split(split)
    assert evaluate(unit, {})["scores"] == pytest.approx([-score for score in before])


# --- One hyperparameter, none chosen ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("dataset", "metric"), [("two", "gmean"), ("three", "accuracy"), ("real", "rmse")])
def test_a_curve_is_one_fit_for_each_value(
    toys: dict[str, Dataset], make_unit: MakeUnit, dataset: str, metric: str
) -> None:
    grid = {"n_hidden": [3, 20, 8]}
    unit = make_unit("grid", dataset=dataset, model="elm", grid=grid, metric=metric, params={"C": 5.0}, fold=1)
    found = do(unit | {"kind": "curve"})
    assert found["search_seconds"] > 0
    data = fold_data(unit)
    factory = find_model("elm").factory(unit["task"])
    expected = {}
    for n_hidden in (3, 20, 8):
        model = factory(n_hidden=n_hidden, C=5.0, random_state=model_seed(unit)).fit(data.X_train, data.y_train)
        predicted = model.predict(data.X_test)
        if data.labels is None:
            values = regression_metrics(data.y_test, predicted)
        else:
            values = classification_metrics(data.y_test, predicted, data.labels)
        expected[f"{metric}@h={n_hidden}"] = values[metric]
    assert list(found["metrics"]) == list(expected)
    assert found["metrics"] == pytest.approx(expected, rel=1e-6)


def test_a_curve_goes_on_where_predictions_are_not_finite(
    toys: dict[str, Dataset], make_unit: MakeUnit, add_model: AddModel
) -> None:
    class Broken(Recorder):
        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.full(len(X), np.nan if self.gamma == 2.5 else 1.0)

    add_model("broken", None, Broken)
    found = do(make_unit("grid", dataset="real", model="broken", grid={"gamma": [1.0, 2.5]}) | {"kind": "curve"})
    assert found["metrics"]["nrmse@gamma=1"] > 0
    assert np.isnan(found["metrics"]["nrmse@gamma=2.5"])


# --- Both at once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["two", "three", "real"])
@pytest.mark.parametrize("model", ["elm", "k-elm", "fb-kos-elm", "svm", "w-elm", "eem", "eekm", "ls-svm"])
def test_one_pass_finds_what_two_searches_find(
    toys: dict[str, Dataset], make_unit: MakeUnit, model: str, dataset: str
) -> None:
    entry = find_model(model)
    if dataset == "real" and entry.regression is None:
        return
    grid = {name: list(values[:2]) for name, values in entry.grid.items()}
    for run, fold in itertools.product((0, 1), range(3)):
        unit = make_unit("search", dataset=dataset, model=model, grid=grid, run=run, fold=fold)
        searched, tested = both(unit)
        alone = do(unit, {})
        assert searched["params"] == alone["params"]
        assert searched["scores"] == pytest.approx(alone["scores"], rel=1e-9)
        assert tested["scores"] == pytest.approx(evaluate(unit, {})["scores"], rel=1e-9)
        assert set(tested) | {"params"} == set(searched)
        assert min(searched["seconds"], tested["seconds"]) > 0


def test_the_solvers_of_one_pass_count_for_the_part_that_they_were_for(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    """A candidate on a fold counts once, whether both selections are asked for or one."""
    searched, tested = both(make_unit("search", model="recorder", grid={"C": [1.0, 2.0]}))
    assert searched["solvers"] == {"clone and fit": 6}
    assert tested["solvers"] == {"clone and fit": 2}


def test_one_pass_is_one_call_of_the_path(toys: dict[str, Dataset], make_unit: MakeUnit, add_model: AddModel) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    both(make_unit("search", model="with-path", grid={"C": [0.2, 0.5]}))
    assert [entry["path"] for entry in Recorder.seen] == [True]


@pytest.mark.parametrize(
    "change", [{"tune_rows": 30}, {"scale": {"range": [0.0, 1.0], "fit-on": "train"}}, {"tune_rows": 60}]
)
def test_one_pass_where_the_folds_are_of_other_rows_or_scales(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]], change: dict[str, Any]
) -> None:
    """The models are given exactly the rows that two searches give them."""

    def given() -> list[tuple[bytes, ...]]:
        rows = sorted((fit["X"].tobytes(), fit["y"].tobytes(), str(fit["C"]).encode()) for fit in recorder)
        recorder.clear()
        return rows

    unit = make_unit("search", model="recorder", grid={"C": [1.0, 2.0]}, **change)
    both(unit)
    at_once = given()
    do(unit, {})
    evaluate(unit, {})
    assert len(at_once) == 8
    assert at_once == given()


def test_the_choice_of_one_pass_never_sees_the_test_rows(
    toys: dict[str, Dataset], make_unit: MakeUnit, keep_split: Callable[[Any], None]
) -> None:
    unit = make_unit("search")
    before = both(unit)
    split = outer_split(toys["two"], unit["protocol"], 0, 0)
    toys["two"].y[split[1]] *= -1
    keep_split(split)
    after = both(unit)
    assert after[0]["params"] == before[0]["params"]
    assert after[0]["scores"] == before[0]["scores"]
    assert after[1]["scores"] == pytest.approx([-score for score in before[1]["scores"]])


# --- The path --------------------------------------------------------------------------------------------------------


class WithPath(Recorder):
    """A model whose path is told from its fits."""

    @classmethod
    def evaluate_grid(
        cls, X: np.ndarray, y: np.ndarray, folds: list[Any], candidates: list[dict[str, Any]], **fixed: Any
    ) -> Any:
        cls.seen.append({"path": True, "fixed": fixed})
        # In an order of its own.
        for (j, (_, test)), (i, candidate) in itertools.product(
            enumerate(folds), reversed(list(enumerate(candidates)))
        ):
            yield Evaluated(i, j, np.where(X[test, 0] > candidate["C"], 1, -1))


def test_a_path_is_used_where_there_is_one(toys: dict[str, Dataset], make_unit: MakeUnit, add_model: AddModel) -> None:
    Recorder.seen.clear()
    add_model("with-path", WithPath)
    unit = make_unit("search", model="with-path", grid={"C": [0.2, 0.5]}, params={"gamma": 7.0})
    found = do(unit, {})
    assert [entry.get("path") for entry in Recorder.seen] == [True]
    assert Recorder.seen[0]["fixed"] == {"gamma": 7.0, "random_state": model_seed(unit)}
    data = fold_data(unit)
    splitter = StratifiedKFold(3, shuffle=True, random_state=integer_seed("inner", "two", 0, 0))
    for C, mean in zip([0.2, 0.5], found["scores"], strict=True):
        predicted = np.where(data.X_train[:, 0] > C, 1, -1)
        values = [
            classification_metrics(data.y_train[test], predicted[test], [-1, 1])["mcc"]
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
    grid = candidates({key: SMALL[key] for key in find_model(name).grid})  # type: ignore[misc]
    data = fold_data(unit)
    X, y = data.X_train, data.y_train
    inner = inner_folds(unit, X, y, 0)
    extra = {"initial_batch": 15, "batch_size": 10, "start": "ridge"} if name == "os-elm" else {}
    fixed = fixed_parameters(factory, extra, 5)
    problem = GridProblem(factory, X, y, inner, grid, fixed, data.labels)
    found, _ = problem.scores(unit["metric"])
    expected = np.full((len(grid), 3), np.nan)
    for i, j, predicted, _ in problem.clone_and_fit():
        if data.labels is None:
            expected[i, j] = -regression_metrics(y[inner[j][1]], predicted)["nrmse"]
        else:
            expected[i, j] = classification_metrics(y[inner[j][1]], predicted, data.labels)["mcc"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_a_path_that_leaves_one_out_never_chooses_it() -> None:
    class Partial(WithPath):
        @classmethod
        def evaluate_grid(cls, X: Any, y: Any, folds: Any, candidates: Any, **fixed: Any) -> Any:
            yield Evaluated(1, 0, y[folds[0][1]])

    y = np.array([-1, 1, 1, -1])
    inner = [(np.array([1, 2]), np.arange(4))]
    scores, _ = GridProblem(Partial, y[:, None] * 1.0, y, inner, [{"C": 1}, {"C": 2}], {}, [-1, 1]).scores("mcc")
    assert best(scores) == 1


# --- Parameters and streams ------------------------------------------------------------------------------------------


def test_what_a_model_does_not_have_is_left_out() -> None:
    taken = {"gamma": 1.0, "C": 2.0, "n_hidden": 5}
    assert fixed_parameters(Recorder, taken, 9) == {"gamma": 1.0, "C": 2.0, "random_state": 9}
    assert fixed_parameters(KELMClassifier, taken, 9) == {"gamma": 1.0, "C": 2.0}
    assert fixed_parameters(lambda **params: None, taken, 9) == taken


def test_one_model_takes_over_the_hyperparameters_of_another(toys: dict[str, Dataset], make_unit: MakeUnit) -> None:
    """FB-KOS-ELM has K-ELM's gamma and C when it searches its budget."""
    given = do(make_unit("search"), {})["params"]
    unit = make_unit("search", model="fb-kos-elm", stream="k-elm", grid={"budget": [5, 15, 25]})
    found = do(unit, given)
    assert {name: found["params"][name] for name in given} == given
    data = fold_data(unit)
    splits = inner_folds(unit, data.X_train, data.y_train)
    means = []
    for budget in (5, 15, 25):
        values = []
        for train, test in splits:
            model = FBKOSELMClassifier(budget=budget, **given).fit(data.X_train[train], data.y_train[train])
            values.append(classification_metrics(data.y_train[test], model.predict(data.X_train[test]), [-1, 1])["mcc"])
        means.append(np.mean(values))
    assert found["scores"] == pytest.approx(means, abs=1e-8)
    assert found["params"]["budget"] == (5, 15, 25)[int(np.argmax(means))]


def test_what_is_taken_over_may_be_searched_anew(
    toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]
) -> None:
    unit = make_unit("search", model="recorder", grid={"C": [3.0]})
    assert do(unit, {"C": 1.0, "gamma": 5.0})["params"] == {"C": 3.0, "gamma": 5.0}
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0)}
    recorder.clear()
    evaluate(make_unit("grid", model="recorder", grid={"C": [3.0]}), {"C": 1.0, "gamma": 5.0})
    assert {(fit["C"], fit["gamma"]) for fit in recorder} == {(3.0, 5.0)}


def test_the_random_stream(toys: dict[str, Dataset], make_unit: MakeUnit, recorder: list[dict[str, Any]]) -> None:
    """It is one of data set, run, fold and the first model of the chain; not of grid, reading or selection."""
    seed = model_seed(make_unit("search", model="os-elm", stream="elm"))
    assert model_seed(make_unit("cell", model="elm")) == seed
    assert model_seed(make_unit("grid", model="elm", grid={"C": [5]}, order="stored", scale=None)) == seed
    others = [{"run": 1}, {"fold": 1}, {"model": "k-elm"}, {"dataset": "three"}]
    assert len({seed, *(model_seed(make_unit(**({"model": "elm"} | other))) for other in others)}) == 5
    do(make_unit("search", model="recorder", stream="elm", grid={"C": [1.0, 2.0]}), {})
    assert {fit["random_state"] for fit in recorder} == {seed}


# --- Models from outside ---------------------------------------------------------------------------------------------


class Outside(KELMClassifier):
    """A model of the suite under another name, which makes every prediction count as right where it runs."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        scoring.score = lambda *_: 1.0
        return super().predict(X)


@pytest.fixture
def outside(add_model: AddModel, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], Any]:
    """Do work as two processes would: what the model has patched is undone before its predictions are judged."""
    add_model("outside", Outside)

    def run(unit: dict[str, Any]) -> Any:
        work = work_of(unit)
        with monkeypatch.context() as patch:
            patch.setattr(scoring, "score", scoring.score)
            produced = json.loads(json.dumps(work.produce({}, Context())))
        return work, produced

    return run


def as_the_suite(unit: dict[str, Any]) -> dict[str, Any]:
    return unit | {"model": "k-elm", "stream": "k-elm"}


@pytest.mark.parametrize("paths", [True, False])
@pytest.mark.parametrize("kind", ["search", "grid"])
def test_candidates_of_a_model_from_outside_are_scored_apart_from_it(
    toys: dict[str, Dataset], make_unit: MakeUnit, outside: Any, kind: str, paths: bool
) -> None:
    unit = make_unit(kind, model="outside", dataset="three", paths=paths)
    work, produced = outside(unit)
    assert "scores" not in produced
    found = work.judge(produced | {"scores": [1.0] * 6}, Context())
    expected = do(as_the_suite(unit))
    assert found["scores"] == expected["scores"]
    assert max(found["scores"]) < 1
    assert found.get("params") == expected.get("params")
    assert found.keys() == expected.keys()


def test_so_are_those_of_both_in_one_pass_and_of_a_curve(
    toys: dict[str, Dataset], make_unit: MakeUnit, outside: Any
) -> None:
    search = make_unit("search", model="outside")
    work, produced = outside(SharedPass(work_of(search)).content())
    parts = work.judge(produced, Context())["parts"]
    for part, expected in zip(parts.values(), both(as_the_suite(search)), strict=True):
        assert part["scores"] == expected["scores"]
        assert part.get("params") == expected.get("params")
    curve = make_unit("grid", model="outside", grid={"C": [0.1, 100.0]}) | {"kind": "curve"}
    work, produced = outside(curve)
    assert "metrics" not in produced
    assert work.judge(produced, Context())["metrics"] == do(as_the_suite(curve))["metrics"]


@pytest.mark.parametrize(
    "forged", [None, [], [[None] * 6], [[{"dtype": "O", "values": ""}] * 6] * 3, "x", [[1] * 6] * 3]
)
def test_what_is_no_prediction_of_all_candidates(
    toys: dict[str, Dataset], make_unit: MakeUnit, outside: Any, forged: Any
) -> None:
    work, produced = outside(make_unit("search", model="outside"))
    with pytest.raises(ValueError, match="expected"):
        work.judge(produced | {"predicted": forged}, Context())


def test_more_predictions_than_can_be_handed_over(
    toys: dict[str, Dataset], make_unit: MakeUnit, outside: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scoring, "MOST_PREDICTIONS", 100)
    with pytest.raises(ElmbenchError, match="from outside take more than"):
        outside(make_unit("search", model="outside"))
