"""The reduced support vector machine: its losses and their minimum, its landmarks, its kinds of
rows.
"""

import warnings
from functools import partial

import numpy as np
import pytest
from elm_problems import FACTORS, SHAPES, class_of, coded, problem
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from elmbench.models.rsvm import (
    RSVMClassifier,
    RSVMRegressor,
    minimise,
    smooth_plus,
    weighted_gram,
)
from elmbench.numerics import kernels
from elmbench.numerics.arrays import EPS

KINDS = ("binary", "multi", "one", "regression", "two-targets")


def objective(kernel, target, C, smoothing, epsilon, u, b):
    """C/2 |p(...)|^2 + (|u|^2 + b^2) / 2 as printed; a target of -1/+1 where `epsilon` is None."""
    f = kernel @ u + b
    errors = (
        [1 - target * f]
        if epsilon is None
        else [target - f - epsilon, f - target - epsilon]
    )
    squares = (
        sum((np.logaddexp(0, smoothing * error) ** 2).sum() for error in errors)
        / smoothing**2
    )
    return C / 2 * squares + (u @ u + b**2) / 2


@examples(60)
@given(
    shape=SHAPES,
    kind=st.sampled_from(KINDS),
    C_and_gamma=st.tuples(FACTORS, FACTORS),
    smoothing=st.sampled_from([1.0, 5.0, 30.0]),
    awkward=st.booleans(),
)
def test_no_point_nearby_is_lower(shape, kind, C_and_gamma, smoothing, awkward):
    (n, d, seed), (C, gamma) = shape, C_and_gamma
    X, y = problem(n, d, seed, kind, awkward)
    options = {"epsilon": 0.05} if kind in ("regression", "two-targets") else {}
    params = {"C": C, "gamma": gamma, "smoothing": smoothing, **options}
    model = class_of("RSVM", kind)(n_landmarks=10, random_state=seed, **params).fit(
        X, y
    )
    kernel = rbf_kernel(X, model.landmarks_, gamma=gamma)
    random = np.random.RandomState(seed)
    for output, target in enumerate(coded(y, kind).T):
        u, b = model.beta_[:, output], model.intercept_[output]
        problem_of_output = (kernel, target, C, smoothing, options.get("epsilon"))
        least = objective(*problem_of_output, u, b)
        for length in (1e-1, 1e-3):
            move = length * random.randn(len(u) + 1)
            moved = objective(*problem_of_output, u + move[:-1], b + move[-1])
            # Half the squared length of the move is what the second term alone has it grow by.
            assert moved - least >= move @ move / 2 - 1e-9 * (least + moved)


def test_landmarks_are_the_first_rows_of_a_permutation():
    X, y = problem(30, 3, 0, "binary")
    order = np.random.RandomState(4).permutation(30)
    for size in (1, 7, 30, 99):
        model = RSVMClassifier(n_landmarks=size, random_state=4).fit(X, y)
        np.testing.assert_array_equal(model.landmarks_, X[order[:size]])
        assert model.n_units_ == min(size, 30) == len(model.beta_)


