"""The streamed decomposition against LAPACK's of all rows so far, and what the printed update does
instead.
"""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

from elmbench.numerics.projection import (
    StreamedDecomposition,
    extended_spectrum,
    singular_directions,
)

KINDS = (
    "random",
    "wide",
    "tall",
    "deficient",
    "constant",
    "repeated",
    "constant first",
    "far off",
    "graded",
    "clumps",
)


def data(kind: str, seed: int) -> np.ndarray:
    """Return rows of a kind, from 1 to 200 of them."""
    random = np.random.RandomState(seed)
    n, d = random.randint(1, 120), random.randint(1, 60)
    if kind == "wide":
        return random.randn(n, 400)
    if kind == "tall":
        return random.randn(200, 1 + d // 6)
    if kind == "deficient":
        rank = random.randint(1, 8)
        return random.randn(n, rank) @ random.randn(rank, d)
    if kind == "constant":
        return np.tile(random.randn(d), (n, 1))
    if kind == "repeated":
        return random.randn(7, d)[random.randint(7, size=n)]
    X = random.randn(n, d)
    if kind == "constant first":
        X[: n // 2] = X[0]
    if kind == "far off":
        X += 1e7 * random.randn(d)
    if kind == "graded":
        X *= 10.0 ** -(np.arange(d) % 12)
    if kind == "clumps":
        X[n // 2 :] += 20 * random.randn(d)  # the mean moves
    return X


def centred_rows(X: np.ndarray) -> np.ndarray:
    """Return the rows less their mean, by way of the first one, so that a large mean costs no
    digits.
    """
    apart = X - X[0]
    return apart - apart.mean(axis=0)


def streamed(X: np.ndarray, sizes: list[int]):
    """Yield the stream, the number of rows so far and their coordinates after each chunk."""
    stream, start, coordinates = StreamedDecomposition(X.shape[1]), 0, []
    for size in itertools.cycle(sizes):
        if start >= len(X):
            return
        coordinates.append(stream.update(X[start : start + size]))
        start = min(len(X), start + size)
        q = len(stream.basis)
        yield (
            stream,
            start,
            np.vstack([np.pad(c, ((0, 0), (0, q - c.shape[1]))) for c in coordinates]),
        )


@examples(50)
@given(
    kind=st.sampled_from(KINDS),
    sizes=st.lists(st.sampled_from([1, 2, 3, 7, 16, 40, 200]), min_size=1, max_size=4),
    seed=st.integers(0, 2**31 - 1),
)
def test_equals_the_batch_after_every_chunk(kind, sizes, seed):
    X = data(kind, seed)
    # Entries as large as these are what the rows themselves were rounded to.
    size = np.abs(X - X[0]).max() + 1e-300
    for stream, n, coordinates in streamed(X, sizes):
        C = centred_rows(X[:n])
        values, rotation = stream.decomposition()
        _, directions = stream.fix_signs(rotation)
        _, expected, V = np.linalg.svd(C, full_matrices=False)
        # The first rows may be all the same.
        largest = max(expected[0], np.sqrt(n) * size * 1e-4)
        longer = max(len(values), len(expected))
        values, padded = (np.pad(v, (0, longer - len(v))) for v in (values, expected))
        np.testing.assert_allclose(values, padded, rtol=0, atol=1e-10 * largest)
        np.testing.assert_allclose(
            stream.mean, X[:n].mean(axis=0), rtol=0, atol=1e-12 * np.abs(X).max()
        )
        assert stream.count == n
        np.testing.assert_allclose(
            stream.basis @ stream.basis.T, np.eye(len(stream.basis)), atol=1e-12
        )
        np.testing.assert_allclose(
            (coordinates - stream.offset) @ stream.basis,
            C,
            rtol=0,
            atol=1e-12 * n * size,
        )
        for k in (
            np.flatnonzero(padded - np.append(padded[1:], 0.0) > 1e-3 * largest) + 1
        ):
            leading = directions[:k]
            sines = np.linalg.norm(leading - (leading @ V[:k].T) @ V[:k], 2)
            assert sines < 1e-8, (k, sines)
            largest_entries = leading[np.arange(k), np.argmax(np.abs(leading), axis=1)]
            assert (largest_entries > -np.abs(leading).max(axis=1) * (1 - 1e-6)).all()


@pytest.mark.parametrize("size", [1, 16, 200])
def test_null_directions_are_dropped(size, seed):
    random = np.random.RandomState(seed)
    X = np.repeat(random.randn(6, 500), 20, axis=0)[random.permutation(120)] + 3.0
    *_, (stream, _, _) = streamed(X, [size])
    assert 5 <= len(stream.basis) <= 6
    *_, (stream, _, _) = streamed(np.full((30, 8), 1.1), [size])
    assert len(stream.basis) == 0
    assert stream.decomposition()[0].shape == (0,)


def test_not_centred_is_the_decomposition_of_the_rows_as_they_are(seed):
    X = np.random.RandomState(seed).randn(50, 12) + 5.0
    stream = StreamedDecomposition(12, centred=False)
    coordinates = [stream.update(X[:7]), stream.update(X[7:8]), stream.update(X[8:])]
    np.testing.assert_allclose(
        stream.decomposition()[0], np.linalg.svd(X, compute_uv=False), rtol=1e-12
    )
    np.testing.assert_allclose(coordinates[2] @ stream.basis, X[8:], atol=1e-12)
    np.testing.assert_array_equal(stream.mean, 0)


@pytest.mark.parametrize("kept", [3, 30])
def test_truncation_is_that_of_the_dense_matrices(kept, seed):
    random = np.random.RandomState(seed)
    X = random.randn(120, 50) * 0.9 ** np.arange(50)
    stream = StreamedDecomposition(50)
    coordinates, dense, mean, n = np.empty((0, 0)), np.empty((0, 50)), np.zeros(50), 0
    for start, stop in ((0, 40), (40, 56), (56, 57), (57, 90), (90, 120)):
        new = stream.update(X[start:stop])
        q = new.shape[1]
        coordinates = np.vstack(
            [np.pad(coordinates, ((0, 0), (0, q - coordinates.shape[1]))), new]
        )
        values, rotation = stream.decomposition()
        coordinates = coordinates @ stream.truncate(values[:kept], rotation[:kept])
        # The rows that are left of the earlier ones, and the new ones, less the mean of all; the
        # best of that rank.
        joined = np.vstack([dense + mean, X[start:stop]])
        mean = X[:stop].mean(axis=0)
        U, S, V = np.linalg.svd(joined - mean, full_matrices=False)
        dense, n = (U[:, :kept] * S[:kept]) @ V[:kept], stop
        np.testing.assert_allclose(
            (coordinates - stream.offset) @ stream.basis, dense, atol=1e-10
        )
        np.testing.assert_allclose(
            stream.decomposition()[0][:kept], S[:kept], atol=1e-10
        )
        np.testing.assert_allclose(stream.mean, mean, atol=1e-12)
    assert stream.count == n
    assert len(stream.basis) <= kept


def printed_update(U, S, V, mean, B):
    """Eqs. (14) to (26) as they are printed, but Q V_f for V_f Q; samples are columns. Return U, S,
    V and the mean.
    """
    n_a, n_b = len(V), B.shape[1]
    extended = np.vstack([B - mean[:, None], np.ones(n_b)])
    apart = extended - U @ (U.T @ extended)
    P, triangle = np.linalg.qr(apart)
    P = P[:, np.abs(np.diag(triangle)) > 1e-10]
    M = np.block(
        [[np.diag(S), U.T @ extended], [np.zeros((P.shape[1], len(S))), P.T @ extended]]
    )
    inner, S, right = np.linalg.svd(M, full_matrices=False)
    U = np.hstack([U, P]) @ inner
    V = (
        np.block(
            [[V, np.zeros((n_a, n_b))], [np.zeros((n_b, V.shape[1])), np.eye(n_b)]]
        )
        @ right.T
    )
    Q, R = np.linalg.qr(V - V.mean(axis=0))
    U, S, right = np.linalg.svd((U * S) @ R.T, full_matrices=False)
    return U, S, Q @ right.T, (n_a * mean + B.sum(axis=1)) / (n_a + n_b)


def test_the_printed_update_loses_the_row_of_ones(seed):
    """Eqs. (17) and (18) take the mean off the ones too, which leaves zeros, and then a centred
    indicator of chunks.
    """
    X = np.random.RandomState(seed).randn(60, 9)
    edges = (0, 30, 45, 60)
    mean = X[:30].mean(axis=0)
    U, S, right = np.linalg.svd(
        np.vstack([(X[:30] - mean).T, np.ones(30)]), full_matrices=False
    )
    V = right.T
    stream = StreamedDecomposition(9)
    stream.update(X[:30])
    for start, stop in itertools.pairwise(edges[1:]):
        U, S, V, mean = printed_update(U, S, V, mean, X[start:stop].T)
        stream.update(X[start:stop])
        printed = (U * S) @ V.T
        C = centred_rows(X[:stop])
        np.testing.assert_allclose(mean, X[:stop].mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(printed[:-1], C.T, atol=1e-10)
        if start == 30:
            np.testing.assert_allclose(printed[-1], 0, atol=1e-10)
        else:
            last = np.arange(stop) >= start
            np.testing.assert_allclose(printed[-1], last - last.mean(), atol=1e-10)
        batch = np.linalg.svd(np.vstack([C.T, np.ones(stop)]), compute_uv=False)
        assert np.abs(S[:10] - batch[:10]).max() > 0.1
        ours = extended_spectrum(stream.decomposition()[0], stop, stream.mean)
        np.testing.assert_allclose(ours.values, batch, atol=1e-10)


def test_wide_rows_make_no_square_matrix():
    d = 20_000
    X = np.random.RandomState(0).randn(60, d)
    tracemalloc.start()
    stream = StreamedDecomposition(d)
    for start in range(0, 60, 16):
        stream.update(X[start : start + 16])
    stream.fix_signs(stream.decomposition()[1])
    singular_directions(X - X.mean(axis=0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes < 8 * d**2 / 40


def test_what_is_kept_of_tall_rows_does_not_grow_with_them():
    random = np.random.RandomState(0)

    def held(n: int) -> int:
        stream = StreamedDecomposition(20)
        for _ in range(n // 100):
            stream.update(random.randn(100, 20))
        return sum(
            value.nbytes
            for value in vars(stream).values()
            if isinstance(value, np.ndarray)
        )

    assert held(400) == held(20_000)
    tracemalloc.start()
    held(20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 20_000 * 20 / 4
