"""Stored predictions for test rows, and the metrics that are computed from them."""

import base64
import contextlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.evaluation.predictions import class_outputs, positions_of_labels
from elmbench.metrics import Metric, ranking_methods
from elmbench.numerics.arrays import Array
from elmbench.numerics.scores import confusion_counts

#: The types of packed arrays.
_KINDS = ("<f8", "<f4", "<i4", "<u4", "|u1")
#: The largest decision value.
_LARGEST = np.finfo(np.float64).max


def stored_predictions(
    estimator: Any, X: Any, y: NDArray[Any], predicted: NDArray[Any], labels: list[int] | None
) -> dict[str, Any] | None:
    """Return the predictions of a fitted model for test rows in the types of JSON; None if it
    diverged.

    It diverged if a prediction or a squared error is not finite.

    `labels`: every label of the data set; None for regression. The result: `true` and `predicted`:
    values, or positions of labels, of which there are `classes`; `scores`, the decision values, and
    `log_odds`, the logarithms of the odds of the second of two classes or of all probabilities, if
    the model has them. See `StoredPredictions`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(predicted if labels else np.sum((y - predicted) ** 2)).all():
            return None
    if labels is None:
        return {"true": _pack(y, "<f8"), "predicted": _pack(predicted, "<f8")}
    kind = "|u1" if len(labels) <= 256 else "<u4"
    content: dict[str, Any] = {
        "classes": len(labels),
        "true": _pack(positions_of_labels(y, labels), kind),
        "predicted": _pack(positions_of_labels(predicted, labels), kind),
    }
    if (scores := class_outputs(estimator, "decision_function", X, labels)) is not None:
        if not np.isfinite(scores).all():
            return None
        content["scores"] = _pack(scores, "<f4")
    with contextlib.suppress(Exception), np.errstate(divide="ignore"):
        # Unusable probabilities are left out; the predictions stay.
        shares = class_outputs(estimator, "predict_proba", X, labels)
        if shares is not None and np.isfinite(shares).all():
            logarithms = np.log(shares)
            odds = logarithms if len(labels) > 2 else logarithms[:, 1] - logarithms[:, 0]
            content["log_odds"] = _pack(odds, "<f4")
    return content


def packed_rows(rows: NDArray[np.intp]) -> str:
    """Return the numbers of test rows as `StoredPredictions.rows` reads them, by their
    differences.
    """
    return _pack(np.diff(rows, prepend=0), "<i4")


def _pack(values: NDArray[Any], kind: str) -> str:
    """Return an array as text: its type, and its compressed bytes in base64."""
    return f"{kind}:{base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 1)).decode()}"


def _unpack(text: str) -> NDArray[Any]:
    """Return the array of a text; raise ElmbenchError if the text is not such."""
    kind, _, data = text.partition(":")
    try:
        if kind not in _KINDS:
            raise ValueError(f"its type is {kind:.20}")
        return np.frombuffer(zlib.decompress(base64.b64decode(data)), dtype=kind)
    except (ValueError, zlib.error) as error:
        raise _unusable(f"a part cannot be read: {error}") from error


def _unusable(problem: str) -> ElmbenchError:
    """Return the error for predictions that this package has not stored."""
    return ElmbenchError(
        f"the store holds predictions that cannot be used: {problem}",
        expected="predictions that elmbench stored",
        next_step="move the folder .store of the results away, then run again",
    )


@dataclass(frozen=True)
class StoredPredictions:
    """The predictions in a record of the store, each part unpacked on first use."""

    content: Mapping[str, Any]

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None for regression."""
        return self.content.get("classes")

    @cached_property
    def true(self) -> NDArray[Any]:
        """Targets, or positions of the true classes, of shape (n,)."""
        return self._rows("true")

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Predicted values, or positions of predicted classes, of shape (n,)."""
        return self._rows("predicted")

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """The numbers of the test rows in the data set, of shape (n,); None in results of earlier
        versions.
        """
        if "rows" not in self.content:
            return None
        rows = np.cumsum(self._of_each_row("rows"), dtype=np.intp)
        if len(rows) != len(self.true) or rows.min(initial=0) < 0:
            raise _unusable(f"of {len(self.true)} rows, these are named: {rows}")
        return rows

    @property
    def counts(self) -> Array:
        """Confusion counts of shape (k, k)."""
        assert self.n_classes is not None
        return confusion_counts(self.true, self.predicted, self.n_classes)

    @cached_property
    def scores(self) -> Array | None:
        """Decision values or log-odds (see `ranking_methods`) of shape (n,) or (n, k); None if
        there are neither.

        They are finite: scikit-learn refuses the infinite log-odds of a probability of 0 or 1.
        """
        for method in ranking_methods(self.n_classes or 0):
            values = self.columns("scores" if method == "decision_function" else "log_odds")
            if values is not None:
                return np.clip(values, -_LARGEST, _LARGEST)
        return None

    @cached_property
    def probabilities(self) -> Array | None:
        """Probabilities of shape (n, k); None if the model has none."""
        odds = self.columns("log_odds")
        if odds is None:
            return None
        if odds.ndim == 2:
            return np.exp(odds)
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(np.column_stack([odds, -odds])))

    def _rows(self, name: str) -> NDArray[Any]:
        values = self._of_each_row(name)
        if not self.n_classes:
            return values
        if values.dtype.kind != "u" or values.max(initial=0) >= self.n_classes:
            raise _unusable(f"a class is not one of {self.n_classes}")
        return values.astype(np.intp)

    def _of_each_row(self, name: str) -> NDArray[Any]:
        """Return the values of a part, of which each row has one or one of each class."""
        values = _unpack(self.content[name])
        n_rows = len(values if name == "true" else self.true)
        if len(values) not in (n_rows, n_rows * (self.n_classes or 1)):
            raise _unusable(f"they have {n_rows} rows and {len(values)} values")
        return values

    def columns(self, name: str) -> Array | None:
        """Return `scores`, the decision values, or `log_odds`, of shape (n,) or (n, k); None if the
        model has none.
        """
        if name not in self.content:
            return None
        values = self._of_each_row(name).astype(np.float64)
        return values if self.n_classes == 2 else values.reshape(-1, self.n_classes or 1)

    def value(self, metric: Metric) -> float | None:
        """Return a metric; None if it is for another task, or the model lacks its inputs."""
        if (self.n_classes is None) != (metric.task == "regression"):
            return None
        if metric.takes == "counts":
            return float(metric.function(self.counts))
        outputs = {
            "values": self.predicted,
            "scores": self.scores,
            "probabilities": self.probabilities,
        }[metric.takes]
        return None if outputs is None else float(metric.function(self.true, outputs))


def metric_columns(
    stored: Iterable[StoredPredictions | None], metrics: Sequence[Metric]
) -> dict[str, list[Any]]:
    """Return metrics of many cells by name, None for a cell without one; counts are evaluated all
    at once.
    """
    columns: dict[str, list[Any]] = {metric.name: [] for metric in metrics}
    counted = [metric for metric in metrics if metric.takes == "counts"]
    by_classes: dict[int, list[tuple[int, Array]]] = {}
    for i, cell in enumerate(stored):
        if cell is not None and cell.n_classes and counted:
            by_classes.setdefault(cell.n_classes, []).append((i, cell.counts))
        for metric in metrics:
            columns[metric.name].append(
                None if cell is None or metric.takes == "counts" else cell.value(metric)
            )
    for cells in by_classes.values():
        rows, counts = zip(*cells, strict=True)
        for metric in counted:
            for i, value in zip(rows, metric.function(np.array(counts)).tolist(), strict=True):
                columns[metric.name][i] = value
    return columns
