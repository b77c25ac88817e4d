"""Welch's t-test against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.stats import ttest_ind

from elmbench.numerics.two_samples import welch_difference


@examples(50)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(2, 30), m=st.integers(2, 30), times=st.sampled_from([0.0, 1e-3, 1, 9])
)
def test_it_is_scipys(seed: int, n: int, m: int, times: float) -> None:
    random = np.random.default_rng(seed)
    one, other = random.normal(1, 1, n), times * random.normal(0, 1, m)
    expected = ttest_ind(one, other, equal_var=False)
    difference, error, freedom = welch_difference(one, other)
    assert difference / error == pytest.approx(expected.statistic, rel=1e-10)
    assert freedom == pytest.approx(expected.df, rel=1e-10)


def test_samples_that_do_not_vary() -> None:
    assert welch_difference([2.0, 2.0, 2.0], [1.0, 1.0]) == (1.0, 0.0, 3.0)
