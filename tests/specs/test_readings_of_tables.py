"""Readings of a paper: what they change in its tables, and readings that break a table."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.catalogue import find_experiment, load_catalogue
from elmbench.specs.profiles import Resolved, resolve

WriteTree = Callable[..., Path]
ALL_POWERS = [2.0**e for e in range(-8, 14)]


def leaves(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every value of nested mappings with the way to it; a grid counts as its values."""
    if (
        isinstance(content, dict)
        and content
        and not {"powers-of-2", "values", "from"} & content.keys()
    ):
        for key, value in content.items():
            yield from leaves(value, (*path, str(key)))
    else:
        yield "/".join(path), content


def differences(new: Resolved, old: Resolved) -> dict[str, Any]:
    """Return what differs between two resolved experiments, with the new values (None: gone)."""
    first, second = (
        dict(leaves(one.spec.model_dump(by_alias=True, mode="json")))
        for one in (old, new)
    )
    return {
        path: second.get(path)
        for path in first.keys() | second.keys()
        if first.get(path) != second.get(path)
    }


#: What a reading changes: (table, reading, value) -> every value that is another one.
CHANGES: dict[tuple[str, str, str], dict[str, Any]] = {
    ("table4", "c-grid", "all-powers"): {
        "grids/C": ALL_POWERS,
        "grids/gamma": ALL_POWERS,
    },
    ("table4", "os-start", "ridge"): {"models/OS-ELM/params/start": "ridge"},
    ("table4", "ald-threshold", "as-printed"): {
        "models/ALD-KOS-ELM/params": None,
        "models/ALD-KOS-ELM/params/threshold": "as-printed",
        "models/ALD-KOS-ELM/params/max_atoms": 6000,
    },
    ("table4", "carry-over", "folds"): {
        "models/FB-KOS-ELM/carry-over": "folds",
        "models/ALD-KOS-ELM/carry-over": "folds",
    },
    ("table4", "order", "stored"): {"protocol/order": "stored"},
    ("table4", "scaling", "train"): {"protocol/scale/fit-on": "train"},
    ("table6", "mg-noise", "0"): {
        "data": None,
        "data/mackey-glass/noise_variance": 0.0,
    },
    ("table6", "mg-noise", "1e-4"): {
        "data": None,
        "data/mackey-glass/noise_variance": 1e-4,
    },
    ("table6", "mg-noise", "2e-4"): {
        "data": None,
        "data/mackey-glass/noise_variance": 2e-4,
    },
}


@pytest.mark.parametrize(("table", "reading", "value"), CHANGES)
def test_a_reading_changes_only_the_keys_that_it_sets(
    table: str, reading: str, value: str
) -> None:
    file = find_experiment(table)
    before = copy.deepcopy(file.content)
    new, old = resolve(file, "paper", {reading: value}), resolve(file, "paper")
    result = differences(new, old)
    expected = dict(CHANGES[table, reading, value])
    for grid in ("C", "gamma"):
        if f"grids/{grid}" in expected:
            result[f"grids/{grid}"] = new.spec.grids.values[grid]
            # The columns that search a grid of the table have its values.
            for column, model in new.spec.models.items():
                if result.pop(f"models/{column}/search/{grid}", None) is not None:
                    assert model.grid.values[grid] == new.spec.grids.values[grid]
    assert result == expected
    assert new.reading == f"{reading}={value}"
    assert file.content == before


def test_leaking_readings_are_marked() -> None:
    for file in load_catalogue().values():
        for reading in file.paper.readings.values():
            for value in reading.values.values():
                if "carry-over" in str(value.set):
                    assert "leaking" in value.says.lower()
                assert value.leaks == ("carry-over" in str(value.set))
    (leaking,) = resolve(
        find_experiment("table4"), "fast", {"carry-over": "folds"}
    ).readings
    assert (str(leaking), leaking.leaks) == ("carry-over=folds", True)


def test_the_default_reading_by_name_changes_nothing_and_has_no_label() -> None:
    for file in load_catalogue().values():
        defaults = {
            name: file.paper.readings[name].default for name in file.spec.readings
        }
        named = resolve(file, "paper", defaults)
        assert named.reading == ""
        assert named.spec == resolve(file, "paper").spec


def test_readings_add_up_and_their_label_does_not_depend_on_the_order() -> None:
    file = find_experiment("table4")
    both = {"scaling": "train", "order": "stored"}
    result, again = (
        resolve(file, "paper", both),
        resolve(file, "paper", dict(reversed(both.items()))),
    )
    assert result.reading == again.reading == "order=stored;scaling=train"
    assert set(differences(result, resolve(file, "paper"))) == {
        "protocol/scale/fit-on",
        "protocol/order",
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"protocol": {"order": "sorted"}},
            r"paper.yaml: '\(toy/one under .* order\)\.protocol\.order' is 'sorted'",
        ),
        (
            {"protocol": {"odrer": "stored"}},
            r"unknown key '\(toy/one under the reading order\)\.protocol\.odrer'",
        ),
        ({"grids": None}, r"reading order\)\.grids' is None"),
        ({"grids": "all"}, r"reading order\)\.grids' is 'all': expected a mapping"),
        ({"models": {"ELM": {"like": "K-ELM"}}}, "ELM is like 'K-ELM'"),
        (
            {"models": {"ELMM": {"params": {"C": 1}}}},
            r"paper.yaml: the reading order changes models\.ELMM, which no table",
        ),
    ],
)
def test_a_reading_that_breaks_a_table(
    write_tree: WriteTree, paper: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    paper["readings"]["order"]["values"]["stored"]["set"] = change
    with pytest.raises(ElmbenchError, match=message):
        load_catalogue(write_tree(paper=paper))
