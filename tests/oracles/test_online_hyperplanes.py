"""Pegasos and the adaptive multi-hyperplane machine against their dense references, at every
row.
"""

import copy

import dense_online as dense
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from problems import pieces
from random_examples import examples

from elmbench.numerics.online.hyperplanes import HyperplaneState

# No sum of the rows below meets its margin exactly.
RIDGES = st.sampled_from([np.pi / 10, np.e / 100, np.sqrt(2) / 400])
SHAPES = st.tuples(
    st.integers(1, 60), st.integers(1, 5), st.integers(2, 5), st.integers(0, 2**31 - 1)
)
LIMITS = st.integers(1, 6)
CONSTANTS = st.sampled_from([0.0, 1.0])


def a_problem(n, d, n_classes, seed):
    """Return rows whose sums are exact, so that what is equal in one order of summation is so in
    any.
    """
    random = np.random.RandomState(seed)
    X = random.randint(-8, 9, (n, d)) / 8.0
    X[random.rand(n, d) < 0.3] = 0
    X[n // 2 :: 5] = X[0]
    return X, random.randint(0, n_classes, n)


def extended(X, constant):
    return np.column_stack([X, np.full(len(X), constant)])


def held(state, ridge):
    """Return the weights with their intercepts, in the order of the state, and their classes."""
    scale = ridge * max(1, state.step)
    return state.columns[:, : state.size].T / scale, state.owners[: state.size].copy()


def assert_close(actual, expected):
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max())
    )


@pytest.mark.parametrize("sparse", [False, True])
@examples(60)
@given(shape=SHAPES, ridge=RIDGES, constant=CONSTANTS)
def test_each_row_is_a_step_of_pegasos(sparse, shape, ridge, constant):
    X, labels = a_problem(*shape)
    n_classes = shape[2]
    state = HyperplaneState(X.shape[1], n_classes, constant)
    # Of two classes lambda is twice as large for the same difference of the weights.
    double = 2 * ridge if n_classes == 2 else ridge
    W = np.zeros((1 if n_classes == 2 else n_classes, X.shape[1] + 1))
    for t in range(len(X)):
        W = dense.pegasos_step(W, extended(X, constant)[t], labels[t], t + 1, ridge)
        row = X[t : t + 1]
        state.extend(sp.csr_matrix(row) if sparse else row, labels[t : t + 1], double)
        kernels, owners = held(state, double)
        np.testing.assert_array_equal(owners, np.arange(n_classes))
        kernels = kernels[1:] - kernels[:1] if n_classes == 2 else kernels
        assert_close(kernels, W)
        W = kernels  # so that no error of round-off makes another branch be taken


@examples(100)
@given(shape=SHAPES, ridge=RIDGES, constant=CONSTANTS, limit=LIMITS)
def test_each_row_is_a_step_of_the_online_machine(shape, ridge, constant, limit):
    X, labels = a_problem(*shape)
    state = HyperplaneState(X.shape[1], shape[2], constant, limit)
    W, owners = np.zeros((shape[2], X.shape[1] + 1)), np.arange(shape[2])
    for t in range(len(X)):
        W, owners = dense.amm_step(
            W, owners, extended(X, constant)[t], labels[t], t + 1, ridge, limit
        )
        state.extend(X[t : t + 1], labels[t : t + 1], ridge)
        kernels, found_owners = held(state, ridge)
        np.testing.assert_array_equal(found_owners, owners)
        assert_close(kernels, W)
        assert state.step == t + 1
        np.testing.assert_array_equal(
            state.counts, np.bincount(owners, minlength=shape[2])
        )
        assert state.counts.max() <= max(1, limit)
        W = kernels


