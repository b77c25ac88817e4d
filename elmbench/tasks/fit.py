"""The fit of one model on one outer fold with the chosen hyperparameters, timed apart, and its
predictions.
"""

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.evaluation.calibration import (
    CalibratedClassifier,
    HeldOutDecisions,
    sigmoids_of_folds,
)
from elmbench.evaluation.content import OPTIONAL
from elmbench.evaluation.folds import (
    FoldData,
    fold_data,
    fold_of_all_rows,
    fold_rows,
    folds_of_rows,
)
from elmbench.evaluation.predictions import (
    check_predictions,
    checked_metric,
    class_outputs,
    positions_of_labels,
)
from elmbench.evaluation.stored_predictions import (
    Predictions,
    add_outputs,
    join_predictions,
    packed_rows,
)
from elmbench.models.candidate_problem import fit_model
from elmbench.numerics.arrays import Array
from elmbench.registry import find_model
from elmbench.specs.grids import SearchGrid
from elmbench.specs.measures import TRAIN_ACCURACY
from elmbench.specs.splits import BOOTSTRAP_632, Split
from elmbench.tasks import FIT_KIND
from elmbench.tasks.base import (
    RATE,
    Context,
    FoldTask,
    Result,
    check_memory,
    choice_result,
)
from elmbench.tasks.nested_search import Search

#: Factories that this process has fitted before.
_warm: set[Callable[..., Any]] = set()


@dataclass(frozen=True)
class Fitted:
    """The predictions of a fitted model for test rows, and its measured values.

    Attributes
    ----------
    predictions : Predictions
    params : dict
        {name: value}, without the seed of the fold.
    fit_seconds, predict_seconds : float
    n_units : int or None
        The size of the model, such as its hidden nodes; None if it has none.
    condition : float or None
        The condition number of its system; None if it has none.
    n_train : int
        The number of learnt rows.
    extra_values : dict
        Further values for the store; empty if the model diverged.
    """

    predictions: Predictions
    params: dict[str, Any]
    fit_seconds: float
    predict_seconds: float
    n_units: int | None
    condition: float | None
    n_train: int
    extra_values: Result


def _join_fits(parts: Sequence[Fitted]) -> Fitted:
    """Return fits to several folds as one: all predictions, mean times and sizes.

    The condition number is the largest one. Sizes and conditions of None are left out; the joint
    one is None if all are. `params` and `n_train` are those of the first fit. `extra_values` has
    only the mean measures. `parts`: one fit for each fold, at least one.
    """
    sizes = [part.n_units for part in parts if part.n_units is not None]
    conditions = [part.condition for part in parts if part.condition is not None]
    predictions = join_predictions([part.predictions for part in parts])
    return replace(
        parts[0],
        predictions=predictions,
        fit_seconds=fmean(part.fit_seconds for part in parts),
        predict_seconds=fmean(part.predict_seconds for part in parts),
        n_units=round(fmean(sizes)) if sizes else None,
        condition=max(conditions, default=None),
        extra_values={"measured": _mean_measures(parts)},
    )


def _mean_measures(parts: Sequence[Fitted]) -> dict[str, float]:
    """Return {name: mean over folds} of each further measure that all of the fits have."""
    measured = [part.extra_values.get("measured", {}) for part in parts]
    return {
        name: fmean(values[name] for values in measured)
        for name in measured[0]
        if all(name in values for values in measured)
    }


def _rounded_condition(condition: float | None) -> float | None:
    """Return a condition number with six significant digits; NaN becomes infinity.

    The last bits depend on the addresses of arrays in memory. Infinity stays, and so does None, for
    a model without a condition number.
    """
    if condition is None:
        return None
    if math.isnan(condition):
        return math.inf
    return float(f"{condition:.6g}") if math.isfinite(condition) else condition


