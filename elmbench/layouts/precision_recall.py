"""Metrics of each model, with a figure of the precision-recall curves."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts.base import Figure, Outputs, png, title_of
from elmbench.layouts.metrics import Metrics
from elmbench.specs.profiles import Resolved

#: True labels and scores of all test rows, by model; the positive label is +1.
Pooled = Mapping[str, Mapping[str, list[float]]]


class PrecisionRecall(Metrics):
    """The table of metrics; its cells also store the outputs of the test rows, from which the curves are drawn."""

    compares_readings = False
    keeps_outputs = True

    def figure(self, cells: pd.DataFrame, outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
        """Draw the curve of each model over the rows of all folds and runs, of the table's first selection."""
        default = cells[cells["reading"] == ""].drop_duplicates("model")
        first = dict(zip(default["model"], default["select"], strict=True))
        pooled: dict[str, dict[str, list[float]]] = {}
        for found in outputs:
            if found.cell.select == first.get(found.cell.model):
                own = pooled.setdefault(found.cell.model, {"true": [], "score": []})
                own["true"] += found.kept["true"]
                own["score"] += found.kept["score"]
        curves = precision_recall(pooled)
        return Figure(curves, draw_precision_recall(curves, title_of(resolved))) if len(curves) else None


def precision_recall(pooled: Pooled) -> pd.DataFrame:
    """Return the precision-recall curve of each model.

    The columns are model, recall, precision and average_precision, which is the same on every line of a model.
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    parts = []
    for model, found in pooled.items():
        true, score = np.array(found["true"]) > 0, np.array(found["score"])
        precision, recall, _ = precision_recall_curve(true, score, drop_intermediate=True)
        area = average_precision_score(true, score)
        curve = {"model": model, "recall": recall, "precision": precision, "average_precision": area}
        parts.append(pd.DataFrame(curve))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def draw_precision_recall(curves: pd.DataFrame, title: str) -> bytes:
    """Return the picture of precision-recall curves, the axes as in Fig. 3 of the KOS-ELM paper."""
    from matplotlib.figure import Figure as Drawing

    figure = Drawing(figsize=(6, 4.2), dpi=150, layout="constrained")
    axes: Any = figure.add_subplot()
    for style, (model, curve) in zip(cycle(("-", "--", "-.", ":")), curves.groupby("model", sort=False), strict=False):
        label = f"{model} (average precision {curve['average_precision'].iloc[0]:.3f})"
        axes.step(curve["recall"], curve["precision"], style, where="post", label=label)
    axes.set(xlabel="recall", ylabel="precision", title=title, xlim=(0, 1.01), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    return png(figure)
