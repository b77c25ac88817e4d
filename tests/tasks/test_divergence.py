"""The choice by a divergence: of the training rows only, by brute force; ties, divergences that are
not finite.
"""

from __future__ import annotations

import itertools
import json
from typing import Any, ClassVar

import numpy as np
import pytest
from made_work import attempted, choose, do, fold_data, model_seed
from scipy.special import logsumexp
from sentences import sentence
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_data import AddModel, MakeUnit

from elmbench.errors import ElmbenchError
from elmbench.evaluation.splits import sample_rows
from elmbench.models.protocols import Evaluated
from elmbench.registry import find_model
from elmbench.specs.grids import SearchGrid


def brute_force(negative: np.ndarray, positive: np.ndarray) -> dict[str, float]:
    """Both divergences from their definitions, the second by sums over all pairs."""

    def overlap(a: np.ndarray, b: np.ndarray, variance: float) -> float:
        exponents = -0.5 * np.subtract.outer(a, b) ** 2 / variance
        return (
            logsumexp(exponents)
            - np.log(exponents.size)
            - 0.5 * np.log(2 * np.pi * variance)
        )

    squares = [(4 / (3 * len(z))) ** 0.4 * z.var() for z in (negative, positive)]
    kde = [
        overlap(negative, negative, 2 * squares[0]),
        overlap(positive, positive, 2 * squares[1]),
        -2 * overlap(negative, positive, sum(squares)),
    ]
    S, s = negative.var(), positive.var()
    leading = (positive.mean() - negative.mean()) ** 2 / (S + s)
    mixed = np.log((S + s) / 2 / np.sqrt(S * s))
    return {
        "dcs-kde": sum(kde),
        "corrected": mixed + leading,
        "as-printed": -0.5 * np.log(np.pi / 2) - mixed + leading,
    }


@pytest.fixture
def divergence_unit(make_unit: MakeUnit) -> MakeUnit:
    """Make a unit of kind "divergence"."""

    def make(**changes: Any) -> dict[str, Any]:
        unit = make_unit("search", **changes) | {"kind": "divergence"}
        return {
            name: value
            for name, value in unit.items()
            if name not in ("inner", "metric")
        }

    return make


def choice(
    unit: dict[str, Any], criterion: str, dcs: str | None = None
) -> dict[str, Any]:
    return {"kind": "choice", "grid": unit["grid"], "criterion": criterion} | (
        {"dcs": dcs} if dcs else {}
    )


FORMS = [
    ("dcs-gaussians", "corrected"),
    ("dcs-gaussians", "as-printed"),
    ("dcs-kde", None),
]


@pytest.mark.parametrize("tune_rows", [None, 40])
@pytest.mark.parametrize("model", ["k-elm", "elm", "svm"])
def test_the_choice_is_brute_force_over_the_training_rows(
    divergence_unit: MakeUnit, model: str, tune_rows: int | None
) -> None:
    grid = {
        name: list(values[1:7:2]) for name, values in find_model(model).grid.items()
    }
    unit = divergence_unit(model=model, grid=grid, run=1, fold=2, tune_rows=tune_rows)
    evaluated = do(unit, {})
    data = fold_data(unit)
    X, y = data.X_train, data.y_train
    if tune_rows:
        keep = sample_rows(y, tune_rows, True, "tune", "two", 1, 2)
        X, y = X[keep], y[keep]
    factory = find_model(model).factory("classification")
    seed = {} if model in ("k-elm", "svm") else {"random_state": model_seed(unit)}
    result = []
    for candidate in SearchGrid(grid).candidates():
        projections = factory(**candidate, **seed).fit(X, y).decision_function(X)
        result.append(brute_force(projections[y < 0], projections[y > 0]))
    for criterion, dcs in FORMS:
        expected = [values[dcs or criterion] for values in result]
        chosen = choose(choice(unit, criterion, dcs), [evaluated], {"budget": 3})
        assert chosen["scores"] == pytest.approx(expected, rel=1e-6)
        assert chosen["params"] == {
            "budget": 3,
            **SearchGrid(grid).candidates()[int(np.argmax(expected))],
        }
        assert chosen["seconds"] == evaluated["seconds"] > 0


class Projecting(ClassifierMixin, BaseEstimator):
    """Projects onto a column, or to what a candidate says."""

    calls: ClassVar[list[str]] = []

    def __init__(self, column: int = 0, factor: float = 1.0) -> None:
        self.column = column
        self.factor = factor

    def fit(self, X: np.ndarray, y: np.ndarray) -> Projecting:
        return self

    def project(self, X: np.ndarray) -> np.ndarray:
        self.calls.append("project")
        return X[:, self.column] * self.factor

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        raise AssertionError("the projections are asked for where there are some")


class WithoutProjections(Projecting):
    """Has a path that yields predictions only."""

    @classmethod
    def evaluate_grid(
        cls, X: Any, y: Any, folds: Any, candidates: Any, **fixed: Any
    ) -> Any:
        raise AssertionError("predictions are not asked for")


