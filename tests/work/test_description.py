"""Facts of a data set, as tables of data characteristics show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_work import attempted

from elmbench.datasets.dataset import Dataset


def test_facts(toys: dict[str, Dataset], make_unit: Callable[..., dict[str, Any]]) -> None:
    def facts(name: str, **changes: Any) -> Any:
        unit = make_unit("description", dataset=name)
        result = attempted({key: unit[key] for key in ("task", "dataset", "kind")} | changes)
        assert result["status"] == "ok"
        return result["measured"]

    positives = int((toys["two"].y == 1).sum())
    shape = {"features": 3, "instances": 90}
    assert facts("two") == {**shape, "classes": 2, "negatives": 90 - positives, "positives": positives}
    assert facts("three") == {**shape, "classes": 3}
    assert facts("real") == shape
    # Of the 90 rows; those of a split that gives only one of its sizes, and of three folds.
    holdout = {"kind": "holdout", "train": None, "test": 20}
    assert facts("real", outer=holdout) == {**shape, "train": 70, "test": 20}
    assert facts("real", outer={"kind": "kfold", "folds": 3}) == {**shape, "train": 60, "test": 30}
    half = make_unit("description", dataset="real")["dataset"] | {"rows": 45}
    cut = facts("real", outer=holdout, dataset=half)
    assert cut == {"features": 3, "instances": 45, "train": 35, "test": 10}
