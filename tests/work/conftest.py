"""Small data sets in place of the real ones, work on them, and a model that remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorders import Recorder
from toy_data import add_model, forget_data, make_unit, toys

from elmbench.protocol import folds

__all__ = ["add_model", "make_unit", "toys"]


@pytest.fixture
def recorder(add_model: Callable[..., None]) -> list[dict[str, Any]]:
    """The arguments of each fit of the model `recorder`."""
    Recorder.seen.clear()
    add_model("recorder", Recorder)
    return Recorder.seen


@pytest.fixture
def keep_split(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Hold an outer split although the labels that it was stratified by are changed; forget the data as loaded."""

    def keep(split: Any) -> None:
        train, test = split
        monkeypatch.setattr(folds, "outer_parts", lambda *_: [(np.sort(train), test)] * 3)
        forget_data()

    return keep
