"""Figures as PNG, with their data as CSV."""

from __future__ import annotations

import io
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.execution.store import Store, write_atomically
from elmbench.execution.units import Row
from elmbench.reporting.cells import write_frame
from elmbench.reporting.summary import table_order
from elmbench.specs.profiles import Resolved


def write_figures(resolved: Resolved, rows: list[Row], store: Store, folder: Path) -> list[Path]:
    """Draw the figures of a table's layout; return the PNG files.

    Parameters
    ----------
    resolved : Resolved
    rows : list of Row
        Cells of the table; those of other than the default readings are left out, and of a model that was selected
        in several ways those of the table's own.
    store : Store
    folder : Path
    """
    if resolved.spec.layout != "precision-recall":
        return []
    order = table_order(resolved)
    rows = [row for row in rows if not row.reading]
    own: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: order.select.index(row.select)):
        own.setdefault(row.model, row.select)
    curves = precision_recall(pooled_outputs([row for row in rows if row.select == own[row.model]], store))
    if not len(curves):
        return []
    write_frame(curves, folder / "figure.csv")
    title = f"{resolved.file.spec.label}, profile {resolved.profile}"
    write_atomically(folder / "figure.png", draw_precision_recall(curves, title))
    return [folder / "figure.png"]


def pooled_outputs(rows: list[Row], store: Store) -> dict[str, dict[str, list[float]]]:
    """Return the true labels and scores of all test rows of all folds and runs, by model."""
    pooled: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        result = store.result(row.key) if row.key else None
        if result is not None and result["status"] == "ok":
            own = pooled.setdefault(row.model, {"true": [], "score": []})
            own["true"] += result["outputs"]["true"]
            own["score"] += result["outputs"]["score"]
    return pooled


def precision_recall(pooled: dict[str, dict[str, list[float]]]) -> pd.DataFrame:
    """Return the precision-recall curve of each model.

    Parameters
    ----------
    pooled : dict
        As `pooled_outputs` returns it; the positive label is +1.

    Returns
    -------
    DataFrame
        With the columns model, recall, precision, average_precision (the same on every line of a model).
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    parts = []
    for model, found in pooled.items():
        true, score = np.array(found["true"]) > 0, np.array(found["score"])
        precision, recall, _ = precision_recall_curve(true, score, drop_intermediate=True)
        area = average_precision_score(true, score)
        parts.append(
            pd.DataFrame({"model": model, "recall": recall, "precision": precision, "average_precision": area})
        )
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def draw_precision_recall(curves: pd.DataFrame, title: str) -> bytes:
    """Return the picture of precision-recall curves, the axes as in the paper's Fig. 3."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.2), dpi=150, layout="constrained")
    axes: Any = figure.add_subplot()
    for style, (model, curve) in zip(cycle(("-", "--", "-.", ":")), curves.groupby("model", sort=False), strict=False):
        label = f"{model} (average precision {curve['average_precision'].iloc[0]:.3f})"
        axes.step(curve["recall"], curve["precision"], style, where="post", label=label)
    axes.set(xlabel="recall", ylabel="precision", title=title, xlim=(0, 1.01), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
