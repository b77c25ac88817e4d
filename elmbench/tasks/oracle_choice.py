"""The choice of the candidate with the best mean over all outer test folds and runs (`oracle`
selection).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from elmbench.evaluation.content import FLAT
from elmbench.specs.grids import SearchGrid
from elmbench.tasks.base import Context, Result, Task, choice_result, finish_result
from elmbench.tasks.scoring import best


@dataclass(frozen=True)
class Choice(Task):
    """A choice of the candidate of a grid with the best mean score in stored evaluations.

    `given`: key of the choice whose hyperparameters are inherited; None if none are. `evaluated`:
    keys of the `GridEvaluation` of each outer fold of every run.
    """

    kind = "choice"
    immediate = True

    grid: SearchGrid = field(metadata=FLAT)
    given: str | None
    evaluated: tuple[str, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys of the evaluations, and of the choice that is inherited, if any."""
        return (*self.evaluated, *((self.given,) if self.given else ()))

    def run(self, inputs: Mapping[str, Result], context: Context) -> Result:
        """Choose the candidate with the best mean score over the outer test folds of all runs.

        The first of equally good ones is chosen. The result: `params`, the inherited and the chosen
        ones; `scores`, the mean of each candidate, NaN if a fold lacks a score; `seconds`, the mean
        over evaluations plus those of an earlier choice. `inputs`: {key: result} of the
        evaluations, with `scores` of each candidate and `seconds`, and of the earlier choice.
        """
        parent = choice_result(self.given, inputs)
        evaluations = [inputs[key] for key in self.evaluated]
        scores = np.array([part["scores"] for part in evaluations]).T
        params = self.grid.candidates()[best(scores)]
        seconds = float(sum(part["seconds"] for part in evaluations)) / len(evaluations)
        return finish_result(
            {
                "params": params,
                "scores": scores.mean(axis=1).tolist(),
                "seconds": seconds,
            },
            parent,
        )
