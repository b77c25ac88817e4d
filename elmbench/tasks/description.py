"""Facts of a data set, for the tables of data characteristics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from elmbench.evaluation.content import OPTIONAL
from elmbench.evaluation.folds import (
    RESULT_FORMAT,
    DatasetRef,
    load_rows,
    split_of_rows,
)
from elmbench.evaluation.splits import outer_parts
from elmbench.specs.measures import PARTS
from elmbench.specs.splits import Split
from elmbench.tasks.base import Context, Result, Task

if TYPE_CHECKING:
    from elmbench.datasets.dataset import Dataset


@dataclass(frozen=True)
class Description(Task):
    """The shape and class counts of a data set.

    `task` ({"classification", "regression"}). `outer`: the split whose parts are counted, in the
    first fold of the first run.
    """

    kind = "description"

    task: str
    dataset: DatasetRef
    format: int = RESULT_FORMAT
    outer: Split | None = field(default=None, metadata=OPTIONAL)

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Count the rows, the features and the rows of each class.

        The result: {"measured": {name: count}, "notes": notes on the data}. The names are
        `features`, `instances`, and of a classification `classes`; of two classes also `negatives`
        and `positives`; of a split, or if the source has official parts, also `train` and `test`.
        `inputs` are not used.
        """
        data = load_rows(self.dataset, context.data_dir)
        n_rows, n_features = data.X.shape
        facts = {
            "features": int(n_features),
            "instances": int(n_rows),
            **_class_facts(data),
            **self._part_sizes(data),
        }
        return {"measured": facts, "notes": list(data.notes)}

    def _part_sizes(self, data: "Dataset") -> dict[str, int]:
        """Return {'train': ..., 'test': ...}, the numbers of rows of both parts.

        They are those of the first fold of the first run of `outer`, else the official parts. Empty
        if there is neither a split nor official parts.
        """
        if self.outer is not None:
            split = split_of_rows(self.dataset, self.outer, len(data.y))
            folds = outer_parts(data, split, 0)
            sizes = map(len, folds[0])
            return dict(zip(PARTS, sizes, strict=True))
        if data.splits is None:
            return {}
        return {part: len(rows) for part, rows in data.splits.items()}


def _class_facts(data: "Dataset") -> dict[str, int]:
    """Return {'classes': their number}, and of two classes their rows; empty for a regression.

    The rows are `negatives` (y = -1) and `positives` (y = +1).
    """
    if data.classes is None:
        return {}
    facts = {"classes": len(data.classes)}
    if len(data.classes) == 2:
        facts["negatives"] = int(np.sum(data.y == -1))
        facts["positives"] = int(np.sum(data.y == 1))
    return facts
