"""Estimated seconds of each method that solves (K + r I) Z = B for many ridges r.

They are functions of the sizes alone, never of a clock, so a search uses the same methods on every machine.
"""

from elmbench.numerics.shifted.band_reduction import BLOCKED_FROM

# Rates of one core of a machine of 2024; only their ratios matter.
_STREAM, _CACHED, _CACHE = 27e9, 75e9, 24e6  # bytes a second from memory, from the caches; bytes of these
_LEVEL_3, _LEVEL_2 = 48e9, 30e9  # operations a second of a blocked reduction, of dsytrd
_CHOLESKY, _SINGLE = 55e9, 95e9  # operations a second of factors in double and in single precision
_CALL = 4e-6  # seconds


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return the time of one reduction of n rows with the solutions of all ridges and columns."""
    rate = _LEVEL_2 if n < BLOCKED_FROM else _LEVEL_3
    return 4 / 3 * n**3 / rate + ridges * (2 * _CALL + columns * 8 * n * n / _LEVEL_3) + 10 * _CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return the time of one kernel system of n rows: set up, factored and solved for all columns."""
    return n**3 / 3 / _CHOLESKY + n * n * (40 / _STREAM + columns * 8 / _LEVEL_3) + 60 * _CALL


def krylov_seconds(n: int, steps: float) -> float:
    """Return the time of some steps in a `SharedSpace` of n rows; each passes seven times over all directions."""
    half, basis = 4.0 * n * n, 28.0 * n * steps
    return steps * (12 * _CALL + (half + basis) / (_CACHED if half + basis < _CACHE else _STREAM))


def inverse_seconds(n: int, ridges: int) -> float:
    """Return the time of one factor in single precision, and of steps that apply it to solve for some ridges."""
    steps = 60 + 5 * ridges
    factor = n**3 / 3 / _SINGLE + 20 * n * n / _STREAM + 20 * _CALL
    return factor + krylov_seconds(n, steps) + steps * (4.0 * n * n / _STREAM + 10 * _CALL)
