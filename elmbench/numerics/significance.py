"""Tests of the difference of two models: on one data set, over data sets, or by the number of data
sets.

Tests of a claim return a `TestOutcome`: the estimate with its 95 % interval, and two probabilities
of data at least as extreme as ours: if the claim is wrong (`confirming`), and if it is right
(`contradicting`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: A claim is decided if one of its two probabilities is at most this, which is one side of a 95 %
#: interval.
LEVEL = 0.025


@dataclass(frozen=True)
class Region:
    """The values between `low` and `high` that the tested figure has if a claim is right."""

    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True)
class TestOutcome:
    """The result of a test of a claim.

    `estimate` is a difference of means, a ratio of times or a share of data sets, `low` and `high`
    are the ends of its 95 % interval, if the test gives one. `confirming` and `contradicting` are
    the p-values against and for the claim. `n` counts folds, runs or data sets (`unit`). `subject`
    is the tested data set, model, column and metric; `means` are those of two columns on a single
    data set.
    """

    test: str
    estimate: float
    confirming: float
    contradicting: float
    n: int
    unit: str
    low: float | None = None
    high: float | None = None
    subject: tuple[str, ...] = ()
    means: tuple[float, ...] = ()


@cache
def t_quantile(freedom: float, level: float) -> float:
    """Return the quantile of Student's t distribution, cached because a table needs the same one
    hundreds of times.
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, level))


def corrected_t_test(
    differences: ArrayLike,
    test_share: float,
    region: Region,
    floor: float = 0.0,
    unit: str = "folds",
    n: int = 0,
) -> TestOutcome:
    """Test the mean of two or more differences (`unit`: folds or runs) on trials that share
    training rows.

    The variance of the mean of n differences is s^2 (1/n + n_test/n_train), not s^2/n: Nadeau and
    Bengio, "Inference for the generalization error" (2003); for repeated folds Bouckaert and Frank
    (2004). With a `test_share` (n_test/n_train) of 0, this is the ordinary paired t-test. `floor`
    is the least half width of the interval, for models that do not vary. `n`: the number of
    differences to assume for this mean and deviation; by default, the actual one.
    """
    values = np.asarray(differences, dtype=float)
    n = n or len(values)
    error = float(values.std(ddof=1)) * math.sqrt(1 / n + test_share)
    return _t_finding(
        "corrected resampled t-test", float(values.mean()), error, n - 1, region, n, unit, floor
    )


def welch_test(one: ArrayLike, other: ArrayLike, region: Region, floor: float = 0.0) -> TestOutcome:
    """Test the difference of the means of two independent samples of two or more values (Welch's
    t-test).

    `floor` is the least half width of the interval.
    """
    first = np.asarray(one, dtype=float)
    second = np.asarray(other, dtype=float)
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in (first, second)]
    error = math.sqrt(sum(parts))
    below = sum(
        part**2 / (len(sample) - 1) for part, sample in zip(parts, (first, second), strict=True)
    )
    freedom = (
        sum(parts) ** 2 / below if below else len(first) + len(second) - 2
    )  # Welch and Satterthwaite
    n = min(len(first), len(second))
    return _t_finding(
        "Welch's t-test",
        float(first.mean() - second.mean()),
        error,
        freedom,
        region,
        n,
        "runs",
        floor,
    )


def _t_finding(
    test: str,
    estimate: float,
    error: float,
    freedom: float,
    region: Region,
    n: int,
    unit: str,
    floor: float,
) -> TestOutcome:
    """Return the finding of a t-test from an estimate, its standard error and the degrees of
    freedom.
    """
    from scipy.special import stdtr

    quantile = t_quantile(freedom, 1 - LEVEL)  # the interval and the probabilities agree
    error = max(error, floor / quantile, np.finfo(float).tiny)
    over_low, over_high = ((estimate - bound) / error for bound in (region.low, region.high))
    confirming = float(max(stdtr(freedom, -over_low), stdtr(freedom, over_high)))
    contradicting = float(min(stdtr(freedom, over_low), stdtr(freedom, -over_high)))
    ends = estimate - quantile * error, estimate + quantile * error
    return TestOutcome(test, estimate, confirming, contradicting, n, unit, *ends)


