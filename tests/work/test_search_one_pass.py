"""A search and the evaluation of its grid in one pass: what the two find apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from made_work import both, do, evaluate, outer_split
from recorders import Recorder, WithPath

from elmbench.datasets.dataset import Dataset
from elmbench.registry import find_model

MakeUnit = Callable[..., dict[str, Any]]
AddModel = Callable[..., None]


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
