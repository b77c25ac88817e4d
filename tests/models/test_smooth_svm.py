"""Smooth support vector machines: losses and their derivatives, and the minimum against that of other methods."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.models.rsvm import RSVMClassifier, RSVMRegressor, minimise, smooth_plus, weighted_gram
from elmbench.numerics import kernels
from elmbench.numerics.arrays import EPS

KINDS = st.sampled_from(["hinge", "tube", "no tube"])
STEP = 1e-30


def plus(x, smoothing):
    """Return p(x) as the papers print it, of complex x too; an exponential that overflows cancels with x."""
    above = np.where(x.real > 0, x, 0)
    return above + np.log(np.exp(-smoothing * above) + np.exp(smoothing * (x - above))) / smoothing


def a_problem(n, m, seed, kind, smoothing=5.0):
    """Return a matrix, a loss, and the sum of the losses in other words, for a real or complex vector of outputs."""
    random = np.random.RandomState(seed)
    A = np.c_[random.rand(n, m - 1) ** 2, np.ones(n)]
    values = A @ random.randn(m) + 0.3 * random.randn(n)
    if kind == "hinge":
        t = np.where(values > np.median(values), 1.0, -1.0)
        loss = partial(RSVMClassifier(smoothing=smoothing)._loss, t)
        return A, t, loss, lambda f: (plus(1 - t * f, smoothing) ** 2).sum() / 2
    tube = 0.1 if kind == "tube" else 0.0

    def total(f):
        return (plus(values - f - tube, smoothing) ** 2 + plus(f - values - tube, smoothing) ** 2).sum() / 2

    return A, values, partial(RSVMRegressor(smoothing=smoothing, epsilon=tube)._loss, values), total


def gradient(total, A, ridge, z):
    """Return the gradient by complex steps, which cancel nothing."""
    along = [z + 1j * STEP * unit for unit in np.eye(len(z))]
    return np.array([(total(A @ w) + ridge / 2 * (w @ w)).imag / STEP for w in along])


@pytest.mark.parametrize("smoothing", [0.5, 5.0, 30.0])
def test_derivatives(smoothing):
    x = np.linspace(-4, 4, 101)
    value, slope, curvature = smooth_plus(x, smoothing)
    np.testing.assert_allclose(value, plus(x, smoothing) ** 2 / 2, rtol=1e-7, atol=1e-12)
    shifted = x + 1j * STEP
    np.testing.assert_allclose(slope, (plus(shifted, smoothing) ** 2).imag / 2 / STEP, rtol=1e-7, atol=1e-12)
    by_hand = plus(shifted, smoothing) / (1 + np.exp(-smoothing * shifted))
    np.testing.assert_allclose(curvature, by_hand.imag / STEP, rtol=1e-7, atol=1e-12)


def test_far_from_the_corner_it_is_the_plus_function_and_overflows_nowhere():
    value, slope, curvature = smooth_plus(np.array([-1e300, -1e5, 1e5, 1e150]), 5.0)
    np.testing.assert_array_equal(value, [0, 0, 1e10 / 2, 1e150**2 / 2])
    np.testing.assert_array_equal(slope, [0, 0, 1e5, 1e150])
    np.testing.assert_array_equal(curvature, [0, 0, 1, 1])


def test_weighted_gram_of_several_blocks(monkeypatch, seed):
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 7 * 10)
    A, weights = np.random.RandomState(seed).rand(53, 7), np.random.RandomState(seed).rand(53)
    gram = weighted_gram(A, weights)
    np.testing.assert_allclose(gram, (A.T * weights) @ A, rtol=53 * 4 * EPS)
    np.testing.assert_array_equal(gram, gram.T)


@examples(100)
@given(
    shape=st.tuples(st.integers(1, 60), st.integers(2, 12), st.integers(0, 2**31 - 1)),
    kind=KINDS,
    exponent=st.integers(-8, 20),
)
def test_the_gradient_is_zero(shape, kind, exponent):
    """Up to 1e-10 of the terms that it adds up, and the round-off of these: the objective is strictly convex."""
    A, _, loss, total = a_problem(*shape, kind)
    ridge = 2.0**-exponent
    minimum = minimise(A, loss, ridge, 1e-10, 200)
    assert minimum.converged
    _, slopes, curvatures = loss(A @ minimum.solution)
    scale = ridge * np.linalg.norm(minimum.solution) + np.linalg.norm(A.T @ np.abs(slopes))
    round_off = (
        sum(A.shape) * EPS * np.linalg.norm(A.T @ (np.abs(slopes) + curvatures * (A @ np.abs(minimum.solution))))
    )
    assert np.linalg.norm(gradient(total, A, ridge, minimum.solution)) <= 1.01e-10 * scale + 4 * round_off


def test_steps_are_shortened_where_a_whole_one_would_climb():
    """A loss that is nearly flat around the start sends the first Newton step far beyond the minimum."""

    def loss(outputs):
        away = outputs - 3.0
        root = np.sqrt(1 + away**2)
        return root - 1, away / root, root**-3

    A = np.ones((4, 1))
    minimum = minimise(A, loss, 1e-9, 1e-12, 50)
    assert minimum.converged
    np.testing.assert_allclose(minimum.solution, [3.0], rtol=1e-8)
