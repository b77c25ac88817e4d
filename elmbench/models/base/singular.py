"""The warning for systems that are singular to working precision."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scipy.linalg import LinAlgWarning

_NAMED = ("C", "gamma", "kernel", "n_hidden", "n_landmarks", "budget")


def warn_of_singular(model: Any, condition: float) -> None:
    """Warn, by a `scipy.linalg.LinAlgWarning`, that a system is singular to working precision for these parameters."""
    params = model.get_params(deep=False)
    named = ", ".join(f"{name}={params[name]!r}" for name in _NAMED if name in params)
    warnings.warn(
        f"the system to be solved is singular to working precision, condition {condition:.1e}, with {named}: the ridge "
        "1/C is below the round-off of a matrix without full rank, so that directions are left out; expected a smaller "
        "C, or a kernel or nodes that tell the rows apart",
        LinAlgWarning,
        stacklevel=5,
    )


@contextmanager
def warned_once() -> Iterator[None]:
    """Pass on all warnings, but of those for singular systems only the last one."""
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield
        finally:
            of_systems = [w for w in caught if issubclass(w.category, LinAlgWarning)]
            passing = [w for w in caught if not issubclass(w.category, LinAlgWarning)] + of_systems[-1:]
    for w in passing:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
