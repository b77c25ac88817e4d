"""Tests of what a claim says of two models: on one data set, over data sets, by how often it is so.

Each returns a `Finding`: the estimate with its interval of 95 %, and how probable data like ours are if the claim is
wrong (`confirming`) or right (`contradicting`). All but the corrected resampled t-test are those of scipy.stats, whose
import takes longer than a table: what is a value of a named distribution comes from scipy.special.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, stdtr, stdtrit

from elmbench.numerics.two_samples import welch_difference

#: A claim is decided where one of its two probabilities is at most this: one side of an interval of 95 %.
LEVEL = 0.025
#: Of more differences than these, signed ranks are taken for normal, as scipy does.
_MOST_RANKED = 50


@dataclass(frozen=True)
class Region:
    """Where the tested figure lies if a claim is right: between `low` and `high`."""

    low: float = -math.inf
    high: float = math.inf


@dataclass(frozen=True)
class Finding:
    """What a test says of a claim.

    Attributes
    ----------
    test : str
        Its name.
    estimate : float
        The tested figure: a difference of means, a ratio of times, or a share of data sets.
    confirming : float
        The probability of data that speak for the claim as ours do, or more, if it is wrong.
    contradicting : float
        The same the other way round.
    n : int
        The number of folds, runs or data sets (`of`).
    low, high : float or None
        The ends of the interval of 95 %, if the test gives one.
    """

    test: str
    estimate: float
    confirming: float
    contradicting: float
    n: int
    of: str
    low: float | None = None
    high: float | None = None


def corrected_t(
    differences: ArrayLike, test_share: float, region: Region, least: float = 0.0, of: str = "folds"
) -> Finding:
    """Test the mean of differences on folds or trials that share training rows.

    The variance of the mean of n differences is s^2 (1/n + n_test/n_train), not s^2/n: Nadeau and Bengio, "Inference
    for the generalization error" (2003); for repeated folds Bouckaert and Frank (2004).

    Parameters
    ----------
    differences : array-like of shape (n,)
        On the same rows, n of 2 or more.
    test_share : float
        n_test/n_train; 0 is the ordinary paired t-test.
    region : Region
    least : float
        The least half width of the interval, for models that do not vary.
    of : str
        What the differences are of: folds or trials.
    """
    found = np.asarray(differences, dtype=float)
    n = len(found)
    error = float(found.std(ddof=1)) * math.sqrt(1 / n + test_share)
    return _by_t("corrected resampled t-test", float(found.mean()), error, n - 1, region, n, of, least)


def welch(one: ArrayLike, other: ArrayLike, region: Region, least: float = 0.0) -> Finding:
    """Test the difference of the means of two independent samples.

    Parameters
    ----------
    one, other : array-like
        Of two values or more each.
    region : Region
    least : float
        The least half width of the interval.
    """
    difference, error, freedom = welch_difference(one, other)
    n = min(len(np.asarray(one)), len(np.asarray(other)))
    return _by_t("Welch's t-test", difference, error, freedom, region, n, "runs", least)


def _by_t(
    test: str, estimate: float, error: float, freedom: float, region: Region, n: int, of: str, least: float
) -> Finding:
    quantile = float(stdtrit(freedom, 1 - LEVEL))
    # So that interval and probabilities say the same.
    error = max(error, least / quantile, np.finfo(float).tiny)
    over_low, over_high = ((estimate - bound) / error for bound in (region.low, region.high))
    return Finding(
        test,
        estimate,
        float(max(stdtr(freedom, -over_low), stdtr(freedom, over_high))),
        float(min(stdtr(freedom, over_low), stdtr(freedom, -over_high))),
        n,
        of,
        estimate - quantile * error,
        estimate + quantile * error,
    )


def signed_rank(differences: ArrayLike, region: Region) -> Finding:
    """Test the differences of means, one a data set, by Wilcoxon's signed ranks; the estimate is their median.

    Differences of zero count half on both sides, as Demsar (2006) advises.
    """
    found = np.asarray(differences, dtype=float)

    def p(bound: float, side: str, nowhere: float) -> float:
        return _wilcoxon(found - bound, side) if math.isfinite(bound) else nowhere

    confirming = max(p(region.low, "greater", 0.0), p(region.high, "less", 0.0))
    contradicting = min(p(region.low, "less", 1.0), p(region.high, "greater", 1.0))
    name = "Wilcoxon signed-rank test"
    return Finding(name, float(np.median(found)), confirming, contradicting, len(found), "data sets")


def _wilcoxon(differences: NDArray[np.float64], side: str) -> float:
    """Return the probability by Wilcoxon's test, 1 if there is no difference at all."""
    if not differences.any():
        return 1.0
    n, sizes = len(differences), np.abs(differences)
    if n > _MOST_RANKED or not sizes.all() or len(np.unique(sizes)) < n:
        from scipy.stats import wilcoxon

        return float(wilcoxon(differences, zero_method="zsplit", alternative=side).pvalue)
    positive = int((np.flatnonzero(differences[np.argsort(sizes)] > 0) + 1).sum())
    # How many of the 2^n sets of ranks have each sum: exact, as they are whole numbers.
    sets = np.ones(1)
    for rank in range(1, n + 1):
        sets = np.pad(sets, (0, rank)) + np.pad(sets, (rank, 0))
    return float((sets[positive:] if side == "greater" else sets[: positive + 1]).sum() / 2.0**n)


def sign(confirmed: int, n: int) -> Finding:
    """Test whether a claim is true on more than half of all data sets, by the number of ours on which it is."""
    ways = [math.comb(n, i) for i in range(n + 1)]
    more, fewer = sum(ways[confirmed:]) / 2**n, sum(ways[: confirmed + 1]) / 2**n
    # The interval of Clopper and Pearson.
    low = float(betaincinv(confirmed, n - confirmed + 1, LEVEL)) if confirmed else 0.0
    high = float(betaincinv(confirmed + 1, n - confirmed, 1 - LEVEL)) if confirmed < n else 1.0
    return Finding("sign test", confirmed / n, more, fewer, n, "data sets", low, high)


def together(findings: list[Finding]) -> tuple[Finding, float, float]:
    """Return the finding that decides of several that must all be true, and the two probabilities of all of them.

    All are right only if the weakest is (no correction is due); that one of k is wrong is said at k times its own
    probability (Bonferroni).
    """
    weakest = max(findings, key=lambda found: found.confirming)
    contrary = min(findings, key=lambda found: found.contradicting)
    contradicting = min(1.0, len(findings) * contrary.contradicting)
    return contrary if contradicting <= LEVEL else weakest, weakest.confirming, contradicting
