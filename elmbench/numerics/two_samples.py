"""The difference of the means of two independent samples and what Welch's t-test makes of it."""

import math

import numpy as np
from numpy.typing import ArrayLike


def welch_difference(one: ArrayLike, other: ArrayLike) -> tuple[float, float, float]:
    """Return the difference of two means, its standard error, and the degrees of freedom of Welch and Satterthwaite.

    Parameters
    ----------
    one, other : array-like
        Of two values or more each.

    Returns
    -------
    difference, error, freedom
        Of samples that do not vary, or next to nothing, the error is zero, and the degrees of freedom are those of one
        common variance.
    """
    samples = [np.asarray(sample, dtype=np.float64) for sample in (one, other)]
    difference = float(samples[0].mean() - samples[1].mean())
    of_means = [float(sample.var(ddof=1)) / len(sample) for sample in samples]
    variance = sum(of_means)
    spent = sum(part**2 / (len(sample) - 1) for part, sample in zip(of_means, samples, strict=True))
    if spent == 0:
        return difference, 0.0, float(sum(map(len, samples)) - 2)
    return difference, math.sqrt(variance), variance**2 / spent