@dataclass(frozen=True)
class Fit(FoldTask):
    """A fit and its predictions for the test rows.

    `params`: {name: value} of the fixed parameters. `carry_over` ({"none", "folds"}): with "folds",
    a sequential model first learns the training rows of the earlier folds of the run. `chosen`: key
    of the choice of the other hyperparameters; None if there is none. `train_accuracy`: also
    predict the training rows of a classification; the time that this takes is not counted.
    `calibrate`: inner folds, on which a classifier without `predict_proba` is fitted again: its
    decision values there determine the sigmoid for those of the test rows, and the label is the
    likeliest one. This is part of the fit's time. None to calibrate nothing.
    """

    kind = FIT_KIND

    carry_over: str = "none"
    chosen: str | None = None
    train_accuracy: bool = field(default=False, metadata=OPTIONAL)
    calibrate: Split | None = field(default=None, metadata=OPTIONAL)

    @property
    def needs(self) -> tuple[str, ...]:
        """The key of the choice of hyperparameters, as a tuple; empty if all are fixed."""
        return (self.chosen,) if self.chosen else ()

    @property
    def number_of_fits(self) -> int:
        """The number of fits of the model: those for folds, each with those for calibration.

        There is one fold, but as many as rows for leave-one-out, and a second fit to all rows for
        the .632 bootstrap.
        """
        n_folds = self.data.n_rows if self.outer_fold.is_of_all_rows else 1
        if self._counts_learnt_rows:
            n_folds = 2
        return n_folds * (1 + (self.calibrate.folds if self.calibrate else 0))

    def seconds(self) -> float:
        """Return the rough duration on one core of all fits and predictions."""
        return self.seconds_of(self.outer_fold.n_train)

    def seconds_of(self, n_train: int) -> float:
        """Return the rough duration on one core of fits to `n_train` rows and their predictions."""
        n_fits = 1.2 * self.number_of_fits
        fit_seconds = n_fits * self.fit_seconds(n_train)
        prediction_cost = find_model(self.model.name).prediction_cost
        if prediction_cost is None:
            return fit_seconds
        n_features = self.data.n_features
        operations = prediction_cost(n_train, self._n_predicted, n_features)
        prediction_seconds = operations / RATE
        return fit_seconds + prediction_seconds

    @property
    def _n_predicted(self) -> int:
        """The number of rows that the fits predict, by the counts of the spec.

        They are the test rows; all rows for leave-one-out, and both for the .632 bootstrap.
        """
        n_rows = self.data.n_rows
        if self.outer_fold.is_of_all_rows:
            return n_rows
        n_test = self.outer_fold.n_test
        return n_test + n_rows if self._counts_learnt_rows else n_test

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Fit the model with the chosen hyperparameters, and predict the test rows.

        The result: `params`, `fit_seconds`, `search_seconds`, `predict_seconds`, `n_units`,
        `condition`, `n_train` and `n_test`. If predictions are finite, also `predictions`, with
        packed `true`, `predicted`, `rows` and others (see `Predictions.content`), and the keys of
        `extra_values`, such as `measured`; else `status`, "diverged", and `reason`. For
        leave-one-out, the fits of all folds are joined; for the .632 bootstrap, `predictions` has
        those of a model of all rows as `learnt`. `inputs`: {key: result} of the choice.
        """
        choice = choice_result(self.chosen, inputs)
        if self.outer_fold.is_of_all_rows:
            folds = folds_of_rows(self.outer_fold, context.data_dir)
            fits = [replace(self, outer_fold=fold) for fold in folds]
            fitted = _join_fits([fit._fit(choice, context) for fit in fits])
            rows = np.arange(len(folds))
        else:
            fitted = self._fit(choice, context)
            rows = fold_rows(self.outer_fold, context.data_dir)[1]
        learnt: Predictions | None = None
        if self._counts_learnt_rows:
            fold = fold_of_all_rows(self.outer_fold)
            learnt = replace(self, outer_fold=fold)._fit(choice, context).predictions
        result = {
            "params": fitted.params,
            "fit_seconds": fitted.fit_seconds,
            "search_seconds": choice["seconds"],
            "predict_seconds": fitted.predict_seconds,
            "n_units": fitted.n_units,
            "condition": fitted.condition,
            "n_train": fitted.n_train,
            "n_test": len(rows),
        }
        if fitted.predictions.have_diverged or (learnt and learnt.have_diverged):
            return result | {
                "status": "diverged",
                "reason": "a prediction or its squared error is not finite",
            }
        predictions = fitted.predictions.content()
        predictions["rows"] = packed_rows(rows)
        if learnt is not None:
            predictions["learnt"] = learnt.content()
        return result | {"predictions": predictions} | fitted.extra_values

    @property
    def _counts_learnt_rows(self) -> bool:
        """True for the .632 bootstrap, whose metrics also count predictions for learnt rows.

        The model is then fitted to all rows as well.
        """
        return self.outer_fold.protocol.outer.kind == BOOTSTRAP_632

    def _fit(self, choice: Result, context: Context) -> Fitted:
        """Fit the model to the training rows of the fold and predict its test rows.

        With `carry_over` "folds", the training rows of the earlier folds are learnt first. Both are
        timed, with the calibration as a part of the fit, after a fit to few rows that is not.
        `choice`: the hyperparameters in its `params` are used. The number of uses of each solver is
        added to `context`, in place. Raises MemoryError if the fit would need too much memory.
        """
        data = fold_data(self.outer_fold, context.data_dir)
        factory, params = self.factory_with(chosen=choice["params"])
        check_memory(
            factory, data.X_train.shape, data.labels, params, context.memory_limit
        )
        sample = np.arange(min(40, len(data.y_train)))
        if data.labels is not None:
            sample = np.concatenate(
                [np.flatnonzero(data.y_train == label)[:20] for label in data.labels]
            )
        warm_up(factory, params, data.X_train[sample], data.y_train[sample])

        estimator = factory(**params)
        start_time = time.perf_counter()
        if self.carry_over == "folds":
            # The authors' toolbox never cleared its dictionary. Rows of this test part were learnt
            # in the folds before, so the figure leaks, which this option demonstrates.
            for fold in range(self.outer_fold.fold + 1):
                part = fold_data(replace(self.outer_fold, fold=fold), context.data_dir)
                estimator.partial_fit(part.X_train, part.y_train)
        else:
            fit_model(estimator, data.X_train, data.y_train, data.weights)
        classifier = self._calibrate(estimator, choice, data, context)
        fit_seconds = time.perf_counter() - start_time
        context.solvers.update(getattr(estimator, "solvers_", {}))

        start_time = time.perf_counter()
        predicted, probabilities = self._predict(classifier, data)
        predict_seconds = time.perf_counter() - start_time
        predicted = check_predictions(data.y_test, predicted, data.labels)
        predictions = Predictions(
            true=data.in_units(data.y_test),
            predicted=data.in_units(predicted),
            labels=data.labels,
        )
        predictions = add_outputs(predictions, classifier, data.X_test, probabilities)
        extra_values: Result = {}
        if not predictions.have_diverged:
            extra_values = self.extra_values(classifier, data)
        return Fitted(
            predictions=predictions,
            params=self.recorded_params(params),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            n_units=model_size(estimator),
            condition=_rounded_condition(getattr(estimator, "condition_", None)),
            n_train=len(data.y_train),
            extra_values=extra_values,
        )

    def _predict(
        self, classifier: Any, data: FoldData
    ) -> tuple[NDArray[Any], Array | None]:
        """Return the predictions for the test rows, and the probabilities that they follow from.

        Predictions are labels, or values of a regression, of shape (n,). Probabilities are of shape
        (n, number of labels), and None unless the model predicts the likeliest class. Such models,
        as forests, would take the same time again to compute probabilities. `classifier`: the
        fitted model, or a regressor.
        """
        if data.labels is not None and find_model(self.model.name).predicts_likeliest:
            probabilities = class_outputs(
                classifier, "predict_proba", data.X_test, data.labels
            )
            if probabilities is not None:
                likeliest = probabilities.argmax(axis=1)
                return np.asarray(data.labels)[likeliest], probabilities
        return classifier.predict(data.X_test), None

    def _calibrate(
        self, estimator: Any, choice: Result, data: FoldData, context: Context
    ) -> Any:
        """Return the classifier that predicts the test rows, calibrated on inner folds.

        `estimator`: the fitted model, with whose decision values the returned one has
        probabilities. The model itself is returned if it has probabilities, if none are requested,
        or if a decision value on the inner folds is not finite. `choice`: the hyperparameters in
        its `params` are used.
        """
        lacks_probabilities = hasattr(estimator, "decision_function") and not hasattr(
            estimator, "predict_proba"
        )
        if self.calibrate is None or data.labels is None or not lacks_probabilities:
            return estimator
        search = Search(
            self.outer_fold,
            self.model,
            self.params,
            SearchGrid({}),
            self.chosen,
            inner=self.calibrate,
        )
        problem = search.problem(data, choice["params"], context)
        decisions: list[HeldOutDecisions] = []
        for inner in search.problems(data, problem):
            for evaluated in inner.decision_values():
                _, test = inner.folds[evaluated.fold]
                fold = HeldOutDecisions(
                    values=evaluated.outputs,
                    classes=positions_of_labels(inner.y[test], data.labels),
                    weights=inner.weights_of(test),
                )
                decisions.append(fold)
        probabilities_of = sigmoids_of_folds(decisions)
        if probabilities_of is None:
            return estimator
        return CalibratedClassifier(estimator, probabilities_of, data.labels)

    def extra_values(self, estimator: Any, data: FoldData) -> Result:
        """Return further values of a fitted model for the store, {"measured": {name: value}}.

        They hold the accuracy on the training rows if `train_accuracy` and it is a classification,
        else nothing. `estimator`: the fitted model. `data`: the rows of the fold.
        """
        if not self.train_accuracy or data.labels is None:
            return {"measured": {}}
        accuracy = checked_metric(
            "accuracy", estimator, data.X_train, data.y_train, data.labels
        )
        return {"measured": {TRAIN_ACCURACY: accuracy}}


def warm_up(
    factory: Callable[..., Any], params: dict[str, Any], X: Any, y: NDArray[Any]
) -> None:
    """Fit and predict on few rows, so that neither compilation nor a first import is timed.

    It happens once for each factory in this process, whatever its `params`; errors and warnings are
    ignored. `params`: {name: value} for the factory. `X`, `y`: the few rows and their targets.
    """
    if factory in _warm:
        return
    # Warnings and errors here come from too few rows; the fit that counts follows.
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factory(**params).fit(X, y).predict(X)
    _warm.add(factory)


def model_size(estimator: Any) -> int | None:
    """Return the size of a fitted model; None if it has none.

    It is the number of hidden nodes, dictionary rows, support vectors, coefficients or leaves.
    Raises ValueError if it is negative or does not fit into 64 bits. `estimator`: the fitted model.
    """
    from elmbench.models.baselines import n_units

    size = n_units(estimator)
    if size is not None and not 0 <= size < 2**63:
        raise ValueError(
            f"expected an n_units_ of at least 0 that fits into 64 bits, got {size} instead"
        )
    return size
