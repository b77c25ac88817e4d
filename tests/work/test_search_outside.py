"""Searches of models from outside: their candidates are scored where no model has run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from made_work import both, do, work_of

from elmbench.datasets import Dataset
from elmbench.errors import ElmbenchError
from elmbench.models import KELMClassifier
from elmbench.work import scoring
from elmbench.work.base import Context
from elmbench.work.shared_pass import SharedPass

MakeUnit = Callable[..., dict[str, Any]]
AddModel = Callable[..., None]


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