def test_a_fit_stopped_before_convergence_warns_and_is_counted():
    X, y = problem(100, 2, 0, "multi")
    with pytest.warns(
        ConvergenceWarning, match=r"for 4 of 4 outputs \(max_iter=2\)"
    ) as caught:
        model = RSVMClassifier(C=100.0, max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert model.solvers_ == {"capped": 1}
    np.testing.assert_array_equal(model.n_iter_, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RSVMClassifier(C=100.0).fit(X, y)
    assert model.solvers_ == {}
    assert (model.n_iter_ < 100).all()


LOSSES = st.sampled_from(["hinge", "tube", "no tube"])
STEP = 1e-30


def plus(x, smoothing):
    """Return p(x) as the papers print it, of complex x too; an exponential that overflows cancels
    with x.
    """
    above = np.where(x.real > 0, x, 0)
    return (
        above
        + np.log(np.exp(-smoothing * above) + np.exp(smoothing * (x - above)))
        / smoothing
    )


def a_problem(n, m, seed, kind, smoothing=5.0):
    """Return a matrix, a loss, and the sum of the losses in other words, for a real or complex
    vector of outputs.
    """
    random = np.random.RandomState(seed)
    A = np.c_[random.rand(n, m - 1) ** 2, np.ones(n)]
    values = A @ random.randn(m) + 0.3 * random.randn(n)
    if kind == "hinge":
        t = np.where(values > np.median(values), 1.0, -1.0)
        loss = partial(RSVMClassifier(smoothing=smoothing)._loss, t)
        return A, t, loss, lambda f: (plus(1 - t * f, smoothing) ** 2).sum() / 2
    tube = 0.1 if kind == "tube" else 0.0

    def total(f):
        return (
            plus(values - f - tube, smoothing) ** 2
            + plus(f - values - tube, smoothing) ** 2
        ).sum() / 2

    return (
        A,
        values,
        partial(RSVMRegressor(smoothing=smoothing, epsilon=tube)._loss, values),
        total,
    )


def gradient(total, A, ridge, z):
    """Return the gradient by complex steps, which cancel nothing."""
    along = [z + 1j * STEP * unit for unit in np.eye(len(z))]
    return np.array([(total(A @ w) + ridge / 2 * (w @ w)).imag / STEP for w in along])


@pytest.mark.parametrize("smoothing", [0.5, 5.0, 30.0])
def test_derivatives_of_the_smooth_loss_equal_complex_steps(smoothing):
    x = np.linspace(-4, 4, 101)
    value, slope, curvature = smooth_plus(x, smoothing)
    np.testing.assert_allclose(
        value, plus(x, smoothing) ** 2 / 2, rtol=1e-7, atol=1e-12
    )
    shifted = x + 1j * STEP
    np.testing.assert_allclose(
        slope, (plus(shifted, smoothing) ** 2).imag / 2 / STEP, rtol=1e-7, atol=1e-12
    )
    by_hand = plus(shifted, smoothing) / (1 + np.exp(-smoothing * shifted))
    np.testing.assert_allclose(curvature, by_hand.imag / STEP, rtol=1e-7, atol=1e-12)


def test_far_from_the_corner_it_is_the_plus_function_and_overflows_nowhere():
    value, slope, curvature = smooth_plus(np.array([-1e300, -1e5, 1e5, 1e150]), 5.0)
    np.testing.assert_array_equal(value, [0, 0, 1e10 / 2, 1e150**2 / 2])
    np.testing.assert_array_equal(slope, [0, 0, 1e5, 1e150])
    np.testing.assert_array_equal(curvature, [0, 0, 1, 1])


def test_weighted_gram_of_several_blocks(monkeypatch, seed):
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 7 * 10)
    A, weights = (
        np.random.RandomState(seed).rand(53, 7),
        np.random.RandomState(seed).rand(53),
    )
    gram = weighted_gram(A, weights)
    np.testing.assert_allclose(gram, (A.T * weights) @ A, rtol=53 * 4 * EPS)
    np.testing.assert_array_equal(gram, gram.T)


@examples(100)
@given(
    shape=st.tuples(st.integers(1, 60), st.integers(2, 12), st.integers(0, 2**31 - 1)),
    kind=LOSSES,
    exponent=st.integers(-8, 20),
)
def test_the_gradient_is_zero(shape, kind, exponent):
    """Up to 1e-10 of the terms that it adds up, and the round-off of these: the objective is
    strictly convex.
    """
    A, _, loss, total = a_problem(*shape, kind)
    ridge = 2.0**-exponent
    minimum = minimise(A, loss, ridge, 1e-10, 200)
    assert minimum.converged
    _, slopes, curvatures = loss(A @ minimum.solution)
    scale = ridge * np.linalg.norm(minimum.solution) + np.linalg.norm(
        A.T @ np.abs(slopes)
    )
    round_off = (
        sum(A.shape)
        * EPS
        * np.linalg.norm(
            A.T @ (np.abs(slopes) + curvatures * (A @ np.abs(minimum.solution)))
        )
    )
    assert (
        np.linalg.norm(gradient(total, A, ridge, minimum.solution))
        <= 1.01e-10 * scale + 4 * round_off
    )


def test_steps_are_shortened_where_a_whole_one_would_climb():
    """A loss that is nearly flat around the start sends the first Newton step far beyond the
    minimum.
    """

    def loss(outputs):
        away = outputs - 3.0
        root = np.sqrt(1 + away**2)
        return root - 1, away / root, root**-3

    A = np.ones((4, 1))
    minimum = minimise(A, loss, 1e-9, 1e-12, 50)
    assert minimum.converged
    np.testing.assert_allclose(minimum.solution, [3.0], rtol=1e-8)
