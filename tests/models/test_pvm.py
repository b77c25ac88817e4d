"""PVM against the formulas of its paper, OS-PVM against PVM, chunk by chunk, and what its options
change.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from elm_problems import peak_of, problem, rows, targets
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples
from scipy.special import expit
from sklearn.base import clone

from elmbench.models import OSPVMClassifier, PVMClassifier
from elmbench.models.pvm import centred_decomposition
from elmbench.numerics.projection import Spectrum

ACTIVATIONS = {"sigmoid": expit, "tanh": np.tanh, "relu": lambda Z: np.maximum(Z, 0.0)}
MODELS = {
    "pvm": PVMClassifier(),
    "exact": OSPVMClassifier(initial_batch=7, batch_size=5),
    "truncate": OSPVMClassifier(mode="truncate", initial_batch=7, batch_size=5),
    "first mean": OSPVMClassifier(update_mean=False, initial_batch=7, batch_size=5),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@examples(80)
@given(
    n=st.integers(2, 80),
    d=st.integers(1, 100),
    n_hidden=st.none() | st.integers(1, 120),
    theta=st.sampled_from([0.3, 0.96, 1.0]),
    ratio=st.sampled_from(["linear", "squared"]),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    kind=st.sampled_from(["binary", "multi", "one"]),
    seed=st.integers(0, 2**31 - 1),
)
def test_pvm_equals_the_formulas_of_the_paper(
    n, d, n_hidden, theta, ratio, activation, kind, seed
):
    """Eqs. (6) to (10) and (27), with the row of ones in the matrix that is decomposed."""
    X = np.random.RandomState(seed).randn(n, d)
    y = targets(X, seed, kind)
    model = PVMClassifier(
        n_hidden=n_hidden, theta=theta, ratio=ratio, activation=activation
    ).fit(X, y)
    extended = np.vstack([(X - X.mean(axis=0)).T, np.ones(n)])
    U, S, _ = np.linalg.svd(extended, full_matrices=False)
    rank = int((S / S[0] > 1e-10).sum())
    U, S = U[:, :rank], S[:rank]
    sums = np.cumsum(S ** {"linear": 1, "squared": 2}[ratio])
    size = len(S) if theta == 1.0 else int(np.argmax(sums >= theta * sums[-1])) + 1
    size = size if n_hidden is None else min(n_hidden, len(S))
    np.testing.assert_allclose(model.singular_values_, S, atol=1e-11 * S[0])
    assert model.n_units_ == size
    H = ACTIVATIONS[activation](extended.T @ _with_signs(U[:, :size]))
    classes = np.unique(y)
    T = (
        np.where(y[:, None] == classes, 1.0, -1.0)
        if len(classes) > 2
        else np.where(y == classes[-1], 1.0, -1.0)
    )
    beta, _, _, singular = np.linalg.lstsq(H, T, rcond=n * 2.2e-16)
    gap = np.abs(np.diff(np.append(S, 0.0)[: size + 1])).min()
    condition = singular[0] / singular[-1]
    if condition < 1e6 and gap > 1e-4 * S[0]:
        atol = 1e-9 * condition * (S[0] / gap) * (1 + np.abs(beta).max())
        np.testing.assert_allclose(
            model.decision_function(X), H @ beta, rtol=0, atol=atol
        )


def _with_signs(U):
    return U * np.where(
        U[np.argmax(np.abs(U), axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0
    )


def test_one_node_is_constant_and_no_other_has_a_bias():
    X = rows(50, 6, 0) * 3
    model = PVMClassifier(theta=1.0).fit(X, targets(X, 0, "binary"))
    assert model.n_units_ == 7
    biased = np.flatnonzero(model.biases_)
    np.testing.assert_array_equal(model.biases_[biased], [1.0])
    np.testing.assert_array_equal(model.weights_[biased], np.zeros((1, 6)))
    assert model.singular_values_[biased] == np.sqrt(50)
    assert (np.diff(model.singular_values_) <= 0).all()


@each_model
@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("value", [1.1, 1e90])
def test_constant_rows_leave_one_node_and_the_majority_class(model, n, value):
    """Nothing but the node that is constant: the class of most rows."""
    X, y = np.full((n, 5), value), np.array([2, 1, 1] * 10)[:n]
    fitted = clone(model).fit(X, y)
    assert fitted.n_units_ == 1
    assert np.isfinite(fitted.decision_function(X)).all()
    if n == 30:
        assert set(fitted.predict(X)) == {1}


def test_sparse_rows_are_never_dense_all_at_once():
    tall = sp.random(12_000, 400, density=0.02, random_state=0, format="csr")
    assert peak_of(lambda: centred_decomposition(tall)) < 8 * 12_000 * 400 / 2
    X, y = (
        sp.random(3000, 2000, density=0.02, random_state=0, format="csr"),
        np.arange(3000) % 3,
    )
    model = OSPVMClassifier(n_hidden=20, mode="truncate").fit(X[:50], y[:50])
    assert peak_of(lambda: model.fit(X, y)) < 8 * 3000 * 2000 / 3


def close_to_batch(model, batch, X, probe):
    """Assert that two models are the same but for round-off, which close singular values and nodes
    make larger.
    """
    values = batch.singular_values_
    np.testing.assert_allclose(
        model.singular_values_, values, rtol=0, atol=1e-10 * values[0]
    )
    np.testing.assert_allclose(
        model.mean_, batch.mean_, rtol=0, atol=1e-12 * np.abs(X).max()
    )
    assert model.n_units_ == batch.n_units_
    size = batch.n_units_
    below = values[size] if size < len(values) else 0.0
    gap = np.abs(np.diff(np.append(values[:size], below))).min()
    if gap < 1e-5 * values[0]:
        return
    turned = 1e-13 * len(X) * values[0] / gap
    np.testing.assert_allclose(model.weights_, batch.weights_, rtol=0, atol=turned)
    np.testing.assert_array_equal(model.biases_, batch.biases_)
    expected = batch.decision_function(probe)
    longest = np.linalg.norm(probe - batch.mean_, axis=1).max()
    atol = max(1e-10, 10 * batch.condition_ * turned * longest) * max(
        1.0, np.abs(expected).max()
    )
    np.testing.assert_allclose(
        model.decision_function(probe), expected, rtol=0, atol=atol
    )


@examples(60)
@given(
    shape=st.sampled_from([(60, 8), (40, 100), (200, 12), (25, 25)]),
    rank=st.sampled_from([None, 4]),
    initial_batch=st.sampled_from([1, 7, 40, 200]),
    batch_size=st.sampled_from([1, 3, 16, 200]),
    options=st.sampled_from(
        [
            {},
            {"n_hidden": 6},
            {"theta": 1.0},
            {"ratio": "squared", "activation": "tanh"},
        ]
    ),
    kind=st.sampled_from(["binary", "multi"]),
    seed=st.integers(0, 2**31 - 1),
)
def test_exact_mode_equals_the_batch_for_any_chunks(
    shape, rank, initial_batch, batch_size, options, kind, seed
):
    """Table 12: the same hidden nodes, training and testing accuracy."""
    random = np.random.RandomState(seed)
    n, d = shape
    mixed = (
        random.randn(d, d)
        if rank is None
        else random.randn(d, rank) @ random.randn(rank, d)
    )
    X, probe = random.randn(n, d) @ mixed + 3, random.randn(20, d) @ mixed + 3
    y = targets(X, seed, kind)
    online = OSPVMClassifier(
        initial_batch=initial_batch, batch_size=batch_size, **options
    ).fit(X, y)
    close_to_batch(online, PVMClassifier(**options).fit(X, y), X, probe)
    assert online.n_seen_ == n


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "truncate"},
        {"update_mean": False},
        {"mode": "truncate", "theta": 0.7},
    ],
)
def test_fit_is_partial_fit_with_its_chunks(options, seed):
    X = rows(100, 20, seed) * np.geomspace(1, 20, 20)
    y = targets(X, seed, "multi")
    whole = OSPVMClassifier(initial_batch=30, batch_size=16, **options).fit(X, y)
    stepwise = OSPVMClassifier(**options)
    for start, stop in itertools.pairwise((0, 30, 46, 62, 78, 94, 100)):
        stepwise.partial_fit(X[start:stop], y[start:stop], classes=np.unique(y))
    assert stepwise.n_units_ == whole.n_units_
    np.testing.assert_allclose(
        stepwise.decision_function(X),
        whole.decision_function(X),
        atol=1e-9 * whole.condition_,
    )
    np.testing.assert_allclose(stepwise.mean_, whole.mean_, atol=1e-14)


def test_partial_fit_after_fit_goes_on(seed):
    X, y = problem(60, 4, seed, "binary")
    model = OSPVMClassifier().fit(X[:35], y[:35]).partial_fit(X[35:], y[35:])
    close_to_batch(model, PVMClassifier().fit(X, y), X, X)


def truncated(X, edges, n_hidden, theta, ratio):
    """Return nodes, singular values and rows of the truncating mode: dense matrices, decomposed
    after every chunk.
    """
    earlier, mean = np.empty((0, X.shape[1])), np.zeros(X.shape[1])
    for start, stop in itertools.pairwise(edges):
        joined = np.vstack([earlier + mean, X[start:stop]])
        mean = X[:stop].mean(axis=0)
        extended = np.vstack([(joined - mean).T, np.ones(stop)])
        U, S, V = np.linalg.svd(extended, full_matrices=False)
        spectrum = Spectrum(S[S / S[0] > 1e-10], np.zeros(0, dtype=bool))
        size = n_hidden or spectrum.node_count(theta, ratio)
        size = min(size, len(spectrum.values))
        U, S, V = U[:, :size], S[:size], V[:size]
        earlier = ((U * S) @ V)[:-1].T
        # Their mean is zero but for round-off, which grows from chunk to chunk where the ones are
        # next to be kept.
        earlier -= earlier.mean(axis=0)
    return _with_signs(U), S, earlier


@pytest.mark.parametrize("shape", [(100, 12), (70, 150)])
@pytest.mark.parametrize(
    ("n_hidden", "theta", "ratio"),
    [(None, 0.9, "linear"), (None, 0.96, "squared"), (8, 0.9, "linear")],
)
@pytest.mark.parametrize("batch_size", [1, 16])
def test_truncating_mode_is_a_rank_cut_after_every_chunk(
    shape, n_hidden, theta, ratio, batch_size, seed
):
    n, d = shape
    X = np.random.RandomState(seed).randn(n, d) * np.geomspace(6, 0.5, d)
    y = targets(X, seed, "multi")
    options = {"n_hidden": n_hidden, "theta": theta, "ratio": ratio}
    model = OSPVMClassifier(
        **options, mode="truncate", initial_batch=40, batch_size=batch_size
    ).fit(X, y)
    U, S, earlier = truncated(
        X, [0, *range(40, n, batch_size), n], n_hidden, theta, ratio
    )
    assert model.n_units_ == len(S)
    np.testing.assert_allclose(model.singular_values_, S, atol=1e-9 * S[0])
    np.testing.assert_allclose(model.weights_, U[:-1].T, atol=1e-6)
    np.testing.assert_allclose(model.biases_, U[-1], atol=1e-6)
    # What is learnt from is the truncated rows, eq. (29), not the rows along the directions.
    H = expit(np.column_stack([earlier, np.ones(n)]) @ U)
    T = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    np.testing.assert_allclose(
        model.beta_,
        np.linalg.lstsq(H, T)[0],
        atol=1e-5 * (1 + np.abs(model.beta_).max()),
    )
    if n_hidden is None:
        assert model.n_units_ < PVMClassifier(**options).fit(X, y).n_units_
    else:
        assert model.n_units_ == n_hidden


def test_without_an_update_the_mean_is_that_of_the_first_chunk(seed):
    """The directions are those of [x - mean of the first; 1] of all rows, so every node has a
    bias.
    """
    random = np.random.RandomState(seed)
    X = random.randn(120, 6) * np.geomspace(6, 1, 6)
    X[40:] += 4.0
    y = targets(X, seed, "multi")
    model = OSPVMClassifier(theta=1.0, update_mean=False).fit(X, y)
    mean = X[:40].mean(axis=0)
    np.testing.assert_allclose(model.mean_, mean, atol=1e-12)
    U, S, _ = np.linalg.svd(
        np.vstack([(X - mean).T, np.ones(120)]), full_matrices=False
    )
    np.testing.assert_allclose(model.singular_values_, S, rtol=1e-11)
    np.testing.assert_allclose(
        np.column_stack([model.weights_, model.biases_]), _with_signs(U).T, atol=1e-7
    )
    assert (np.abs(model.biases_) > 1e-8).all()
    updated = OSPVMClassifier(theta=1.0).fit(X, y)
    assert np.abs(updated.mean_ - mean).max() > 1
    assert (
        np.abs(updated.decision_function(X) - model.decision_function(X)).max() > 0.01
    )
    first = OSPVMClassifier(theta=1.0, update_mean=False).fit(X[:40], y[:40])
    # as long as there is the first chunk only, it is the same model but for signs
    np.testing.assert_allclose(
        np.sort(first.singular_values_),
        np.sort(PVMClassifier(theta=1.0).fit(X[:40], y[:40]).singular_values_),
    )


def test_the_node_of_the_ones_may_be_all_that_a_cut_leaves(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Rows that lie close together: the square root of their number is by far the largest singular
    value.
    """
    rng = np.random.default_rng(0)
    X, y = 1e-6 * rng.standard_normal((60, 30)), rng.integers(2, size=60)
    model = OSPVMClassifier(mode="truncate", batch_size=1).fit(X, y)
    assert np.array_equal(model.weights_, np.zeros((1, 30)))
    assert np.array_equal(model.biases_, [1.0])
    assert len(set(model.predict(X))) == 1
    assert capfd.readouterr() == ("", "")
