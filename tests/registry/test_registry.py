"""The registry: names, parameters and costs of the suite's models, and grids as they are typed."""

import itertools

import pytest
from sentences import pattern

import elmbench
from elmbench.errors import ElmbenchError
from elmbench.registry import (
    BUILT_IN,
    TASKS,
    ModelEntry,
    find_model,
    list_models,
    make_model,
    model_version,
    parameter_names,
)
from elmbench.specs.grids import read_all_grids

OWN = [
    "elm",
    "os-elm",
    "k-elm",
    "kos-elm",
    "fb-kos-elm",
    "ald-kos-elm",
    "rk-elm",
    "elm-rbf",
    "mk-elm",
]
CLASSIFIERS = ["w-elm", "eem", "eekm", "bsgd", "pegasos", "amm", "pvm", "os-pvm"]
BOTH = [*OWN, "ls-svm", "rsvm"]


@pytest.mark.parametrize(
    ("name", "task"),
    [
        *itertools.product(BOTH, TASKS),
        *((name, "classification") for name in CLASSIFIERS),
    ],
)
def test_built_in_models_have_their_parameters_and_a_version(
    name: str, task: str
) -> None:
    entry = find_model(name)
    parameters = parameter_names(entry.factory(task))
    assert parameters is not None
    assert {"elm": {"n_hidden", "C"}, "k-elm": {"gamma", "C"}}.get(name, set()) <= set(
        parameters
    )
    assert model_version(entry, task).isdigit()
    assert entry.origin == "built-in"
    assert not entry.baseline


@pytest.mark.parametrize("entry", BUILT_IN.values(), ids=BUILT_IN)
def test_names_that_are_valid_without_an_import_are_parameters(
    entry: ModelEntry,
) -> None:
    for task in TASKS:
        if getattr(entry, task) is not None:
            assert {*entry.grid, *entry.settings.get(task, ())} <= {
                *(parameter_names(entry.factory(task)) or ())
            }


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_have_no_regressor(name: str) -> None:
    with pytest.raises(
        ElmbenchError, match=f"'{name}' has no estimator for regression"
    ):
        find_model(name).factory("regression")


@pytest.mark.parametrize(
    "name", [name for name in list_models() if find_model(name).cost]
)
def test_what_a_fit_costs_is_known_whatever_is_given_and_grows_with_the_rows(
    name: str,
) -> None:
    """Parameters that were chosen by a search are not known when a run is announced."""
    entry = find_model(name)
    for params in ({}, {key: values[-1] for key, values in entry.grid.items()}):
        costs = [entry.cost(n, 10, params) for n in (10, 100, 1000)]
        assert 0 < costs[0] < costs[1] < costs[2]


def test_list_models_and_make_model_offer_every_model() -> None:
    assert set(elmbench.list_models()) >= {*BOTH, *CLASSIFIERS}
    model = elmbench.make_model("k-elm", C=32, gamma=0.03)
    assert type(model).__name__ == "KELMClassifier"
    assert (model.C, model.gamma) == (32, 0.03)
    assert (
        type(elmbench.make_model("elm", task="regression")).__name__ == "ELMRegressor"
    )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kelm", {}, r"unknown model 'kelm' \(did you mean 'k-elm'\?\)"),
        ("quite-another", {}, "unknown model 'quite-another'"),
        ("k-elm", {"task": "ranking"}, "unknown task 'ranking'"),
        (
            "k-elm",
            {"c": 1},
            pattern(
                "registry.grids.unknown-parameter",
                model="k-elm",
                parameter="c",
                similar="C",
            ),
        ),
    ],
)
def test_what_is_not_there(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ElmbenchError, match=message) as error:
        make_model(name, **options)
    assert error.value.expected
    assert error.value.next_step


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"k-elm: {'[' * 100_000}", "is not valid YAML: more than 100 levels"),
        ("k" * 100_000, "does not give a model"),
    ],
)
def test_a_long_grid_is_quoted_in_part(text: str, problem: str) -> None:
    with pytest.raises(ElmbenchError, match=rf"k.*\.\.\.' {problem}") as error:
        read_all_grids([text])
    assert len(error.value.found) < 200


def test_grids_as_they_are_typed() -> None:
    assert read_all_grids(
        ["svm: {C: [1e-3, 1.5E3, -2e+4], kernel: [null, true, e3]}"]
    ) == {"svm": {"C": [0.001, 1500.0, -20000.0], "kernel": [None, True, "e3"]}}
    assert read_all_grids(["k-elm: {C: [1, 10], gamma: 2}"]) == {
        "k-elm": {"C": [1, 10], "gamma": [2]}
    }
    assert read_all_grids(["own.models:Mine: {depth: {from: 1, to: 3, step: 1}}"]) == {
        "own.models:Mine": {"depth": {"from": 1, "to": 3, "step": 1}}
    }
    assert list(read_all_grids(["a: {C: [1]}", "b: {C: [1]}"])) == ["a", "b"]
