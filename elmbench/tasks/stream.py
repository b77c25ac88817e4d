"""A model that learns the training rows of one outer fold in chunks and is measured after each
chunk.
"""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.content import OPTIONAL
from elmbench.evaluation.folds import fold_data
from elmbench.evaluation.predictions import (
    check_predictions,
    checked_metric,
    metric_value,
)
from elmbench.metrics import PREQUENTIAL
from elmbench.specs.measures import TRAIN_ACCURACY, Measure, rows_after_chunks
from elmbench.tasks.base import Context, FoldTask, Result, check_memory
from elmbench.tasks.fit import model_size


@dataclass(frozen=True)
class Stream(FoldTask):
    """A model that learns the training rows of one outer fold chunk by chunk.

    `params`: {name: value} of the fixed parameters. `chunk`: training rows in a chunk; the last one
    may have fewer. `prequential`: predict each chunk but the first before it is learnt.
    """

    kind = "stream"

    chunk: int
    prequential: bool = field(default=False, metadata=OPTIONAL)

    def seconds(self) -> float:
        """Return the rough duration on one core: a fit to all rows so far, for each chunk."""
        return sum(
            map(
                self.fit_seconds, rows_after_chunks(self.outer_fold.n_train, self.chunk)
            )
        )

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Learn each chunk with `partial_fit`, and measure the model after it.

        The result: `params`; `fit_seconds`, the time of learning alone; and `measured`, {name:
        value}. Its names are `accuracy@rows=40` or `nrmse@rows=40` (of the test rows),
        `train_accuracy@rows=40` (of the rows learnt so far; only for a classification),
        `prequential_error@rows=80` (the share of wrong predictions, or the NRMSE of a regression,
        for all chunks so far but the first, each predicted before it was learnt; only if
        `prequential`) and `n_units@rows=40` (0 for a model without a size). If an error is
        infinite, also `status`, "diverged", and `reason`. `inputs` are not used.
        """
        data = fold_data(self.outer_fold, context.data_dir)
        factory, params = self.factory_with(chosen={})
        check_memory(
            factory, data.X_train.shape, data.labels, params, context.memory_limit
        )
        estimator = factory(**params)
        values_by_column: dict[str, float] = {}
        preds: list[NDArray[Any]] = []
        metric = "nrmse" if data.labels is None else "accuracy"
        classes = {} if data.labels is None else {"classes": np.array(data.labels)}
        seconds = 0.0
        stops = rows_after_chunks(len(data.y_train), self.chunk)
        for start, stop in pairwise([0, *stops]):
            rows = slice(start, stop)
            if self.prequential and start:
                preds.append(
                    check_predictions(
                        data.y_train[rows],
                        estimator.predict(data.X_train[rows]),
                        data.labels,
                    )
                )
            start_time = time.perf_counter()
            with warnings.catch_warnings():
                # The first rows of a stream may have nearly as many classes.
                warnings.filterwarnings("ignore", "The number of unique classes")
                estimator.partial_fit(data.X_train[rows], data.y_train[rows], **classes)
            seconds += time.perf_counter() - start_time
            values: dict[str, float] = {"n_units": model_size(estimator) or 0}
            values[metric] = checked_metric(
                metric, estimator, data.X_test, data.y_test, data.labels
            )
            if data.labels is not None:
                past_rows = data.X_train[:stop], data.y_train[:stop]
                values[TRAIN_ACCURACY] = checked_metric(
                    metric, estimator, *past_rows, data.labels
                )
            if preds:
                true = data.y_train[stops[0] : stop]
                predicted = np.concatenate(preds)
                if data.labels is None:
                    values[PREQUENTIAL] = metric_value("nrmse", true, predicted, None)
                else:
                    # Gama, Sebastiao and Rodrigues, "On evaluating stream learning algorithms"
                    # (2013), eq. 1.
                    values[PREQUENTIAL] = float(np.mean(true != predicted))
            values_by_column |= {
                Measure(name, "rows", stop).column: value
                for name, value in values.items()
            }
        result = {
            "params": self.recorded_params(params),
            "measured": values_by_column,
            "fit_seconds": seconds,
        }
        if np.isinf([*values_by_column.values()]).any():
            result |= {
                "status": "diverged",
                "reason": "an error of the predictions is infinite",
            }
        return result
