"""`elmbench list experiments|datasets|models|readings`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from elmbench.metrics import REGISTRY
from elmbench.registry import registry
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.datasets import load_dataset_specs


def test_experiments(elmbench: Callable) -> None:
    found = elmbench("list", "experiments", "--json").json
    assert [line["id"] for line in found] == list(load_catalogue())
    line = next(line for line in found if line["id"] == "kos-elm/table4")
    assert (line["alias"], line["data sets"]) == (["table4"], ["sylva", "wdbc"])
    text = elmbench("list", "experiments").out
    assert all(name in text for name in load_catalogue())


def test_datasets(elmbench: Callable) -> None:
    found = {line["name"]: line for line in elmbench("list", "datasets", "--json").json}
    assert list(found) == list(load_dataset_specs())
    wdbc = found["wdbc"]
    assert (wdbc["task"], wdbc["rows"], wdbc["columns"]) == ("classification", 569, 30)
    text = elmbench("list", "datasets").out
    assert all(f"{name} " in text for name in found)


def test_models(elmbench: Callable) -> None:
    found = {line["name"]: line for line in elmbench("list", "models", "--json").json}
    assert list(found) == list(registry())
    assert found["k-elm"]["parameters"] == ["gamma", "C"]
    assert found["k-elm"]["tasks"] == ["classification", "regression"]
    assert "(baseline)" in found["svm"]["title"]
    text = elmbench("list", "models").out
    assert all(name in text for name in found)


def test_metrics(elmbench: Callable) -> None:
    found = {line["name"]: line for line in elmbench("list", "metrics", "--json").json}
    assert list(found) == list(REGISTRY)
    assert found["log_loss"] == {
        "name": "log_loss", "task": "classification", "better": "less", "takes": "probabilities",
    }  # fmt: skip
    assert all(name in elmbench("list", "metrics").out for name in found)


def test_readings(elmbench: Callable) -> None:
    found = {(line["reading"], line["value"]): line for line in elmbench("list", "readings", "--json").json}
    for reading, default, other in [
        ("c-grid", "step-3", "all-powers"),
        ("os-start", "pinv", "ridge"),
        ("ald-threshold", "squared", "as-printed"),
        ("carry-over", "none", "folds"),
        ("order", "shuffled", "stored"),
        ("scaling", "all", "train"),
        ("mg-noise", "1.5e-4", "0"),
    ]:
        assert found[reading, default]["default"]
        assert not found[reading, other]["default"]
    assert "kos-elm/table4" in found["os-start", "ridge"]["tables"]
    # It has no regression problem.
    assert "kos-elm/table4" not in found["mg-noise", "0"]["tables"]
    assert "LEAKING" in found["carry-over", "folds"]["meaning"]
    text = elmbench("list", "readings").out
    assert "LEAKING" in text
    assert "step-3 (default) " in text
    assert all(name in text for name, _ in found)


@pytest.mark.parametrize("words", [["tables"], ["model"], []])
def test_a_list_of_something_else(elmbench: Callable, words: list[str]) -> None:
    found = elmbench("list", *words)
    assert (found.code, found.out) == (2, "")
    if words:
        assert f"error: unknown list {words[0]!r}" in found.err
        assert "Expected: one of datasets, experiments, metrics, models, readings" in found.err