class WithPath(WithoutProjections):
    """Has a path that yields projections too."""

    @classmethod
    def project_grid(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        folds: list[Any],
        candidates: list[dict[str, Any]],
        **fixed: Any,
    ) -> Any:
        cls.calls.append("project")
        for i, candidate in reversed(list(enumerate(candidates))):
            for j, (_, test) in enumerate(folds):
                yield Evaluated(i, j, X[test, candidate["column"]])


@pytest.mark.parametrize(
    ("model", "how", "calls"),
    [
        (Projecting, {}, ["project"] * 3),
        (WithoutProjections, {}, ["project"] * 3),
        (WithPath, {}, ["project"]),
        (WithPath, {"paths": False}, ["project"] * 3),
    ],
)
def test_projections_come_from_the_path_where_it_has_them(
    divergence_unit: MakeUnit,
    add_model: AddModel,
    model: Any,
    how: dict[str, Any],
    calls: list[str],
) -> None:
    Projecting.calls.clear()
    add_model("projecting", model)
    unit = divergence_unit(model="projecting", grid={"column": [2, 0, 1]}, **how)
    result = do(unit, {})
    assert Projecting.calls == calls
    data = fold_data(unit)
    for i, column in enumerate((2, 0, 1)):
        for j, sign in enumerate((-1, 1)):
            values = data.X_train[data.y_train == sign, column]
            assert result["means"][i][j] == pytest.approx(values.mean())
            assert result["variances"][i][j] == pytest.approx(values.var())


@pytest.mark.parametrize("factor", [0.0, np.nan, np.inf, 1e200])
def test_a_divergence_that_is_not_finite_is_never_chosen(
    divergence_unit: MakeUnit, add_model: AddModel, factor: float
) -> None:
    """A class projected onto a point, not a number, infinity: however well it keeps the classes
    apart.
    """

    class Collapsing(Projecting):
        def fit(self, X: np.ndarray, y: np.ndarray) -> Collapsing:
            self.low_ = X[y > 0, 0].min()
            return self

        def project(self, X: np.ndarray) -> np.ndarray:
            if self.factor == 1.0:
                return X[:, 0]
            with np.errstate(all="ignore"):
                return np.where(X[:, 0] >= self.low_, 1.0, X[:, 0] * self.factor)

    add_model("collapsing", Collapsing)
    unit = divergence_unit(model="collapsing", grid={"factor": [factor, 1.0]})
    evaluated = attempted(unit)
    assert evaluated["status"] == "ok"
    for criterion, dcs in FORMS:
        result = attempted(
            choice(unit, criterion, dcs) | {"evaluated": ["d"]}, {"d": evaluated}
        )
        assert result["status"] == "ok"
        assert result["params"] == {"factor": 1.0}
    json.loads(json.dumps(evaluated))


def test_no_divergence_is_finite(
    divergence_unit: MakeUnit, add_model: AddModel
) -> None:
    """The search fails, with the reason, and what rests on it with it."""
    add_model("projecting", Projecting)
    unit = divergence_unit(model="projecting", grid={"factor": [np.nan, np.inf]})
    evaluated = attempted(unit)
    for criterion, dcs in FORMS:
        result = attempted(
            choice(unit, criterion, dcs) | {"evaluated": ["d"]}, {"d": evaluated}
        )
        assert result["status"] == "failed"
        assert (
            sentence("tasks.divergence.no-finite-divergence", candidates=2)
            in result["reason"]
        )


@pytest.mark.parametrize(
    ("dataset", "classes"), [("three", "3 classes"), ("real", "no classes")]
)
def test_more_or_fewer_than_two_classes(
    divergence_unit: MakeUnit, dataset: str, classes: str
) -> None:
    with pytest.raises(ElmbenchError, match=f"{dataset} has {classes}"):
        do(divergence_unit(dataset=dataset), {})


def test_the_two_forms_may_choose_differently() -> None:
    """The logarithm has another sign: unequal variances count for or against a candidate."""
    evaluated = {
        "means": [[0.0, 1.0]] * 2,
        "variances": [[1.0, 1.0], [0.002, 1.998]],
        "kde": [0, 0],
        "seconds": 1.0,
    }
    unit = {"grid": {"C": [1, 2]}}
    for dcs, C in (("corrected", 2), ("as-printed", 1)):
        assert (
            choose(choice(unit, "dcs-gaussians", dcs), [evaluated], {})["params"]["C"]
            == C
        )


@pytest.mark.parametrize(("criterion", "dcs"), FORMS)
def test_of_equal_divergences_the_first_in_the_order_of_the_grid(
    criterion: str, dcs: str | None
) -> None:
    evaluated = {
        "means": [[0, 1], [0, 2], [0, 2]],
        "variances": [[1, 1]] * 3,
        "kde": [0, 1, 1],
        "seconds": 1.0,
    }
    assert choose(choice({"grid": {"C": [7, 9, 5]}}, criterion, dcs), [evaluated], {})[
        "params"
    ] == {"C": 9}


def test_what_is_taken_over_is_used(
    divergence_unit: MakeUnit, add_model: AddModel
) -> None:
    add_model("projecting", Projecting)
    unit = divergence_unit(model="projecting", grid={"factor": [1.0]})
    result = [do(unit, {"column": column})["means"] for column in range(3)]
    assert all(a != b for a, b in itertools.combinations(result, 2))
