"""Tests of the difference of two models: on one data set, over data sets, or by the number of data
sets.

Tests of a claim return a `SignificanceResult`: the estimate with its 95 % interval, and two
probabilities of data at least as extreme as ours: if the claim is wrong (`confirming`), and if it
is right (`contradicting`).
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
    """The values between `low` and `high` that the tested quantity has if a claim is right."""

    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True)
class SignificanceResult:
    """The result of a test of a claim.

    Attributes
    ----------
    test : str
        Name of the test.
    estimate : float
        A difference of means, a ratio of times or a share of data sets.
    confirming : float
        Probability of data at least as extreme if the claim is wrong.
    contradicting : float
        Probability of data at least as extreme if the claim is right.
    n : int
        Number of folds, runs or data sets.
    unit : str
        What `n` counts.
    low, high : float or None
        Ends of the 95 % interval of the estimate; None if the test gives none.
    subject : tuple of str
        The tested data set, model, column and metric.
    means : tuple of float
        The means of two columns on a single data set.
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

    @property
    def least_p(self) -> float:
        """The least p-value that any outcome could have: that of n equal signs over data sets.

        0 for folds and runs.
        """
        return 2.0**-self.n if self.unit == "data sets" else 0.0


@cache
def t_quantile(freedom: float, level: float) -> float:
    """Return the quantile of Student's t distribution, below which it has the probability `level`.

    `freedom`: the degrees of freedom. It is cached because a table needs the same one hundreds of
    times.
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
) -> SignificanceResult:
    """Test the mean of differences on trials that share training rows, such as folds.

    The claim is right if the mean is in `region`. There are two or more differences, of which
    `unit` is the name: "folds" or "runs". The variance of the mean of n differences is s^2 (1/n +
    n_test/n_train), not s^2/n: Nadeau and Bengio, "Inference for the generalization error" (2003);
    for repeated folds Bouckaert and Frank (2004). With a `test_share` (n_test/n_train) of 0, this
    is the ordinary paired t-test. `floor` is the least half width of the interval, for models that
    do not vary. `n`: the number of differences to assume for this mean and deviation; 0 for the
    actual one.
    """
    values = np.asarray(differences, dtype=float)
    n = n or len(values)
    deviation = float(values.std(ddof=1))
    return _t_outcome(
        "corrected resampled t-test",
        estimate=float(values.mean()),
        error=deviation * math.sqrt(1 / n + test_share),
        freedom=n - 1,
        region=region,
        n=n,
        unit=unit,
        floor=floor,
    )


def welch_test(
    one: ArrayLike, other: ArrayLike, region: Region, floor: float = 0.0
) -> SignificanceResult:
    """Test the difference of the means of two independent samples by Welch's t-test.

    Each sample has two or more values. The claim is right if mean(one) - mean(other) is in
    `region`. `floor` is the least half width of the interval. The `n` of the result is the size of
    the smaller sample.
    """
    first = np.asarray(one, dtype=float)
    second = np.asarray(other, dtype=float)
    first_variance = _variance_of_mean(first)
    second_variance = _variance_of_mean(second)
    variance = first_variance + second_variance
    # Welch and Satterthwaite: 1 / freedom is the mean of 1 / (n_i - 1) by squared variances.
    weighted = first_variance**2 / (len(first) - 1) + second_variance**2 / (
        len(second) - 1
    )
    freedom = variance**2 / weighted if weighted else len(first) + len(second) - 2
    return _t_outcome(
        "Welch's t-test",
        estimate=float(first.mean() - second.mean()),
        error=math.sqrt(variance),
        freedom=freedom,
        region=region,
        n=min(len(first), len(second)),
        unit="runs",
        floor=floor,
    )


def _variance_of_mean(sample: NDArray[np.float64]) -> float:
    """Return the variance of the mean of independent values, s^2 / n."""
    return float(sample.var(ddof=1)) / len(sample)


def _t_outcome(
    test: str,
    *,
    estimate: float,
    error: float,
    freedom: float,
    region: Region,
    n: int,
    unit: str,
    floor: float,
) -> SignificanceResult:
    """Return the outcome of a t-test from an estimate and its standard error, `error`.

    `freedom`: the degrees of freedom. The claim is right if the true value is in `region`. `floor`
    is the least half width of the 95 % interval; a smaller standard error is raised to match, also
    in the p-values. `test`, the name of the test, `n` and `unit` are only stored.
    """
    from scipy.special import stdtr

    # The interval and the probabilities agree.
    quantile = t_quantile(freedom, 1 - LEVEL)
    error = max(error, floor / quantile, np.finfo(float).tiny)
    half_width = quantile * error
    t_low = (estimate - region.low) / error
    t_high = (estimate - region.high) / error
    return SignificanceResult(
        test=test,
        estimate=estimate,
        confirming=float(max(stdtr(freedom, -t_low), stdtr(freedom, t_high))),
        contradicting=float(min(stdtr(freedom, t_low), stdtr(freedom, -t_high))),
        n=n,
        unit=unit,
        low=estimate - half_width,
        high=estimate + half_width,
    )


def studentized_range_tail(distances: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return the probability that the range of `k` standard normal variables exceeds each distance.

    The result has the shape of `distances`. `scipy.stats.studentized_range` gives the same with
    infinite degrees of freedom, but importing `scipy.stats` takes a third of a second.
    """
    from scipy.special import ndtr

    # The greatest variable: the integrand is negligible outside, and the trapezoidal rule is exact
    # to round-off for so smooth a one.
    greatest = np.linspace(-8, 8, 401)
    density = np.exp(-(greatest**2) / 2) / math.sqrt(2 * math.pi)
    least = greatest - np.asarray(distances, dtype=float)[..., np.newaxis]
    are_rest_inside = (ndtr(greatest) - ndtr(least)) ** (k - 1)
    inside = k * np.trapezoid(density * are_rest_inside, greatest, axis=-1)
    return np.asarray(np.clip(1 - inside, 0, 1))


