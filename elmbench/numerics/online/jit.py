"""Compilation of the loops of the online models at their first use.

The first call of `run` imports numba, so importing the models stays fast.
"""

import warnings
import zlib
from pathlib import Path
from types import FunctionType
from typing import Any

from elmbench.errors import ElmbenchWarning
from elmbench.numerics.online import budget_loop, dependency_loop, hyperplane_loop, inverse_loop, rank_one

MODULES = (rank_one, inverse_loop, dependency_loop, budget_loop, hyperplane_loop)
"""Modules with loops; each uses only those before it."""

_cached = True
_built: dict[bool, dict[str, Any]] = {}


def run(name: str, *arguments: Any) -> Any:
    """Call a compiled loop, a function of one of `MODULES` that changes its arguments in place.

    An `ElmbenchWarning` is issued once if the compiled code cannot be cached on disk.
    """
    global _cached
    try:
        if _cached not in _built:
            _built[_cached] = build(_cached)
        return _built[_cached][name](*arguments)
    except (OSError, RuntimeError) as error:
        # The cache fails before the loop changes anything; loops raise none of these errors.
        if not _cached:
            raise
        _cached = False
        warnings.warn(
            "the compiled loops of the online models cannot be kept on disk, so every process compiles them again, "
            f"which takes seconds ({type(error).__name__}: {str(error).strip().splitlines()[:1]}). "
            "Next: let the environment variable NUMBA_CACHE_DIR name a folder that can be written to.",
            ElmbenchWarning,
            stacklevel=2,
        )
        return run(name, *arguments)


def build(cached: bool) -> dict[str, Any]:
    """Return every loop by name, compiled at its first call."""
    from numba import njit

    # No fast-math, so sums keep their order. The error model only saves a test before each division.
    decorate = njit(cache=cached, error_model="numpy")
    functions: dict[str, Any] = {}
    # numba only notices changes in a function's own file, not in those of its callees, so the cache's name depends on
    # all sources.
    stamp = 0
    for module in MODULES:
        stamp = zlib.crc32(Path(str(module.__file__)).read_bytes(), stamp)
    for module in MODULES:
        namespace = {**vars(module), **functions}
        for name, function in vars(module).items():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                copy = FunctionType(function.__code__, namespace, name, function.__defaults__)
                copy.__module__ = module.__name__
                copy.__qualname__ = f"{name}_{stamp:08x}"
                namespace[name] = functions[name] = decorate(copy)
    return functions
