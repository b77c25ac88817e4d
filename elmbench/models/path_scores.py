"""Scores of all candidates of a search at once, from the outputs of paths."""

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer

from elmbench.metrics import REGISTRY, Metric
from elmbench.models.base.sklearn_private import (
    ScorerParts,
    safe_indexing,
    score_predictions,
    scorer_parts,
)
from elmbench.models.protocols import Folds
from elmbench.numerics.arrays import Array
from elmbench.numerics.scores import confusion_counts, roc_areas


class PathScorer(NamedTuple):
    """A scorer of a search by paths.

    Attributes
    ----------
    scorer : object
        The scorer of scikit-learn.
    method : str
        The path that yields what the scorer takes: "evaluate_grid" or "decision_grid".
    metric : Metric or None
        The registered metric that it computes, if any.
    """

    scorer: Any
    method: str
    metric: Metric | None


def path_results(
    y: Any,
    folds: Folds,
    method: str,
    outputs: list[list[Any]],
    fit_times: Array,
    scorers: dict[str, PathScorer],
    error_score: Any,
) -> list[dict[str, Any]]:
    """Score the outputs of paths; return the results of scikit-learn's `_fit_and_score` in the
    order of the candidates, then of the folds.

    Each is a dict with "fit_time" and "score_time" (seconds; the latter an equal share of the
    total), "fit_error" (None) and "test_scores": {name of a scorer: number}, or a number for a
    single scorer with an empty name. ROC areas that are the best within round-off are those of
    scikit-learn. `y`: targets of all rows. `folds`: pairs of row numbers. `method`: "evaluate_grid"
    if the outputs are predictions, "decision_grid" if they are decision values of two classes, from
    which labels follow. `outputs[fold][candidate]`: for the test rows of the fold. `fit_times`:
    seconds, (n_candidates, n_folds). `scorers`: {name: scorer}, the empty name for a single one.
    `error_score`: the score if a scorer fails, or "raise".
    """
    started = time.perf_counter()
    true_by_fold = [safe_indexing(y, test) for _, test in folds]
    values: list[dict[str, Array]] = []
    for (train, _), true, fold_outputs in zip(
        folds, true_by_fold, outputs, strict=True
    ):
        responses = {method: np.asarray(fold_outputs)}
        if method == "decision_grid":
            classes = np.unique(safe_indexing(y, train))
            responses["evaluate_grid"] = _labels_of(responses[method], classes)
        scores_by_name = {
            name: _scores_of(scorer, true, responses[scorer.method], error_score)
            for name, scorer in scorers.items()
        }
        values.append(scores_by_name)
    for name, scorer in scorers.items():
        if scorer.metric and scorer.metric.name == "roc_auc":
            scores_by_fold = [columns[name] for columns in values]
            _break_ties(scorer, true_by_fold, outputs, scores_by_fold, error_score)
    score_time = (time.perf_counter() - started) / fit_times.size
    results = []
    for i in range(len(fit_times)):
        for j, columns in enumerate(values):
            scores: Any = {name: column[i] for name, column in columns.items()}
            results.append(
                {
                    "fit_time": fit_times[i, j],
                    "score_time": score_time,
                    "fit_error": None,
                    # A single scorer has an empty name.
                    "test_scores": scores.get("", scores),
                }
            )
    return results


