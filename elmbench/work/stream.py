"""A model that learns the training rows of one outer fold in chunks, measured after each chunk."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from elmbench.protocol.content import FLAT
from elmbench.protocol.folds import DatasetRef, OuterFold, fold_data
from elmbench.protocol.metrics import check_predictions, score
from elmbench.specs.measures import Measure
from elmbench.specs.protocol import TRAIN_ACCURACY
from elmbench.specs.registry import find_model
from elmbench.work.base import Context, ModelRef, Result, Work, fit_memory, fit_seconds
from elmbench.work.fit import model_size
from elmbench.work.scoring import check_memory, fixed_parameters, model_seed, n_outputs

#: What is measured after each chunk.
MEASURED = ("accuracy", TRAIN_ACCURACY, "n_units")


@dataclass(frozen=True)
class Stream(Work):
    """A classifier that learns chunk by chunk.

    Attributes
    ----------
    params : dict
        Fixed parameters.
    chunk : int
        Training rows in a chunk; the last one may have fewer.
    """

    kind = "stream"

    place: OuterFold = field(metadata=FLAT)
    model: ModelRef = field(metadata=FLAT)
    params: dict[str, Any]
    chunk: int

    @property
    def data(self) -> DatasetRef:
        return self.place.dataset

    @property
    def number_of_fits(self) -> int:
        return 1

    @property
    def label(self) -> str:
        return f"stream {self.model.name} on {self.place.dataset.name}"

    def seconds(self) -> float:
        sizes = rows_after_chunks(self.place.n_train, self.chunk)
        features = self.place.dataset.n_features
        return sum(fit_seconds(self.model.name, size, features, self.params) for size in sizes)

    def memory(self) -> int:
        return fit_memory(self.model.name, self.place, self.params)

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Learn each chunk and measure.

        Returns
        -------
        dict
            In the form of a fit's result; `metrics` are `accuracy@rows=40` (of the test rows), `train_accuracy@rows=40`
            (of the rows learnt so far), `n_units@rows=40` and so on; `fit_seconds` is the time of learning alone.
        """
        data = fold_data(self.place, context.data_dir)
        assert data.labels is not None
        factory = find_model(self.model.name).factory(self.place.task)
        fixed = fixed_parameters(factory, self.params, model_seed(self.place, self.model))
        shape = (*data.X_train.shape, n_outputs(data.labels))
        check_memory(factory, shape, fixed, context.memory_limit)
        estimator = factory(**fixed)
        metrics: dict[str, float] = {}
        seconds = 0.0
        for start, stop in pairwise([0, *rows_after_chunks(len(data.y_train), self.chunk)]):
            started = time.perf_counter()
            rows = slice(start, stop)
            with warnings.catch_warnings():
                # The first rows of a stream may have nearly as many classes.
                warnings.filterwarnings("ignore", "The number of unique classes")
                estimator.partial_fit(data.X_train[rows], data.y_train[rows], classes=np.array(data.labels))
            seconds += time.perf_counter() - started
            parts = {"accuracy": (data.X_test, data.y_test)}
            parts[TRAIN_ACCURACY] = data.X_train[:stop], data.y_train[:stop]
            for name, (X, y) in parts.items():
                predicted = check_predictions(y, estimator.predict(X))
                metrics[Measure(name, "rows", stop).column] = score("accuracy", y, predicted, data.labels)
            metrics[Measure("n_units", "rows", stop).column] = model_size(estimator) or 0
        shown = {name: value for name, value in fixed.items() if name != "random_state"}
        return {"status": "ok", "reason": "", "params": shown, "metrics": metrics, "fit_seconds": seconds}


def rows_after_chunks(n_rows: int, chunk: int) -> list[int]:
    """Return how many rows are learnt after each chunk."""
    return [*range(chunk, n_rows, chunk), n_rows]
