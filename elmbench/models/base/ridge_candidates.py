"""Linear ridge models with different ridges, which share a fit of scikit-learn's `Ridge`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer

from elmbench.models.base.path_factory import PathFactory, outputs_of_fit
from elmbench.models.candidate_problem import CandidateProblem
from elmbench.models.protocols import Evaluated
from elmbench.numerics.arrays import Array, Rows


class RidgeModels(PathFactory):
    """A factory of `Ridge` or `RidgeClassifier`, with a path over a grid of ridges."""

    def outputs(self, method: str, problem: CandidateProblem) -> Iterator[Evaluated]:
        """Yield an `Evaluated` for every candidate and fold, fold by fold.

        `method`: "predict" or "decision_function", of a fitted model: its values for the test rows.
        `solvers` of each count one "clone and fit", also if models share a fit.
        """
        models = [problem.make(candidate) for candidate in problem.candidates]
        for fold, (train, test) in enumerate(problem.folds):
            outputs = model_outputs(
                models=models,
                method=method,
                X=problem.X[train],
                y=problem.y[train],
                probes=problem.X[test],
            )
            for number, values in enumerate(outputs):
                yield Evaluated(
                    candidate=number,
                    fold=fold,
                    outputs=values,
                    solvers=Counter(["clone and fit"]),
                )


def model_outputs(
    models: Sequence[Any], method: str, X: Rows, y: NDArray[Any], probes: Rows
) -> list[NDArray[Any]]:
    """Fit some models to the same rows; return the outputs of each for the test rows `probes`.

    `method`: "predict" or "decision_function", whose values are returned. If the models are all
    `Ridge` or all `RidgeClassifier`, with defaults except for `alpha`, and the rows are dense, they
    share a fit if that is faster, and stay unfitted. Otherwise, each model is fitted in place.
    """
    if _are_ridge_models(models) and not sp.issparse(X):
        targets, decode = _code_targets(models[0], method, y)
        n_targets = targets.shape[1]
        if _sharing_pays(X, n_models=len(models), n_targets=n_targets):
            parts = _ridge_outputs(models, X, targets, probes)
            return [decode(part) for part in parts]
    return [outputs_of_fit(model, method, X, y, probes) for model in models]


def _are_ridge_models(models: Sequence[Any]) -> bool:
    """Return True if the models are all `Ridge`, or all `RidgeClassifier`, and have the default of
    every parameter but `alpha`.
    """
    family = type(models[0])
    if family not in (Ridge, RidgeClassifier):
        return False
    default = family().get_params()
    for model in models:
        params = {**model.get_params(), "alpha": default["alpha"]}
        if type(model) is not family or params != default:
            return False
    return True


def _code_targets(
    model: Any, method: str, y: NDArray[Any]
) -> tuple[Array, Callable[[Array], NDArray[Any]]]:
    """Return targets in columns, (n, k), and the function that decodes outputs, (n, k), to the
    values of `method`.

    `model`: `Ridge` or `RidgeClassifier`. `method`: "predict" or "decision_function". `y`: target
    values, or labels, which become -1/+1 with one column for two classes, else one for each.
    """
    if isinstance(model, Ridge):
        columns = y.reshape(len(y), -1)
        return columns, _first_column if y.ndim == 1 else np.asarray
    # As in `RidgeClassifier`: classes are -1/+1, and two classes have one column.
    binarizer = LabelBinarizer(neg_label=-1, pos_label=1)
    targets = binarizer.fit_transform(y)
    classes = binarizer.classes_

    def decode(outputs: Array) -> NDArray[Any]:
        """Return decision values or labels, as `method` says, for outputs of shape (n, k).

        Two classes have k = 1, and their values are of shape (n,).
        """
        has_one_column = outputs.shape[1] == 1
        decisions = outputs[:, 0] if has_one_column else outputs
        if method == "decision_function":
            return decisions
        if has_one_column:
            return np.asarray(classes[(decisions > 0).astype(int)])
        return np.asarray(classes[decisions.argmax(axis=1)])

    return targets.astype(float), decode


def _first_column(outputs: Array) -> Array:
    """Return the first column of outputs of shape (n, 1), of shape (n,)."""
    return outputs[:, 0]


def _sharing_pays(X: Array, n_models: int, n_targets: int) -> bool:
    """Return True if a shared fit of ridge models takes no more operations than separate ones.

    `X`: the training rows, of which only the shape counts. `n_models`, `n_targets`: the numbers of
    models and of target columns of each. A shared fit computes the products of the rows once, but a
    factor for each target of each model.
    """
    n, d = X.shape
    smaller = min(n, d)
    products = n * d * smaller
    factor = smaller**3 / 3
    together = products + n_models * n_targets * factor
    separately = n_models * (products + factor)
    return bool(together <= separately)


def _ridge_outputs(
    models: Sequence[Any], X: Array, targets: Array, probes: Array
) -> list[Array]:
    """Return the outputs of each of some ridge models, of shape (n_probes, n_targets), from one
    shared fit.

    `models`: unfitted, of which only `alpha` is read. `targets`: of shape (n, n_targets). `probes`:
    the test rows.
    """
    n_models = len(models)
    n_targets = targets.shape[1]
    ridges = [model.alpha for model in models]
    ridges_of_targets = np.repeat(ridges, n_targets)
    repeated = np.tile(targets, (1, n_models))
    shared = Ridge(alpha=ridges_of_targets)
    shared.fit(X, repeated)
    outputs = shared.predict(probes)
    columns = outputs.reshape(len(probes), -1)
    return np.hsplit(columns, n_models)
