"""One method for all systems of K-ELM's search."""

import numpy as np
import pytest

from elmbench.models.base import kernel_paths
from elmbench.numerics import fold_solutions, ridge_path

#: Those of a search, and whichever a system is given.
WAYS = ("as it comes", "krylov", "inverse", "tridiagonal", "band")


def force(patch: pytest.MonkeyPatch, way: str) -> None:
    """Let `way` solve all: "krylov", "inverse", "reduction", "tridiagonal", "band", "cholesky" or
    "as it comes".
    """
    if way == "as it comes":
        return
    patch.setattr(kernel_paths, "kernel_factor", lambda X, gamma, most: None)
    patch.setattr(
        fold_solutions,
        "krylov_seconds",
        lambda n, steps: 0.0 if way == "krylov" else np.inf,
    )
    patch.setattr(
        fold_solutions,
        "inverse_seconds",
        lambda n, ridges: 0.0 if way == "inverse" else np.inf,
    )
    for module in (fold_solutions, ridge_path):
        patch.setattr(module, "reduction_seconds", lambda n, ridges, columns: 1.0)
        patch.setattr(
            module,
            "factor_seconds",
            lambda n, columns: 0.0 if way == "cholesky" else np.inf,
        )
    patch.setattr(
        ridge_path,
        "BLOCKED_FROM",
        {"band": 1, "tridiagonal": 10**6}.get(way, ridge_path.BLOCKED_FROM),
    )
