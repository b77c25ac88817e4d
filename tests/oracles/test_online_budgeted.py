"""BSGD against its dense reference, at every row."""

import dense_online as dense
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from problems import pieces
from random_examples import examples

from elmbench.numerics.online.budgeted_sgd import BudgetedState, Pair, best_merge

pytestmark = pytest.mark.exhaustive

GAMMAS = st.sampled_from([0.1, 1.0, 5.0])
# No margin of rows that are all equal is met exactly.
RIDGES = st.sampled_from([0.31, 0.029, 0.0037])
SHAPES = st.tuples(
    st.integers(2, 50), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**31 - 1)
)
BUDGETS = st.one_of(st.integers(1, 12), st.just(60))  # the last has room for all rows


def a_problem(n, d, n_outputs, seed, sparse=False):
    random = np.random.RandomState(seed)
    X = random.rand(n, d)
    if sparse:
        X[X < 0.5] = 0
    X[n // 2 :: 5] = X[0]
    n_classes = 2 if n_outputs == 1 else n_outputs
    return X, np.minimum(
        (n_classes * X.mean(axis=1) + 0.3 * random.rand(n)).astype(int), n_classes - 1
    )


def as_dense(state, ridge):
    """Return what the compiled state holds as the reference holds it."""
    return dense.Dense(
        state.vectors(),
        state.solution(ridge),
        list(state.support.born[: state.size]),
        state.step,
    )


def outputs(learner, gamma, probe):
    return dense.kernel(probe, learner.X, gamma) @ learner.W


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@examples(25)
@given(shape=SHAPES, gamma=GAMMAS, ridge=RIDGES, budget=BUDGETS)
def test_each_row_changes_the_model_by_the_formulas(
    merges, sparse, shape, gamma, ridge, budget
):
    X, labels = a_problem(*shape, sparse)
    state = BudgetedState(X.shape[1], shape[2], gamma, budget, merges)
    probe = np.random.RandomState(shape[3]).rand(20, X.shape[1])
    for t in range(len(X)):
        expected = dense.step(as_dense(state, ridge), X[t], labels[t], ridge, gamma)
        given_row = X[t : t + 1]
        state.extend(
            sp.csr_matrix(given_row) if sparse else given_row, labels[t : t + 1], ridge
        )
        rows = as_dense(state, ridge)
        assert state.size <= budget
        assert state.step == t + 1
        size = 1 + np.abs(expected.W).sum()
        if len(expected.X) <= budget:
            assert state.size == len(expected.X)
            np.testing.assert_allclose(
                outputs(rows, gamma, probe),
                outputs(expected, gamma, probe),
                rtol=0,
                atol=1e-9 * size,
            )
            continue
        assert state.size == budget
        a = dense.least(expected)[0]
        if merges:
            whole = dense.norm(expected.X, expected.W, gamma)
            # What is lost is the squared distance of the weight vectors before and after.
            X_both, W_both = (
                np.vstack([expected.X, rows.X]),
                np.vstack([expected.W, -rows.W]),
            )
            lost = dense.norm(X_both, W_both, gamma)
            best = min(
                dense.best_merge(expected.X[[a, b]], expected.W[[a, b]], gamma, 201)[0]
                for b in range(len(expected.X))
                if b != a
            )
            removed = (expected.W[a] ** 2).sum()
            assert lost <= removed + 1e-9 * (1 + whole)
            one_hill = all(
                gamma * ((x - expected.X[a]) ** 2).sum() < 2 for x in expected.X
            )
            if (
                one_hill
                and shape[2] == 1
                and (np.sign(expected.W) == np.sign(expected.W[a])).all()
            ):
                assert lost <= best + 1e-9 * (1 + whole)
            continue
        reference = outputs(dense.without(expected, a), gamma, probe)
        np.testing.assert_allclose(
            outputs(rows, gamma, probe), reference, rtol=0, atol=1e-9 * size
        )


@examples(100)
@given(
    distance=st.floats(0, 8),
    weights=st.lists(st.floats(-3, 3), min_size=2, max_size=6).filter(
        lambda w: len(w) % 2 == 0
    ),
)
def test_merging_two_keeps_at_least_what_leaving_out_either_does_and_the_most_there_is_on_one_hill(
    distance, weights
):
    W = np.array(weights).reshape(2, -1)
    X = np.array([[0.0], [np.sqrt(distance)]])
    aa, ab, bb = W[0] @ W[0], W[0] @ W[1], W[1] @ W[1]
    h, kept = best_merge(Pair(-distance, aa, ab, bb))
    whole = dense.norm(X, W, 1.0)
    lost = dense.merged(X, W, 1.0, h)[2]
    assert 0 <= h <= 1
    assert abs(whole - kept - lost) <= 1e-12 * (1 + aa + bb)
    assert lost <= min(aa, bb) + 1e-12 * (1 + aa + bb)
    if distance < 2 and (W >= 0).all():
        assert lost <= dense.best_merge(X, W, 1.0)[0] + 1e-8 * (1 + aa + bb)


@pytest.mark.parametrize("merges", [False, True])
@examples(25)
@given(shape=SHAPES, budget=BUDGETS, data=st.data())
def test_blocks_do_not_matter_nor_whether_rows_are_sparse(merges, shape, budget, data):
    X, labels = a_problem(*shape, sparse=True)
    whole, cut = (
        BudgetedState(X.shape[1], shape[2], 2.0, budget, merges) for _ in range(2)
    )
    whole.extend(X, labels, 0.05)
    for piece in pieces(data, len(X), 9):
        cut.extend(sp.csr_matrix(X[piece]), labels[piece], 0.05)
    np.testing.assert_array_equal(whole.vectors(), cut.vectors())
    np.testing.assert_array_equal(whole.solution(0.05), cut.solution(0.05))


@pytest.mark.parametrize("merges", [False, True])
def test_what_is_carried_along_is_that_of_the_support_vectors(merges, seed):
    """Distances and norms, after many merges of rows that have few features."""
    random = np.random.RandomState(seed)
    X = random.rand(400, 60) * (random.rand(400, 60) < 0.05)
    labels = (X.sum(axis=1) > 1.5).astype(int)
    state = BudgetedState(60, 1, 0.5, 12, merges)
    for start in range(0, 400, 7):
        state.extend(
            sp.csr_matrix(X[start : start + 7]), labels[start : start + 7], 0.001
        )
        S, m = state.vectors(), state.size
        exact = ((S[:, None] - S[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(state.support.distances[:m, :m], exact, atol=1e-10)
        np.testing.assert_allclose(
            state.support.norms[:m], (S**2).sum(axis=1), atol=1e-10
        )
        assert not state.support.columns[:, m:].any()
