"""Figures as PNG, with their data as CSV."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elmbench.files import write_atomically
from elmbench.reporting.cells import write_frame
from elmbench.reporting.layouts import point_of
from elmbench.reporting.rows import spelling
from elmbench.reporting.summary import table_order
from elmbench.running.store import Store
from elmbench.specs.profiles import Resolved
from elmbench.work.plan import Cell as Row


def write_figures(resolved: Resolved, rows: list[Row], cells: pd.DataFrame, store: Store, folder: Path) -> list[Path]:
    """Draw the figures of a table's layout, with their data as `figure.csv`; return the PNG files.

    Parameters
    ----------
    resolved : Resolved
    rows : list of Row
        Cells of the table; those of other than the default readings are left out, and of a model that was selected
        in several ways those of the table's own.
    cells : DataFrame
        The same, as `cells.csv` has them.
    store : Store
    folder : Path
    """
    title = f"{resolved.file.spec.label}, profile {resolved.profile}"
    if resolved.spec.layout == "curves":
        return _write(curves_of(cells, resolved), draw_curves, title, folder)
    if resolved.spec.layout != "precision-recall":
        return []
    order = table_order(resolved)
    rows = [row for row in rows if not row.reading]
    own: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: order.select.index(row.select)):
        own.setdefault(row.model, row.select)
    curves = precision_recall(pooled_outputs([row for row in rows if row.select == own[row.model]], store))
    return _write(curves, draw_precision_recall, title, folder)


def _write(curves: pd.DataFrame, draw: Callable[[pd.DataFrame, str], bytes], title: str, folder: Path) -> list[Path]:
    if not len(curves):
        return []
    write_frame(curves, folder / "figure.csv")
    write_atomically(folder / "figure.png", draw(curves, title))
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
    return _png(figure)


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    # Without the version of the library, so that the same data give the same file.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def curves_of(cells: pd.DataFrame, resolved: Resolved) -> pd.DataFrame:
    """Return a metric at each value of a hyperparameter, on each data set.

    Parameters
    ----------
    cells : DataFrame
        As `cells.csv` has them; those of other than the default readings are left out.
    resolved : Resolved

    Returns
    -------
    DataFrame
        With the columns dataset (as the paper spells it), model, parameter, value, metric, mean, std (from fold to
        fold), n.
    """
    own = cells[(cells["reading"] == "") & (cells["status"] == "ok")]
    lines = []
    for (dataset, model), group in own.groupby(["dataset", "model"], sort=False):
        place = {"dataset": spelling(str(dataset), resolved), "model": model}
        for measure in (str(name) for name in cells.columns if "@" in str(name)):
            values = group[measure].astype(float).dropna()
            if len(values):
                point = dict(zip(("metric", "parameter", "value"), point_of(measure), strict=True))
                std = float(values.std(ddof=1)) if len(values) > 1 else None
                lines.append(place | point | {"mean": float(values.mean()), "std": std, "n": len(values)})
    return pd.DataFrame(lines)


def draw_curves(curves: pd.DataFrame, title: str) -> bytes:
    """Return the picture of a metric against a hyperparameter, a line a data set, as in Fig. 3 of the EEM paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), dpi=150, layout="constrained")
    axes: Any = figure.add_subplot()
    several = len(set(curves["model"])) > 1
    groups = list(curves.groupby(["dataset", "model"], sort=False))
    # The legend has the order in which the lines end, from the top.
    groups.sort(key=lambda group: -group[1]["mean"].iloc[-1])
    for i, ((dataset, model), curve) in enumerate(groups):
        label = f"{dataset}, {model}" if several else str(dataset)
        style = ("-", "--", "-.")[i // 10 % 3]
        axes.plot(curve["value"], curve["mean"], style, color=f"C{i % 10}", linewidth=1.4, label=label)
    metric, parameter = curves["metric"].iloc[0], curves["parameter"].iloc[0]
    names = {"gmean": "G-mean", "h": "hidden nodes h"}
    axes.set(xlabel=names.get(parameter, parameter), ylabel=f"{names.get(metric, metric)}, mean over test folds")
    axes.set(title=title, xlim=(0, curves["value"].max()))
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
    return _png(figure)
