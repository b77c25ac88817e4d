"""Models whose published values are shifted: further than the margin from ours, on one side
(docs/verdicts.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elmbench.judging.judged_rows import ROUND_OFF, Array, Row
from elmbench.judging.value_verdicts import LEVEL
from elmbench.numerics.significance import t_quantile


def is_shifted(rows: Sequence[Row], n_models: int) -> bool:
    """Return True if our values of a model are shifted against its published ones.

    The median of its signed distances (ours minus published, in margins) is further from 0 than one
    margin and the median rounding, and their mean differs from 0 by Student's test, at a level of 5
    % for all models of the table together (Bonferroni). It is False also if this cannot be decided,
    because a data set has a single run of the model.

    `rows`: those of the model alone, at least one. `n_models`: the number of models in the table.
    """
    distances = np.concatenate(
        [(row.means - row.published) / row.margins for row in rows]
    )
    # The true published value may be nearer by half of the last digit.
    rounding = np.concatenate([row.rounding / row.margins for row in rows])
    allowed = (1 + np.median(rounding)) * (1 + ROUND_OFF)
    if abs(np.median(distances)) <= allowed:
        return False
    degrees = np.concatenate([row.n_runs for row in rows]) - 1
    if np.any(degrees < 1):
        return False
    variances = np.concatenate(
        [_variances_of_distances(row) / row.margins**2 for row in rows]
    )
    total = float(variances.sum())
    if total == 0:
        return True
    # Welch and Satterthwaite: the degrees of freedom of a sum of variances.
    freedom = total**2 / float((variances**2 / degrees).sum())
    level = (1 - LEVEL) / n_models
    quantile = t_quantile(freedom, 1 - level / 2)
    return bool(abs(distances.sum()) > quantile * np.sqrt(total))


def _variances_of_distances(row: Row) -> Array:
    """Return the variance of the distance of each published value of a row from our mean.

    It is that of both means, at least the least half width squared, plus that of the rounding. The
    array has shape (k,) for k models.
    """
    variances_of_run = (row.residuals**2).sum(axis=0)
    of_means = variances_of_run * (1 / row.mean_of + 1 / row.n_runs)
    of_means = np.maximum(of_means, row.least_half_widths**2)
    return np.asarray(of_means + row.rounding**2 / 3)
