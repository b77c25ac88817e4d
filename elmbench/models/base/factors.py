"""Paths over the grids of kernel models by a low-rank factor of the kernel of all rows."""

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.models.base.kernels import Member, by_matrix
from elmbench.models.base.paths import Grid
from elmbench.numerics.arrays import EPS, Array
from elmbench.numerics.low_rank import kernel_factor
from elmbench.numerics.ridge_path import WITHIN_ROUND_OFF, ridge_solutions
from elmbench.numerics.rows import scaled_rows


def by_factor(
    cls: Any, grid: Grid, *, most: float, centred: bool, checks_labels: bool
) -> Generator[tuple[int, int, NDArray[Any]], None, set[int]]:
    """Yield the outputs of the candidates whose Gaussian kernel has a factor of few columns; return their numbers.

    Those with a ridge within round-off are fitted.

    Parameters
    ----------
    cls : type
        A model with a kernel matrix K and weights S^2 of its rows: (S K S + r I)^-1 S T, with or without an intercept.
    grid : Grid
    most : float
        The most columns of a factor, as a share of the rows.
    centred : bool
        The model has an intercept.
    checks_labels : bool
        Fit a candidate if an error of ten times condition times machine precision would change a label.
    """
    kernels = [model._make_kernel() for model in grid.models]
    plain = [i for i, kernel in enumerate(kernels) if kernel.is_plain(grid.X)]
    done: set[int] = set()
    for gamma in sorted({kernels[i].gamma for i in plain}):
        L = kernel_factor(grid.X, gamma, int(most * grid.X.shape[0]))
        if L is None:  # a larger gamma takes more columns
            break
        numbers = [i for i in plain if kernels[i].gamma == gamma]
        done.update(numbers)
        for j, (train, test) in enumerate(grid.folds):
            T, decoded = grid.coded(cls, train)
            models = [(i, grid.models[i]) for i in numbers]
            for group in by_matrix(Member(i, kernels[i], 1 / m.C, m._scale(grid.y[train])) for i, m in models):
                ridges = np.array([member.ridge for member in group])
                outputs, row_sums = _outputs(L[train], L[test], T, ridges, group[0].scale, centred, grid)
                accepted = ridges > WITHIN_ROUND_OFF * EPS * row_sums.max()
                if checks_labels:
                    errors = 10 * EPS * (1 + row_sums.mean() / ridges) * np.abs(T).max()
                    accepted &= cls._each_holds(outputs, np.tile(errors, (len(test), 1)))
                for (i, kernel, *_), values, holds in zip(group, np.hsplit(outputs, len(group)), accepted, strict=True):
                    yield i, j, decoded(values) if holds else grid.fitted_outputs(i, j, kernel)
    return done


def _outputs(
    M: Array, M_test: Array, T: Array, ridges: Array, scale: Array | None, centred: bool, grid: Grid
) -> tuple[Array, Array]:
    """Return the outputs of ridge regression on the columns of a factor, and the row sums of S K S.

    M_test (M'S^2 M + r I)^-1 M'S^2 T is K_test S (S K S + r I)^-1 S T. With an intercept, the weighted means are
    subtracted from M and T.
    """
    weighted = scaled_rows(M, scale)
    row_sums = weighted @ weighted.sum(axis=0)
    means = np.zeros(T.shape[1])
    if centred:
        weights = np.ones(len(M)) if scale is None else scale**2
        means, origin = weights @ T / weights.sum(), weights @ M / weights.sum()
        M, M_test, T = M - origin, M_test - origin, T - means
        weighted = scaled_rows(M, scale)
    W = ridge_solutions(weighted.T @ weighted, weighted.T @ scaled_rows(T, scale), ridges, grid.solvers)
    return M_test @ W + np.tile(means, len(ridges)), row_sums
