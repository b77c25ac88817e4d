"""The precedence of the parameters of a model: in a plan, a fit, a search, an estimate and a saved
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from made_work import do, evaluate, fit, model_seed, task_from_content
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_data import AddModel, MakeUnit

from elmbench.comparison.final_model import fit_pipeline
from elmbench.datasets.dataset import Dataset
from elmbench.models.protocols import Evaluated
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.parameters import merge_parameters
from elmbench.specs.profiles import resolve
from elmbench.specs.splits import Split
from elmbench.tables.planning import make_plan
from elmbench.tasks.fit import Fit
from elmbench.tasks.plan import RunRequest

LEVELS = ("seed", "inherited", "chosen", "printed", "fixed", "dataset")


class Recorder(ClassifierMixin, BaseEstimator):
    """A model that predicts the first label, and records its parameters."""

    fits: ClassVar[list[dict[str, Any]]] = []
    estimates: ClassVar[list[dict[str, Any]]] = []

    def __init__(
        self,
        a: int = 0,
        b: int = 0,
        c: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.a = a
        self.b = b
        self.c = c
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        self.fits.append(self.get_params())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self.classes_[0])

    @classmethod
    def memory_estimate(cls, n: int, d: int, n_outputs: int = 1, **params: Any) -> int:
        cls.estimates.append(params)
        return 0


class WithPath(Recorder):
    """A recorder whose path records the parameters of each candidate."""

    @classmethod
    def evaluate_grid(
        cls, X: Any, y: Any, folds: list[Any], candidates: list[Any], **fixed: Any
    ) -> Iterator[Evaluated]:
        for i, candidate in enumerate(candidates):
            cls.fits.append(fixed | candidate)
            for j, (_, test) in enumerate(folds):
                yield Evaluated(i, j, y[test])


@pytest.fixture(params=[Recorder, WithPath], ids=["fits", "path"])
def recorder(request: pytest.FixtureRequest, add_model: AddModel) -> type[Recorder]:
    """A model of the registry, `recorder`, with or without a path."""
    Recorder.fits.clear()
    Recorder.estimates.clear()
    model: type[Recorder] = request.param
    add_model("recorder", model)
    return model


@pytest.mark.parametrize("last", range(len(LEVELS)))
def test_a_later_level_replaces_an_earlier_one(last: int) -> None:
    levels = {level: {"C": level, level: True} for level in LEVELS[: last + 1]}
    merged = merge_parameters(**levels)
    assert merged == {"C": LEVELS[last]} | dict.fromkeys(levels, True)
    reversed_levels = dict(reversed(levels.items()))
    assert merge_parameters(**reversed_levels) == merged


#: Hyperparameters of an earlier search, which has set all; what the column fixes, and its grid.
INHERITED = {"a": 1, "b": 1, "c": 1}
FIXED = {"c": 3}
GRID = {"b": [2, 4]}
MERGED = {"a": 1, "b": 2, "c": 3}


def test_a_search_a_fit_and_a_saved_model_have_the_same_parameters(
    make_unit: MakeUnit, recorder: type[Recorder], toys: dict[str, Dataset]
) -> None:
    """A fixed parameter replaces an inherited one, and so does a candidate; a search with a path
    agrees.
    """
    search = make_unit("search", model="recorder", params=FIXED, grid=GRID)
    parameters = MERGED | {"random_state": model_seed(search)}

    chosen = do(search, INHERITED)["params"]
    assert {params["b"] for params in recorder.fits} == {2, 4}
    assert all(params | {"b": 2} == parameters for params in recorder.fits)

    recorder.fits.clear()
    evaluate(search, INHERITED)
    assert recorder.fits == [parameters, parameters | {"b": 4}]

    recorder.fits.clear()
    content = make_unit("cell", model="recorder", params=FIXED)
    result = fit(content, **chosen)
    assert recorder.fits[-1] == parameters
    assert result["params"] == MERGED

    recorder.fits.clear()
    task = task_from_content(content | {"chosen": "search"})
    assert isinstance(task, Fit)
    data = toys["two"]
    rows = np.arange(len(data.y))
    targets = data.labels_of(rows)
    pipeline = fit_pipeline(
        task, data, rows, chosen=chosen, targets=targets, inner=Split("kfold", 3)
    )
    model = pipeline.named_steps["model"].estimator
    assert model.get_params() == parameters


def test_an_estimate_of_memory_has_the_parameters_of_a_middle_candidate(
    make_unit: MakeUnit, recorder: type[Recorder]
) -> None:
    grid = {"b": [5, 2, 9], "a": [7, 8]}
    task = task_from_content(
        make_unit("search", model="recorder", params=FIXED, grid=grid)
    )
    assert not task.exceeds_memory(1)
    seed = model_seed(make_unit(model="recorder"))
    assert recorder.estimates == [{"a": 8, "b": 2, "c": 3, "random_state": seed}]


@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_random_state_that_is_given_replaces_the_seed(
    make_unit: MakeUnit, recorder: type[Recorder], is_fixed: bool
) -> None:
    """It is a hyperparameter then: the fit has that of the search, and the result records it."""
    params = {"random_state": 5} if is_fixed else {}
    grid = {"b": [2, 4]} if is_fixed else {"random_state": [5], "b": [2, 4]}
    search = make_unit("search", model="recorder", params=params, grid=grid)
    chosen = do(search, {})["params"]
    assert {params["random_state"] for params in recorder.fits} == {5}
    recorder.fits.clear()
    result = fit(make_unit("cell", model="recorder", params=params), **chosen)
    assert recorder.fits[-1]["random_state"] == 5
    assert result["params"]["random_state"] == 5


PUBLISHED = """dataset,model,metric,value,std,note
WDBC,K-ELM,C,8,,
WDBC,K-ELM,gamma,8,,
WDBC,ELM,n_hidden,30,,
WDBC,ELM,C,16,,
"""
TABLE: dict[str, Any] = {
    "id": "toy/one",
    "title": "toy",
    "label": "Table 1",
    "datasets": ["wdbc"],
    "protocol": {
        "scale": None,
        "outer": {"kind": "stratified-kfold", "folds": 3, "runs": 1},
        "inner": {"kind": "stratified-kfold", "folds": 3},
        "select": "published",
        "metrics": ["accuracy"],
    },
    "grids": {"C": [1, 2], "n_hidden": [10]},
    "models": {
        "K-ELM": {"model": "k-elm", "search": ["C"], "params": {"gamma": 4}},
        "ELM": {"model": "elm", "like": "K-ELM", "search": ["n_hidden"]},
    },
    "published": {"parameters": "published.csv"},
}


@pytest.mark.parametrize(
    ("override", "gamma"),
    [({}, 4), ({"params": {"gamma": 2}}, 2)],
    ids=["of the table", "of the data set"],
)
def test_a_plan_merges_printed_values_the_table_and_the_data_set(
    write_tree: Callable[..., Path], override: dict[str, Any], gamma: int
) -> None:
    """Printed values are those of the nearest column; the table replaces them, and the data set
    replaces those of the table.
    """
    column = TABLE["models"]["K-ELM"] | {"except": {"wdbc": override}}
    root = write_tree(TABLE | {"models": TABLE["models"] | {"K-ELM": column}})
    (root / "experiments" / "toy" / "published.csv").write_text(PUBLISHED)
    load_catalogue.cache_clear()
    plan = make_plan(resolve(load_catalogue(root)["toy/one"], "paper"), RunRequest())
    params = {
        cell.model: plan.tasks[cell.key].content()["params"] for cell in plan.cells
    }
    assert params["K-ELM"] == {"C": 8, "gamma": gamma}
    assert params["ELM"] == {"C": 16, "gamma": 8, "n_hidden": 30}
