"""One method for all systems of K-ELM's search."""

from __future__ import annotations

import numpy as np
import pytest

import elmbench.models.base.factors as factors
import elmbench.numerics.shifted.band_reduction as reduction
import elmbench.numerics.shifted.fold_solutions as module


def force(patch: pytest.MonkeyPatch, way: str) -> None:
    """Let `way` solve all systems: "krylov", "inverse", "reduction", "tridiagonal", "band" or "cholesky"."""
    patch.setattr(factors, "kernel_factor", lambda X, gamma, most: None)
    patch.setattr(module, "krylov_seconds", lambda n, steps: 0.0 if way == "krylov" else np.inf)
    patch.setattr(module, "inverse_seconds", lambda n, ridges: 0.0 if way == "inverse" else np.inf)
    patch.setattr(module, "reduction_seconds", lambda n, ridges, columns: 1.0)
    patch.setattr(module, "factor_seconds", lambda n, columns: 0.0 if way == "cholesky" else np.inf)
    patch.setattr(reduction, "BLOCKED_FROM", {"band": 1, "tridiagonal": 10**6}.get(way, reduction.BLOCKED_FROM))
