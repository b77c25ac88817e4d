"""KOS-ELM and FB-KOS-ELM against their dense references, at every row."""

import dense_online as dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from problems import KINDS, make, pieces, problems
from random_examples import examples

from elmbench.numerics.online.states import InverseState


def state_of(problem, **options):
    return InverseState(
        problem.X.shape[1],
        problem.T.shape[1],
        problem.gamma,
        1.0 / problem.C,
        **options,
    )


def rows_of(state):
    return state.dictionary[:, : state.size].T, state.targets[:, : state.size].T


def assert_solves(state, problem):
    """The inverse and the weights satisfy their equations on the present dictionary, to a backward
    error of 1e-9.
    """
    D, T = rows_of(state)
    A = dense.regularised(D, problem.gamma, problem.C)
    inverse, weights = state.inverse_matrix(), state.solution()
    size = 1e-9 * (1.0 + np.abs(A).sum(axis=0).max() * np.abs(inverse).max())
    assert_allclose(inverse @ A, np.eye(len(A)), rtol=0, atol=size)
    assert_allclose(A @ weights, T, rtol=0, atol=size * max(1.0, np.abs(T).max()))
    assert np.array_equal(inverse, inverse.T)


@examples(60)
@given(problems())
def test_every_row_kept_gives_the_dense_solution_at_each_row(problem):
    state = state_of(problem)
    for t in range(len(problem.X)):
        state.extend(problem.X[t : t + 1], problem.T[t : t + 1])
        assert np.array_equal(rows_of(state)[0], problem.X[: t + 1])
        assert_solves(state, problem)


@examples(60)
@given(problems(), st.integers(1, 15))
def test_pruning_takes_the_least_significant_row_at_each_row(problem, budget):
    state = state_of(problem, budget=budget)
    for t in range(len(problem.X)):
        D, T = (
            np.vstack([old, new[t]])
            for old, new in zip(rows_of(state), (problem.X, problem.T), strict=True)
        )
        state.extend(problem.X[t : t + 1], problem.T[t : t + 1])
        assert_solves(state, problem)
        kept = [list(row) for row in np.hstack(rows_of(state))]
        if t < budget:
            assert len(kept) == t + 1
            continue
        assert state.size == budget
        gone = [list(row) for row in np.hstack([D, T])]
        for row in kept:
            gone.remove(row)
        (gone,) = gone
        costs = dense.removal_costs(D, T, problem.gamma, problem.C)
        cost = max(
            c
            for c, row in zip(costs, np.hstack([D, T]), strict=True)
            if list(row) == gone
        )
        # Rows that are nearly equally significant may be told apart by round-off, in either way.
        assert cost <= costs.min() * (1 + 1e-5) + 1e-7 * np.abs(T).max()


@pytest.mark.parametrize(("budget", "kept"), [(1, [1000.0]), (2, [2000.0, 1000.0])])
def test_of_equally_significant_rows_the_first_leaves(budget, kept):
    """Rows far apart, equal targets and C = 1/3: every cost is 1 to the last bit, the new row's
    too.
    """
    state = InverseState(1, 1, 1.0, 3.0, budget=budget)
    state.extend(1000.0 * np.arange(budget + 1)[:, None], np.ones((budget + 1, 1)))
    assert rows_of(state)[0].ravel().tolist() == kept


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "single row"])
def test_hundreds_of_swaps_do_not_wear_the_inverse_out(kind):
    problem = make(kind, 700, 3, 1, 1.0, 200.0, 3)
    state = state_of(problem, budget=30)
    state.extend(problem.X, problem.T)
    D, T = rows_of(state)
    A = dense.regularised(D, problem.gamma, problem.C)
    assert_allclose(
        state.inverse_matrix(),
        np.linalg.inv(A),
        rtol=0,
        atol=1e-8 * np.abs(np.linalg.inv(A)).max(),
    )
    assert_allclose(
        state.weights[0, :30, None],
        np.linalg.solve(A, T),
        rtol=0,
        atol=1e-7 * (1 + np.abs(state.weights).max()),
    )


