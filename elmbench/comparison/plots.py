"""Pictures of the results of a comparison on one data set, for programs and notebooks."""

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from elmbench.errors import ElmbenchError
from elmbench.evaluation.model_order import rank_models
from elmbench.evaluation.score_comparison import share_of_test_rows
from elmbench.numerics.significance import Region, corrected_t_test
from elmbench.report.table_results import Results
from elmbench.specs.datasets import DatasetSpec
from elmbench.tables.drawing import MEAN_COLOUR, plot_scores, words_for

Kind = Literal["scores", "confusion", "calibration", "residuals"]
#: The beginning of the names of the columns of probabilities.
_PROBABILITY = "probability_"
#: The fewest rows of a bin of a calibration curve on average, and the most bins.
_ROWS_OF_BIN = 10
_MOST_BINS = 10


def plot(
    results: Results, predictions: pd.DataFrame, kind: Kind, model: str, axes: Any
) -> Any:
    """Draw a picture of the results of a comparison on matplotlib's axes and return these.

    `results`: of exactly one data set. `kind`: "scores" of all models; or, of one model,
    "confusion" or "calibration" of a classification, "residuals" of a regression. `predictions`: a
    line for each test row and model, with `model`, `true`, `predicted` and `probability_<class>`;
    not used for "scores". `model`: empty for the best one, or the first if none has a rank. `axes`:
    None for new ones. Raises ElmbenchError if the model has no such picture.
    """
    (spec,) = results.resolved.datasets.values()
    order = rank_models(results.summary, spec.name, results.resolved).models
    if axes is None:
        from matplotlib import pyplot

        _, axes = pyplot.subplots(layout="constrained")
    if kind == "scores":
        return _plot_scores(results, spec, order, axes)
    model = model or (order or [*results.resolved.spec.models])[0]
    rows = (
        predictions[predictions["model"] == model] if len(predictions) else predictions
    )
    _check_picture(spec, rows, kind, model)
    axes.set_title(model)
    if kind == "confusion":
        from sklearn.metrics import ConfusionMatrixDisplay

        labels = (
            list(spec.shape.classes) if isinstance(spec.shape.classes, dict) else None
        )
        ConfusionMatrixDisplay.from_predictions(
            rows["true"],
            rows["predicted"],
            labels=labels,
            cmap="Blues",
            colorbar=False,
            ax=axes,
        )
    elif kind == "calibration":
        _plot_calibration(spec, rows, axes)
    else:
        from sklearn.metrics import PredictionErrorDisplay

        PredictionErrorDisplay.from_predictions(
            rows["true"].astype(float), rows["predicted"].astype(float), ax=axes
        )
    return axes


def _check_picture(
    spec: DatasetSpec, rows: pd.DataFrame, kind: Kind, model: str
) -> None:
    """Raise ElmbenchError if a picture of this kind cannot be drawn for a model.

    `rows`: the model's lines of predictions; none for an unknown model. The kind must be one for
    the task of the data set, and "calibration" needs columns of probabilities.
    """
    if not len(rows):
        raise ElmbenchError(
            f"{model!r} has no predictions",
            expected="a model of this comparison",
            next_step="`leaderboard` lists the models",
        )
    is_of_regression = kind == "residuals"
    if is_of_regression != (spec.task == "regression"):
        kinds = ["scores", "residuals"]
        if spec.task == "classification":
            kinds = ["scores", "confusion", "calibration"]
        raise ElmbenchError(
            f"{kind!r} is not a picture of a {spec.task}",
            expected=f"one of {', '.join(kinds)}",
            next_step="name one of them",
        )
    if kind == "calibration" and not _probabilities(rows):
        raise ElmbenchError(
            f"{model!r} was compared without probabilities",
            expected="a model with predict_proba",
            next_step="compare with metric=('accuracy', 'log_loss'), which calibrates all models",
        )


def _probabilities(rows: pd.DataFrame) -> list[str]:
    """Return the names of the columns `probability_<class>` that have values.

    `rows`: the lines of predictions of one model.
    """
    with_values = map(str, rows.dropna(axis="columns", how="all"))
    return [name for name in with_values if name.startswith(_PROBABILITY)]


def _plot_scores(
    results: Results, spec: DatasetSpec, order: Sequence[str], axes: Any
) -> Any:
    """Draw the scores of the test parts and the mean of each model; return the axes.

    Each mean has its interval of 95 %, if the test parts allow it. Only cells that ended ok count.
    `order`: the models with a rank, the best first, which is on top; the others that have such
    cells follow.
    """
    metric = results.resolved.metric_of(spec.name)
    scores = results.cells[results.cells["status"] == "ok"].groupby("model")[metric]
    others = [str(model) for model in scores.groups if model not in order]
    models = [*order, *others]
    share = share_of_test_rows(spec.name, results.resolved, results.cells)
    for height, model in enumerate(reversed(models)):
        values = scores.get_group(model).astype(float).dropna()
        plot_scores(axes, height, values)
        if share is not None and len(values) > 1:
            interval = corrected_t_test(values, share, Region())
            axes.plot(
                [interval.low, interval.high],
                [height] * 2,
                color=MEAN_COLOUR,
                linewidth=1,
            )
    axes.set_yticks(range(len(models)), list(reversed(models)))
    axes.set_xlabel(f"{words_for(metric)}: test parts, mean and interval of 95 %")
    axes.grid(alpha=0.3)
    return axes


def _plot_calibration(spec: DatasetSpec, rows: pd.DataFrame, axes: Any) -> None:
    """Draw the calibration curve of each class on `axes`; of two classes, that of the positive one.

    `rows`: the lines of predictions of one model, with `true` and `probability_<class>`.
    """
    from sklearn.calibration import CalibrationDisplay

    labels = [name.removeprefix(_PROBABILITY) for name in _probabilities(rows)]
    shown = [*spec.positive] if spec.positive else labels
    n_bins = min(_MOST_BINS, max(2, len(rows) // _ROWS_OF_BIN))
    for label in shown:
        CalibrationDisplay.from_predictions(
            rows["true"] == label,
            rows[f"{_PROBABILITY}{label}"].astype(float).clip(0, 1),
            n_bins=n_bins,
            strategy="quantile",
            name=label,
            ax=axes,
        )
