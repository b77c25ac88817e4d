"""Stored predictions for test rows, and the metrics that are computed from them."""

import base64
import contextlib
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.evaluation.predictions import class_outputs, positions_of_labels
from elmbench.metrics import Metric, ranking_methods
from elmbench.numerics.arrays import Array
from elmbench.numerics.scores import confusion_counts

#: The types of packed arrays: values, positions of classes, decision values, numbers of rows.
_VALUES = ("<f8",)
_POSITIONS = ("|u1", "<u4")
_SCORES = ("<f4",)
_ROWS = ("<i4",)
#: The largest size of the targets, in bytes, if the number of rows is not known.
_MOST_BYTES = 2**30
#: The largest decision value.
_LARGEST = np.finfo(np.float64).max
#: The weights of the .632 bootstrap: of the rows that were not drawn, and of the resubstitution.
_WEIGHT_OF_TEST = 0.632
_WEIGHT_OF_LEARNT = 0.368
#: Confusion counts of cells with the same number of classes, by the row of the cell.
_CountsByRow = dict[int, Array]


@dataclass(frozen=True)
class Predictions:
    """The predictions of a fitted model for test rows.

    `true`, `predicted`: in the units of the metrics. `labels`: every label of the data set; None
    for regression. `outputs`: `scores`, the decision values, and `log_odds`, the logarithms of the
    odds of the second of two classes or of all probabilities, if the model has them.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    labels: list[int] | None
    outputs: Mapping[str, Array] = field(default_factory=dict)

    @property
    def have_diverged(self) -> bool:
        """True unless the predictions, and the decision values if there are any, are finite.

        For a regression, the sum of the squared errors must be finite, too.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = self.predicted
            if self.labels is None:
                numbers = np.sum((self.true - self.predicted) ** 2)
        if not _are_finite(numbers):
            return True
        scores = self.outputs.get("scores")
        return scores is not None and not _are_finite(scores)

    def content(self) -> dict[str, Any]:
        """Return the predictions in the types of JSON, which `StoredPredictions` reads.

        Arrays are texts of `_pack`. The keys: `true` and `predicted`, values or positions of
        labels; for labels also `classes`, their number, and `scores` and `log_odds` if the model
        has them. The predictions must not have diverged.
        """
        if self.labels is None:
            return {
                "true": _pack(self.true, "<f8"),
                "predicted": _pack(self.predicted, "<f8"),
            }
        n_classes = len(self.labels)
        kind = "|u1" if n_classes <= 256 else "<u4"
        true = positions_of_labels(self.true, self.labels)
        predicted = positions_of_labels(self.predicted, self.labels)
        outputs = {name: _pack(values, "<f4") for name, values in self.outputs.items()}
        return {
            "classes": n_classes,
            "true": _pack(true, kind),
            "predicted": _pack(predicted, kind),
            **outputs,
        }


def add_outputs(
    predictions: Predictions,
    estimator: Any,
    X: Any,
    probabilities: Array | None = None,
) -> Predictions:
    """Return predictions with the decision values and log-odds of their model for the rows X.

    They are the entries `scores` and `log_odds` of `outputs`. An output that the model lacks, and
    probabilities that fail or are not finite, are left out; decision values may be infinite, and
    their errors are raised. `estimator`: the fitted model. `probabilities`: those of the rows, of
    shape (n, number of labels), if they are known; None to compute them. The predictions of a
    regression or a diverged model are returned as they are.
    """
    labels = predictions.labels
    if labels is None or predictions.have_diverged:
        return predictions
    outputs = {}
    scores = class_outputs(estimator, "decision_function", X, labels)
    if scores is not None:
        outputs["scores"] = scores
    if probabilities is None:
        # Unusable probabilities are left out; the predictions stay.
        with contextlib.suppress(Exception):
            probabilities = class_outputs(estimator, "predict_proba", X, labels)
    if probabilities is not None and _are_finite(probabilities):
        outputs["log_odds"] = _log_odds(probabilities)
    return replace(predictions, outputs=outputs)


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    """Return the predictions for several test parts as one, with the outputs that all have.

    The parts, at least one, have the same labels; their rows follow one another.
    """
    first = parts[0]
    return Predictions(
        true=np.concatenate([part.true for part in parts]),
        predicted=np.concatenate([part.predicted for part in parts]),
        labels=first.labels,
        outputs={
            name: np.concatenate([part.outputs[name] for part in parts])
            for name in first.outputs
            if all(name in part.outputs for part in parts)
        },
    )


