"""Pictures of the page of a comparison, from the stored predictions for test rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from elmbench.layouts.figures import new_figure, png
from elmbench.protocol.stored import StoredPredictions
from elmbench.reporting.site.charts import Picture

#: The most models with a curve, the most classes whose shares are printed, and the most columns of a picture.
_MOST_CURVES, _MOST_PRINTED, MOST_COLUMNS = 5, 12, 15
_SIDE = 4.6


def pictures_of(stored: Mapping[str, Sequence[StoredPredictions]], classes: Sequence[str] | None) -> Iterator[Picture]:
    """Yield the pictures of the predictions on one data set.

    Parameters
    ----------
    stored : mapping of str to sequence of StoredPredictions
        Of all folds by model, the best model first.
    classes : sequence of str or None
        Names of the classes; None for a regression.
    """
    best = next(iter(stored))
    true, predicted = (np.concatenate([getattr(one, name) for one in stored[best]]) for name in ("true", "predicted"))
    if classes is None:
        yield _errors(best, true, predicted)
        return
    yield _confusion(best, true, predicted, classes)
    if len(classes) == 2:
        yield from _curves(stored, classes[1])


def _errors(model: str, true: Any, predicted: Any) -> Picture:
    from matplotlib.ticker import MaxNLocator
    from sklearn.metrics import PredictionErrorDisplay

    figure, axes = new_figure(_SIDE, _SIDE)
    look = {"s": 12, "alpha": 0.5, "linewidths": 0}
    PredictionErrorDisplay.from_predictions(
        true, predicted, kind="actual_vs_predicted", random_state=0, ax=axes, scatter_kwargs=look
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6))  # scikit-learn puts ticks at the least and the largest value
    axes.set(xlabel="predicted", ylabel="true")
    label = f"{model}: true and predicted values of test rows, in standard deviations of the target"
    return Picture(label + (", 1000 of them drawn at random" if len(true) > 1000 else ""), png(figure))


def _confusion(model: str, true: Any, predicted: Any, classes: Sequence[str]) -> Picture:
    from sklearn.metrics import ConfusionMatrixDisplay

    side = min(9.0, max(_SIDE, 0.45 * len(classes) + 1.5))
    figure, axes = new_figure(side, 0.92 * side)
    ConfusionMatrixDisplay.from_predictions(
        true,
        predicted,
        labels=range(len(classes)),
        display_labels=[_short(name) for name in classes],
        normalize="true",
        values_format=".2f",
        include_values=len(classes) <= _MOST_PRINTED,
        xticks_rotation="vertical" if len("".join(classes)) > 40 else "horizontal",
        cmap="Blues",
        im_kw={"vmin": 0, "vmax": 1},
        colorbar=False,
        ax=axes,
    )
    axes.set(xlabel="predicted class", ylabel="true class")
    return Picture(f"{model}: share of the test rows of each class (line) by predicted class", png(figure))


def _curves(stored: Mapping[str, Sequence[StoredPredictions]], positive: str) -> Iterator[Picture]:
    """Yield the ROC and the precision-recall curves of the best models that have scores."""
    from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

    scored = {model: [one for one in folds if one.scores is not None] for model, folds in stored.items()}
    curves = {
        model: (np.concatenate([one.true for one in folds]), np.concatenate([_comparable(one) for one in folds]))
        for model, folds in scored.items()
        if folds
    }
    shown = dict(list(curves.items())[:_MOST_CURVES])
    for title, display in (("ROC", RocCurveDisplay), ("Precision-recall", PrecisionRecallDisplay)) if shown else ():
        figure, axes = new_figure(_SIDE, _SIDE)
        for i, (model, (true, scores)) in enumerate(shown.items()):
            display.from_predictions(true, scores, name=model, ax=axes, plot_chance_level=i == len(shown) - 1)
        names = ("false positive rate", "true positive rate") if title == "ROC" else ("recall", "precision")
        axes.set(xlabel=names[0], ylabel=names[1])
        axes.legend(fontsize="small")
        rows = "test rows of all folds together, so areas may differ from the mean over folds"
        yield Picture(f"{title} curves for the class {positive!r}; {rows}", png(figure))


def _comparable(one: StoredPredictions) -> Any:
    """Return scores that different folds can share: probabilities where there are some."""
    return one.scores if one.probabilities is None else one.probabilities[:, 1]


def importance_chart(lines: pd.DataFrame) -> Picture:
    """Return the picture of the losses by shuffled columns of one data set; the largest on top."""
    top = lines.head(MOST_COLUMNS)[::-1]
    figure, axes = new_figure(_SIDE, 0.9 + 0.25 * len(top))
    axes.barh([_short(name) for name in top["column"]], top["importance"], xerr=top["std"], ecolor="grey", height=0.7)
    axes.axvline(0, color="grey", linewidth=0.8)
    metric, model = (str(lines[name].iloc[0]) for name in ("metric", "model"))
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(labelsize="small")
    axes.set_xlabel(f"loss of {metric}, mean and deviation of folds", fontsize="small")
    few = f", the {MOST_COLUMNS} largest of {len(lines)}" if len(lines) > MOST_COLUMNS else ""
    return Picture(f"{model}: loss on test rows if the values of one column are shuffled{few}", png(figure))


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"
