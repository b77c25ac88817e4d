"""A model that learns the training rows of one outer fold in chunks, measured after each chunk."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.protocol.content import FLAT, OPTIONAL
from elmbench.protocol.folds import DatasetRef, OuterFold, fold_data, fold_targets
from elmbench.protocol.metrics import prequential_error, regression_metrics, score
from elmbench.protocol.predictions import check_predictions, packed, unpacked
from elmbench.specs.measures import Measure, rows_after_chunks
from elmbench.specs.protocol import PREQUENTIAL, TRAIN_ACCURACY
from elmbench.specs.registry import find_model
from elmbench.work.base import Context, ModelRef, Result, Work, fit_memory, fit_seconds
from elmbench.work.fit import model_size
from elmbench.work.scoring import check_memory, fixed_parameters, model_seed, n_outputs, shown_parameters


@dataclass(frozen=True)
class Stream(Work):
    """A model that learns chunk by chunk.

    Attributes
    ----------
    params : dict
        Fixed parameters.
    chunk : int
        Training rows in a chunk; the last one may have fewer.
    prequential : bool
        Whether each chunk but the first is predicted before it is learnt.
    """

    kind = "stream"

    place: OuterFold = field(metadata=FLAT)
    model: ModelRef = field(metadata=FLAT)
    params: dict[str, Any]
    chunk: int
    prequential: bool = field(default=False, metadata=OPTIONAL)

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
            In the form of a fit's result; `metrics` are `accuracy@rows=40` or `nrmse@rows=40` (of the test rows),
            `train_accuracy@rows=40` (of the rows learnt so far), `prequential_error@rows=80` (of all chunks so far but
            the first, each predicted before it was learnt), `n_units@rows=40` and so on; `fit_seconds` is the time of
            learning alone.
        """
        return self.judge(self.produce(inputs, context), context)

    def produce(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Learn each chunk and predict.

        Returns
        -------
        dict
            As of `run`, but that `metrics` are `n_units` alone; `predicted` has for each chunk what was said of the
            `test` rows, of the rows `learnt` so far, and of the chunk `ahead` of learning it.
        """
        data = fold_data(self.place, context.data_dir)
        factory = find_model(self.model.name).factory(self.place.task)
        fixed = fixed_parameters(factory, self.params, model_seed(self.place, self.model))
        shape = (*data.X_train.shape, n_outputs(data.labels))
        check_memory(factory, shape, fixed, context.memory_limit)
        estimator = factory(**fixed)
        metrics: dict[str, float] = {}
        chunks: list[dict[str, dict[str, str]]] = []
        classes = {} if data.labels is None else {"classes": np.array(data.labels)}
        seconds = 0.0
        for start, stop in pairwise([0, *rows_after_chunks(len(data.y_train), self.chunk)]):
            rows, learnt = slice(start, stop), slice(stop)
            said: dict[str, dict[str, str]] = {}
            if self.prequential and start:
                said["ahead"] = _said_of(estimator, data.X_train[rows], data.y_train[rows])
            started = time.perf_counter()
            with warnings.catch_warnings():
                # The first rows of a stream may have nearly as many classes.
                warnings.filterwarnings("ignore", "The number of unique classes")
                estimator.partial_fit(data.X_train[rows], data.y_train[rows], **classes)
            seconds += time.perf_counter() - started
            said["test"] = _said_of(estimator, data.X_test, data.y_test)
            if data.labels is not None:
                said["learnt"] = _said_of(estimator, data.X_train[learnt], data.y_train[learnt])
            chunks.append(said)
            metrics[Measure("n_units", "rows", stop).column] = model_size(estimator) or 0
        result = {"status": "ok", "reason": "", "params": shown_parameters(fixed), "metrics": metrics}
        return result | {"fit_seconds": seconds, "predicted": chunks}

    def judge(self, produced: Result, context: Context) -> Result:
        """Measure what was predicted after each chunk."""
        targets = fold_targets(self.place, context.data_dir)
        metrics = dict(produced["metrics"])
        stops = rows_after_chunks(len(targets.y_train), self.chunk)
        first = stops[0]
        ahead: list[NDArray[Any]] = []

        def checked(part: Any, y: NDArray[Any]) -> NDArray[Any]:
            return check_predictions(y, unpacked(part), targets.labels)

        for (start, stop), said in zip(pairwise([0, *stops]), produced["predicted"], strict=True):
            found: dict[str, float] = {}
            tested = checked(said["test"], targets.y_test)
            if targets.labels is None:
                found["nrmse"] = regression_metrics(targets.y_test, tested)["nrmse"]
            else:
                learnt = targets.y_train[:stop]
                found["accuracy"] = score("accuracy", targets.y_test, tested, targets.labels)
                found[TRAIN_ACCURACY] = score("accuracy", learnt, checked(said["learnt"], learnt), targets.labels)
            if "ahead" in said:
                ahead.append(checked(said["ahead"], targets.y_train[start:stop]))
                found[PREQUENTIAL] = prequential_error(
                    targets.y_train[first:stop], np.concatenate(ahead), targets.labels
                )
            metrics |= {Measure(name, "rows", stop).column: value for name, value in found.items()}
        return {name: value for name, value in produced.items() if name != "predicted"} | {"metrics": metrics}


def _said_of(estimator: Any, X: Any, y: NDArray[Any]) -> dict[str, str]:
    return packed(check_predictions(y, estimator.predict(X), None))
