"""Tables that are based on another table: the keys that they inherit, change and leave out."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import load_catalogue

WriteTree = Callable[..., Path]


def based(**changes: Any) -> dict[str, Any]:
    return {
        "based-on": "one",
        "id": "toy/two",
        "title": "Other",
        "label": "Table II",
        **changes,
    }


def test_a_table_inherits_the_keys_that_it_does_not_set(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    other = based(
        protocol={"outer": {"folds": 5}, "metrics": ["gmean"]}, grids={"C": [3]}
    )
    catalogue = load_catalogue(write_tree(experiment, other))
    one, two = catalogue["toy/one"].spec, catalogue["toy/two"].spec
    assert two.protocol.outer.folds == 5
    assert two.protocol.outer.kind == one.protocol.outer.kind
    assert two.protocol.metrics == ("gmean",)
    assert two.grids.values["C"] == [3]
    assert two.grids.values["gamma"] == one.grids.values["gamma"]
    for name, model in one.models.items():
        assert two.models[name].searched == model.searched
        assert two.models[name].params == model.params
    assert two.models["ELM"].grid.values["C"] == [3]
    assert (one.aliases, two.aliases) == (("one",), ())


def test_expectations_are_those_of_one_table(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    claim = {"says": "it is so", "dataset": "wdbc", "metric": "mcc", "model": "ELM"}
    experiment["claims"] = [claim | {"is": "above", "than": ["K-ELM"]}]
    expected = {"claim": "it is", "verdict": "holds", "reason": "so"}
    experiment["expect"] = [expected]
    catalogue = load_catalogue(write_tree(experiment, based()))
    assert len(catalogue["toy/one"].spec.expect) == 1
    assert catalogue["toy/two"].spec.expect == ()


def test_published_and_models_are_merged(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    experiment |= {"published": {"mean-of": 20, "meant": {"fp": "fn"}}}
    column = {"model": "ridge", "search": ["C"]}
    other = based(
        published={"mean-of": 5, "meant": {"fn": "fp"}}, models={"ridge": column}
    )
    without = based(published=None) | {"id": "toy/three"}
    emptied = based(published={"meant": {}}) | {"id": "toy/four"}
    catalogue = load_catalogue(write_tree(experiment, other, without, emptied))
    two = catalogue["toy/two"].spec
    assert two.published is not None
    assert two.published.mean_of == 5
    assert two.published.meant == {"fp": "fn", "fn": "fp"}
    one = catalogue["toy/one"].spec
    assert list(two.models) == [*one.models, "ridge"]
    assert two.models | one.models == two.models
    assert catalogue["toy/three"].spec.published is None
    four = catalogue["toy/four"].spec.published
    assert four is not None
    assert (four.mean_of, four.meant) == (20, {})


def test_a_column_is_changed_or_removed_by_its_name(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    changed = {"ELM": {"params": {"activation": "rbf"}}, "OS-ELM": None}
    catalogue = load_catalogue(write_tree(experiment, based(models=changed)))
    one, two = catalogue["toy/one"].spec, catalogue["toy/two"].spec
    assert list(two.models) == [name for name in one.models if name != "OS-ELM"]
    assert two.models["ELM"].params == one.models["ELM"].params | {"activation": "rbf"}
    assert two.models["ELM"].search == one.models["ELM"].search


def test_a_table_names_the_keys_that_it_does_not_take_over(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    column = {"model": "ridge", "search": ["C"]}
    other = based(without=["models"], models={"ridge": column})
    third = based(without=["models", "profiles"], models={"ridge": column})
    third |= {"id": "toy/three", "based-on": "two"}
    catalogue = load_catalogue(write_tree(experiment, other, third))
    one = catalogue["toy/one"].spec
    assert list(catalogue["toy/two"].spec.models) == ["ridge"]
    assert catalogue["toy/two"].spec.profiles == one.profiles
    assert catalogue["toy/three"].spec.profiles == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"without": ["model"]}, r"two\.yaml: without is \['model'\]"),
        ({"without": "models"}, r"two\.yaml: without is 'models'"),
        (
            {"without": ["models"], "based-on": None},
            r"two\.yaml: without names keys of another table",
        ),
    ],
)
def test_only_keys_of_the_other_table_are_left_out(
    write_tree: WriteTree,
    experiment: dict[str, Any],
    change: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(experiment, based() | change))


@pytest.mark.parametrize("base", ["three", "two", "../toy/one", ["one"]])
def test_a_base_is_another_table_of_the_same_folder(
    write_tree: WriteTree, experiment: dict[str, Any], base: Any
) -> None:
    other = based() | {"based-on": base}
    with pytest.raises(
        ElmbenchError, match=rf"two\.yaml: based on {re.escape(repr(base))}"
    ) as error:
        load_catalogue(write_tree(experiment, other))
    assert error.value.expected == "one of one"


def test_an_error_in_a_base_names_the_base(
    write_tree: WriteTree, experiment: dict[str, Any]
) -> None:
    """The table that is based on it comes first in the order of names."""
    derived = {
        "id": "toy/a",
        "title": "Derived",
        "label": "Table II",
        "based-on": "one",
    }
    experiment["grids"]["C"] = "many"
    with pytest.raises(ElmbenchError) as caught:
        load_catalogue(write_tree(experiment, derived))
    assert "one.yaml: 'grids.C'" in str(caught.value)
    assert "a.yaml" not in str(caught.value)
    experiment["grids"]["C"] = [1]
    with pytest.raises(ElmbenchError, match=r"a\.yaml: unknown key 'nothing'"):
        load_catalogue(write_tree(experiment, {**derived, "nothing": 1}))
