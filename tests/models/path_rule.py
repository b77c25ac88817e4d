"""The rule by which a path is compared with one fit a candidate, see
`elmbench.models.protocols.GridPath`.
"""

from collections import Counter
from typing import Any

import numpy as np
from elm_problems import counting

EPS = np.finfo(float).eps


def random_folds(
    n: int, n_folds: int, random: np.random.RandomState
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return folds whose rows stand in any order and may be in several test parts, or in none."""
    folds = []
    for _ in range(n_folds):
        order = random.permutation(n)
        cut = random.randint(1, n - 1)
        folds.append((order[:cut], order[cut : cut + random.randint(1, n - cut + 1)]))
    return folds


def allowed(model: Any, outputs: np.ndarray, targets: np.ndarray) -> float:
    """Return by how much outputs of the path may differ from those of a fitted model.

    A few test rows may have outputs that are next to nothing, as what coefficients of the size of
    the targets add up to: their size is at least that of the learnt targets, -1/+1 for a
    classifier. Round-off in the solution of a system is bounded in the 2-norm, so the condition
    multiplies the norm of all targets, or the outputs of test rows that are larger: there, the same
    coefficients add up to more.
    """
    sizes = np.ones(len(targets)) if hasattr(model, "classes_") else np.abs(targets)
    largest = np.abs(outputs).max()
    size = max(largest, sizes.max())
    norm = max(largest, np.linalg.norm(sizes))
    return float(max(1e-10 * size, min(10 * model.condition_ * EPS, 1e9) * norm))


def clear_labels(outputs: np.ndarray, within: float) -> np.ndarray:
    """Return for which rows no outputs that differ by up to `within` lead to another label."""
    if outputs.ndim == 1:
        return np.abs(outputs) > within
    ordered = np.sort(outputs, axis=-1)
    return ordered[:, -1] - ordered[:, -2] > 2 * within


def assert_path_follows_fits(
    cls: Any, X: Any, y: Any, folds: Any, candidates: list[dict[str, Any]], **fixed: Any
) -> Counter[str]:
    """Values and projections to the rule; labels wherever they do not hang on less. Return the ways
    of solving.
    """
    solvers: Counter[str] = Counter()
    seen = []
    for i, j, predicted in counting(
        cls.evaluate_grid(X, y, folds, candidates, **fixed), solvers
    ):
        seen.append((i, j))
        train, test = folds[j]
        model = cls(**fixed, **candidates[i]).fit(X[train], y[train])
        expected = model.predict(X[test])
        assert predicted.shape == expected.shape
        assert predicted.dtype == expected.dtype
        if hasattr(model, "decision_function"):
            outputs = model.decision_function(X[test])
            within = allowed(model, outputs, y[train])
            clear = clear_labels(outputs, within)
            np.testing.assert_array_equal(
                predicted[clear], expected[clear], str(candidates[i])
            )
        else:
            np.testing.assert_allclose(
                predicted,
                expected,
                rtol=0,
                atol=allowed(model, expected, y[train]),
                err_msg=str(candidates[i]),
            )
    assert sorted(seen) == [
        (i, j) for i in range(len(candidates)) for j in range(len(folds))
    ]
    return solvers


def assert_values_follow_fits(
    cls: Any,
    X: Any,
    y: Any,
    folds: Any,
    candidates: list[dict[str, Any]],
    *,
    projections: bool,
    **fixed: Any,
) -> None:
    """Compare projections or decision values, also those of training rows, from which a divergence
    is computed.
    """
    folds = [*folds, *((train, train) for train, _ in folds)]
    seen = 0
    path = cls.project_grid if projections else cls.decision_grid
    for i, j, outputs, _ in path(X, y, folds, candidates, **fixed):
        train, test = folds[j]
        model = cls(**fixed, **candidates[i]).fit(X[train], y[train])
        expected = (model.project if projections else model.decision_function)(X[test])
        assert outputs.shape == expected.shape
        within = allowed(model, expected, y[train])
        np.testing.assert_allclose(
            outputs, expected, rtol=0, atol=within, err_msg=str(candidates[i])
        )
        seen += 1
    assert seen == len(candidates) * len(folds)
