"""The Cauchy-Schwarz divergence against numerical quadrature and against sums over all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from scipy.integrate import quad

from elmbench.numerics.entropy import divergence
from elmbench.numerics.entropy.divergence import (
    gaussian_divergence,
    kde_divergence,
    leading_term,
    log_overlap,
    silverman_width,
)

SETTINGS = examples(100)


Density = Callable[[float], Any]


def by_quadrature(f: Density, g: Density, low: float, high: float, breaks: list[float]) -> float:
    """ln int f^2 + ln int g^2 - 2 ln int fg."""

    def integral(function: Density) -> float:
        return quad(function, low, high, points=breaks, limit=2000, epsabs=0, epsrel=1e-11)[0]

    return (
        np.log(integral(lambda t: f(t) ** 2))
        + np.log(integral(lambda t: g(t) ** 2))
        - 2 * np.log(integral(lambda t: f(t) * g(t)))
    )


# --- Gaussians -------------------------------------------------------------------------------------------------------


def gaussian(mean: Any, deviation: float) -> Density:
    return lambda t: np.exp(-0.5 * ((t - mean) / deviation) ** 2) / deviation / np.sqrt(2 * np.pi)


@examples(40)
@given(
    means=st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    deviations=st.tuples(st.floats(0.3, 3), st.floats(0.3, 3)),
)
def test_gaussians_equal_quadrature(means, deviations):
    breaks = sorted({*means, sum(means) / 2})
    f, g = (gaussian(mean, deviation) for mean, deviation in zip(means, deviations, strict=True))
    expected = by_quadrature(f, g, -45, 45, breaks)
    assert gaussian_divergence(means, np.square(deviations)) == pytest.approx(expected, abs=1e-8)


def test_gaussians_as_printed():
    """Eq. (3): -1/2 ln(pi/2) - ln(1/2 (S+ + S-) / sqrt(S+ S-)) + (m+ - m-)^2 / (S+ + S-)."""
    expected = -0.5 * np.log(np.pi / 2) - np.log(0.5 * (0.4 + 1.6) / np.sqrt(0.4 * 1.6)) + 9 / 2.0
    assert gaussian_divergence((1.0, -2.0), (0.4, 1.6), "as-printed") == pytest.approx(expected)
    assert leading_term((1.0, -2.0), (0.4, 1.6)) == 4.5
    with pytest.raises(ValueError, match="form: expected 'corrected' or 'as-printed', got 'printed' instead"):
        gaussian_divergence((1.0, -2.0), (0.4, 1.6), "printed")


def test_gaussians_in_arrays(seed):
    random = np.random.RandomState(seed)
    means, variances = random.randn(4, 3, 2), random.rand(4, 3, 2)
    divergence = gaussian_divergence(means, variances)
    assert divergence.shape == leading_term(means, variances).shape == (4, 3)
    assert divergence[2, 1] == gaussian_divergence(means[2, 1], variances[2, 1])


@pytest.mark.filterwarnings("error")
def test_gaussians_that_are_points():
    assert gaussian_divergence((1.0, 1.0), (0.0, 0.0)) == 0
    assert gaussian_divergence((1.0, 3.0), (0.0, 0.0)) == np.inf
    assert gaussian_divergence((1.0, 1.0), (0.0, 2.0)) == np.inf


# --- Kernel density estimates ----------------------------------------------------------------------------------------


def over_all_pairs(x: np.ndarray, y: np.ndarray) -> float:
    """The three double sums, with the largest term taken out of each."""

    def logarithm(a: np.ndarray, b: np.ndarray, width: float) -> float:
        halves = (a[:, None] - b) ** 2 / (2 * width**2)
        least = halves.min()
        return np.log(np.exp(least - halves).mean() / width / np.sqrt(2 * np.pi)) - least

    own, other = silverman_width(x), silverman_width(y)
    within = logarithm(x, x, np.sqrt(2) * own) + logarithm(y, y, np.sqrt(2) * other)
    return within - 2 * logarithm(x, y, np.hypot(own, other))


def test_width_is_silverman_s(seed):
    points = np.random.RandomState(seed).randn(200)
    assert silverman_width(points) == pytest.approx(1.06 * 200**-0.2 * points.std(), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_estimates_equal_quadrature(seed):
    random = np.random.RandomState(seed)
    x, y = random.randn(random.randint(2, 40)), 1.5 * random.rand(random.randint(2, 40)) + 1
    own, other = silverman_width(x), silverman_width(y)
    f, g = gaussian(x, own), gaussian(y, other)
    expected = by_quadrature(lambda t: f(t).mean(), lambda t: g(t).mean(), -9, 9, [*np.linspace(-4, 4, 33)])
    assert kde_divergence(x, y) == pytest.approx(expected, abs=1e-7)


KINDS = {
    "alike": lambda random, n: random.randn(n),
    "far away": lambda random, n: random.randn(n) + 10 ** random.uniform(0, 6),
    "wide": lambda random, n: random.randn(n) * 10 ** random.uniform(-6, 6),
    "heavy tails": lambda random, n: random.standard_cauchy(n),
    "few values": lambda random, n: np.round(random.randn(n)),
    "two heaps": lambda random, n: np.sign(random.randn(n)) * 10 + 0.1 * random.randn(n),
    "all but a point": lambda random, n: 1 + 1e-9 * random.randn(n),
    "one far out": lambda random, n: np.r_[random.randn(n - 1), 1e5],
}


@SETTINGS
@given(
    kinds=st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(sorted(KINDS))),
    numbers=st.tuples(st.integers(2, 300), st.integers(2, 300)),
    seed=st.integers(0, 2**31 - 1),
)
def test_estimates_equal_the_sums_over_all_pairs(kinds, numbers, seed):
    random = np.random.RandomState(seed)
    x, y = (KINDS[kind](random, n) for kind, n in zip(kinds, numbers, strict=True))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    expected = over_all_pairs(x, y)
    assert kde_divergence(x, y) == pytest.approx(expected, abs=1e-8, rel=1e-9)
    assert kde_divergence(y, x) == pytest.approx(expected, abs=1e-8, rel=1e-9)


def test_what_is_summed_over_pairs_hardly_grows_with_the_points(monkeypatch, seed):
    gathered = divergence._group_nodes
    numbers = []

    def recording(points: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
        content = gathered(points, width)
        numbers.append(len(content[0]))
        return content

    monkeypatch.setattr(divergence, "_group_nodes", recording)
    random = np.random.RandomState(seed)
    for n in (2_000, 200_000):
        kde_divergence(random.randn(n), random.randn(n) + 1)
    assert len(numbers) == 12
    assert max(numbers[6:]) < 4 * min(numbers[:6]) < 2_000


@pytest.mark.filterwarnings("error")
def test_estimates_of_points_that_are_the_same():
    assert kde_divergence([1.0, 1.0], [1.0, 1.0, 1.0]) == 0
    assert kde_divergence([1.0, 1.0], [2.0, 2.0]) == np.inf
    assert kde_divergence([1.0, 1.0], [1.0, 2.0]) == np.inf
    assert kde_divergence([3.0], [1.0, 2.0]) == np.inf


@pytest.mark.filterwarnings("error")
def test_overlap_far_beyond_underflow():
    x, y = np.array([0.0, 1.0]), np.array([1e6, 1e6 + 3])
    expected = -0.5 * (1e6 - 1) ** 2 - np.log(4) - 0.5 * np.log(2 * np.pi)
    assert log_overlap(x, y, 1.0) == pytest.approx(expected, abs=1e-3)
