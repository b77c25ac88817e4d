"""What a data set holds, as the tables of data characteristics show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmbench.protocol.folds import FORMAT, DatasetRef, load_rows
from elmbench.specs.datasets import DatasetSpec
from elmbench.work.base import Context, Result, Work


@dataclass(frozen=True)
class Description(Work):
    """The shape and class counts of a data set.

    Attributes
    ----------
    task : {"classification", "regression"}
    dataset : DatasetRef
    """

    kind = "description"

    task: str
    dataset: DatasetRef

    def content(self) -> dict[str, Any]:
        """Return what determines the facts."""
        return {"format": FORMAT, "task": self.task, "dataset": self.dataset.content(), "kind": self.kind}

    @classmethod
    def from_content(cls, content: dict[str, Any], spec: DatasetSpec | None = None) -> Description:
        """Return the description that `content` was made from."""
        return cls(content["task"], DatasetRef.from_content(content["dataset"], spec))

    @property
    def data(self) -> DatasetRef:
        """The data set."""
        return self.dataset

    @property
    def label(self) -> str:
        """What it is."""
        return "description"

    def seconds(self) -> float:
        """Return nothing: the data are loaded anyway."""
        return 0.0

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Count.

        Returns
        -------
        dict
            `metrics` with `features`, `instances`, and `classes`; of two classes also `negatives` and `positives`;
            where the source has official parts also `train` and `test`; `notes` on the data.
        """
        data = load_rows(self.dataset, context.data_dir)
        facts = {"features": int(data.X.shape[1]), "instances": int(data.X.shape[0])}
        if data.classes is not None:
            facts["classes"] = len(data.classes)
            if len(data.classes) == 2:
                facts |= {"negatives": int(np.sum(data.y == -1)), "positives": int(np.sum(data.y == 1))}
        if data.splits is not None:
            facts |= {part: len(rows) for part, rows in data.splits.items()}
        return {"status": "ok", "reason": "", "metrics": facts, "notes": list(data.notes)}
