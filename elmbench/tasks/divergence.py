"""The choice of hyperparameters by the Cauchy-Schwarz divergence of the two classes' projected
training rows.

Nothing is held out: each candidate is fitted to the whole training part and judged by the distance
between its projections of the two classes (Czarnecki and Tabor, Extreme Entropy Machines, section
7.4).
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.evaluation.content import OPTIONAL
from elmbench.evaluation.folds import FoldData
from elmbench.numerics.entropy.divergence import gaussian_divergence, kde_divergence
from elmbench.tasks.base import (
    Context,
    Result,
    check_two_classes,
    choice_result,
    finish_result,
)
from elmbench.tasks.grid_task import TrainingTask
from elmbench.tasks.oracle_choice import Choice
from elmbench.tasks.scoring import GridProblem


@dataclass(frozen=True)
class Projections(TrainingTask):
    """A task that projects the training rows by every candidate.

    It stores means, variances and densities of the two classes' projections, from which
    `DivergenceChoice` chooses.
    """

    kind = "divergence"

    def evaluate(self, data: FoldData, problem: GridProblem) -> Result:
        """Project the training rows by every candidate, and describe the classes' projections.

        Each candidate is fitted to the rows that it projects, without weights. The result, with an
        item for each candidate: `means` and `variances`, pairs of the negative and of the positive
        class (the variance divides by the number of rows), and `kde`, the divergence of the kernel
        density estimates; all are NaN if the fit fails or a projection is not finite; and
        `seconds`. Raises ElmbenchError unless there are two classes, and ValueError for more than
        one projection of a row.
        """
        check_two_classes(
            self.data.name,
            data.labels,
            "give the experiment `criterion: score`, or another data set",
        )
        rows = self.rows_of(data)
        X = data.X_train[rows]
        y = data.y_train[rows]
        all_rows = np.arange(len(y))
        problem = replace(problem, X=X, y=y, folds=[(all_rows, all_rows)], weights=None)
        means, variances = np.full((2, self.grid.n_candidates, 2), np.nan)
        kde = np.full(self.grid.n_candidates, np.nan)
        start_time = time.perf_counter()
        for i, _, projections, _ in problem.projections():
            values = np.asarray(projections, dtype=np.float64)
            if values.shape != (len(y),):
                raise ValueError(
                    f"expected one projection a row, of shape {(len(y),)}, got {values.shape} "
                    "instead"
                )
            if np.isfinite(values).all():
                sides = values[y < 0], values[y > 0]
                means[i] = [np.mean(side) for side in sides]
                variances[i] = [np.var(side) for side in sides]
                kde[i] = kde_divergence(*sides)
        seconds = time.perf_counter() - start_time
        return {
            "means": means.tolist(),
            "variances": variances.tolist(),
            "kde": kde.tolist(),
            "seconds": seconds,
        }


@dataclass(frozen=True)
class DivergenceChoice(Choice):
    """The choice of the largest divergence.

    `criterion` ({"dcs-gaussians", "dcs-kde"}): the projections of a class are modelled by a
    Gaussian or by their kernel density estimate. `dcs` ({"corrected", "as-printed"}): form of the
    formula of two Gaussians; else None.
    """

    criterion: str = "dcs-kde"
    dcs: str | None = field(default=None, metadata=OPTIONAL)

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Choose the candidate of the largest divergence; the first of several equally good ones.

        A candidate whose divergence is not finite, such as one that projects a class onto one
        point, is never chosen; raises ElmbenchError if there is no other. The result: `params`, the
        inherited and the chosen ones; `scores`, the divergence of each candidate; `seconds`, with
        those of an earlier choice. `inputs`: {key: result} of `Projections` and of the earlier
        choice.
        """
        parent = choice_result(self.given, inputs)
        (key,) = self.evaluated
        evaluation = inputs[key]
        divergences = self._divergences(evaluation)
        choice = {
            "params": self.grid.candidates()[_largest_finite(divergences)],
            "scores": divergences.tolist(),
            "seconds": evaluation["seconds"],
        }
        return finish_result(choice, parent)

    def _divergences(self, evaluation: Result) -> NDArray[np.float64]:
        """Return the divergence of each candidate, of shape (n_candidates,).

        `evaluation`: a result of `Projections` with `means`, `variances` and `kde`. With a form of
        the formula (`dcs`), it is that of two Gaussians, else `kde`.
        """
        if self.dcs is None:
            return np.array(evaluation["kde"])
        return gaussian_divergence(
            evaluation["means"], evaluation["variances"], self.dcs
        )


def _largest_finite(divergences: NDArray[np.float64]) -> int:
    """Return the position of the largest finite divergence, the first of equal ones.

    Raises ElmbenchError if none is finite.
    """
    is_finite = np.isfinite(divergences)
    if not is_finite.any():
        raise ElmbenchError(
            f"none of {len(divergences)} candidates has a divergence that is finite",
            expected="one that projects neither class onto a single point",
            next_step="widen the grid, or choose with `criterion: score`",
        )
    return int(np.argmax(np.where(is_finite, divergences, -np.inf)))
