"""Pictures of pages: average ranks, and the scores and predictions of a comparison."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from elmbench.evaluation.model_order import rank_models
from elmbench.judging.rank_statistics import Statistics, compare_models
from elmbench.report.site.rank_diagrams import RankDiagram
from elmbench.report.table_results import Results
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.profiles import Resolved
from elmbench.tables.drawing import (
    figure_bytes,
    new_figure,
    plot_scores,
    title_of,
    words_for,
)

#: The fewest models and data sets of a diagram of ranks.
_FEWEST_MODELS = 3
_FEWEST_SETS = 4
#: The most models with a curve, points of a model, classes whose shares are printed, and columns of
#: a picture.
_MOST_CURVES = 5
_MOST_POINTS = 1000
_MOST_PRINTED = 12
_MOST_COLUMNS = 15
_SIDE = 4.6


@dataclass(frozen=True)
class Picture:
    """A picture of a page as PNG, with the text that describes it (`label`)."""

    label: str
    png: bytes

    @property
    def source(self) -> str:
        """The picture as a data URL ("data:image/png;base64,..."), to be part of a page."""
        return f"data:image/png;base64,{b64encode(self.png).decode()}"


def rank_diagrams(results: Results) -> Iterator[RankDiagram]:
    """Yield the diagrams of the models' average ranks, by measured, then by published values.

    A diagram needs at least `_FEWEST_MODELS` models and `_FEWEST_SETS` data sets; the second one is
    left out if too few values are published.
    """
    resolved = results.resolved
    if len(resolved.datasets) < _FEWEST_SETS:
        return
    for comparison in compare_models(results.summary, resolved):
        if (
            len(comparison.ranks) >= _FEWEST_MODELS
            and len(comparison.datasets) >= _FEWEST_SETS
        ):
            yield rank_diagram(comparison, title_of(resolved))


def rank_diagram(comparison: Statistics, name: str) -> RankDiagram:
    """Return the diagram of the average ranks of a comparison; its label begins with `name`.

    The label says that a bar joins models that do not differ (Nemenyi's test).
    """
    label = (
        f"{name}: average ranks of the {comparison.source} values on {len(comparison.datasets)} "
        "data sets; a bar "
        "joins models that do not differ (Nemenyi, critical distance "
        f"{comparison.critical_distance:.2f})"
    )
    return RankDiagram(label, comparison)


def comparison_charts(
    spec: DatasetSpec,
    results: Results,
    predictions: pd.DataFrame,
    importance: pd.DataFrame,
) -> Iterator[Picture]:
    """Yield the pictures of one data set of a comparison on a user's data.

    The first has the scores of all ranked models. The next are of the best model: predictions of a
    regression, or a confusion matrix and, for two classes with a positive one, curves of the best
    few. The last has the importance of columns. `predictions`, `importance`: the lines of
    `predictions.csv` and `importance.csv` of all data sets; without lines, their pictures are left
    out. If no model has a rank, there are no scores and no predictions.
    """
    ranked = rank_models(results.summary, spec.name, results.resolved).models
    rows = _lines_of(predictions, spec.name)
    losses = _lines_of(importance, spec.name)
    if ranked:
        yield _scores_picture(results.cells, ranked, spec, results.resolved)
    if ranked and len(rows):
        by_model = {model: rows[rows["model"] == model] for model in ranked}
        yield from _prediction_pictures(by_model, spec)
    if len(losses):
        yield _importance_picture(losses)


def _lines_of(lines: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the lines of one data set, by their column `dataset`.

    A frame without lines is returned as it is, since it has no columns.
    """
    return lines[lines["dataset"] == dataset] if len(lines) else lines


def _prediction_pictures(
    by_model: dict[str, pd.DataFrame], spec: DatasetSpec
) -> Iterator[Picture]:
    """Yield the pictures of the predictions of one data set, of the best model.

    They are true against predicted values of a regression, or a confusion matrix and, if a class is
    the positive one, curves of several models. `by_model`: {model: lines of `predictions.csv`}, the
    best first.
    """
    best = next(iter(by_model))
    rows = by_model[best]
    if spec.task == "regression":
        yield _regression_picture(best, rows)
        return
    counts = spec.shape.classes
    labels = counts if isinstance(counts, dict) else sorted(rows["true"].unique())
    yield _confusion_picture(best, rows, list(labels))
    if spec.positive:
        yield from _curve_pictures(by_model, spec.positive[0])


def _scores_picture(
    cells: pd.DataFrame, models: Sequence[str], spec: DatasetSpec, resolved: Resolved
) -> Picture:
    """Return the picture of the scores of one data set: a dot for each fold, a bar for each mean.

    `cells`: the frame of `cells.csv`. `models`: the best one first; it is drawn on top. The metric
    is the one by which models are ranked.
    """
    metric = resolved.metric_of(spec.name)
    scores = cells[cells["dataset"] == spec.name].groupby("model")[metric]
    figure, axes = new_figure(_SIDE, 0.9 + 0.28 * len(models))
    axes.grid(alpha=0.3)
    for height, model in enumerate(reversed(models)):
        plot_scores(axes, height, scores.get_group(model))
    axes.set_yticks(range(len(models)), reversed(models))
    axes.set_ylim(-0.6, len(models) - 0.4)
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel(words_for(metric))
    return Picture(
        "Score of each test part (dot) and the mean of each model (bar)",
        figure_bytes(figure),
    )


def _regression_picture(model: str, rows: pd.DataFrame) -> Picture:
    """Return the picture of the targets of a regression against the predictions, with the diagonal.

    `rows`: test rows with columns `predicted` and `true`. Of more than `_MOST_POINTS` rows, so many
    are shown, drawn at random but always the same.
    """
    sample = (
        rows[["predicted", "true"]]
        .astype(float)
        .sample(min(len(rows), _MOST_POINTS), random_state=0)
    )
    figure, axes = new_figure(_SIDE, _SIDE)
    axes.axline(
        (sample["true"].mean(), sample["true"].mean()),
        slope=1,
        color="grey",
        linestyle="--",
        linewidth=0.8,
    )
    axes.scatter(sample["predicted"], sample["true"], s=12, alpha=0.5, linewidths=0)
    axes.locator_params(nbins=5)
    axes.set(xlabel="predicted", ylabel="true", aspect="equal")
    remark = (
        f", {len(sample)} of them drawn at random" if len(rows) > len(sample) else ""
    )
    return Picture(
        f"{model}: true and predicted values of test rows{remark}", figure_bytes(figure)
    )


def _confusion_picture(
    model: str, rows: pd.DataFrame, classes: Sequence[str]
) -> Picture:
    """Return the picture of the confusion matrix: true classes in rows, shares of each row.

    `rows`: test rows with columns `true` and `predicted`. `classes`: the order of rows and columns.
    With more than `_MOST_PRINTED` classes, the shares are shown as colours only.
    """
    from sklearn.metrics import ConfusionMatrixDisplay

    side = min(9.0, max(_SIDE, 0.45 * len(classes) + 1.5))
    figure, axes = new_figure(side, 0.92 * side)
    ConfusionMatrixDisplay.from_predictions(
        rows["true"],
        rows["predicted"],
        labels=classes,
        display_labels=[_short_name(name) for name in classes],
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
    return Picture(
        f"{model}: share of the test rows of each class (line) by predicted class",
        figure_bytes(figure),
    )


def _curve_pictures(
    by_model: Mapping[str, pd.DataFrame], positive: str
) -> Iterator[Picture]:
    """Yield the pictures of the ROC and precision-recall curves of at most `_MOST_CURVES` models.

    The best models come first. A curve is drawn from probabilities or else from decision values;
    models without one of them for every row have no curve. Without any curve, there is no picture.
    `by_model`: {model: lines of `predictions.csv`}, the best first. `positive`: the class whose
    curves are drawn.
    """
    from sklearn.metrics import PrecisionRecallDisplay, RocCurveDisplay

    curves = {}
    for model, rows in by_model.items():
        # Folds can share probabilities better than decision values.
        columns = [
            name for name in (f"probability_{positive}", "decision") if name in rows
        ]
        scores = next(
            (rows[name] for name in columns if rows[name].notna().all()), None
        )
        if scores is not None:
            curves[model] = rows["true"] == positive, scores
    top = list(curves.items())[:_MOST_CURVES]
    displays = [
        (
            "ROC",
            RocCurveDisplay,
            {"xlabel": "false positive rate", "ylabel": "true positive rate"},
        ),
        (
            "Precision-recall",
            PrecisionRecallDisplay,
            {"xlabel": "recall", "ylabel": "precision"},
        ),
    ]
    for title, display, labels in displays if top else ():
        figure, axes = new_figure(_SIDE, _SIDE)
        for model, (true, scores) in top:
            display.from_predictions(
                true, scores, name=model, ax=axes, plot_chance_level=model == top[-1][0]
            )
        axes.set(**labels)
        axes.legend(fontsize="small")
        label = (
            f"{title} curves for the class {positive!r}; test rows of all folds together, so areas "
            "may differ"
        )
        yield Picture(f"{label} from the mean over folds", figure_bytes(figure))


def _importance_picture(lines: pd.DataFrame) -> Picture:
    """Return the picture of the permutation importance of columns, the largest on top.

    `lines`: of `importance.csv` for one data set, the largest first; the first `_MOST_COLUMNS` are
    shown.
    """
    top = lines.head(_MOST_COLUMNS)[::-1]
    figure, axes = new_figure(_SIDE, 0.9 + 0.25 * len(top))
    # Names that are equal when cut have bars of their own.
    axes.barh(
        range(len(top)),
        top["importance"],
        xerr=top["std"].fillna(0),
        ecolor="grey",
        height=0.7,
    )
    axes.set_yticks(range(len(top)), [_short_name(name) for name in top["column"]])
    axes.axvline(0, color="grey", linewidth=0.8)
    metric, model = (str(lines[name].iloc[0]) for name in ("metric", "model"))
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(labelsize="small")
    axes.set_xlabel(
        f"loss of {words_for(metric)}, mean and deviation of folds", fontsize="small"
    )
    few = (
        f", the {_MOST_COLUMNS} largest of {len(lines)}"
        if len(lines) > _MOST_COLUMNS
        else ""
    )
    return Picture(
        f"{model}: loss on test rows if the values of one column are shuffled{few}",
        figure_bytes(figure),
    )


def _short_name(name: str) -> str:
    """Return a name, cut to 24 characters; the last of them is then an ellipsis."""
    return name if len(name) <= 24 else f"{name[:23]}…"
