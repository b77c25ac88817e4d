"""The metrics of a comparison, by the functions of scikit-learn."""

from typing import Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)


def classification_metrics(
    true: pd.Series, predicted: NDArray[Any], scores: NDArray[Any]
) -> dict[str, float]:
    """Return the counts and metrics of the classes `no` and `yes`; a larger score means `yes`."""
    tn, fp, fn, tp = confusion_matrix(true, predicted, labels=["no", "yes"]).ravel()
    return {
        "tn": tn,
        "fp": fp,
        "fn": fn,
        "tp": tp,
        "accuracy": accuracy_score(true, predicted),
        "balanced_accuracy": balanced_accuracy_score(true, predicted),
        "f1_macro": f1_score(true, predicted, average="macro"),
        "roc_auc": roc_auc_score(true, scores),
    }


def regression_metrics(true: pd.Series, predicted: NDArray[Any]) -> dict[str, float]:
    """Return the errors of predicted numbers, and R2."""
    return {
        "mae": mean_absolute_error(true, predicted),
        "rmse": root_mean_squared_error(true, predicted),
        "r2": r2_score(true, predicted),
    }
