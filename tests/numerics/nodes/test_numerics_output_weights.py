"""Outputs of many networks against those of each alone, and against dense algebra."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_examples import examples

import elmbench.numerics.nodes.hidden_layer as nodes
import elmbench.numerics.nodes.output_weights as weights_of
import elmbench.numerics.shifted.all_ridges as shifted
from elmbench.numerics.nodes.hidden_layer import Nodes, draw_hidden_nodes, hidden_layer
from elmbench.numerics.nodes.output_weights import many_outputs, output_weights
from elmbench.numerics.shifted.all_ridges import RESIDUAL


def a_problem(n: int, largest: int, k: int, seed: int, repeated: bool = False):
    random = np.random.RandomState(seed)
    X = random.rand(n, 3)
    if repeated:
        X[n // 2 :] = X[: n - n // 2]
    return X, random.randn(n, k), *draw_hidden_nodes(largest, 3, random)


def each(X, T, weights, biases, networks, probe, solvers=None):
    """Yield of each network what was found, what its own weights give, and how much it may be off."""
    k, seen = T.shape[1], []
    half = len(probe) // 2
    probes = [hidden_layer(rows, weights, biases)[:, : len(weights)] for rows in (probe[:half], probe[half:])]
    H = np.vstack(probes)
    counter = Counter() if solvers is None else solvers
    for solved in many_outputs(X, T, Nodes(weights, biases), networks, probes, counter):
        assert solved.outputs.shape == (len(probe), len(solved.networks) * k)
        assert len(solved.close) == len(solved.slack) == len(solved.networks)
        for i, network in enumerate(solved.networks):
            size, ridge = networks[network]
            alone, _ = output_weights(X, T, Nodes(weights, biases).first(size), ridge)
            np.testing.assert_array_equal(solved.exact(i), alone)
            seen.append(network)
            allowed = solved.slack[i] * np.linalg.norm(H[:, :size], axis=1)[:, np.newaxis]
            yield solved.outputs[:, i * k : (i + 1) * k], H[:, :size] @ alone, allowed
    assert sorted(seen) == list(range(len(networks)))


@examples(100)
@given(
    n=st.integers(1, 120),
    networks=st.lists(st.tuples(st.integers(1, 260), st.integers(-8, 13)), min_size=1, max_size=8),
    k=st.integers(1, 3),
    seed=st.integers(0, 2**31 - 1),
    repeated=st.booleans(),
    row_block=st.sampled_from([32, 2048]),
    columns=st.sampled_from([1, 96]),
)
def test_each_network_as_if_alone(n, networks, k, seed, repeated, row_block, columns):
    networks = [(size, 2.0**e) for size, e in networks]
    X, T, weights, biases = a_problem(n, max(size for size, _ in networks), k, seed, repeated)
    probe = np.random.RandomState(seed).rand(20, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nodes, "ROW_BLOCK", row_block)
        patch.setattr(weights_of, "_COLUMNS", columns)
        patch.setattr(shifted, "factor_seconds", lambda n, columns: np.inf if seed % 2 else 0.0)
        for found, expected, allowed in each(X, T, weights, biases, networks, probe):
            assert (np.abs(found - expected) <= allowed).all()


@pytest.mark.parametrize("n", [30, 200])
def test_output_weights_solve_the_regularised_problem(n):
    """By their normal equations (H'H + ridge I) beta = H'T, whichever of the two systems gave them."""
    X, T, weights, biases = a_problem(n, 100, 2, 0)
    H = hidden_layer(X, weights, biases)[:, :100]
    for ridge in (2.0**-13, 1.0, 256.0):
        beta, condition = output_weights(X, T, Nodes(weights, biases), ridge)
        system = H.T @ H + ridge * np.eye(100)
        np.testing.assert_allclose(system @ beta, H.T @ T, atol=1e-9)
        other = H @ H.T + ridge * np.eye(n) if n < 100 else system
        assert 0.1 < condition / np.linalg.cond(other, 1) < 1.01


def test_what_serves_whom():
    X, T, weights, biases = a_problem(150, 300, 1, 0)
    networks = [(size, 2.0**e) for size in (20, 150, 151, 300) for e in range(22)]
    solvers = Counter()
    found = list(many_outputs(X, T, Nodes(weights, biases), networks, [np.ones((1, 300))], solvers))
    assert solvers == {"leading cholesky": 44, "reduction": 44}
    assert all(solved.close.all() for solved in found)


def test_a_wrong_reduction_is_told(monkeypatch):
    original = weights_of.solve_shifted

    def wrong(*given, **options):
        Z = original(*given, **options)
        Z[:, 1] *= 1 + 1e-6
        return Z

    monkeypatch.setattr(weights_of, "solve_shifted", wrong)
    X, T, weights, biases = a_problem(50, 90, 1, 3)
    networks = [(90, 2.0**e) for e in range(12)]
    (solved,) = many_outputs(X, T, Nodes(weights, biases), networks, [np.ones((1, 90))], Counter())
    assert solved.close.tolist() == [i != 1 for i in range(12)]
    assert solved.slack[1] > 10 * RESIDUAL


def test_ridges_below_round_off():
    """Twice the same rows: least-norm solutions, each as if alone."""
    X, T, weights, biases = a_problem(60, 90, 1, 5, repeated=True)
    networks = [(size, ridge) for size in (10, 40, 60, 90) for ridge in (1e-25, 1e-20, 1.0)]
    solvers = Counter()
    found = list(each(X, T, weights, biases, networks, X[:7], solvers))
    assert len(found) == 12
    assert solvers["cholesky"] > 0
