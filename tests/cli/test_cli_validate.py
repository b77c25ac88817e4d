"""`elmbench validate`, and what every verb says about a spec that is not valid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_the_suites_own_specs_are_valid(elmbench: Callable) -> None:
    result = elmbench("validate")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("valid: ")
    counts = elmbench("validate", "--json").json
    assert counts["experiments"] >= 9
    assert counts["datasets"] >= 37


VERBS = [
    ("validate",), ("list", "experiments"), ("list", "readings"), ("show", "one"), ("run", "one"),
    ("table", "one"), ("check", "one"), ("baseline", "update", "one"),
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_broken_yaml(elmbench: Callable, toy: Callable, verb: tuple[str, ...]) -> None:
    path = toy()
    path.write_text(path.read_text().replace("datasets:\n", "datasets: [\n"))
    result = elmbench(*verb)
    assert (result.code, result.out) == (2, "")
    first, expected, following = result.err.splitlines()
    assert first.startswith(f"error: {path}, line ")
    assert expected == "Expected: valid YAML, each key once"
    assert following == "Next: correct the line, then: elmbench validate"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grid": {}}, "unknown key 'grid'; allowed here: aliases, claims, "),
        ({"models": {"A": {"model": "no-elm"}}}, "unknown model 'no-elm'"),
        ({"datasets": ["nope"]}, "unknown data set 'nope'"),
        ({"datasets": ["wdbc", "calhousing"]}, "without a regression metric"),
        ({"layout": "curvs"}, "'layout' is 'curvs' (did you mean 'curves'?)"),
    ],
)
def test_what_is_wrong_is_named(elmbench: Callable, toy: Callable, changes: dict[str, Any], said: str) -> None:
    path = toy()
    content = path.read_text()
    import yaml

    path.write_text(yaml.safe_dump(yaml.safe_load(content) | changes, sort_keys=False))
    result = elmbench("validate")
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert result.err.startswith(f"error: {path}: ")
    assert "Next: " in result.err
    assert "Traceback" not in result.err


def test_an_unknown_data_set_of_the_published_figures(elmbench: Callable, toy: Callable) -> None:
    path = toy().with_name("one.csv")
    path.write_text(path.read_text().replace("WDBC", "WDCB"))
    result = elmbench("validate")
    assert (result.code, result.out) == (2, "")
    assert str(path.with_suffix(".yaml")) in result.err
    assert "unknown data set 'WDCB' (did you mean 'WDBC'?)" in result.err


def test_specs_that_are_not_there(elmbench: Callable, use_tree: Callable, tmp_path: Path) -> None:
    use_tree(tmp_path)
    assert elmbench("list", "experiments", "--json").json == []
    assert elmbench("show", "table4").code == 2
