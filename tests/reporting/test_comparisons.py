"""The tests that decide claims, held against closed forms and against scipy's own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.stats import t, ttest_ind, ttest_rel

from elmbench.reporting.comparisons import Finding, Region, corrected_t, sign, signed_rank, together, welch

if TYPE_CHECKING:
    from collections.abc import Callable

ABOVE = Region(low=0.0)


@examples(50)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40), shift=st.floats(-2, 2))
def test_without_a_correction_it_is_the_paired_t_test(seed: int, n: int, shift: float) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(shift, 1, n), random.normal(0, 1, n)
    result = corrected_t(one - other, 0.0, ABOVE)
    paired = ttest_rel(one, other, alternative="greater")
    assert result.confirming == pytest.approx(paired.pvalue, rel=1e-6, abs=1e-12)
    assert result.contradicting == pytest.approx(1 - paired.pvalue, rel=1e-6, abs=1e-12)
    ends = ttest_rel(one, other).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((ends.low, ends.high), rel=1e-6, abs=1e-9)


def test_the_corrected_t_test_by_its_closed_form() -> None:
    """Ten folds with differences of mean 2 and deviation 3: t = 2 / (3 sqrt(1/10 + 1/9))."""
    raw = np.arange(10.0)
    differences = 2 + 3 * (raw - raw.mean()) / raw.std(ddof=1)
    statistic = 2 / (3 * math.sqrt(1 / 10 + 1 / 9))
    result = corrected_t(differences, 1 / 9, ABOVE)
    assert result.confirming == pytest.approx(t.sf(statistic, 9))
    half = t.ppf(0.975, 9) * 3 * math.sqrt(1 / 10 + 1 / 9)
    assert (result.low, result.estimate, result.high) == pytest.approx((2 - half, 2, 2 + half))
    # Sharing training rows makes it less sure of itself, not less right.
    assert corrected_t(differences, 0.0, ABOVE).confirming < result.confirming


@pytest.mark.parametrize("test", [lambda d, r: corrected_t(d, 0.1, r), lambda d, r: welch(d, np.zeros(len(d)), r)])
@examples(30)
@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-1, 1))
def test_interval_and_probability_say_the_same(test: Callable[..., Finding], seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(shift, 0.5, 12)
    result = test(values, ABOVE)
    assert (result.confirming <= 0.025) == (result.low >= 0)
    assert (result.contradicting <= 0.025) == (result.high <= 0)
    band = test(values, Region(-0.5, 0.5))
    assert (band.confirming <= 0.025) == (band.low >= -0.5 and band.high <= 0.5)
    assert (band.contradicting <= 0.025) == (band.low >= 0.5 or band.high <= -0.5)


def test_models_that_do_not_vary_are_as_sure_as_a_test_row_allows() -> None:
    apart, near = corrected_t([0.5] * 5, 0.1, ABOVE, least=0.01), corrected_t([0.005] * 5, 0.1, ABOVE, least=0.01)
    assert (apart.low, apart.high) == pytest.approx((0.49, 0.51))
    assert apart.confirming < 0.025 < near.confirming


def test_welch_is_scipys() -> None:
    one, other = [1.0, 2.0, 4.0], [0.0, 0.5, 0.25, 0.75]
    result, expected = welch(one, other, ABOVE), ttest_ind(one, other, equal_var=False, alternative="greater")
    assert result.confirming == pytest.approx(expected.pvalue)
    assert result.n == 3
    assert welch([2.0, 2.0], [1.0, 1.0], ABOVE).confirming < 0.025


def test_signed_ranks_by_hand() -> None:
    """Six positive differences have one of 2^6 choices of signs, which are equally probable."""
    result = signed_rank([1, 2, 3, 4, 5, 7], ABOVE)
    assert result.confirming == pytest.approx(1 / 64)
    assert result.estimate == 3.5
    assert signed_rank([1, 2, 3, 4, 5, 7], Region(high=0.0)).contradicting == pytest.approx(1 / 64)
    # Five data sets cannot decide.
    assert signed_rank([1, 2, 3, 4, 5], ABOVE).confirming == pytest.approx(1 / 32)
    assert signed_rank([0.0, 0.0, 0.0], ABOVE).confirming == 1


def test_signs_by_hand() -> None:
    result = sign(6, 6)
    assert (result.confirming, result.contradicting, result.estimate) == (pytest.approx(1 / 64), 1.0, 1.0)
    # Clopper and Pearson of six in six: the share at which they all are true once in forty times.
    assert (result.low, result.high) == (pytest.approx(0.025 ** (1 / 6)), 1.0)
    assert sign(0, 6).contradicting == pytest.approx(1 / 64)


def test_several_must_all_be_true() -> None:
    sure, unsure, contrary = sign(8, 8), sign(5, 8), sign(0, 8)
    assert together([sure, unsure]) == (unsure, unsure.confirming, 1.0)
    decisive, confirming, contradicting = together([sure, contrary])
    assert (decisive, contradicting) == (contrary, pytest.approx(2 / 256))
    assert confirming == contrary.confirming


def test_what_is_contradicted_decides_over_what_is_only_weaker() -> None:
    # Of two that are not confirmed at all, one is contradicted the more; four signs in four decide nothing.
    assert together([sign(0, 6), sign(0, 8)])[0] == sign(0, 8)
    assert together([sign(0, 3), sign(0, 4)])[0] == sign(0, 3)