def signed_rank_test(differences: ArrayLike, region: Region) -> TestOutcome:
    """Test the differences of means, one for each data set, by Wilcoxon's signed ranks; the
    estimate is their median.

    Differences of zero count half on both sides, as Demsar (2006) advises.
    """
    values = np.asarray(differences, dtype=float)

    def p(bound: float, side: str, unbounded: float) -> float:
        return wilcoxon_p(values - bound, side) if math.isfinite(bound) else unbounded

    confirming = max(p(region.low, "greater", 0.0), p(region.high, "less", 0.0))
    contradicting = min(p(region.low, "less", 1.0), p(region.high, "greater", 1.0))
    return TestOutcome(
        "Wilcoxon signed-rank test",
        np.median(values),
        confirming,
        contradicting,
        len(values),
        "data sets",
    )


def wilcoxon_p(differences: NDArray[np.float64], alternative: str = "two-sided") -> float:
    """Return the exact p-value of Wilcoxon's signed-rank test, "two-sided", "less" or "greater".

    Zeros count half on both sides, as Demsar (2006) advises; all signs of the other differences are
    equally likely. `scipy.stats.wilcoxon` gives the same p-values without ties. With ties, which
    are common, it tries all signs of up to 13 differences (.7 s for 13) and approximates for more.
    """
    sizes = np.abs(differences)
    nonzero = sizes > 1e-12 * sizes.max(initial=0.0)  # equal means of folds may differ by round-off
    weights = _doubled_ranks(np.where(nonzero, sizes, 0.0))[nonzero]
    ways = np.ones(1)  # of each sum of weights
    for weight in weights:
        ways = np.pad(ways, (weight, 0)) + np.pad(ways, (0, weight))
    observed = int(weights[differences[nonzero] > 0].sum())
    p = {
        "less": ways[: observed + 1].sum() / ways.sum(),
        "greater": ways[observed:].sum() / ways.sum(),
    }
    return float(p[alternative] if alternative in p else min(1.0, 2 * min(p.values())))


def _doubled_ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the ranks of values; those that are equal within round-off share the mean of
    their ranks.

    `scipy.stats.rankdata` does the same, but importing it takes half as long as printing a table.
    """
    _, groups, sizes = np.unique(without_round_off(values), return_inverse=True, return_counts=True)
    last_ranks = np.cumsum(sizes)
    return np.asarray((2 * last_ranks - sizes + 1)[groups], dtype=np.int64)


def without_round_off(values: Any) -> Any:
    """Return values, also a frame of them, to nine digits: the same mean of other folds may differ
    in the last one.
    """
    fractions, exponents = np.frexp(values)
    return np.round(fractions, 9) * 2.0**exponents


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction for their number."""
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(
        1, np.maximum.accumulate(np.asarray(p, float)[order] * np.arange(len(p), 0, -1))
    )
    return [float(value) for value in corrected]


def sign_test(n_confirmed: int, n: int) -> TestOutcome:
    """Test that a claim is true on more than half of all data sets: it is true on `n_confirmed` of
    our n data sets.

    The interval is that of Clopper and Pearson (1934).
    """
    from scipy.special import bdtr, betaincinv

    below = float(bdtr(n_confirmed - 1, n, 0.5)) if n_confirmed else 0.0
    low = float(betaincinv(n_confirmed, n - n_confirmed + 1, LEVEL)) if n_confirmed else 0.0
    high = (
        float(betaincinv(n_confirmed + 1, n - n_confirmed, 1 - LEVEL)) if n_confirmed < n else 1.0
    )
    return TestOutcome(
        "sign test",
        n_confirmed / n,
        1 - below,
        float(bdtr(n_confirmed, n, 0.5)),
        n,
        "data sets",
        low,
        high,
    )


def combine_findings(findings: Sequence[TestOutcome]) -> tuple[TestOutcome, float, float]:
    """Return the decisive one of several findings that must all be true, and p-values for and
    against all of them.

    All are right only if the weakest one is, so its probability needs no correction. The smallest
    probability that one of k is wrong is multiplied by k (Bonferroni).
    """
    weakest = max(findings, key=lambda finding: finding.confirming)
    contrary = min(findings, key=lambda finding: finding.contradicting)
    contradicting = min(1.0, len(findings) * contrary.contradicting)
    return contrary if contradicting <= LEVEL else weakest, weakest.confirming, contradicting