def _labels_of(decisions: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels that follow from decision values, of the same shape: the last class above
    zero, else the first. `classes`: the sorted labels of the training rows, one or two.
    """
    is_last = decisions > 0
    positions = np.where(is_last, len(classes) - 1, 0)
    return classes[positions]


def _break_ties(
    scorer: PathScorer,
    true: list[Any],
    outputs: list[list[Any]],
    scores: list[Array],
    error_score: Any,
) -> None:
    """Replace the scores of the candidates whose means are the best within round-off by
    scikit-learn's, whose round-off decides.

    `true`, `outputs` and `scores` are lists by folds: true values, outputs by candidate, and arrays
    of shape (n_candidates,), which are changed in place. `scorer`: that of the scores.
    `error_score`: the score if it fails, or "raise". A score of 0 or 1 has no round-off and stays.
    Nothing changes if a single candidate is best, or if all means are NaN.
    """
    means = np.mean(scores, axis=0)
    best = np.nanmax(means, initial=-np.inf)
    is_tied = means >= best - 1e-12
    n_tied = is_tied.sum()
    if n_tied <= 1:
        return
    reference = scorer._replace(metric=None)
    for y, decisions, column in zip(true, outputs, scores, strict=True):
        has_round_off = column % 1 != 0
        is_uncertain = is_tied & has_round_off
        rows = np.flatnonzero(is_uncertain)
        if len(rows):
            tied_decisions = [decisions[i] for i in rows]
            values = np.asarray(tied_decisions)
            column[rows] = _scores_of(reference, y, values, error_score)


def metric_of_scorer(scorer: Any) -> Metric | None:
    """Return the metric of `elmbench.metrics.REGISTRY` that a scorer computes, apart from the sign;
    None if there is none.
    """
    for metric in REGISTRY.values():
        reference: Any = get_scorer(metric.scorer) if metric.scorer else None
        if reference and _compute_the_same(
            scorer_parts(reference), scorer_parts(scorer)
        ):
            return metric
    return None


def _compute_the_same(one: ScorerParts, other: ScorerParts) -> bool:
    """Return True if the scorers with these parts have the same function and options; their signs
    may differ.
    """
    return one.function is other.function and one.options == other.options


def _metric_values(
    metric: Metric, labels: Array, predicted: NDArray[Any]
) -> Array | None:
    """Return a metric of p candidates at once, of shape (p,), without the sign of a scorer; None if
    its formula does not take these predictions.

    A metric of confusion counts takes predicted labels that are not floats. A metric of values
    takes finite floats if the true values are not all equal, and the ROC area takes finite floats
    (decision values) if there are two classes. `labels`: the true values, of shape (n,).
    `predicted`: labels or floats, of shape (p, n).
    """
    are_numbers = predicted.dtype.kind == "f"
    if metric.takes == "counts" and not are_numbers:
        return _count_metric_values(metric, labels, predicted)
    if not are_numbers:
        return None
    are_finite = np.isfinite(predicted).all()
    if not are_finite:
        return None
    classes = np.unique(labels)
    n_classes = len(classes)
    if metric.takes == "values" and n_classes > 1:
        true_values = labels.astype(np.float64)
        return np.asarray(metric.function(true_values, predicted))
    if metric.name == "roc_auc" and n_classes == 2:
        is_positive = labels == classes[1]
        return roc_areas(is_positive, predicted)
    return None


def _count_metric_values(
    metric: Metric, labels: Array, predicted: NDArray[Any]
) -> Array | None:
    """Return a metric of confusion counts of p candidates at once, of shape (p,).

    It is None for precision, recall and F1 unless there are two classes, of which the second is 1.
    `labels`: the true ones, (n,). `predicted`: labels, (p, n).
    """
    all_labels = np.concatenate([labels, predicted.ravel()])
    classes = np.unique(all_labels)
    n_classes = len(classes)
    is_of_positive_class = metric.name in ("precision", "recall", "f1")
    has_positive_class = n_classes == 2 and classes[1] == 1
    if is_of_positive_class and not has_positive_class:
        return None
    # Class numbers instead of labels.
    true_codes = np.searchsorted(classes, labels)
    predicted_codes = np.searchsorted(classes, predicted)
    counts = confusion_counts(true_codes, predicted_codes, n_classes)
    values = metric.function(counts)
    return np.asarray(values)


def _scores_of(
    path_scorer: PathScorer, y: Any, predicted: NDArray[Any], error_score: Any
) -> Array:
    """Return the scores of p candidates, of shape (p,), with the sign of the scorer.

    `y`: the true values, (n,) or (n, k). `predicted`: predictions of shape (p, n) or (p, n, k), or
    decision values of shape (p, n). `error_score`: the score if a scorer fails, or "raise".
    """
    metric = path_scorer.metric
    parts = scorer_parts(path_scorer.scorer)
    labels = np.asarray(y)
    if metric and labels.ndim == 1 and len(labels):
        values = _metric_values(metric, labels, predicted)
        if values is not None:
            return np.asarray(parts.sign * values)

    def score(_: None, outputs: NDArray[Any], y: Any) -> Any:
        """Return the score of outputs for true values `y`, with the sign of the scorer.

        The first argument stands for a model, which is not needed.
        """
        return parts.sign * parts.function(y, outputs, **parts.options)

    return np.array(
        [
            score_predictions(None, outputs, y, scorer=score, error_score=error_score)
            for outputs in predicted
        ]
    )