@examples(100)
@given(shape=SHAPES, ridge=RIDGES, limit=LIMITS)
def test_assigned_rows_stay_with_their_weights(shape, ridge, limit):
    """A pass with assignments: they are those before it, of zero where the output was negative, and
    none is added.
    """
    X, labels = a_problem(*shape)
    state = HyperplaneState(X.shape[1], shape[2], 1.0, limit)
    state.extend(X, labels, ridge)
    before, owners_before = held(state, ridge)
    counts = state.counts.copy()
    names = state.assign(X, labels)
    W, owners = held(state, ridge)
    np.testing.assert_array_equal(W[: len(before)], before)
    assert not W[len(before) :].any()
    own = [list(state.names[: state.size]).index(name) for name in names]
    expected_zero = set()
    for i in range(len(X)):
        scores = np.where(
            owners_before == labels[i],
            dense.scores_of(before, extended(X, 1.0)[i], len(X) + 1, ridge),
            -np.inf,
        )
        if scores.max() < 0 and counts[labels[i]] < limit:
            assert own[i] >= len(before)
            assert owners[own[i]] == labels[i]
            expected_zero.add(labels[i])
        else:
            assert own[i] == scores.argmax()
    np.testing.assert_array_equal(
        np.sort(owners[len(before) :]), np.sort(list(expected_zero))
    )
    size = state.size
    for i in range(len(X)):
        W, _ = dense.amm_step(
            W,
            owners,
            extended(X, 1.0)[i],
            labels[i],
            state.step + 1,
            ridge,
            limit,
            own[i],
        )
        state.extend(X[i : i + 1], labels[i : i + 1], ridge, names[i : i + 1])
        assert state.size == size
        kernels, _ = held(state, ridge)
        assert_close(kernels, W)
        W = kernels


@examples(40)
@given(
    shape=SHAPES,
    limit=LIMITS,
    prune_every=st.sampled_from([3, 7, 10_000]),
    data=st.data(),
)
def test_blocks_do_not_matter_nor_whether_rows_are_sparse(
    shape, limit, prune_every, data
):
    X, labels = a_problem(*shape)
    whole, cut = (
        HyperplaneState(X.shape[1], shape[2], 1.0, limit, 1.5, prune_every)
        for _ in range(2)
    )
    for learns_assigned in (False, True):
        names = whole.assign(X, labels) if learns_assigned else None
        whole.extend(X, labels, np.pi / 60, names)
        if learns_assigned:
            names = cut.assign(sp.csr_matrix(X), labels)
        for piece in pieces(data, len(X), 20):
            cut.extend(
                sp.csr_matrix(X[piece]),
                labels[piece],
                np.pi / 60,
                None if names is None else names[piece],
            )
    for one, other in zip(whole.solution(0.1), cut.solution(0.1), strict=True):
        np.testing.assert_array_equal(one, other)


@examples(60)
@given(shape=SHAPES, limit=LIMITS, pruning=st.sampled_from([0.4, 1.3, 2.9, 50.0]))
def test_pruning_drops_the_smallest_up_to_the_threshold(shape, limit, pruning):
    X, labels = a_problem(*shape)
    n, every, ridge = len(X), 5, np.pi / 100
    state = HyperplaneState(X.shape[1], shape[2], 1.0, limit, pruning, every)
    for t in range(n):
        free = copy.deepcopy(state)
        free.prune_every = 10**9
        free.extend(X[t : t + 1], labels[t : t + 1], ridge)
        state.extend(X[t : t + 1], labels[t : t + 1], ridge)
        W, owners = held(free, ridge)
        if (t + 1) % every:
            np.testing.assert_array_equal(held(state, ridge)[0], W)
            continue
        norms = (W**2).sum(axis=1)
        # Else round-off decides which one is the smaller.
        assume((np.diff(np.sort(norms)) > 1e-12 * norms.max()).all())
        total, kept = 0.0, list(range(len(W)))
        for s in np.argsort(norms):
            total += norms[s]
            if (
                total <= (pruning / (ridge * (t + 1))) ** 2
                and (owners[kept] == owners[s]).sum() > 1
            ):
                kept.remove(s)
        np.testing.assert_array_equal(held(state, ridge)[0], W[kept])
        np.testing.assert_array_equal(held(state, ridge)[1], owners[kept])
        np.testing.assert_array_equal(state.names[: state.size], free.names[kept])
        np.testing.assert_array_equal(
            state.counts, np.bincount(owners[kept], minlength=shape[2])
        )
        assert not state.columns[:, state.size :].any()


def test_weights_are_handed_out_class_by_class_and_looking_changes_nothing(seed):
    X, labels = a_problem(60, 3, 3, seed)
    state = HyperplaneState(3, 3, 1.0, 4)
    state.extend(X, labels, 0.01)
    before = copy.deepcopy(state)
    weights, intercepts, owners = state.solution(0.01)
    assert (np.diff(owners) >= 0).all()
    outputs = X @ weights.T + intercepts
    order = np.argsort(state.owners[: state.size], kind="stable")
    np.testing.assert_allclose(outputs, state.outputs(X)[:, order] / 0.6, atol=1e-10)
    weights[:], intercepts[:], owners[:] = np.nan, np.nan, -1
    np.testing.assert_array_equal(state.columns, before.columns)
    np.testing.assert_array_equal(state.owners, before.owners)
