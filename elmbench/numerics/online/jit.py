"""Compiling the loops of the online models at their first use, or running them as they are where that fails.

numba is imported by the first call of `run`, not by this module: importing the models stays light.
"""

import sys
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from elmbench.errors import ElmbenchWarning
from elmbench.numerics.online import budget_loop, dependency_loop, hyperplane_loop, inverse_loop, rank_one

MODULES = (rank_one, inverse_loop, dependency_loop, budget_loop, hyperplane_loop)
"""Where the loops are, each module using those before it only."""

CACHED, UNCACHED, PLAIN = 0, 1, 2
"""Ways to run a loop: compiled and kept on disk, compiled in every process, not compiled."""

_REASONS = {
    UNCACHED: "the compiled loops of the online models cannot be kept on disk, so every process compiles them anew, "
    "which takes seconds",
    PLAIN: "numba cannot compile the loops of the online models, so they run as plain Python, several hundred times "
    "slower",
}
_NEXT_STEPS = {
    UNCACHED: "let the environment variable NUMBA_CACHE_DIR name a folder that can be written to",
    PLAIN: "install the versions of numba and numpy that this package was tested with",
}

_mode = CACHED
_built: dict[int, dict[str, Any]] = {}


def run(name: str, *arguments: Any) -> Any:
    """Call a loop, compiled if that is possible here, and return what it returns.

    `name` is a function of one of `MODULES`, whose arguments are changed in place. An `ElmbenchWarning` says, once
    each, that the compiled code cannot be kept on disk, or that it cannot be compiled.
    """
    global _mode
    while True:
        try:
            if _mode not in _built:
                _built[_mode] = build(_mode)
            return _built[_mode][name](*arguments)
        except _compilation_errors() as error:
            # Compilation ends before the loop begins: nothing was changed yet. Loops raise none of these errors.
            if _mode == PLAIN:
                raise
            _mode = UNCACHED if _mode == CACHED and not isinstance(error, ImportError) else PLAIN
            warnings.warn(
                f"{_REASONS[_mode]} ({type(error).__name__}: {str(error).strip().splitlines()[:1]}). "
                f"Next: {_NEXT_STEPS[_mode]}.",
                ElmbenchWarning,
                stacklevel=2,
            )


def build(mode: int) -> dict[str, Any]:
    """Return every loop by name, prepared for `mode`, calling one another; what numba raises is raised."""
    decorate = _decorator(mode)
    functions: dict[str, Any] = {}
    # numba looks for changes in the file of a function only, not in those of what it calls: name them by all sources.
    stamp = 0
    for module in MODULES:
        stamp = zlib.crc32(Path(str(module.__file__)).read_bytes(), stamp)
    for module in MODULES:
        functions.update(_rebuild(module, functions, decorate, f"{stamp:08x}"))
    return functions


def _rebuild(module: ModuleType, known: dict[str, Any], decorate: Callable[[Any], Any], stamp: str) -> dict[str, Any]:
    """Copy the functions of `module` so that they see each other, and those `known`, decorated."""
    namespace = {**vars(module), **known}
    functions_here = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    for name, function in functions_here.items():
        copy = FunctionType(function.__code__, namespace, name, function.__defaults__)
        copy.__module__ = module.__name__
        copy.__qualname__ = f"{name}_{stamp}"
        namespace[name] = decorate(copy)
    return {name: namespace[name] for name in functions_here}


def _decorator(mode: int) -> Callable[[Any], Any]:
    if mode == PLAIN:
        return lambda function: function
    from numba import njit

    # No fast-math: sums keep their order. The error model only spares a test before each division.
    return njit(cache=mode == CACHED, error_model="numpy")


def _compilation_errors() -> tuple[type[Exception], ...]:
    numba_errors = sys.modules.get("numba.core.errors")
    functions_here = () if numba_errors is None else (numba_errors.NumbaError,)
    return (ImportError, OSError, RuntimeError, SystemError, *functions_here)