def _log_odds(shares: Array) -> Array:
    """Return log-odds of probabilities of shape (n, k): ln p_2 / p_1 of two classes, else all ln p.

    The result is of shape (n,) for the second of two classes, else (n, k). Probabilities of 0 give
    infinities.
    """
    with np.errstate(divide="ignore"):
        logarithms = np.log(shares)
    return logarithms if shares.shape[1] > 2 else logarithms[:, 1] - logarithms[:, 0]


def packed_rows(rows: NDArray[np.intp]) -> str:
    """Return the numbers of test rows as a text that `StoredPredictions.rows` reads.

    The text holds their differences, which compress better.
    """
    return _pack(np.diff(rows, prepend=0), "<i4")


def _pack(values: NDArray[Any], kind: str) -> str:
    """Return an array as the text "TYPE:BYTES", which does not hold its shape.

    `kind`: the type of the values in the text, such as "<f8". The bytes are compressed and in
    base64.
    """
    content = values.astype(kind).tobytes()
    compressed = zlib.compress(content, 1)
    text = base64.b64encode(compressed).decode()
    return f"{kind}:{text}"


def _unpack(text: str, kinds: Sequence[str], n_values: int | None) -> NDArray[Any]:
    """Return the array in a text that `_pack` made, of shape (number of values,).

    `kinds`: the types that it may have, such as '<f8'. `n_values`: the number of values, which must
    match; None for any number up to 1 GiB. No more is unpacked. Raises ElmbenchError if the text
    does not hold such an array, which is read-only.
    """
    kind, _, data = text.partition(":")
    if kind not in kinds:
        raise unusable_predictions(
            f"a part has the type {kind:.20}, not {' or '.join(kinds)}"
        )
    n_bytes = _MOST_BYTES
    if n_values is not None:
        n_bytes = n_values * np.dtype(kind).itemsize
    unpacker = zlib.decompressobj()
    try:
        # One byte more shows that there are too many, without unpacking them.
        content = unpacker.decompress(base64.b64decode(data), n_bytes + 1)
        values = np.frombuffer(content[:n_bytes], dtype=kind)
    except (ValueError, zlib.error) as error:
        raise unusable_predictions(f"a part cannot be read: {error}") from error
    is_too_long = len(content) > n_bytes
    is_complete = unpacker.eof and n_values in (None, len(values))
    if is_too_long or not is_complete:
        number = "more" if is_too_long else len(values)
        expected = "that many" if n_values is None else n_values
        raise unusable_predictions(f"a part has {number} values, expected {expected}")
    return values


def _are_finite(values: NDArray[Any]) -> bool:
    """Return True if all values are finite."""
    return bool(np.isfinite(values).all())


def unusable_predictions(problem: str) -> ElmbenchError:
    """Return the error for predictions that this package has not stored, to be raised.

    `problem`: the rest of the message, such as "a value is not finite".
    """
    return ElmbenchError(
        f"the store holds predictions that cannot be used: {problem}",
        expected="predictions that elmbench stored",
        next_step="move the folder .store of the results away, then run again",
    )


