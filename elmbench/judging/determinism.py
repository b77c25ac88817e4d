"""The values in which nothing is random: neither the data, nor the split, nor the model
(docs/verdicts.md, "Nothing random").
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.registry import find_model, has_method, parameter_names, try_factory
from elmbench.registry.seeds import seed_has_effect
from elmbench.specs.model_columns import ModelColumn
from elmbench.specs.profiles import Resolved
from elmbench.specs.splits import GIVEN, LEAVE_ONE_OUT

#: Kinds of outer split that are the same in every run.
_FIXED_SPLITS = (
    "official",
    "in-order",
    "predefined-kfold",
    "ordered-kfold",
    LEAVE_ONE_OUT,
)
#: The module of models that offer `partial_fit`, but whose `fit` sums over all rows.
_OF_SUMS = "sklearn.naive_bayes"


def is_deterministic(
    dataset: str,
    model: str,
    select: str,
    cells: Mapping[str, NDArray[Any]],
    resolved: Resolved,
) -> bool:
    """Return True if each run of a column on a data set gives the same value.

    The data, the split, the model and its hyperparameters must be fixed. It is False if the profile
    or the column draws some of the rows, if the model keeps its state from fold to fold, and for a
    column that the experiment does not have. A number of rows to draw counts even if the data have
    no more. `select`: how hyperparameters are chosen, such as `nested`.
    `cells`: the arrays of `run` and, if known, `n_test` of the cells, by these names.
    """
    column = resolved.spec.models.get(model)
    if column is None or column.carry_over != "none":
        return False
    settings = resolved.settings
    row_limits = (settings.rows, settings.test_rows, column.train_rows)
    if resolved.dataset(dataset).redraw or any(row_limits):
        return False
    return (
        _is_fixed_split(dataset, cells, resolved)
        and _is_fixed_model(dataset, column, resolved)
        and _is_fixed_choice(dataset, column, select, resolved)
    )


def _is_fixed_split(
    dataset: str, cells: Mapping[str, NDArray[Any]], resolved: Resolved
) -> bool:
    """Return True if every run has the same training and test parts.

    Splits that the user gives are fixed only if the protocol has one run and `cells` are of run 0.
    `cells`: the arrays of `run` and, if known, `n_test` of the cells; folds of a single row each
    are leave-one-out.
    """
    task = resolved.dataset(dataset).task
    split = resolved.spec.protocol.outer.split(dataset, task)
    if split.kind in _FIXED_SPLITS:
        return True
    if split.kind == GIVEN:
        # The splits of different runs differ.
        printed_runs = resolved.file.spec.protocol.outer.runs_of(dataset)
        is_first_run = cells["run"] == 0
        return printed_runs == 1 and bool(is_first_run.all())
    if not split.kind.endswith("kfold") or "n_test" not in cells:
        return False
    # Each row is a fold: leave-one-out.
    n_test = cells["n_test"]
    return len(n_test) > 0 and bool(np.all(n_test == 1))


def _is_fixed_model(dataset: str, column: ModelColumn, resolved: Resolved) -> bool:
    """Return True if a model has no seed with an effect, and no random order of its rows.

    The order matters if it learns the rows one by one. It is False also if the model's parameters
    are not known. `column`: that of the model, with its parameters.
    """
    factory = find_model(column.model).factory(resolved.dataset(dataset).task)
    names = parameter_names(factory)
    if names is None:
        return False
    if "random_state" in names and _is_seeded(factory, column.adapt(dataset)):
        return False
    return resolved.spec.protocol.order == "stored" or not _learns_rows_in_order(
        factory
    )


def _learns_rows_in_order(factory: Callable[..., Any]) -> bool:
    """Return True if a model may depend on the order of its rows: it has a `partial_fit`.

    Naive Bayes of scikit-learn is an exception. `factory`: the class or function that builds the
    model.
    """
    fit = getattr(factory, "fit", None)
    sums_over_rows = getattr(fit, "__module__", "") == _OF_SUMS
    return has_method(factory, "partial_fit") and not sums_over_rows


def _is_fixed_choice(
    dataset: str, column: ModelColumn, select: str, resolved: Resolved
) -> bool:
    """Return True if every run has the same hyperparameters.

    Published ones are. Others are not if the search uses only some rows, or if the column takes
    over the choice of another one. Else they are if there is no search, if it chooses for all runs
    at once (`oracle`), or if it has the same inner splits in every run. `select`: how they are
    chosen: `published`, `nested` or `oracle`.
    """
    if select == "published":
        return True
    if resolved.settings.tune_rows or column.like is not None:
        return False
    if select == "oracle":
        return True
    has_given_folds = resolved.spec.protocol.inner.kind == GIVEN
    return has_given_folds or not column.adapt(dataset).searched


def _is_seeded(factory: Callable[..., Any], column: ModelColumn) -> bool:
    """Return True if `random_state` may change the numbers of a model.

    It is True also if the model cannot be built to find out. `factory`: the class or function that
    builds it. `column`: its fixed parameters, and the names of those that are searched or printed.
    """
    estimator = try_factory(factory, **column.params)
    further_names = (*column.searched, *column.printed)
    return estimator is None or seed_has_effect(estimator, further_names)
