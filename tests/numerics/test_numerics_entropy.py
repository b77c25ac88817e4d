"""The direction and the decision between two Gaussians, and divergences of densities, against
closed forms.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_examples import examples
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from sentences import pattern
from sklearn.covariance import ledoit_wolf

from elmbench.numerics.entropy.discriminant import (
    LEAST_VARIANCE,
    Moments,
    crossing_points,
    discriminant,
    log_odds,
    moments,
)
from elmbench.numerics.entropy.divergence import (
    gaussian_divergence,
    kde_divergence,
    leading_term,
    log_overlap,
    silverman_width,
)
from elmbench.numerics.entropy.row_products import discriminants_of_few_rows

SETTINGS = examples(120)
SEEDS = st.integers(0, 2**31 - 1)


def moments_of(F: np.ndarray) -> Moments:
    return moments(lambda rows: F[rows].copy(), len(F), [F.shape[1]])


def solved_exactly(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve in long double, by iterative refinement."""
    z = np.zeros(len(b), dtype=np.longdouble)
    for _ in range(30):
        z += np.linalg.solve(A.astype(float), (b - A @ z).astype(float))
    return z


@SETTINGS
@given(
    h=st.integers(1, 40),
    n=st.tuples(st.integers(3, 60), st.integers(3, 60)),
    seed=SEEDS,
)
def test_direction_is_the_closed_form_in_long_double(h, n, seed):
    random = np.random.RandomState(seed)
    mixing = random.randn(h, h)
    negative = random.randn(n[0], h) @ mixing + 5.0
    positive = (
        random.randn(n[1], h) @ mixing * random.uniform(0.2, 3) + 5.0 + random.randn(h)
    )
    line = discriminant(moments_of(negative), moments_of(positive), h)

    S_negative, S_positive = (
        ledoit_wolf(side)[0].astype(np.longdouble) for side in (negative, positive)
    )
    m_negative, m_positive = (
        side.astype(np.longdouble).mean(axis=0) for side in (negative, positive)
    )
    m = m_positive - m_negative
    solution = solved_exactly(S_negative + S_positive, m)
    beta = 2 * solution / (m @ solution)  # eq. (4)
    condition = np.linalg.cond((S_negative + S_positive).astype(float))
    # How much the rounding of the rows themselves is magnified.
    unit = (
        1e-14
        * condition
        * max(np.abs(negative).max(), np.abs(positive).max())
        / float(np.abs(m).max())
    )
    assume(unit < 1e-5)
    np.testing.assert_allclose(
        line.beta, beta.astype(float), rtol=0, atol=unit * float(np.abs(beta).max())
    )
    expected = (float(beta @ m_negative), float(beta @ m_positive))
    assert line.means == pytest.approx(expected, rel=10 * unit, abs=10 * unit)
    expected = (float(beta @ S_negative @ beta), float(beta @ S_positive @ beta))
    assert line.variances == pytest.approx(expected, rel=10 * unit)
    assert condition / (3 * h) < line.condition < condition * 3 * h
    # Eq. (4) makes the means differ by 2.
    assert float(
        line.beta @ (positive.mean(axis=0) - negative.mean(axis=0))
    ) == pytest.approx(2, abs=10 * unit)


@SETTINGS
@given(
    mean=st.floats(-50, 50),
    variances=st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
    log_weight=st.sampled_from([0.0, 0.0, -1.0, 2.0]),
)
def test_thresholds_are_where_root_finding_sees_the_densities_cross(
    mean, variances, log_weight
):
    means = (mean, mean + 2.0)
    S_negative, S_positive = variances
    points = crossing_points(means, variances, log_weight)

    def difference(t: float) -> float:
        return float(
            norm.logpdf(t, means[1], np.sqrt(S_positive))
            - norm.logpdf(t, means[0], np.sqrt(S_negative))
            + log_weight
        )

    assume(
        abs(S_negative - S_positive) > 1e-6 * max(variances) or S_negative == S_positive
    )
    if S_negative == S_positive:
        assert len(points) == 1
        assert points[0] == pytest.approx(mean + 1 - log_weight * S_negative / 2)
        return
    # The log-odds are a parabola: one crossing on each side of its vertex, or none.
    vertex = (means[1] / S_positive - means[0] / S_negative) / (
        1 / S_positive - 1 / S_negative
    )
    assume(abs(difference(vertex)) > 1e-9)
    if np.sign(difference(vertex)) == np.sign(S_negative - S_positive):
        far = 1.0
        while np.sign(difference(vertex + far)) == np.sign(difference(vertex)):
            far *= 2
        expected = [
            brentq(difference, vertex - far, vertex, xtol=1e-300, rtol=1e-14),
            brentq(difference, vertex, vertex + far, xtol=1e-300, rtol=1e-14),
        ]
        np.testing.assert_allclose(points, expected, rtol=1e-7, atol=1e-6)
    else:
        assert len(points) == 0


