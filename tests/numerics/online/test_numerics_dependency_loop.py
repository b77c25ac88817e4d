"""The triangular solves of the online loop."""

from __future__ import annotations

import numpy as np
import pytest

from elmbench.numerics.online.jit import run


@pytest.mark.parametrize("m", range(14))
@pytest.mark.parametrize("name", ["solve_lower", "solve_upper"])
def test_triangular_solves(name, m, seed):
    """What is beyond m is left alone."""
    random = np.random.RandomState(seed + m)
    L = np.tril(random.rand(m + 2, m + 2)) + 2 * np.eye(m + 2)
    factor = L + np.tril(L, -1).T
    b = random.rand(m + 2)
    x = b.copy()
    run(name, factor, m, x)
    T = L if name == "solve_lower" else L.T
    np.testing.assert_allclose(T[:m, :m] @ x[:m], b[:m], rtol=1e-12)
    np.testing.assert_array_equal(x[m:], b[m:])
