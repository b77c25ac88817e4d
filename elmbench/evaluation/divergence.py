"""The choice of hyperparameters by the Cauchy-Schwarz divergence of the two classes' projected training rows.

Nothing is held out: each candidate is fitted to the whole training part and judged by how far apart it projects the
two classes there (Czarnecki and Tabor, Extreme Entropy Machines, section 7.4).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_data
from elmbench.evaluation.search import grid_outputs
from elmbench.evaluation.selection import not_searched, tuning_rows
from elmbench.numerics.entropy.divergence import gaussian_divergence, kde_divergence
from elmbench.specs.grids import candidates
from elmbench.specs.registry import find_model


def evaluate_divergence(unit: dict[str, Any], given: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Project the training rows by every candidate, and describe the projections of the two classes.

    Parameters
    ----------
    unit : dict
        A unit of kind "divergence": `model`, `params`, `grid`, `tune_rows` and the outer fold.
    given : dict
        Hyperparameters that were chosen for the model that this one is like.
    data_dir : str or None

    Returns
    -------
    dict
        One a candidate: `means` and `variances` (pairs, of the negative class and of the positive one; the variance
        divides by the number of rows) and `kde`, the divergence of the kernel density estimates, which is not a number
        where a projection is not finite; `seconds`.

    Raises
    ------
    ElmbenchError
        If the data have more than two classes, or none.
    """
    data = fold_data(unit, data_dir)
    name = unit["dataset"]["name"]
    if data.labels is None or len(data.labels) != 2:
        raise ElmbenchError(
            f"{name} has {'no' if data.labels is None else len(data.labels)} classes, so there is no divergence of two",
            expected="data of two classes",
            next_step="give the experiment `criterion: score`, or another data set",
        )
    X, y = tuning_rows(unit, data)
    factory = find_model(unit["model"]).factory(unit["task"])
    grid, everything = candidates(unit["grid"]), np.arange(len(y))
    means, variances = np.full((2, len(grid), 2), np.nan)
    estimated = np.full(len(grid), np.nan)
    started = time.perf_counter()
    for i, _, projections, _ in grid_outputs(
        factory,
        X,
        y,
        [(everything, everything)],
        grid,
        not_searched(factory, unit, given),
        data.labels,
        paths=unit.get("paths", True),
        outputs="project",
    ):
        values = _checked(projections, len(y))
        if np.isfinite(values).all():
            sides = values[y < 0], values[y > 0]
            means[i] = [np.mean(side) for side in sides]
            variances[i] = [np.var(side) for side in sides]
            estimated[i] = kde_divergence(*sides)
    return {
        "means": means.tolist(),
        "variances": variances.tolist(),
        "kde": estimated.tolist(),
        "seconds": time.perf_counter() - started,
    }


def _checked(projections: Any, n_rows: int) -> NDArray[np.float64]:
    values = np.asarray(projections, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(f"expected one projection a row, of shape {(n_rows,)}, got {values.shape} instead")
    return values


def choose_by_divergence(unit: dict[str, Any], evaluated: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Choose the candidate of the largest divergence; of equals the first in the order of the grid.

    A candidate whose divergence is not finite, such as one that projects a class onto one point, is never chosen.

    Parameters
    ----------
    unit : dict
        A unit of kind "choice", with `grid` and `criterion`, "dcs-gaussians" (with `dcs`, the form of its formula) or
        "dcs-kde".
    evaluated : dict
        What `evaluate_divergence` returned.
    given : dict
        Hyperparameters that were chosen for the model that this one is like.

    Returns
    -------
    dict
        `params`, `scores` (the divergences) and `seconds`.

    Raises
    ------
    ElmbenchError
        If no candidate has a divergence that is finite.
    """
    if unit["criterion"] == "dcs-kde":
        values = np.array(evaluated["kde"])
    else:
        values = gaussian_divergence(evaluated["means"], evaluated["variances"], unit["dcs"])
    finite = np.isfinite(values)
    if not finite.any():
        raise ElmbenchError(
            f"none of {len(values)} candidates has a divergence that is finite",
            expected="one that projects neither class onto a single point",
            next_step="widen the grid, or choose with `criterion: score`",
        )
    chosen = candidates(unit["grid"])[int(np.argmax(np.where(finite, values, -np.inf)))]
    return {"params": given | chosen, "scores": values.tolist(), "seconds": evaluated["seconds"]}
