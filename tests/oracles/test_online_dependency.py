"""ALD-KOS-ELM against its dense reference, at every row."""

import copy

import dense_online as dense
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import KINDS, make, pieces, problems
from random_examples import examples

from elmbench.numerics.online.states import DependencyState


def state_of(problem, threshold, **options):
    return DependencyState(
        problem.X.shape[1], problem.T.shape[1], problem.gamma, threshold, **options
    )


def rows_of(state):
    return state.dictionary[:, : state.size].T


@examples(60)
@given(problems(), st.sampled_from([1e-3, 0.02, 0.1, 0.5]))
def test_a_row_joins_exactly_where_its_projection_distance_exceeds_the_threshold(
    problem, threshold
):
    state = state_of(problem, threshold)
    for t in range(len(problem.X)):
        x, value = problem.X[t : t + 1], problem.T[t : t + 1]
        distance = dense.squared_distance(rows_of(state), problem.X[t], problem.gamma)
        for factor, joins in ((1.0 - 1e-6, True), (1.0 + 1e-6, False)):
            bent = copy.deepcopy(state)
            bent.threshold = distance * factor
            bent.extend(x, value)
            if distance > 1e-6:  # below it, round-off decides
                assert (bent.size == state.size + 1) is joins
        size = state.size
        state.extend(x, value)
        if abs(distance - threshold) > 1e-9:
            assert (state.size == size + 1) == (distance > threshold)


@examples(60)
@given(
    problems(), st.sampled_from([1e-3, 0.02, 0.1, 0.5]), st.sampled_from([1, 5, 10**6])
)
def test_weights_are_the_dense_least_squares_solution_at_each_row(
    problem, threshold, max_atoms
):
    state = state_of(problem, threshold, max_atoms=max_atoms)
    for t in range(len(problem.X)):
        state.extend(problem.X[t : t + 1], problem.T[t : t + 1])
        kept, weights, values = dense.dependency(
            problem.X[: t + 1], problem.T[: t + 1], problem.gamma, threshold, max_atoms
        )
        assert np.array_equal(rows_of(state), problem.X[kept])
        inverse, ours = state.inverse_matrix(), state.solution()
        condition = np.linalg.cond(
            dense.kernel(problem.X[kept], problem.X[kept], problem.gamma)
        )
        assert_allclose(
            state.fitted[:, : state.size].T,
            values,
            rtol=0,
            atol=1e-11 * condition * np.abs(problem.T).max(),
        )
        assert_allclose(
            ours, weights, rtol=0, atol=1e-11 * condition * (1 + np.abs(weights).max())
        )
        assert_allclose(
            inverse @ dense.kernel(problem.X[kept], problem.X[kept], problem.gamma),
            np.eye(len(kept)),
            rtol=0,
            atol=1e-12 * condition,
        )
        assert np.array_equal(inverse, inverse.T)


@examples(60)
@given(problems(60))
def test_threshold_zero_is_the_solution_without_a_ridge(problem):
    K = dense.kernel(problem.X, problem.X, problem.gamma)
    assume(np.linalg.cond(K) < 1e7)
    state = state_of(problem, 0.0)
    state.extend(problem.X, problem.T)
    assert np.array_equal(rows_of(state), problem.X)
    weights = state.solution()
    reference = np.linalg.solve(K, problem.T)
    assert_allclose(weights, reference, rtol=0, atol=1e-6 * np.abs(reference).max())
    assert_allclose(
        K @ weights, problem.T, rtol=0, atol=1e-8 * np.abs(problem.T).max() * len(K)
    )


@pytest.mark.parametrize("gamma", [1e-4, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_repeated_rows_never_join_nor_break_it(kind, gamma):
    problem = make(kind, 150, 3, 2, gamma, 1.0, 9)
    once, twice = state_of(problem, 0.0), state_of(problem, 0.0)
    once.extend(problem.X, problem.T)
    twice.extend(np.repeat(problem.X, 3, axis=0), np.repeat(problem.T, 3, axis=0))
    assert np.array_equal(rows_of(once), rows_of(twice))
    assert len(np.unique(rows_of(once), axis=0)) == once.size
    inverse, weights = twice.inverse_matrix(), twice.solution()
    K = dense.kernel(rows_of(twice), rows_of(twice), gamma)
    assert_allclose(inverse @ K, np.eye(len(K)), atol=1e-14 * np.linalg.cond(K))
    outputs = dense.kernel(problem.X, rows_of(twice), gamma) @ weights
    assert np.abs(outputs).max() < 3 * np.abs(problem.T).max()


def test_any_threshold_within_the_bracket_gives_the_same_model_and_any_outside_another():
    problem = make("plain", 120, 3, 1, 1.0, 1.0, 2)
    state = state_of(problem, 0.05)
    state.extend(problem.X, problem.T)
    low, high = state.bracket
    assert low <= 0.05 < high
    for threshold, same in (
        (low, True),
        (high * (1 - 1e-12), True),
        (high, False),
        (low * (1 - 1e-12), False),
    ):
        other = state_of(problem, threshold)
        other.extend(problem.X, problem.T)
        assert (np.array_equal(rows_of(other), rows_of(state))) is same


@examples(25)
@given(problems(), st.sampled_from([0.0, 0.02, 0.3]), st.data())
def test_blocks_do_not_matter(problem, threshold, data):
    whole, cut = state_of(problem, threshold), state_of(problem, threshold)
    whole.extend(problem.X, problem.T)
    for piece in pieces(data, len(problem.X), 7):
        cut.extend(problem.X[piece], problem.T[piece])
    m = whole.size
    assert np.array_equal(rows_of(whole), rows_of(cut))
    assert np.array_equal(whole.fitted[:, :m], cut.fitted[:, :m])
    assert np.array_equal(whole.factor[:m, :m], cut.factor[:m, :m])
    assert np.array_equal(whole.covariance[:m, :m], cut.covariance[:m, :m])
