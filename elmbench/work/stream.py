"""A model that learns the training rows of one outer fold in chunks, measured after each chunk."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from elmbench.protocol.content import FLAT
from elmbench.protocol.folds import DatasetRef, OuterFold, fold_data, fold_targets
from elmbench.protocol.metrics import score
from elmbench.protocol.predictions import check_predictions, packed, unpacked
from elmbench.specs.measures import Measure, rows_after_chunks
from elmbench.specs.protocol import TRAIN_ACCURACY
from elmbench.specs.registry import find_model
from elmbench.work.base import Context, ModelRef, Result, Work, fit_memory, fit_seconds
from elmbench.work.fit import model_size
from elmbench.work.scoring import check_memory, fixed_parameters, model_seed, n_outputs, shown_parameters


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
        return self.judge(self.produce(inputs, context), context)

    def produce(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Learn each chunk and predict.

        Returns
        -------
        dict
            As of `run`, but that `metrics` are `n_units` alone; `predicted` has one pair a chunk: of the test rows, and
            of the rows learnt so far.
        """
        data = fold_data(self.place, context.data_dir)
        assert data.labels is not None
        factory = find_model(self.model.name).factory(self.place.task)
        fixed = fixed_parameters(factory, self.params, model_seed(self.place, self.model))
        shape = (*data.X_train.shape, n_outputs(data.labels))
        check_memory(factory, shape, fixed, context.memory_limit)
        estimator = factory(**fixed)
        metrics: dict[str, float] = {}
        chunks: list[list[dict[str, str]]] = []
        seconds = 0.0
        for start, stop in pairwise([0, *rows_after_chunks(len(data.y_train), self.chunk)]):
            started = time.perf_counter()
            rows = slice(start, stop)
            with warnings.catch_warnings():
                # The first rows of a stream may have nearly as many classes.
                warnings.filterwarnings("ignore", "The number of unique classes")
                estimator.partial_fit(data.X_train[rows], data.y_train[rows], classes=np.array(data.labels))
            seconds += time.perf_counter() - started
            parts = (data.X_test, data.y_test), (data.X_train[:stop], data.y_train[:stop])
            chunks.append([packed(check_predictions(y, estimator.predict(X), None)) for X, y in parts])
            metrics[Measure("n_units", "rows", stop).column] = model_size(estimator) or 0
        result = {"status": "ok", "reason": "", "params": shown_parameters(fixed), "metrics": metrics}
        return result | {"fit_seconds": seconds, "predicted": chunks}

    def judge(self, produced: Result, context: Context) -> Result:
        """Measure what was predicted after each chunk."""
        targets = fold_targets(self.place, context.data_dir)
        metrics = dict(produced["metrics"])
        stops = rows_after_chunks(len(targets.y_train), self.chunk)
        for stop, predicted in zip(stops, produced["predicted"], strict=True):
            of_parts = {"accuracy": targets.y_test, TRAIN_ACCURACY: targets.y_train[:stop]}
            for (name, y), part in zip(of_parts.items(), predicted, strict=True):
                found = check_predictions(y, unpacked(part), targets.labels)
                metrics[Measure(name, "rows", stop).column] = score("accuracy", y, found, targets.labels)
        return {name: value for name, value in produced.items() if name != "predicted"} | {"metrics": metrics}