@pytest.mark.parametrize("exponent", [*range(-16, -12), *range(-11, -1)])
def test_nearly_equal_variances_lose_no_digits(exponent):
    """The printed formula divides a difference that is all round-off by S- - S+ here."""
    S = 0.7
    points = crossing_points((0.0, 2.0), (S * (1 + 10.0**exponent), S))
    middle = points[np.argmin(np.abs(points - 1))]
    # To first order the crossing moves by (1 + S) / 4 times the relative difference, towards the
    # narrower Gaussian.
    assert middle == pytest.approx(
        1 + (1 - S) / 4 * 10.0**exponent, abs=3 * 10.0 ** (2 * exponent) + 1e-15
    )
    assert len(points) == (2 if exponent > -12 else 1)


def test_thresholds_of_the_paper_with_its_slip_put_right():
    """t = m- + (2 S- +- sqrt(S- S+ (ln(S-/S+) (S- - S+) + 4))) / (S- - S+); printed with 2 S+ for
    t+, 2 too low.
    """
    S_negative, S_positive, m = 0.9, 0.3, -1.4
    root = np.sqrt(
        S_negative
        * S_positive
        * (np.log(S_negative / S_positive) * (S_negative - S_positive) + 4)
    )
    expected = m + (2 * S_negative + np.array([-root, root])) / (
        S_negative - S_positive
    )
    np.testing.assert_allclose(
        crossing_points((m, m + 2), (S_negative, S_positive)), expected, rtol=1e-14
    )


def test_means_that_coincide_up_to_round_off_give_no_direction(seed):
    side = np.random.RandomState(seed).rand(300, 7)
    other = np.random.RandomState(seed + 1).permutation(side)
    line = discriminant(moments_of(side), moments_of(other), 7)
    np.testing.assert_array_equal(line.beta, 0)
    assert len(crossing_points(line.means, line.variances)) == 0
    np.testing.assert_array_equal(
        log_odds(np.array([-1.0, 7.0]), line.means, line.variances, 0.3), 0.3
    )


def test_classes_that_are_points_are_kept_apart():
    """S+ + S- is zero: the direction is the limit for eps I, along the difference of the means."""
    negative, positive = np.tile([0.2, 0.5], (4, 1)), np.tile([0.8, 0.1], (3, 1))
    line = discriminant(moments_of(negative), moments_of(positive), 2)
    np.testing.assert_allclose(line.beta, 2 * np.array([0.6, -0.4]) / 0.52)
    assert line.variances == (LEAST_VARIANCE, LEAST_VARIANCE)
    points = crossing_points(line.means, line.variances)
    assert points == pytest.approx([line.means[0] + 1])


def test_a_singular_sum_of_covariances_is_solved_in_the_limit():
    """Two rows a class: Ledoit-Wolf does not shrink, and the difference of the means has a part
    that varies nowhere.
    """
    negative = np.array([[0.0, 0, 0], [1, 0, 0]])
    positive = np.array([[0.5, 1, 1], [0.5, 2, 1]])
    line = discriminant(moments_of(negative), moments_of(positive), 3)
    np.testing.assert_allclose(line.beta, [0, 0, 2], atol=1e-6)
    assert max(line.variances) < 1e-10


@SETTINGS
@given(pairs=st.integers(2, 14), h=st.integers(1, 40), seed=SEEDS)
def test_theorem_1_eem_and_elm_have_one_direction_on_balanced_classes(pairs, h, seed):
    """Balanced, centred, homogeneous classes: EEM's direction is ELM's, and it learns without error
    what ELM does.
    """
    random = np.random.RandomState(seed)
    positive = random.randn(pairs, h) + random.randn(h)
    negative = -positive  # centred together, with the same covariance
    H, T = np.vstack([negative, positive]), np.repeat([-1.0, 1.0], pairs)
    elm = np.linalg.pinv(H) @ T
    assume(np.linalg.cond(H[:pairs]) < 1e4)
    # The theorem holds for the empirical covariances, so they are not shrunk.
    sides = [
        replace(side, fourth=dict.fromkeys(side.fourth, 0.0))
        for side in map(moments_of, (negative, positive))
    ]
    line = discriminant(*sides, h)
    cosine = line.beta @ elm / np.linalg.norm(line.beta) / np.linalg.norm(elm)
    if pairs > h:
        # In no more than h differences the covariance is singular, and how its null space is lifted
        # above the round-off of so few entries is left to that.
        assert cosine == pytest.approx(1, abs=1e-9)
    assert cosine > 0.8
    if np.abs(H @ elm - T).max() < 1e-9:
        odds = log_odds(H @ line.beta, line.means, line.variances)
        np.testing.assert_array_equal(np.sign(odds), T)
        # One equilibrium point, between the means.
        assert crossing_points(line.means, line.variances) == pytest.approx(
            [0.0], abs=1e-6
        )


Density = Callable[[float], Any]


def by_quadrature(
    f: Density, g: Density, low: float, high: float, breaks: list[float]
) -> float:
    """ln int f^2 + ln int g^2 - 2 ln int fg."""

    def integral(function: Density) -> float:
        return quad(
            function, low, high, points=breaks, limit=2000, epsabs=0, epsrel=1e-11
        )[0]

    return (
        np.log(integral(lambda t: f(t) ** 2))
        + np.log(integral(lambda t: g(t) ** 2))
        - 2 * np.log(integral(lambda t: f(t) * g(t)))
    )


