"""The loops give the same results compiled, compiled without a cache, and as plain Python."""

import subprocess
import sys
import warnings

import numpy as np

from elmbench.errors import ElmbenchWarning
from elmbench.numerics import compiled
from elmbench.numerics.online.kernel_loops import absorb, absorb_ald, kernel_row
from elmbench.numerics.online.states import DependencyState, InverseState

X = np.random.default_rng(0).random((90, 3))
T = np.stack([np.sin(4 * X[:, 0]), X[:, 1] - X[:, 2]], axis=1)


def states():
    """Return a state of each kind that has learnt the rows."""
    learnt = [
        InverseState(3, 2, 2.0, 0.01, 20),
        InverseState(3, 2, 2.0, 0.01),
        DependencyState(3, 2, 2.0, 0.01),
    ]
    for state in learnt:
        state.extend(X, T)
    return learnt


def kernel():
    """Return what the loop that compiles fastest computes."""
    out = np.empty(90)
    compiled.run_compiled(
        kernel_row,
        X[0].copy(),
        np.ascontiguousarray(X.T),
        90,
        2.0,
        np.zeros((0, 0)),
        out,
    )
    return out


def assert_same(one, other):
    # Sums in other orders, 90 updates, a condition of 1e4.
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(
            a, b, rtol=0, atol=90 * 1e4 * np.finfo(float).eps * np.abs(b).max()
        )


def test_compiled_loops_agree_with_plain_python(monkeypatch):
    results, result = states(), kernel()
    monkeypatch.setattr(compiled, "compile_loop", lambda loop, cached: loop)
    assert_same([result], [kernel()])
    for one, other in zip(results, states(), strict=True):
        assert one.size == other.size
        assert_same(
            [one.dictionary, one.solution(), one.inverse_matrix()],
            [other.dictionary, other.solution(), other.inverse_matrix()],
        )


def test_arrays_of_every_layout_share_one_compilation():
    frozen = X.copy()
    frozen.flags.writeable = False
    for rows in (frozen, np.asfortranarray(X), X[::-1], X.astype(np.float32)):
        for state in (
            InverseState(3, 2, 2.0, 0.01, 20),
            DependencyState(3, 2, 2.0, 0.01),
        ):
            state.extend(rows, T[::-1])
    for loop in (absorb, absorb_ald):
        assert len(compiled.compile_loop(loop, True).signatures) == 1


def test_without_any_folder_for_the_cache_it_warns_once_and_compiles(monkeypatch):
    from numba.core import caching

    before = [kernel()]
    monkeypatch.setattr(compiled, "_cached", True)
    monkeypatch.setattr(compiled, "compile_loop", compiled.compile_loop.__wrapped__)
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with warnings.catch_warnings(record=True) as recorded:
        warnings.simplefilter("always")
        assert_same(before, [kernel()])
    (message,) = (
        str(one.message)
        for one in recorded
        if issubclass(one.category, ElmbenchWarning)
    )
    assert "cannot be kept on disk" in message
    assert "NUMBA_CACHE_DIR" in message
    assert not compiled._cached


def test_numba_is_imported_by_the_first_fit_only():
    program = (
        "import sys, elmbench.models as m\n"
        "assert 'numba' not in sys.modules\n"
        "m.KOSELMRegressor().fit([[0.0], [1.0]], [0.0, 1.0])\n"
        "assert 'numba' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