@cache
def studentized_range_quantile(level: float, k: int) -> float:
    """Return the distance that the range of `k` standard normal variables seldom exceeds.

    `level`: the probability with which it exceeds that distance, such as 0.05.
    """
    low = 0.0
    high = 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if studentized_range_tail(middle, k) > level:
            low = middle
        else:
            high = middle
    return high


def signed_rank_test(differences: ArrayLike, region: Region) -> SignificanceResult:
    """Test the differences of two models over data sets by Wilcoxon's signed ranks.

    `differences`: of their means, one for each data set, at least one. The claim is right if the
    centre of the differences is in `region`. The estimate of the result is their median, without an
    interval. Differences of zero count half on both sides, as Demsar (2006) advises.
    """
    values = np.asarray(differences, dtype=float)

    def p(bound: float, side: str, unbounded: float) -> float:
        """Return the p-value of one side of a bound, or `unbounded` if the bound is infinite."""
        return wilcoxon_p(values - bound, side) if math.isfinite(bound) else unbounded

    confirming = max(p(region.low, "greater", 0.0), p(region.high, "less", 0.0))
    contradicting = min(p(region.low, "less", 1.0), p(region.high, "greater", 1.0))
    return SignificanceResult(
        test="Wilcoxon signed-rank test",
        estimate=np.median(values),
        confirming=confirming,
        contradicting=contradicting,
        n=len(values),
        unit="data sets",
    )


def wilcoxon_p(
    differences: NDArray[np.float64], alternative: str = "two-sided"
) -> float:
    """Return the exact p-value of Wilcoxon's signed-rank test of differences around zero.

    `alternative`: "greater" for a p-value that is small if the differences are mostly positive,
    "less" if they are mostly negative, and "two-sided" for one that is small in both cases.

    Zeros count half on both sides, as Demsar (2006) advises; all signs of the other differences are
    equally likely. The p-value is 1 if all are zero, or there are none. `scipy.stats.wilcoxon`
    gives the same p-values without ties. With ties, which are common, scipy tries all signs of up
    to 13 differences (.7 s for 13) and approximates for more.
    """
    sizes = np.abs(differences)
    largest = sizes.max(initial=0.0)
    nonzero = sizes > 1e-12 * largest  # equal means of folds may differ by round-off
    sizes[~nonzero] = 0.0
    weights = _doubled_ranks(sizes)[nonzero]
    n_ways = np.ones(1)  # number of choices of signs for each sum of weights
    for weight in weights:
        with_weight = np.pad(n_ways, (weight, 0))
        without_weight = np.pad(n_ways, (0, weight))
        n_ways = with_weight + without_weight
    total = n_ways.sum()
    is_positive = differences[nonzero] > 0
    observed = int(weights[is_positive].sum())
    p_less = n_ways[: observed + 1].sum() / total
    p_greater = n_ways[observed:].sum() / total
    if alternative == "less":
        return float(p_less)
    if alternative == "greater":
        return float(p_greater)
    smaller = min(p_less, p_greater)
    return float(min(1.0, 2 * smaller))


