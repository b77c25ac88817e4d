"""Experiments of the tests' own, as reporting sees them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmbench.specs.catalogue import load_catalogue
from elmbench.specs.profiles import Resolved, resolve
from elmbench.specs.published import read_published

HEADER = "dataset,model,metric,value,std,note\n"


@pytest.fixture
def toy(write_tree: Callable[..., Path], experiment: dict[str, Any]) -> Callable[..., Resolved]:
    """Make an experiment: the toy one, two outer folds, with the given figures and changes."""

    def make(
        figures: str = "", /, *, profile: str = "paper", readings: dict[str, str] | None = None, **changes: Any
    ) -> Resolved:
        content = experiment | changes
        outer = {"kind": "stratified-kfold", "folds": 2, "runs": 2}
        content["protocol"] = experiment["protocol"] | {"outer": outer} | changes.get("protocol", {})
        root = write_tree(content)
        if figures:
            content["published"] = {"values": "one.csv"} | changes.get("published", {})
            (root / "experiments" / "toy" / "one.csv").write_text(HEADER + figures)
            root = write_tree(content)
        load_catalogue.cache_clear()
        read_published.cache_clear()
        return resolve(load_catalogue(root)["toy/one"], profile, readings)

    return make
