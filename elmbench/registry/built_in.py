"""The models of the suite: their estimators, default grids and costs.

A model is added by a file under `elmbench/models/` and an entry in `BUILT_IN`. Estimators are imported on first use.
A cost is a rough number of floating-point operations of one fit to n rows of d features. LIBSVM has none: its number of
iterations depends on the data.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from elmbench.registry.entry import BASELINES, ModelEntry

_Grid = Mapping[str, tuple[Any, ...]]
_Params = Mapping[str, Any]
_Cost = Callable[[int, int, _Params], float]
_C = tuple(2.0**e for e in range(-8, 14, 3))
_L = (50, 100, 200, 400)
_H = (50, 100, 250, 500, 1000)
_TREES = {"n_estimators": (100,)}

_THETA = (0.95, 0.96, 0.97, 0.98, 0.99)
_DIRECTIONS = (25, 50, 100, 200)


def _linear_cost(n: int, d: int, params: _Params) -> float:
    return 1e3 * n * d


def _kernel_cost(n: int, d: int, params: _Params) -> float:
    return n**2 * (2 * d + 20) + n**3 / 3


def _hidden_cost(n: int, d: int, params: _Params) -> float:
    size = params.get("n_hidden") or params.get("n_landmarks") or 400
    smaller = min(n, size)
    return n * size * (2 * d + 20) + 2 * n * size * smaller + smaller**3 / 3


def _newton_cost(n: int, d: int, params: _Params) -> float:
    return 10 * _hidden_cost(n, d, params)  # ten steps


def _multiple_kernel_cost(n: int, d: int, params: _Params) -> float:
    kernels = params.get("kernels")
    m = len(kernels) if isinstance(kernels, Sequence) and not isinstance(kernels, str) else 10
    # Sparse weights converge in some hundred iterations, others in some ten. Each passes twice over half of every
    # matrix, at the speed of memory, and factors once.
    iterations = min(params.get("max_iter", 1000), 200 if params.get("q", 1) == 1 else 20)
    return float(m * n**2 * (2 * d + 20) + (iterations + 1) * (20 * m * n**2 + n**3 / 3))


def _online_cost(n: int, d: int, params: _Params) -> float:
    size = min(n, params.get("budget", 200))
    return 10.0 * n * size * (size + d)


def _projection_cost(n: int, d: int, params: _Params) -> float:
    rank = min(n, d)
    size = min(rank, params.get("n_hidden") or rank)
    return 8.0 * n * d * rank + 25.0 * rank**3 + 2.0 * n * size**2


def _stream_cost(n: int, d: int, params: _Params) -> float:
    # Five products with a growing basis, at the speed of memory if a chunk has few rows.
    rank = min(n, d)
    return 5.0 * n * d * rank * (1 + 8 / params.get("batch_size", 16)) + 25.0 * rank**3


def _budget_cost(n: int, d: int, params: _Params) -> float:
    # A row is compared with every support vector; if it becomes one, a search of some hundred operations follows.
    return float(n) * min(n, params.get("budget", 100)) * (4 * d + 1000)


def _hyperplane_cost(n: int, d: int, params: _Params) -> float:
    # Sums of some ten numbers, one addition at a time.
    return 200.0 * params.get("n_epochs", 5) * n * (d + 10)


def _boosting_cost(n: int, d: int, params: _Params) -> float:
    return float(params.get("n_estimators", 100) * (50.0 * n * d + 1e8))


def _forest_cost(n: int, d: int, params: _Params) -> float:
    # Comparisons of single values are far slower than dense algebra.
    return float(params.get("n_estimators", 100) * (3e3 * n * math.log2(n + 1) * math.sqrt(d) + 4e7))


def _classifier(name: str, title: str, stem: str, grid: _Grid, cost: _Cost) -> ModelEntry:
    return ModelEntry(name, title, f"elmbench.models.{stem}Classifier", grid=grid, cost=cost)


def _both(name: str, title: str, stem: str, grid: _Grid, cost: _Cost) -> ModelEntry:
    entry = _classifier(name, title, stem, grid, cost)
    return replace(entry, regression=f"elmbench.models.{stem}Regressor")


def _baseline(name: str, title: str, grid: _Grid, cost: _Cost = _linear_cost) -> ModelEntry:
    address = f"{BASELINES}{name.replace('-', '_')}"
    return ModelEntry(name, title, f"{address}_classifier", f"{address}_regressor", grid, baseline=True, cost=cost)


def _scikit_learn(name: str, title: str, stem: str, grid: _Grid, cost: _Cost = _linear_cost) -> ModelEntry:
    return ModelEntry(name, title, f"sklearn.{stem}Classifier", f"sklearn.{stem}Regressor", grid, cost=cost)


def _on_directions(name: str, title: str, grid: _Grid) -> ModelEntry:
    address = f"elmbench.models.svd_pipelines:svd_{name.replace('-', '_')}_classifier"
    whole = {"n_components": _DIRECTIONS, **grid}
    return ModelEntry(f"svd+{name}", f"{title}, on singular directions", address, grid=whole, cost=_projection_cost)


#: K-ELM's share of the cost of all fits, for 8 x 8 pairs on three folds: all values of C share a factor.
_ONE_SPACE = 0.055
_KERNEL_GRID = {"gamma": _C, "C": _C}
#: For scikit-learn's pipelines, which fit every pair: steps of C by a factor of 64.
_COARSE_GRID = {"gamma": _C, "C": _C[::2]}
_WEIGHTS_GRID = {"C": _C, "n_weights": (10, 50, 200)}
BUILT_IN = (
    _both("elm", "Extreme learning machine, ridge solution", "elm:ELM", {"n_hidden": _L, "C": _C}, _hidden_cost),
    _both("os-elm", "Online sequential ELM", "os_elm:OSELM", {"n_hidden": _L}, _hidden_cost),
    replace(_both("k-elm", "Kernel ELM", "kernel_elm:KELM", _KERNEL_GRID, _kernel_cost), sharing=_ONE_SPACE),
    _both("kos-elm", "Kernel online sequential ELM that keeps every row", "kos_elm:KOSELM", _KERNEL_GRID, _kernel_cost),
    _both(
        "fb-kos-elm",
        "Kernel online sequential ELM with a fixed budget",
        "kos_elm:FBKOSELM",
        {**_KERNEL_GRID, "budget": (200,)},
        _online_cost,
    ),
    _both(
        "ald-kos-elm",
        "Kernel online sequential ELM with approximate linear dependency",
        "ald_kos_elm:ALDKOSELM",
        {"gamma": _C, "delta": (0.05, 0.2, 0.4)},
        _online_cost,
    ),
    _both(
        "rk-elm",
        "Reduced kernel ELM, some rows as centres",
        "rk_elm:RKELM",
        {"n_landmarks": _L, **_KERNEL_GRID},
        _hidden_cost,
    ),
    _both(
        "elm-rbf",
        "ELM with radial basis functions at random centres",
        "elm_rbf:ELMRBF",
        {"n_hidden": _L, **_KERNEL_GRID},
        _hidden_cost,
    ),
    _both("mk-elm", "Multiple kernel ELM", "mk_elm:MKELM", {"C": _C}, _multiple_kernel_cost),
    _classifier("w-elm", "Weighted ELM, pseudo-inverse", "w_elm:WELM", {"n_hidden": _H}, _hidden_cost),
    _classifier("eem", "Extreme entropy machine", "eem:EEM", {"n_hidden": _H}, _hidden_cost),
    _classifier("eekm", "Extreme entropy kernel machine", "eekm:EEKM", {"n_landmarks": _H, "gamma": _C}, _hidden_cost),
    _both("ls-svm", "Least-squares support vector machine", "ls_svm:LSSVM", _KERNEL_GRID, _kernel_cost),
    _both("rsvm", "Reduced support vector machine", "rsvm:RSVM", {"n_landmarks": _H, **_KERNEL_GRID}, _newton_cost),
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
        f"{BASELINES}llsvm_classifier",
        grid={"n_landmarks": _H, **_KERNEL_GRID},
        cost=_hidden_cost,
    ),
    _classifier("pvm", "Projection vector machine", "pvm:PVM", {"theta": _THETA}, _projection_cost),
    _classifier("os-pvm", "Online sequential PVM", "os_pvm:OSPVM", {"theta": _THETA}, _stream_cost),
    _on_directions("os-elm", "Online sequential ELM", {"n_hidden": _L}),
    _on_directions("bsgd", "BSGD", {**_KERNEL_GRID, "budget": (50, 100, 200)}),
    _on_directions("amm", "AMM", _WEIGHTS_GRID),
    _on_directions("pegasos", "Pegasos", {"C": _C}),
    _baseline("ridge", "Linear ridge", {"C": _C}),
    _baseline(
        "nystroem-ridge", "Nystroem features and ridge", {"n_landmarks": (100, 300), **_COARSE_GRID}, _hidden_cost
    ),
    _baseline("rff-ridge", "Random Fourier features and ridge", {"n_hidden": (100, 300), **_COARSE_GRID}, _hidden_cost),
    ModelEntry(
        "svm",
        "Support vector machine, Gaussian kernel",
        "elmbench.models.svm:SVMClassifier",
        f"{BASELINES}svm_regressor",
        _KERNEL_GRID,
        baseline=True,
    ),
    replace(
        _scikit_learn("extra-trees", "Extremely randomised trees", "ensemble:ExtraTrees", _TREES, _forest_cost),
        baseline=True,
    ),
    _baseline(
        "hist-gradient-boosting",
        "Gradient boosting of trees on binned values",
        {"learning_rate": (0.05, 0.2), "n_leaves": (7, 31)},
        _boosting_cost,
    ),
    ModelEntry(
        "logistic-regression",
        "Logistic regression",
        f"{BASELINES}logistic_regression_classifier",
        grid={"C": _C},
        cost=_linear_cost,
    ),
    _scikit_learn("random-forest", "Random forest", "ensemble:RandomForest", _TREES, _forest_cost),
    ModelEntry(
        "knn",
        "k nearest neighbours",
        f"{BASELINES}KNNClassifier",
        f"{BASELINES}KNNRegressor",
        {"n_neighbors": (1, 3, 5, 9, 15, 25)},
        cost=_linear_cost,
    ),
    _scikit_learn("dummy", "Most frequent class, or mean: what any model should beat", "dummy:Dummy", {}),
)
