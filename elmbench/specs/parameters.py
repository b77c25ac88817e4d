"""The parameters of a model, merged from everything that sets them.

Columns of an experiment file merge the levels of the file, and tasks merge the others.
"""

from collections.abc import Mapping
from typing import Any

Parameters = Mapping[str, Any]


def merge_parameters(
    *,
    seed: Parameters | None = None,
    inherited: Parameters | None = None,
    chosen: Parameters | None = None,
    printed: Parameters | None = None,
    fixed: Parameters | None = None,
    dataset: Parameters | None = None,
) -> dict[str, Any]:
    """Return the parameters of a model; a value of a later level replaces one of an earlier level.

    No column both searches and fixes a parameter, so `chosen` has no name of a later level, except
    of hyperparameters that the column inherits from others. A reading changes the file of the
    table, and with it `fixed` or `dataset`. What no level sets has the default of the estimator.

    Parameters
    ----------
    seed
        The `random_state` of the run and fold.
    inherited
        Hyperparameters of the columns that this one is like: chosen by their searches, or printed
        for them.
    chosen
        The candidate that is evaluated, or the one that the search of the column has chosen.
    printed
        Values that the paper prints for the column on the data set.
    fixed
        Values of the column in the file of the table.
    dataset
        Values of the column for the data set alone, under `except`.
    """
    merged: dict[str, Any] = {}
    for level in (seed, inherited, chosen, printed, fixed, dataset):
        merged.update(level or {})
    return merged