def gaussian(mean: Any, deviation: float) -> Density:
    return lambda t: (
        np.exp(-0.5 * ((t - mean) / deviation) ** 2) / deviation / np.sqrt(2 * np.pi)
    )


@examples(40)
@given(
    means=st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    deviations=st.tuples(st.floats(0.3, 3), st.floats(0.3, 3)),
)
def test_gaussians_equal_quadrature(means, deviations):
    breaks = sorted({*means, sum(means) / 2})
    f, g = (
        gaussian(mean, deviation)
        for mean, deviation in zip(means, deviations, strict=True)
    )
    expected = by_quadrature(f, g, -45, 45, breaks)
    assert gaussian_divergence(means, np.square(deviations)) == pytest.approx(
        expected, abs=1e-8
    )


def test_the_divergence_of_gaussians_has_the_form_as_printed():
    """Eq. (3): -1/2 ln(pi/2) - ln(1/2 (S+ + S-) / sqrt(S+ S-)) + (m+ - m-)^2 / (S+ + S-)."""
    expected = (
        -0.5 * np.log(np.pi / 2)
        - np.log(0.5 * (0.4 + 1.6) / np.sqrt(0.4 * 1.6))
        + 9 / 2.0
    )
    assert gaussian_divergence((1.0, -2.0), (0.4, 1.6), "as-printed") == pytest.approx(
        expected
    )
    assert leading_term((1.0, -2.0), (0.4, 1.6)) == 4.5
    assert gaussian_divergence((1.0, -2.0), (0.0, 1.6), "as-printed") == -np.inf
    with pytest.raises(
        ValueError,
        match=pattern("numerics.entropy.unknown-form", form="printed"),
    ):
        gaussian_divergence((1.0, -2.0), (0.4, 1.6), "printed")


def test_the_divergence_of_gaussians_works_elementwise(seed):
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


def over_all_pairs(x: np.ndarray, y: np.ndarray) -> float:
    """The three double sums, with the largest term taken out of each."""

    def logarithm(a: np.ndarray, b: np.ndarray, width: float) -> float:
        halves = (a[:, None] - b) ** 2 / (2 * width**2)
        least = halves.min()
        return (
            np.log(np.exp(least - halves).mean() / width / np.sqrt(2 * np.pi)) - least
        )

    own, other = silverman_width(x), silverman_width(y)
    within = logarithm(x, x, np.sqrt(2) * own) + logarithm(y, y, np.sqrt(2) * other)
    return within - 2 * logarithm(x, y, np.hypot(own, other))


KINDS = {
    "alike": lambda random, n: random.randn(n),
    "far away": lambda random, n: random.randn(n) + 10 ** random.uniform(0, 6),
    "wide": lambda random, n: random.randn(n) * 10 ** random.uniform(-6, 6),
    "heavy tails": lambda random, n: random.standard_cauchy(n),
    "few values": lambda random, n: np.round(random.randn(n)),
    "two heaps": lambda random, n: (
        np.sign(random.randn(n)) * 10 + 0.1 * random.randn(n)
    ),
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


@SETTINGS
@given(
    n=st.tuples(st.integers(2, 12), st.integers(2, 12)),
    extra=st.integers(1, 60),
    seed=SEEDS,
)
def test_products_of_few_rows_lead_to_the_same_discriminant(n, extra, seed):
    random = np.random.RandomState(seed)
    sizes = [sum(n) + extra, sum(n) + 2 * extra]
    negative = random.rand(n[0], sizes[-1])
    positive = random.rand(n[1], sizes[-1]) + 0.1
    result = discriminants_of_few_rows(negative.copy(), positive.copy(), sizes)
    below = moments(lambda rows: negative[rows].copy(), n[0], sizes)
    above = moments(lambda rows: positive[rows].copy(), n[1], sizes)
    for size in sizes:
        expected = discriminant(below, above, size)
        column = result.get(size)
        # Few features are left out: only if nothing is shrunk.
        if column is None:
            shrunk = [
                np.linalg.eigvalsh(side.covariance(size))[0] for side in (below, above)
            ]
            assert sum(shrunk) < 1e-4 * size
            continue
        size_of_beta = np.abs(expected.beta).max()
        tolerance = 100 * np.finfo(float).eps * column.condition
        assert np.abs(column.beta - expected.beta).max() <= tolerance * size_of_beta
        np.testing.assert_allclose(column.means, expected.means, atol=100 * tolerance)
        # The variance of a class may be the small difference of large terms.
        cancellation = max(column.cancellation, expected.cancellation)
        np.testing.assert_allclose(
            column.variances,
            expected.variances,
            rtol=100 * tolerance + size * np.finfo(float).eps * cancellation,
        )


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_products_of_points_are_left_to_the_covariances(offset):
    """Two classes without any spread, at the same point or not."""
    negative = np.zeros((3, 8))
    positive = np.full((3, 8), offset)
    assert discriminants_of_few_rows(negative, positive, [7, 8]) == {}
