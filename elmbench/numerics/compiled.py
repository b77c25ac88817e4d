"""Compilation of loops at their first use.

The first call of `run_compiled` imports numba, so importing the models stays fast. Loops are plain
Python that changes arrays of the caller in place; they import no compiled code, so that they also
run uncompiled.
"""

import warnings
import zlib
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from elmbench.errors import ElmbenchWarning

_cached = True


def run_compiled(loop: Any, *arguments: Any) -> Any:
    """Call `loop(*arguments)`, compiled by numba, and return its result.

    `loop`: a function of a module of `elmbench.numerics` that numba can compile; it may change
    arrays among the arguments in place. The machine code is cached on disk. If that fails, a
    warning is issued once in a process, and the process compiles its loops without a cache.
    """
    global _cached
    try:
        return compile_loop(loop, _cached)(*arguments)
    except (OSError, RuntimeError) as error:
        # The cache fails before the loop changes anything; loops raise none of these errors.
        if not _cached:
            raise
        _cached = False
        warnings.warn(
            "compiled loops cannot be kept on disk, so every process compiles them again, "
            f"which takes seconds ({type(error).__name__}: {str(error).strip().splitlines()[:1]}). "
            "Next: let the environment variable NUMBA_CACHE_DIR name a folder that can be written "
            "to.",
            ElmbenchWarning,
            stacklevel=2,
        )
        return run_compiled(loop, *arguments)


@cache
def compile_loop(loop: FunctionType, cached: bool) -> Any:
    """Return a function that compiles a copy of a loop at its first call, and runs it.

    The functions of `elmbench.numerics` that the loop calls are compiled too. `cached`: True to
    keep the machine code on the disk for later processes; else each process compiles it again.
    """
    from numba import njit

    namespace = dict(loop.__globals__)
    for name in loop.__code__.co_names:
        callee = namespace.get(name)
        if isinstance(callee, FunctionType) and callee.__module__.startswith(
            __package__
        ):
            namespace[name] = compile_loop(callee, cached)
    copy = FunctionType(loop.__code__, namespace, loop.__name__, loop.__defaults__)
    copy.__module__ = loop.__module__
    copy.__qualname__ = f"{loop.__name__}_{_package_checksum():08x}"
    # Sums keep their order, unless the module allows more. Then the loop is inlined; otherwise the
    # first copy that a process loads would serve all callers. The error model only saves a test
    # before each division.
    fastmath = namespace.get("FASTMATH", False)
    return njit(
        cache=cached, error_model="numpy", fastmath=fastmath, forceinline=bool(fastmath)
    )(copy)


@cache
def _package_checksum() -> int:
    """Return a checksum of the source code of this package.

    numba notices changes in a function's own file only, not in those it calls.
    """
    return zlib.crc32(
        b"".join(
            path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))
        )
    )
