"""Output weights of many networks against those of each alone, and against dense algebra."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.nodes.hidden_layer as nodes
import elmbench.numerics.ridge_path as ridge_path
from elmbench.numerics.nodes.hidden_layer import Nodes, draw_hidden_nodes, hidden_layer
from elmbench.numerics.nodes.output_weights import many_weights, output_weights

EPS = np.finfo(float).eps


def a_problem(n: int, largest: int, k: int, seed: int, repeated: bool = False):
    random = np.random.RandomState(seed)
    X = random.rand(n, 3)
    if repeated:
        X[n // 2 :] = X[: n - n // 2]
    return X, random.randn(n, k), Nodes(*draw_hidden_nodes(largest, 3, random))


def assert_each_is_as_if_alone(X, T, all_nodes, networks, solvers):
    """By the outputs, which agree to the rule of the paths."""
    k, seen = T.shape[1], []
    H = all_nodes.outputs(X)
    for places, weights in many_weights(X, T, all_nodes, networks, solvers):
        assert weights.shape == (max(networks[i][0] for i in places), len(places) * k)
        for i, place in enumerate(places):
            size, ridge = networks[place]
            found = weights[:, i * k : (i + 1) * k]
            assert not found[size:].any()
            alone, system = output_weights(X, T, all_nodes.first(size), ridge)
            expected = H[:, :size] @ alone
            allowed = min(max(1e-10, 10 * system.condition * EPS), 1e9) * np.abs(expected).max()
            np.testing.assert_allclose(H[:, :size] @ found[:size], expected, rtol=0, atol=allowed)
            seen.append(place)
    assert sorted(seen) == list(range(len(networks)))


@examples(100)
@given(
    n=st.integers(1, 120),
    networks=st.lists(st.tuples(st.integers(1, 260), st.integers(-8, 13)), min_size=1, max_size=8),
    k=st.integers(1, 3),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
    row_block=st.sampled_from([32, 2048]),
)
def test_each_network_as_if_alone(n, networks, k, seed, repeated, row_block):
    networks = [(size, 2.0**e) for size, e in networks]
    X, T, all_nodes = a_problem(n, max(size for size, _ in networks), k, seed, repeated)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "ROW_BLOCK", row_block)
        patch.setattr(ridge_path, "factor_seconds", lambda n, columns: np.inf if seed % 2 else 0.0)
        assert_each_is_as_if_alone(X, T, all_nodes, networks, Counter())


@pytest.mark.parametrize("n", [30, 200])
def test_output_weights_solve_the_regularised_problem(n):
    """By their normal equations (H'H + ridge I) beta = H'T, whichever of the two systems gave them."""
    X, T, all_nodes = a_problem(n, 100, 2, 0)
    H = hidden_layer(X, all_nodes.weights, all_nodes.biases)
    for ridge in (2.0**-13, 1.0, 256.0):
        beta, solved = output_weights(X, T, all_nodes, ridge)
        system = H.T @ H + ridge * np.eye(100)
        np.testing.assert_allclose(system @ beta, H.T @ T, atol=1e-9)
        other = H @ H.T + ridge * np.eye(n) if n < 100 else system
        assert 0.1 < solved.condition / np.linalg.cond(other, 1) < 1.01


def test_what_serves_whom():
    X, T, all_nodes = a_problem(150, 300, 1, 0)
    networks = [(size, 2.0**e) for size in (20, 150, 151, 300) for e in range(22)]
    solvers: Counter[str] = Counter()
    found = list(many_weights(X, T, all_nodes, networks, solvers))
    assert solvers == {"leading cholesky": 44, "reduction": 44}
    assert [len(places) for places, _ in found] == [2] * 22 + [22] * 2


def test_ridges_below_round_off():
    """Twice the same rows: least-norm solutions, each as if alone."""
    X, T, all_nodes = a_problem(60, 90, 1, 5, repeated=True)
    networks = [(size, ridge) for size in (10, 40, 60, 90) for ridge in (1e-25, 1e-20, 1.0)]
    solvers: Counter[str] = Counter()
    assert_each_is_as_if_alone(X, T, all_nodes, networks, solvers)
    assert solvers["eigenvalues"] > 0
    for _, weights in many_weights(X, T, all_nodes, [(90, 1e-25)], solvers):
        H = all_nodes.outputs(X)
        U, s, _ = np.linalg.svd(H, full_matrices=False)
        kept = s > 1e-7 * s[0]
        # HH' knows an eigenvalue to n eps of the largest one: of a direction, that share of what is along it is unsure.
        along, unsure = (U.T @ T)[kept], len(H) * EPS * (s[0] / s[kept]) ** 2
        bound = 10 * np.linalg.norm(along * unsure[:, np.newaxis])
        np.testing.assert_allclose(H @ weights, U[:, kept] @ along, rtol=0, atol=bound)
        assert bound < 0.1 * np.linalg.norm(T)