def _doubled_ranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the ranks of values, which count from 1, as whole numbers, of the shape (n,).

    Values that are equal within round-off share the mean of their ranks. `scipy.stats.rankdata`
    does the same, but importing it takes half as long as printing a table.
    """
    rounded = without_round_off(values)
    _, groups, sizes = np.unique(rounded, return_inverse=True, return_counts=True)
    # A group of equal values has the ranks from `last_ranks - sizes + 1` to `last_ranks`.
    last_ranks = np.cumsum(sizes)
    doubled_means = 2 * last_ranks - sizes + 1
    by_value = doubled_means[groups]
    return np.asarray(by_value, dtype=np.int64)


def without_round_off(values: Any) -> Any:
    """Return numbers, in an array or a data frame, rounded to about nine significant digits.

    Equal means that were summed in different orders may differ in their last digits. NaN stays.
    """
    fractions, exponents = np.frexp(values)
    return np.round(fractions, 9) * 2.0**exponents


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values after Holm's correction for their number, at most 1, in the order of `p`."""
    values = np.asarray(p, float)
    n = len(values)
    order = np.argsort(values, kind="stable")
    n_remaining = np.arange(n, 0, -1)
    # The i-th smallest one counts n - i + 1 times, and at least as much as the one before.
    multiplied = values[order] * n_remaining
    cumulative = np.maximum.accumulate(multiplied)
    corrected = np.empty(n)
    corrected[order] = np.minimum(1, cumulative)
    return corrected.tolist()


def sign_test(n_confirmed: int, n: int) -> SignificanceResult:
    """Test that a claim is true on more than half of all data sets, from a sample of n data sets.

    `n`: at least 1. `n_confirmed`: the number of those on which it is true. The estimate of the
    result is their share, with the interval of Clopper and Pearson (1934).
    """
    from scipy.special import bdtr, betaincinv

    below = float(bdtr(n_confirmed - 1, n, 0.5)) if n_confirmed else 0.0
    low = (
        float(betaincinv(n_confirmed, n - n_confirmed + 1, LEVEL))
        if n_confirmed
        else 0.0
    )
    high = (
        float(betaincinv(n_confirmed + 1, n - n_confirmed, 1 - LEVEL))
        if n_confirmed < n
        else 1.0
    )
    return SignificanceResult(
        test="sign test",
        estimate=n_confirmed / n,
        confirming=1 - below,
        contradicting=float(bdtr(n_confirmed, n, 0.5)),
        n=n,
        unit="data sets",
        low=low,
        high=high,
    )


def combine_findings(
    findings: Sequence[SignificanceResult],
) -> tuple[SignificanceResult, float, float]:
    """Combine the tests of one or more findings that must all be right for a claim to be right.

    Return the decisive finding, the p-value that confirms the claim, and the one that contradicts
    it. All are right only if the weakest one is, so its `confirming` needs no correction. The
    smallest `contradicting` of k findings is multiplied by k (Bonferroni). If that is at most
    `LEVEL`, its finding is the decisive one, otherwise the weakest one is.
    """
    weakest = max(findings, key=lambda finding: finding.confirming)
    contrary = min(findings, key=lambda finding: finding.contradicting)
    contradicting = min(1.0, len(findings) * contrary.contradicting)
    return (
        contrary if contradicting <= LEVEL else weakest,
        weakest.confirming,
        contradicting,
    )
