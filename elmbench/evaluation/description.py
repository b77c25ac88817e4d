"""What a data set holds, as the tables of data characteristics show it."""

from __future__ import annotations

from typing import Any

import numpy as np

from elmbench.datasets import Dataset


def describe(data: Dataset) -> dict[str, Any]:
    """Return the shape and class counts of a data set, in the form of a cell's result.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    dict
        `metrics` with `features`, `instances`, and `classes`; of two classes also `negatives` and `positives`.
    """
    facts = {"features": int(data.X.shape[1]), "instances": int(data.X.shape[0])}
    if data.classes is not None:
        facts["classes"] = len(data.classes)
        if len(data.classes) == 2:
            facts |= {"negatives": int(np.sum(data.y == -1)), "positives": int(np.sum(data.y == 1))}
    return {"status": "ok", "reason": "", "metrics": facts, "notes": list(data.notes)}
