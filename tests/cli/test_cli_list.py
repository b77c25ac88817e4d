"""`elmbench list experiments|datasets|models|readings`."""

from __future__ import annotations

from collections.abc import Callable

from elmbench.metrics import REGISTRY
from elmbench.registry import registry
from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.datasets import load_dataset_specs


def test_experiments(elmbench: Callable) -> None:
    listed = elmbench("list", "experiments", "--json").json
    assert [line["id"] for line in listed] == list(load_catalogue())
    line = next(line for line in listed if line["id"] == "kos-elm/table4")
    assert (line["alias"], line["data sets"]) == (["table4"], ["sylva", "wdbc"])
    text = elmbench("list", "experiments").out
    assert all(name in text for name in load_catalogue())


def test_datasets(elmbench: Callable) -> None:
    listed = {line["name"]: line for line in elmbench("list", "datasets", "--json").json}
    assert list(listed) == list(load_dataset_specs())
    wdbc = listed["wdbc"]
    assert (wdbc["task"], wdbc["rows"], wdbc["columns"]) == ("classification", 569, 30)
    text = elmbench("list", "datasets").out
    assert all(f"{name} " in text for name in listed)


def test_models(elmbench: Callable) -> None:
    listed = {line["name"]: line for line in elmbench("list", "models", "--json").json}
    assert list(listed) == list(registry())
    assert listed["k-elm"]["parameters"] == ["gamma", "C"]
    assert listed["k-elm"]["tasks"] == ["classification", "regression"]
    assert "(baseline)" in listed["svm"]["title"]
    text = elmbench("list", "models").out
    assert all(name in text for name in listed)


def test_metrics(elmbench: Callable) -> None:
    listed = {line["name"]: line for line in elmbench("list", "metrics", "--json").json}
    assert list(listed) == list(REGISTRY)
    assert listed["log_loss"] == {
        "name": "log_loss", "task": "classification", "better": "less", "takes": "probabilities",
    }  # fmt: skip
    assert all(name in elmbench("list", "metrics").out for name in listed)


def test_readings(elmbench: Callable) -> None:
    listed = {(line["reading"], line["value"]): line for line in elmbench("list", "readings", "--json").json}
    for reading, default, other in [
        ("c-grid", "step-3", "all-powers"),
        ("os-start", "pinv", "ridge"),
        ("ald-threshold", "squared", "as-printed"),
        ("carry-over", "none", "folds"),
        ("order", "shuffled", "stored"),
        ("scaling", "all", "train"),
        ("mg-noise", "1.5e-4", "0"),
    ]:
        assert listed[reading, default]["default"]
        assert not listed[reading, other]["default"]
    assert "kos-elm/table4" in listed["os-start", "ridge"]["tables"]
    # It has no regression problem.
    assert "kos-elm/table4" not in listed["mg-noise", "0"]["tables"]
    assert "LEAKING" in listed["carry-over", "folds"]["meaning"]
    text = elmbench("list", "readings").out
    assert "LEAKING" in text
    assert "step-3 (default) " in text
    assert all(name in text for name, _ in listed)
