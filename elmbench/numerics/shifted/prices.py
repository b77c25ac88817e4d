"""What each way of solving (K + r I) Z = B for many ridges r takes, as functions of the sizes alone, never of a clock.

So a search takes the same way whatever else the machine does.
"""

from elmbench.numerics.shifted.band_reduction import BLOCKED_FROM

# Rates of one core of a machine of 2024. Only their ratios matter, and these only to what a search takes.
_STREAM, _CACHED, _CACHE = 27e9, 75e9, 24e6  # bytes a second from memory, from the caches; bytes of these
_LEVEL_3, _LEVEL_2 = 48e9, 30e9  # operations a second of a blocked reduction, of dsytrd
_CHOLESKY, _SINGLE = 55e9, 95e9  # of factors in double and in single precision
_CALL = 4e-6  # seconds


def reduction_seconds(n: int, ridges: int, columns: int) -> float:
    """Return what a reduction of n rows takes, with the solutions of so many ridges and columns."""
    rate = _LEVEL_2 if n < BLOCKED_FROM else _LEVEL_3
    return 4 / 3 * n**3 / rate + ridges * (2 * _CALL + columns * 8 * n * n / _LEVEL_3) + 10 * _CALL


def factor_seconds(n: int, columns: int) -> float:
    """Return what setting up and factoring one kernel system of n rows takes, with the solutions of so many columns."""
    return n**3 / 3 / _CHOLESKY + n * n * (40 / _STREAM + columns * 8 / _LEVEL_3) + 60 * _CALL


def inverse_seconds(n: int) -> float:
    """Return what copying and factoring a matrix of n rows in single precision takes."""
    return n**3 / 3 / _SINGLE + 20 * n * n / _STREAM + 20 * _CALL


def krylov_seconds(n: int, steps: float) -> float:
    """Return what so many steps in a `SharedSpace` of n rows take: each passes seven times over all directions."""
    half, basis = 4.0 * n * n, 28.0 * n * steps
    return steps * (12 * _CALL + (half + basis) / (_CACHED if half + basis < _CACHE else _STREAM))


def low_rank_seconds(n: int, rank: int, steps: float) -> float:
    """Return what so many steps take on n rows with an inverse of low rank, and to set that up."""
    setting_up = 2 * n * rank**2 / _CHOLESKY + 40 * n * rank / _STREAM
    return setting_up + krylov_seconds(n, steps) + steps * (16.0 * n * rank / _STREAM + 20 * _CALL)


def preconditioned_seconds(n: int, steps: float) -> float:
    """Return what so many steps take on n rows where a factor in single precision is applied in each."""
    return krylov_seconds(n, steps) + steps * (4.0 * n * n / _STREAM + 10 * _CALL)