@pytest.mark.parametrize("budget", [60, 10**6])
@pytest.mark.parametrize("C", [1e8, 1e12, 1e17])
@pytest.mark.parametrize("kind", ["plain", "duplicates", "clustered"])
def test_a_ridge_below_round_off_leaves_a_sound_solution(kind, C, budget):
    problem = make(kind, 300, 3, 1, 0.3, C, 8)
    state = state_of(problem, budget=budget)
    for t in range(len(problem.X)):
        state.extend(problem.X[t : t + 1], problem.T[t : t + 1])
        assert np.isfinite(state.weights).all()
        assert np.isfinite(state.inverse).all()
    D, T = rows_of(state)
    inverse, weights = state.inverse_matrix(), state.solution()
    assert np.array_equal(inverse, inverse.T)
    eigenvalues = np.linalg.eigvalsh(inverse)
    assert eigenvalues.min() > -1e-14 * eigenvalues.max()
    # The outputs at the dictionary rows are those of the dense solution with a ridge of about the
    # round-off.
    A = dense.kernel(D, D, problem.gamma)
    floor = max(1.0 / C, 1e3 * len(D) * np.finfo(float).eps)
    reference = A @ np.linalg.solve(A + floor * np.eye(len(A)), T)
    tolerance = 0.1 if kind == "duplicates" else 0.5
    assert np.sqrt(np.mean((A @ weights - reference) ** 2)) < tolerance * np.std(T)


def test_an_inverse_found_spoilt_is_computed_from_scratch():
    problem = make("plain", 129, 3, 1, 1.0, 100.0, 4)
    sound, spoilt = state_of(problem, budget=50), state_of(problem, budget=50)
    for state in (sound, spoilt):
        state.extend(problem.X[:128], problem.T[:128])
    spoilt.inverse[:50, :50] *= 1.0 + 1e-5
    for state in (sound, spoilt):  # the residual is looked at every 64 rows
        state.extend(problem.X[128:], problem.T[128:])
    assert sound.age > 10**6, "a sound inverse must be left alone"
    assert spoilt.age == 1
    D, T = rows_of(spoilt)
    A = dense.regularised(D, problem.gamma, problem.C)
    assert_allclose(spoilt.inverse_matrix() @ A, np.eye(50), atol=1e-10)
    assert_allclose(A @ spoilt.weights[:, :50].T, T, atol=1e-10)


def test_weights_found_spoilt_are_computed_from_scratch():
    problem = make("plain", 400, 3, 2, 1.0, 100.0, 4)
    state = state_of(problem, budget=50)
    state.extend(problem.X[:130], problem.T[:130])
    state.weights[1] *= 1.01
    state.extend(problem.X[130:200], problem.T[130:200])
    D, T = rows_of(state)
    assert_allclose(
        dense.regularised(D, problem.gamma, problem.C) @ state.weights[:, :50].T,
        T,
        atol=1e-10,
    )


@examples(25)
@given(problems(), st.integers(1, 12), st.data())
def test_blocks_do_not_matter(problem, budget, data):
    whole, cut = state_of(problem, budget=budget), state_of(problem, budget=budget)
    whole.extend(problem.X, problem.T)
    for piece in pieces(data, len(problem.X), 7):
        cut.extend(problem.X[piece], problem.T[piece])
        cut.solution()
    m = whole.size
    for name in ("dictionary", "targets", "weights"):
        assert np.array_equal(getattr(whole, name)[:, :m], getattr(cut, name)[:, :m])
    assert np.array_equal(whole.inverse[:m, :m], cut.inverse[:m, :m])
    assert (whole.size, whole.seen, whole.age, whole.doubtful) == (
        cut.size,
        cut.seen,
        cut.age,
        cut.doubtful,
    )
