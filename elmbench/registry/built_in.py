"""The models of the suite: their estimators, their default grids, and what a fit of each costs.

A model is added by a file under `elmbench/models/` and a line in `BUILT_IN`. Nothing is imported before it is asked
for.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from elmbench.registry.entry import ModelEntry

_Grid = Mapping[str, tuple[Any, ...]]
_C = tuple(2.0**e for e in range(-8, 14, 3))
_L = (50, 100, 200, 400)
_H = (50, 100, 250, 500, 1000)

_THETA = (0.95, 0.96, 0.97, 0.98, 0.99)
_DIRECTIONS = (25, 50, 100, 200)


def _kernel_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    return n**2 * (2 * d + 20) + n**3 / 3


def _hidden_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    size = params.get("n_hidden") or params.get("n_landmarks") or 400
    smaller = min(n, size)
    return n * size * (2 * d + 20) + 2 * n * size * smaller + smaller**3 / 3


def _centre_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # Normal equations, which as many nodes as there are rows do not shorten.
    size = params.get("n_hidden") or min(n, params.get("n_landmarks", 400))
    return float(n * size * (2 * d + 20) + n * size**2 + size**3 / 3)


def _svm_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # Steps of LIBSVM, each over all rows: many of a grid's fits take all they are allowed, else some for each row.
    limit = params.get("max_iter", -1)
    return n**2 * (2 * d + 60) + 70.0 * n * (limit if limit > 0 else 10 * n)


def _landmark_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    return _hidden_cost(n, d, params) + 10.0 * min(n, params.get("n_landmarks", 400)) ** 3


def _newton_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    size = min(n, params.get("n_landmarks") or 100)
    # Some ten steps, each with the Hessian of all rows and its factor.
    return n * size * (2 * d + 20) + 10.0 * (n * size**2 + size**3 / 3)


def _cubic_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    return 2.0 * n**3


def _multiple_kernel_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    kernels = params.get("kernels")
    m = len(kernels) if isinstance(kernels, Sequence) and not isinstance(kernels, str) else 10
    # Sparse weights settle after some hundred iterations, others after some ten. Each has two passes over half of all
    # matrices, at the pace of memory, and one factorisation.
    iterations = min(params.get("max_iter", 1000), 200 if params.get("q", 1) == 1 else 20)
    return float(m * n**2 * (2 * d + 20) + (iterations + 1) * (20 * m * n**2 + n**3 / 3))


def _online_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    size = min(n, params.get("budget", 200))
    return 10.0 * n * size * (size + d)


def _projection_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    rank = min(n, d)
    size = min(rank, params.get("n_hidden") or rank)
    return 8.0 * n * d * rank + 25.0 * rank**3 + 2.0 * n * size**2


def _stream_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    chunk = params.get("batch_size", 16)
    rank = min(n, d)
    cut = params.get("mode") == "truncate"
    if cut:
        # A chunk adds its rows to the rank, of which the cut takes the share that theta leaves out.
        kept = params.get("n_hidden") or chunk / max(1e-3, 1 - params.get("theta", 0.96))
        rank = min(rank, int(params.get("initial_batch", 40) + chunk + kept))
    # Five products with a basis that grows, or does not, at the pace of memory where a chunk has few rows.
    products = (10.0 if cut else 5.0) * n * d * rank * (1 + 8 / chunk)
    decompositions = n / chunk if cut else 1
    return products + decompositions * (25.0 * rank**3 + cut * d * rank**2)


def _budget_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # A row is compared with every support vector, which takes a search of some hundred operations if it joins.
    return float(n) * min(n, params.get("budget", 100)) * (4 * d + 1000)


def _hyperplane_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # Sums of some ten numbers each, in a loop that adds one at a time.
    return 200.0 * params.get("n_epochs", 5) * n * (d + 10)


def _boosting_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # A step goes through all values once a level, and has milliseconds of its own.
    return float(params.get("n_estimators", 100) * (50.0 * n * d + 1e8))


def _forest_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    # Comparisons of single values, far below the pace of dense algebra.
    return float(params.get("n_estimators", 100) * (3e3 * n * math.log2(n + 1) * math.sqrt(d) + 4e7))


def _after_svd(cost: Any) -> Any:
    def both(n: int, d: int, params: Mapping[str, Any]) -> float:
        size = min(n, d, params.get("n_components", 100))
        return _projection_cost(n, d, {"n_hidden": size}) + float(cost(n, size, params))

    return both


def _classifier(name: str, title: str, stem: str, grid: _Grid, cost: Any) -> ModelEntry:
    return ModelEntry(name, title, f"elmbench.models.{stem}Classifier", grid=grid, cost=cost)


def _own(name: str, title: str, stem: str, grid: _Grid, cost: Any) -> ModelEntry:
    entry = _classifier(name, title, stem, grid, cost)
    return replace(entry, regression=f"elmbench.models.{stem}Regressor")


def _baseline(name: str, title: str, grid: _Grid, cost: Any = None) -> ModelEntry:
    address = f"elmbench.models.baselines:{name.replace('-', '_')}"
    return ModelEntry(name, title, f"{address}_classifier", f"{address}_regressor", grid, baseline=True, cost=cost)


def _on_directions(name: str, title: str, grid: _Grid, cost: Any) -> ModelEntry:
    address = f"elmbench.models.svd_pipelines:svd_{name.replace('-', '_')}_classifier"
    whole = {"n_components": _DIRECTIONS, **grid}
    return ModelEntry(f"svd+{name}", f"{title}, on singular directions", address, grid=whole, cost=_after_svd(cost))


#: Of K-ELM's search on many rows, 8 x 8 pairs on three folds: a few steps or one factor for all values of C of a fold.
_ONE_SPACE = 0.055
_KERNEL_GRID = {"gamma": _C, "C": _C}
_WEIGHTS_GRID = {"C": _C, "n_weights": (10, 50, 200)}
BUILT_IN = (
    _own("elm", "Extreme learning machine, ridge solution", "elm:ELM", {"n_hidden": _L, "C": _C}, _hidden_cost),
    _own("os-elm", "Online sequential ELM", "os_elm:OSELM", {"n_hidden": _L, "C": _C}, _hidden_cost),
    replace(_own("k-elm", "Kernel ELM", "kernel_elm:KELM", _KERNEL_GRID, _kernel_cost), sharing=_ONE_SPACE),
    _own("kos-elm", "Kernel online sequential ELM that keeps every row", "kos_elm:KOSELM", _KERNEL_GRID, _cubic_cost),
    _own(
        "fb-kos-elm",
        "Kernel online sequential ELM with a fixed budget",
        "fb_kos_elm:FBKOSELM",
        {**_KERNEL_GRID, "budget": (50, 100, 200)},
        _online_cost,
    ),
    _own(
        "ald-kos-elm",
        "Kernel online sequential ELM with approximate linear dependency",
        "ald_kos_elm:ALDKOSELM",
        {"gamma": _C, "delta": (0.05, 0.2, 0.4)},
        _online_cost,
    ),
    _own(
        "rk-elm",
        "Reduced kernel ELM, some rows as centres",
        "rk_elm:RKELM",
        {"n_landmarks": _L, **_KERNEL_GRID},
        _centre_cost,
    ),
    _own(
        "elm-rbf",
        "ELM with radial basis functions at random centres",
        "elm_rbf:ELMRBF",
        {"n_hidden": _L, **_KERNEL_GRID},
        _centre_cost,
    ),
    _own("mk-elm", "Multiple kernel ELM", "mk_elm:MKELM", {"C": _C}, _multiple_kernel_cost),
    _classifier("w-elm", "Weighted ELM, pseudo-inverse", "w_elm:WELM", {"n_hidden": _H}, _hidden_cost),
    _classifier("eem", "Extreme entropy machine", "eem:EEM", {"n_hidden": _H}, _hidden_cost),
    _classifier(
        "eekm", "Extreme entropy kernel machine", "eekm:EEKM", {"n_landmarks": _H, "gamma": _C}, _landmark_cost
    ),
    _own("ls-svm", "Least-squares support vector machine", "ls_svm:LSSVM", _KERNEL_GRID, _kernel_cost),
    _own("rsvm", "Reduced support vector machine", "rsvm:RSVM", {"n_landmarks": _H, **_KERNEL_GRID}, _newton_cost),
    _classifier(
        "bsgd",
        "Support vector machine on a budget, by stochastic gradient descent",
        "bsgd:BSGD",
        {**_KERNEL_GRID, "budget": (50, 100, 200)},
        _budget_cost,
    ),
    _classifier(
        "pegasos",
        "Linear support vector machine, by stochastic gradient descent",
        "pegasos:Pegasos",
        {"C": _C},
        _hyperplane_cost,
    ),
    _classifier("amm", "Adaptive multi-hyperplane machine", "amm:AMM", _WEIGHTS_GRID, _hyperplane_cost),
    ModelEntry(
        "llsvm",
        "Low-rank linearised support vector machine",
        "elmbench.models.baselines:llsvm_classifier",
        grid={"n_landmarks": _H, **_KERNEL_GRID},
        cost=_hidden_cost,
    ),
    _classifier("pvm", "Projection vector machine", "pvm:PVM", {"theta": _THETA}, _projection_cost),
    _classifier("os-pvm", "Online sequential PVM", "os_pvm:OSPVM", {"theta": _THETA}, _stream_cost),
    _on_directions("os-elm", "Online sequential ELM", {"n_hidden": _L}, _hidden_cost),
    _on_directions("bsgd", "BSGD", {**_KERNEL_GRID, "budget": (50, 100, 200)}, _budget_cost),
    _on_directions("amm", "AMM", _WEIGHTS_GRID, _hyperplane_cost),
    _on_directions("pegasos", "Pegasos", {"C": _C}, _hyperplane_cost),
    _baseline("ridge", "Linear ridge", {"C": _C}),
    _baseline(
        "nystroem-ridge", "Nystroem features and ridge", {"n_landmarks": (100, 300), **_KERNEL_GRID}, _hidden_cost
    ),
    _baseline("rff-ridge", "Random Fourier features and ridge", {"n_hidden": (100, 300), **_KERNEL_GRID}, _hidden_cost),
    ModelEntry(
        "svm",
        "Support vector machine, Gaussian kernel",
        "elmbench.models.svm:SVMClassifier",
        "elmbench.models.baselines:svm_regressor",
        _KERNEL_GRID,
        baseline=True,
        cost=_svm_cost,
    ),
    _baseline("extra-trees", "Extremely randomised trees", {"n_estimators": (100,)}, _forest_cost),
    _baseline(
        "hist-gradient-boosting",
        "Gradient boosting of trees on binned values",
        {"learning_rate": (0.05, 0.2), "n_leaves": (7, 31)},
        _boosting_cost,
    ),
    ModelEntry(
        "logistic-regression",
        "Logistic regression",
        "elmbench.models.baselines:logistic_regression_classifier",
        grid={"C": _C},
    ),
    ModelEntry(
        "random-forest",
        "Random forest",
        "elmbench.models.baselines:random_forest_classifier",
        "elmbench.models.baselines:random_forest_regressor",
        {"n_estimators": (100,)},
        cost=_forest_cost,
    ),
    ModelEntry(
        "knn",
        "k nearest neighbours",
        "elmbench.models.baselines:KNNClassifier",
        "elmbench.models.baselines:KNNRegressor",
        {"n_neighbors": (1, 3, 5, 9, 15, 25)},
    ),
    ModelEntry(
        "dummy",
        "Most frequent class, or mean: what any model should beat",
        "elmbench.models.baselines:dummy_classifier",
        "elmbench.models.baselines:dummy_regressor",
    ),
)
