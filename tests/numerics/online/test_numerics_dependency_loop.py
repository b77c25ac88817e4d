"""The triangular solves of the online loop."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.numerics.online.jit import run


def one_row_at_a_time(factor: np.ndarray, m: int, b: np.ndarray, order: list[int]) -> np.ndarray:
    """Substitute in the given order: each row is taken off those after it."""
    x = b.copy()
    for place, j in enumerate(order):
        x[j] /= factor[j, j]
        rest = order[place + 1 :]
        x[rest] -= factor[j, rest] * x[j]
    return x


@pytest.mark.parametrize("m", range(14))
@pytest.mark.parametrize("name", ["solve_lower", "solve_upper"])
def test_triangular_solves(name, m, seed):
    """To the last bit those of one row at a time; what is beyond m is left alone."""
    random = np.random.RandomState(seed + m)
    L = np.tril(random.rand(m + 2, m + 2)) + 2 * np.eye(m + 2)
    factor = L + np.tril(L, -1).T
    b = random.rand(m + 2)
    x = b.copy()
    run(name, factor, m, x)
    order = list(range(m)) if name == "solve_lower" else list(range(m))[::-1]
    np.testing.assert_array_equal(x, one_row_at_a_time(factor, m, b, order))
    T = L if name == "solve_lower" else L.T
    np.testing.assert_allclose(T[:m, :m] @ x[:m], b[:m], rtol=1e-12)
