"""The reduced support vector machine: what it minimises, its landmarks, its kinds of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from elm_problems import FACTORS, SHAPES, class_of, coded, problem
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from elmbench.models import RSVMClassifier

KINDS = ("binary", "multi", "one", "regression", "two-targets")


def objective(kernel, target, C, smoothing, epsilon, u, b):
    """C/2 |p(...)|^2 + (|u|^2 + b^2) / 2 as printed; a target of -1/+1 where `epsilon` is None."""
    f = kernel @ u + b
    errors = [1 - target * f] if epsilon is None else [target - f - epsilon, f - target - epsilon]
    squares = sum((np.logaddexp(0, smoothing * error) ** 2).sum() for error in errors) / smoothing**2
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
    model = class_of("RSVM", kind)(n_landmarks=10, random_state=seed, **params).fit(X, y)
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


def test_a_fit_that_is_stopped_says_so_and_is_counted():
    X, y = problem(100, 2, 0, "multi")
    with pytest.warns(ConvergenceWarning, match=r"for 4 of 4 outputs \(max_iter=2\)") as caught:
        model = RSVMClassifier(C=100.0, max_iter=2).fit(X, y)
    assert caught[0].filename == __file__
    assert model.solvers_ == {"capped": 1}
    np.testing.assert_array_equal(model.n_iter_, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RSVMClassifier(C=100.0).fit(X, y)
    assert model.solvers_ == {}
    assert (model.n_iter_ < 100).all()