@dataclass(frozen=True)
class StoredPredictions:
    """The predictions in a record of the store, each part unpacked on first use.

    `content`: as `Predictions.content` returns it, perhaps with `rows` and `learnt`. `n_rows`: the
    number of test rows; None to take that of the targets.
    """

    content: Mapping[str, Any]
    n_rows: int | None = None

    def check(self) -> None:
        """Raise ElmbenchError if a part cannot be unpacked or holds an impossible value.

        Such values are targets, predictions and decision values that are not finite, log-odds that
        are NaN, classes that do not exist, and rows that are named twice. The predictions for the
        learnt rows are checked too.
        """
        for values in (self.true, self.predicted):
            if not self.n_classes and not _are_finite(values):
                raise unusable_predictions("a value is not finite")
        scores = self.columns("scores")
        if scores is not None and not _are_finite(scores):
            raise unusable_predictions("a decision value is not finite")
        log_odds = self.columns("log_odds")
        if log_odds is not None and np.isnan(log_odds).any():
            raise unusable_predictions("a probability is not a number")
        rows = self.rows
        if rows is not None and len(np.unique(rows)) != len(rows):
            raise unusable_predictions("a row is named twice")
        if self.learnt is not None:
            if self.learnt.n_classes != self.n_classes:
                raise unusable_predictions("the learnt rows have different classes")
            self.learnt.check()

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None for regression."""
        return self.content.get("classes")

    @cached_property
    def learnt(self) -> "StoredPredictions | None":
        """The predictions for all rows by a model that has learnt all of them.

        The .632 bootstrap needs them; None for other splits.
        """
        content = self.content.get("learnt")
        return None if content is None else StoredPredictions(content)

    @cached_property
    def true(self) -> NDArray[Any]:
        """Targets, or positions of the true classes, of shape (n,)."""
        return self._of_each_row("true")

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Predicted values, or positions of predicted classes, of shape (n,)."""
        return self._of_each_row("predicted")

    @property
    def rows(self) -> NDArray[np.intp] | None:
        """The numbers of the test rows in the data set, of shape (n,).

        They are None in results of earlier versions. Raises ElmbenchError for a negative number.
        """
        if "rows" not in self.content:
            return None
        # The numbers are stored as steps, which compress better.
        steps = _unpack(self.content["rows"], _ROWS, len(self.true))
        rows = np.cumsum(steps, dtype=np.intp)
        if rows.min(initial=0) < 0:
            raise unusable_predictions(f"a row has the number {rows.min()}")
        return rows

    @property
    def counts(self) -> Array:
        """The confusion counts, of shape (k, k) with true classes in rows; not for a regression."""
        assert self.n_classes is not None
        return confusion_counts(self.true, self.predicted, self.n_classes)

    @cached_property
    def scores(self) -> Array | None:
        """Outputs that rank the rows: decision values or log-odds, of shape (n,) or (n, k).

        The first that the model has is taken, in the order of `ranking_methods`; None if it has
        neither. They are finite: scikit-learn refuses the infinite log-odds of a probability of 0
        or 1.
        """
        for method in ranking_methods(self.n_classes or 0):
            values = self.columns(
                "scores" if method == "decision_function" else "log_odds"
            )
            if values is not None:
                return np.clip(values, -_LARGEST, _LARGEST)
        return None

    @cached_property
    def probabilities(self) -> Array | None:
        """Probabilities of shape (n, k), from the stored log-odds; None if the model has none."""
        odds = self.columns("log_odds")
        if odds is None:
            return None
        if odds.ndim == 2:
            return np.exp(odds)
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(np.column_stack([odds, -odds])))

    def _of_each_row(self, name: str) -> NDArray[Any]:
        """Return the part `name` of the record, "true" or "predicted", of shape (n,).

        It holds values of a regression, or positions of classes among the labels. Raises
        ElmbenchError if the part cannot be unpacked, has a wrong number of values, or names a class
        that does not exist.
        """
        n_rows = self.n_rows if name == "true" else len(self.true)
        packed = self.content[name]
        if not self.n_classes:
            return _unpack(packed, _VALUES, n_rows)
        values = _unpack(packed, _POSITIONS, n_rows)
        if values.max(initial=0) >= self.n_classes:
            raise unusable_predictions(f"a class is not one of {self.n_classes}")
        return values.astype(np.intp)

    def columns(self, name: str) -> Array | None:
        """Return the decision values ("scores") or log-odds ("log_odds") of the rows.

        They are of shape (n,) for two classes, those of the second one, and else of shape (n, k);
        None if the model has none.
        """
        if name not in self.content:
            return None
        # Of two classes, only the outputs of the second one are stored.
        is_binary = self.n_classes == 2
        n_columns = 1 if is_binary else self.n_classes or 1
        n_values = len(self.true) * n_columns
        stored = _unpack(self.content[name], _SCORES, n_values)
        values = stored.astype(np.float64)
        return values if is_binary else values.reshape(-1, n_columns)

    def value(self, metric: Metric) -> float | None:
        """Return the value of a metric, such as the accuracy of the predictions.

        It is None if the metric is for another task, or the model lacks its inputs; NaN if the
        metric is not defined for the rows. With predictions for the learnt rows, it is the estimate
        of the .632 bootstrap, except for a metric that is a number of rows, such as the false
        positives.
        """
        of_test = self._value_of_test(metric)
        if self.learnt is None or of_test is None or metric.counts_rows:
            return of_test
        of_learnt = self.learnt.value(metric)
        if of_learnt is None:
            return None
        return _WEIGHT_OF_TEST * of_test + _WEIGHT_OF_LEARNT * of_learnt

    def _value_of_test(self, metric: Metric) -> float | None:
        """Return a metric of the predictions for the test rows alone.

        It is None if the metric is for another task, or the model lacks its inputs; NaN if the
        metric is not defined for the rows.
        """
        if (self.n_classes is None) != (metric.task == "regression"):
            return None
        if metric.takes == "counts":
            return float(metric.function(self.counts))
        inputs = {
            "values": self.predicted,
            "scores": self.scores,
            "probabilities": self.probabilities,
        }
        outputs = inputs[metric.takes]
        if outputs is None:
            return None
        value = metric.function(self.true, outputs)
        return float(value)


