"""Reliability curves of classifiers, from the probabilities that they predict for test rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from elmbench.layouts.base import Outputs
from elmbench.layouts.comparison import dummies
from elmbench.layouts.figures import Figure, finish, line_styles, panel_title, panels
from elmbench.numerics.arrays import Array
from elmbench.reporting.cells import stored_in
from elmbench.specs.profiles import Resolved

#: Bins of a curve, of about equal numbers of rows.
BINS = 10


def reliability(outputs: Iterable[Outputs], resolved: Resolved) -> Figure | None:
    """Return the reliability curves of a comparison as a figure; None if no model has probabilities."""
    points = reliability_points(outputs, resolved)
    return Figure(points, draw_reliability(points, resolved)) if len(points) else None


def reliability_points(outputs: Iterable[Outputs], resolved: Resolved) -> pd.DataFrame:
    """Return the points of the reliability curves of all models but the dummy, with the test rows of all folds pooled.

    The columns are `dataset`, `model`, and for each bin `predicted`, the mean probability, and `observed`, the share of
    rows that it is true for. The probability is that of the second class if there are two, else that of the likeliest.
    """
    pooled: dict[tuple[str, str], list[tuple[Array, Array]]] = {}
    for one in outputs:
        stored = stored_in(dict(one.result))
        if stored is None or stored.probabilities is None or one.cell.model in dummies(resolved):
            continue
        shares = stored.probabilities
        chosen = np.ones(len(shares), int) if shares.shape[1] == 2 else shares.argmax(axis=1)
        pair = stored.true == chosen, shares[np.arange(len(shares)), chosen]
        pooled.setdefault((one.cell.dataset, one.cell.model), []).append(pair)
    if pooled:
        from sklearn.calibration import calibration_curve  # which takes seconds
    parts = []
    for (dataset, model), pairs in pooled.items():
        true, shares = (np.concatenate(column) for column in zip(*pairs, strict=True))
        observed, predicted = calibration_curve(true, shares, pos_label=True, n_bins=BINS, strategy="quantile")
        parts.append(pd.DataFrame({"dataset": dataset, "model": model, "predicted": predicted, "observed": observed}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def draw_reliability(points: pd.DataFrame, resolved: Resolved) -> bytes:
    """Return the picture of reliability curves as PNG: a panel for each data set, the diagonal for true odds."""
    groups = list(points.groupby("dataset", sort=False))
    figure, axes = panels(len(groups), height=4.2)
    styles = line_styles(list(dict.fromkeys(points["model"])))
    for one, (dataset, group) in zip(axes, groups, strict=True):
        one.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        for model, curve in group.groupby("model", sort=False):
            one.plot(curve["predicted"], curve["observed"], markersize=4, **styles[str(model)])
        spec = resolved.dataset(str(dataset))
        positive = " or ".join(spec.positive)
        one.set_xlabel(f"predicted probability of {positive or 'the likeliest class'}")
        one.set_ylabel(f"share of {positive or 'right predictions'}")
        panel_title(one, spec.title)
    return finish(figure, axes, styles, "Reliability on test rows")
