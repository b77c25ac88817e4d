"""Projections of two classes through random layers: against all rows at once, in blocks, where
nothing varies.
"""

import numpy as np
import pytest

from elmbench.numerics.nodes.hidden_layer import (
    node_outputs,
    projected_classes,
    unit_columns,
)

SIZES = (1, 7, 64, 90)


def problem(n: int = 150, d: int = 4, offset: float = 0.0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, d)) + offset
    positive = rng.uniform(size=n) < 0.3
    return (
        X,
        positive,
        rng.uniform(size=(90, d)),
        rng.uniform(size=90),
        rng.normal(size=(90, 25)),
    )


@pytest.mark.parametrize("activation", ["sigmoid", "nsig", "rbf"])
def test_means_and_variances_of_each_class(activation: str) -> None:
    X, positive, weights, biases, drawn = problem()
    sets = [unit_columns(drawn, size) for size in SIZES]
    means, variances = projected_classes(X, positive, weights, biases, activation, sets)
    H = node_outputs(X, weights, biases, activation)
    for size, B, mean, variance in zip(SIZES, sets, means, variances, strict=True):
        Z = H[:, :size] @ B
        for side, rows in enumerate((~positive, positive)):
            np.testing.assert_allclose(
                mean[:, side], Z[rows].mean(axis=0) - Z[0], rtol=0, atol=1e-13
            )
            np.testing.assert_allclose(
                variance[:, side], Z[rows].var(axis=0), rtol=1e-9
            )


def test_variances_far_from_zero_keep_their_digits() -> None:
    """Outputs next to one: their squares less the square of their mean would be nothing but
    round-off.
    """
    X, positive, weights, biases, drawn = problem(d=20, offset=1.0)
    sets = [unit_columns(drawn, 90)]
    _, (variances,) = projected_classes(X, positive, weights, biases, "sigmoid", sets)
    H = node_outputs(X, weights, biases, "sigmoid").astype(np.longdouble)
    Z = H @ sets[0]
    for side, rows in enumerate((~positive, positive)):
        expected = Z[rows].var(axis=0).astype(float)
        np.testing.assert_allclose(variances[:, side], expected, rtol=1e-7)
        squares = Z[rows].astype(float) ** 2
        naive = squares.mean(axis=0) - Z[rows].astype(float).mean(axis=0) ** 2
        assert np.abs(naive / expected - 1).max() > 1e-5


def test_where_no_node_varies_all_is_exactly_zero() -> None:
    X, positive, weights, biases, drawn = problem(d=600, offset=1.0)
    sets = [unit_columns(drawn, size) for size in SIZES]
    means, variances = projected_classes(X, positive, weights, biases, "sigmoid", sets)
    assert not any(values.any() for values in (*means, *variances))
