"""Threads of the linear algebra libraries.

On small matrices, two threads wait for each other longer than they compute, and many times longer
on a busy machine.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

#: Up to this number of rows, a fit has one thread.
FEW_ROWS = 2000


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Return the controller of the thread pools of the loaded libraries, from a cache.

    `n_modules`: the number of imported modules; the libraries are only searched again if it
    changes.
    """
    return ThreadpoolController()


def libraries() -> ThreadpoolController:
    """Return the controller of the thread pools of the loaded libraries.

    It is cached, but renewed after further imports.
    """
    return _controller(len(sys.modules))


def threads_for(X: Any) -> AbstractContextManager[Any]:
    """Return a context that limits linear algebra to one thread for few rows.

    These are at most `FEW_ROWS` rows of `X`; for more, it does nothing.
    """
    if _n_rows(X) > FEW_ROWS:
        return nullcontext()
    return libraries().limit(limits=1, user_api="blas")


def _n_rows(X: Any) -> int:
    """Return the number of rows of an array or a list; 0 if it has no length."""
    shape = getattr(X, "shape", ())
    if shape:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else 0
