"""ELM on CSR rows: what dense rows give, without a dense copy of them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import FACTORS, SHAPES, class_of, real_outputs, rows, sparse_rows, targets
from hypothesis import given
from hypothesis import strategies as st
from path_rule import assert_path_follows_fits
from random_examples import examples
from test_elm_grids import PROBLEMS, a_problem

from elmbench.models import ELMClassifier, ELMRegressor, OSELMRegressor
from elmbench.numerics.arrays import EPS
from elmbench.numerics.nodes.hidden_layer import ACTIVATIONS

KINDS = ["binary", "multi", "regression", "two-targets"]


@examples(120)
@given(
    shape=SHAPES,
    n_hidden=st.integers(1, 150),
    C=FACTORS,
    kind=st.sampled_from(KINDS),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    slope=st.sampled_from([0.25, 1.0, 4.0]),
    container=st.sampled_from([sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array]),
)
def test_csr_rows_give_what_dense_ones_do(shape, n_hidden, C, kind, activation, slope, container):
    n, d, seed = shape
    X, probe = sparse_rows(rows(n, d, seed), seed), sparse_rows(rows(12, d, seed + 1), seed + 1)
    y = targets(X, seed, kind)
    model = class_of("ELM", kind)(n_hidden=n_hidden, C=C, activation=activation, slope=slope, random_state=seed)
    expected = real_outputs(model.fit(X, y), probe)
    condition = model.condition_
    found = real_outputs(model.fit(container(X), y), container(probe))
    # A hidden output differs by up to slope d^2 eps, as its sum has another order; products of them by so many
    # roundings as they have rows or nodes. Outputs differ by so much times the condition, over the targets' norm.
    size = np.abs(y).max() if kind in ("regression", "two-targets") else 1.0
    allowed = 4 * (slope * d * d + n + n_hidden) * EPS * condition * size * np.sqrt(n)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)
    np.testing.assert_array_equal(model.fit(X, y).weights_, model.fit(container(X), y).weights_)


@examples(60)
@given(
    problem=PROBLEMS,
    pairs=st.lists(st.tuples(st.integers(1, 200), FACTORS), min_size=1, max_size=5),
    slope=st.sampled_from([1.0, 3.0]),
)
def test_grid_of_csr_rows_equals_fits(problem, pairs, slope):
    X, y, folds = a_problem(**problem)
    X = sp.csr_matrix(sparse_rows(X, problem["seed"]))
    candidates = [dict(zip(("n_hidden", "C"), pair, strict=True)) for pair in pairs]
    cls = class_of("ELM", problem["kind"])
    assert_path_follows_fits(cls, X, y, folds, candidates, random_state=problem["seed"] % 7, slope=slope)


def test_several_blocks_of_csr_rows(seed):
    X = sparse_rows(rows(4500, 4, seed), seed)
    y = targets(X, seed, "regression")
    dense, sparse = (ELMRegressor(n_hidden=70, C=4.0, random_state=0).fit(A, y) for A in (X, sp.csr_matrix(X)))
    np.testing.assert_allclose(sparse.predict(sp.csr_matrix(X)), dense.predict(X), rtol=0, atol=1e-8)
    folds = [(np.arange(2500), np.arange(2500, 4500)), (np.arange(2000, 4500), np.arange(2000))]
    candidates = [{"n_hidden": 70}, {"n_hidden": 20}]
    assert_path_follows_fits(ELMRegressor, sp.csr_matrix(X), y, folds, candidates, C=4.0, random_state=0)


@pytest.mark.parametrize(("n", "n_hidden"), [(400, 100), (400, 20), (60, 100)])
def test_wide_rows_are_never_made_dense(n, n_hidden, seed):
    """A fit stays within its estimate, which has the weights, dense as they are; so do the outputs and the grid."""
    d = 100_000
    X = sp.random_array((n, d), density=3e-4, format="csr", rng=np.random.default_rng(seed))
    y = np.where(np.asarray(X.sum(axis=1)).ravel() > X.sum() / n, 1, -1)
    ELMClassifier(n_hidden=3, random_state=0).fit(X[:50, :9], y[:50])
    estimate = ELMClassifier.memory_estimate(n, d, 1, n_hidden=n_hidden)
    folds = [(np.arange(n // 2), np.arange(n // 2, n))]
    model = ELMClassifier(n_hidden=n_hidden, random_state=0)
    candidates, fixed = [{"C": 1.0}, {"C": 8.0}], {"n_hidden": n_hidden, "random_state": 0}
    peaks = []
    for step in (
        lambda: model.fit(X, y),
        lambda: model.predict(X),
        lambda: list(ELMClassifier.evaluate_grid(X, y, folds, candidates, **fixed)),
    ):
        tracemalloc.start()
        step()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    rows_as_given = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    assert 0.5 * estimate < peaks[0]
    assert max(peaks) < estimate + rows_as_given
    assert n == 60 or max(peaks) < 8 * n * d


@pytest.mark.parametrize("start", ["pinv", "ridge"])
@pytest.mark.parametrize("kind", KINDS)
def test_csr_rows_give_what_dense_ones_do_block_by_block(start, kind, seed):
    X, probe = sparse_rows(rows(90, 6, seed), seed), sparse_rows(rows(12, 6, seed + 1), seed + 1)
    y = targets(X, seed, kind)
    model = class_of("OSELM", kind)(n_hidden=9, C=4.0, initial_batch=40, batch_size=16, start=start, random_state=seed)
    expected = real_outputs(model.fit(X, y), probe)
    # As for ELM, with the condition of what is carried on, once more for each of the four later blocks.
    size = max(1.0, np.abs(expected).max(), np.abs(y).max() if kind in ("regression", "two-targets") else 1.0)
    allowed = 4 * (6 * 6 + 90 + 9) * EPS * 4 * model.condition_ * size * np.sqrt(90)
    np.testing.assert_allclose(
        real_outputs(model.fit(sp.csr_matrix(X), y), sp.csr_array(probe)), expected, atol=allowed
    )
    for block in (slice(0, 40), slice(40, 90)):
        whole = {} if kind in ("regression", "two-targets") else {"classes": np.unique(y)}
        model = model if block.start else class_of("OSELM", kind)(**model.get_params())
        model.partial_fit(sp.csr_matrix(X[block]), y[block], **whole)
    np.testing.assert_allclose(real_outputs(model, sp.csr_matrix(probe)), expected, atol=allowed)
    assert model.n_seen_ == 90


def test_wide_rows_are_never_made_dense_block_by_block(seed):
    d = 100_000
    X = sp.random_array((400, d), density=3e-4, format="csr", rng=np.random.default_rng(seed))
    y = np.asarray(X.sum(axis=1)).ravel()
    OSELMRegressor(n_hidden=3, random_state=0).fit(X[:50, :9], y[:50])
    tracemalloc.start()
    OSELMRegressor(n_hidden=20, initial_batch=40, batch_size=16, random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    estimate = OSELMRegressor.memory_estimate(400, d, 1, n_hidden=20, initial_batch=40, batch_size=16)
    assert 0.5 * estimate < peak < estimate + X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    assert peak < 8 * 400 * d / 2