def metric_columns(
    stored: Iterable[StoredPredictions | None], metrics: Sequence[Metric]
) -> dict[str, list[Any]]:
    """Return metrics of many cells: {name of the metric: [value of each cell]}.

    `stored`: the predictions of each cell, or None without any; it is read once. A value is None
    for such a cell, for a metric of another task, and if the model lacks the inputs of the metric.
    Metrics of counts are evaluated for all cells at once.
    """
    columns: dict[str, list[Any]] = {metric.name: [] for metric in metrics}
    metrics_of_counts = [metric for metric in metrics if metric.takes == "counts"]
    counts_by_classes: defaultdict[int, _CountsByRow] = defaultdict(dict)
    # The predictions of a cell are read and dropped before those of the next one.
    for row, cell in enumerate(stored):
        for metric in metrics:
            value = _value_alone(cell, metric)
            columns[metric.name].append(value)
        if not metrics_of_counts or cell is None or cell.learnt is not None:
            continue
        if cell.n_classes:
            counts_of_rows = counts_by_classes[cell.n_classes]
            counts_of_rows[row] = cell.counts
    for counts_of_rows in counts_by_classes.values():
        _add_metrics_of_counts(columns, metrics_of_counts, counts_of_rows)
    return columns


def _add_metrics_of_counts(
    columns: Mapping[str, list[Any]], metrics: Sequence[Metric], counts: _CountsByRow
) -> None:
    """Write metrics of confusion counts of some cells into `columns`, in place.

    `columns`: {name of the metric: [value of each cell]}. `metrics`: those that take counts.
    `counts`: {position of a cell in the columns: its confusion counts}, all with the same number of
    classes.
    """
    matrices = list(counts.values())
    stacked = np.array(matrices)
    for metric in metrics:
        column = columns[metric.name]
        values = metric.function(stacked)
        for row, value in zip(counts, values.tolist(), strict=True):
            column[row] = value


def _value_alone(cell: StoredPredictions | None, metric: Metric) -> float | None:
    """Return a metric of one cell, unless it is evaluated for all cells at once.

    It is None for a metric of counts, unless the cell has learnt rows: `_add_metrics_of_counts`
    evaluates those. It is also None if the cell is None, or has no value of the metric.
    """
    if cell is None:
        return None
    if metric.takes == "counts" and cell.learnt is None:
        return None
    return cell.value(metric)
