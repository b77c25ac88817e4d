"""Entries of the registry, and the models of the suite: their estimators, default grids and costs.

A model is added by a file under `elmbench/models/` and an entry in `BUILT_IN`. Estimators are
imported on first use. A cost is a rough number of floating-point operations of one fit to n rows of
d features. LIBSVM has none: its number of iterations depends on the data.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.lazy import load_object

TASKS = ("classification", "regression")
#: The name of the model that ignores the features. It has no rank.
DUMMY = "dummy"


@dataclass(frozen=True)
class ModelEntry:
    """A model of the registry.

    `name`: as in commands, such as `k-elm`. `title`: one line for `elmbench list models`.
    `classification`, `regression`: the estimator class or factory for each task, or its address
    `module:name`; None if the model has none. `grid`: the default one. `settings`: by task, other
    parameters that tables of the papers set. `baseline`: True for a model that `--with-baselines`
    adds to a run. `version`: part of every stored result's key, unless the estimator has a
    `model_version`. `origin`: the package or file of the entry. `cost`: floating-point operations
    of one fit, from the rows, the columns and the hyperparameters; None if unknown.
    `prediction_cost`: those of the predictions, from the training rows, the test rows and the
    columns; None if they are few. `sharing`:
    the time of a search as a share of the time that `cost` gives all of its fits, measured in the
    middle of the grid on tables of the papers; it is small for a model that shares work between
    candidates. `predicts_likeliest`: True if the classifier predicts the class with the largest
    probability, the first of equal ones, so that probabilities need no second prediction.
    """

    name: str
    title: str
    classification: str | Callable[..., Any] | None = None
    regression: str | Callable[..., Any] | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    baseline: bool = False
    version: str = ""
    origin: str = "built-in"
    cost: Callable[[int, int, Mapping[str, Any]], float] | None = None
    prediction_cost: Callable[[int, int, int], float] | None = None
    sharing: float = 0.3
    predicts_likeliest: bool = False

    @property
    def is_of_scikit_learn(self) -> bool:
        """True if its classifier is scikit-learn's own, perhaps by a factory of this suite;
        scikit-learn takes two seconds to import.
        """
        return str(self.classification).startswith(
            ("elmbench.models.baselines:", "sklearn.")
        )

    def factory(self, task: str) -> Callable[..., Any]:
        """Return the estimator class or factory for a task, "classification" or "regression",
        imported if need be. Raises ElmbenchError if the model has none or the import fails.
        """
        target = getattr(self, task)
        if target is None:
            task_with_estimator = next(t for t in TASKS if getattr(self, t) is not None)
            problem = f"the model {self.name!r} has no estimator for {task}"
            expected = f"a model for {task}; {self.name!r} does {task_with_estimator}"
            raise ElmbenchError(
                problem, expected=expected, next_step="elmbench list models"
            )
        try:
            return load_object(target) if isinstance(target, str) else target
        except Exception as error:
            problem = (
                f"the model {self.name!r} ({self.origin}) is at {target!r}, which cannot be "
                f"imported: {error}"
            )
            next_step = "correct it where it is declared"
            raise ElmbenchError(
                problem, expected="an address `module:name`", next_step=next_step
            ) from error


_Grid = Mapping[str, tuple[Any, ...]]
_Params = Mapping[str, Any]
#: Floating-point operations of one fit to n rows of d features, by the hyperparameters.
_Cost = Callable[[int, int, _Params], float]


def _linear_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of a fit of a linear model, or another cheap one, to n
    rows of d features; `params` have no effect.
    """
    return 1e3 * n * d


def _kernel_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of the kernel matrix of n rows of d features, and of its
    factor; `params` have no effect.
    """
    # A factor of n^3 / 3 operations is faster than the rest.
    return n**2 * (2 * d + 20) + n**3 / 7


def _hidden_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of a hidden layer for n rows of d features, and of its
    ridge solution.

    `params`: "n_hidden" or "n_landmarks" is its number of nodes, else 400.
    """
    size = params.get("n_hidden") or params.get("n_landmarks") or 400
    smaller = min(n, size)
    return n * size * (2 * d + 20) + 2 * n * size * smaller + smaller**3 / 3


def _distances_cost(n_train: int, n_test: int, d: int) -> float:
    """Return the floating-point operations of predictions by kernel values of all pairs of a test
    (`n_test`) and a training row (`n_train`), of d features.
    """
    # A row of the kernel for each test row.
    return float(n_train * n_test * (2 * d + 20))


def _newton_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of ten steps of Newton's method, each as costly as a
    hidden layer of n rows, d features and as many nodes as "n_hidden" or "n_landmarks" of `params`,
    400 by default.
    """
    return 10 * _hidden_cost(n, d, params)  # ten steps


def _multiple_kernel_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of a fit of MK-ELM to n rows of d features.

    `params`: hyperparameters. A list "kernels" gives the number of kernels, else ten are assumed.
    "q", 1 by default, and "max_iter", 1000 by default, decide the assumed number of iterations.
    """
    kernels = params.get("kernels")
    m = 10
    if isinstance(kernels, Sequence) and not isinstance(kernels, str):
        m = len(kernels)
    # Sparse weights converge in some hundred iterations, others in some ten.
    usual_iterations = 200 if params.get("q", 1) == 1 else 20
    iterations = min(params.get("max_iter", 1000), usual_iterations)
    # Each iteration passes twice over half of every matrix, at the speed of memory, and factors
    # once.
    iteration = 20 * m * n**2 + n**3 / 3
    return float(m * n**2 * (2 * d + 20) + (iterations + 1) * iteration)


def _online_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of learning n rows of d features one by one, with a
    dictionary of at most `params["budget"]` rows, 200 by default.
    """
    size = min(n, params.get("budget", 200))
    return 10.0 * n * size * (size + d)


def _projection_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of a singular value decomposition of n rows of d
    features, and of a hidden layer of `params["n_hidden"]` directions, all by default.
    """
    rank = min(n, d)
    size = min(rank, params.get("n_hidden") or rank)
    return 8.0 * n * d * rank + 25.0 * rank**3 + 2.0 * n * size**2


def _stream_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of updates of a singular value decomposition by n rows
    of d features, in chunks of `params["batch_size"]` rows, 16 by default.
    """
    # Five products with a growing basis, at the speed of memory if a chunk has few rows.
    rank = min(n, d)
    return 5.0 * n * d * rank * (1 + 8 / params.get("batch_size", 16)) + 25.0 * rank**3


def _budget_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of one pass over n rows of d features with at most
    `params["budget"]` support vectors, 100 by default.
    """
    # A row is compared with every support vector; if it becomes one, a search of some hundred
    # operations follows.
    return float(n) * min(n, params.get("budget", 100)) * (4 * d + 1000)


def _hyperplane_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of `params["n_epochs"]` passes of gradient descent, 5 by
    default, over n rows of d features.
    """
    # Sums of some ten numbers, one addition at a time.
    return 200.0 * params.get("n_epochs", 5) * n * (d + 10)


def _boosting_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations of boosting `params["n_estimators"]` trees, 100 by
    default, on n rows of d features.
    """
    return float(params.get("n_estimators", 100) * (50.0 * n * d + 1e8))


def _forest_cost(n: int, d: int, params: _Params) -> float:
    """Return the floating-point operations, as dense algebra, that take as long as a forest of
    `params["n_estimators"]` trees, 100 by default, on n rows of d features.
    """
    # Comparisons of single values are far slower than dense algebra.
    return float(
        params.get("n_estimators", 100)
        * (3e3 * n * math.log2(n + 1) * math.sqrt(d) + 4e7)
    )


def _extra_trees_cost(n: int, d: int, params: _Params) -> float:
    """Return a third of the operations of a forest: the splits of extremely randomised trees are
    drawn instead of searched.

    `n` rows of `d` features; `params` may have "n_estimators", 100 by default.
    """
    return _forest_cost(n, d, params) / 3


def _entry(
    name: str,
    title: str,
    address: str,
    grid: _Grid,
    cost: _Cost | None,
    *,
    regression: bool = True,
    **options: Any,
) -> ModelEntry:
    """Return the entry of the estimators at an address, in `elmbench.models` unless it begins with
    `sklearn.`.

    `name`, `title`, `grid`, `cost`: fields of the entry. `address`: `module:Name`, to which
    `Classifier` and `Regressor` are appended; to one that ends in `_`, `classifier` and
    `regressor`. `regression`: False if there is only a classifier. `options`: further fields; but
    `settings` and `sharing` are those of `_SETTINGS` and `_SHARES` for this name.
    """
    if not address.startswith("sklearn."):
        address = f"elmbench.models.{address}"
    if address.endswith("_"):
        classifier = f"{address}classifier"
        regressor = f"{address}regressor"
    else:
        classifier = f"{address}Classifier"
        regressor = f"{address}Regressor"
    settings = {
        task: names for (model, task), names in _SETTINGS.items() if model == name
    }
    return ModelEntry(
        name=name,
        title=title,
        classification=classifier,
        regression=regressor if regression else None,
        grid=grid,
        settings=settings,
        cost=cost,
        sharing=_SHARES.get(name, ModelEntry.sharing),
        **options,
    )


_classifier = partial(_entry, regression=False)
_baseline = partial(_entry, baseline=True)


def _projected_entry(name: str, title: str, grid: _Grid) -> ModelEntry:
    """Return the entry named `svd+NAME` of an online classifier on the leading singular directions
    of the rows.

    `name`, `title`: of the classifier. `grid`: its own, to which numbers of directions are added.
    """
    address = f"svd_pipelines:svd_{name.replace('-', '_')}_"
    whole = {"n_components": (25, 50, 100, 200), **grid}
    return _classifier(
        f"svd+{name}",
        f"{title}, on singular directions",
        address,
        whole,
        _projection_cost,
    )


_C = tuple(2.0**e for e in range(-8, 14, 3))
_L = (50, 100, 200, 400)
_H = (50, 100, 250, 500, 1000)
_KERNEL = {"gamma": _C, "C": _C}
_LANDMARKS = {"n_landmarks": _L, **_KERNEL}
_MORE_LANDMARKS = {"n_landmarks": _H, **_KERNEL}
_CENTRES = {"n_hidden": _L, **_KERNEL}
_BUDGETS = {**_KERNEL, "budget": (50, 100, 200)}
_WEIGHTS = {"C": _C, "n_weights": (10, 50, 200)}
_THETA = {"theta": (0.95, 0.96, 0.97, 0.98, 0.99)}
_TREES = {"n_estimators": (100,)}
#: For scikit-learn's pipelines, which fit every pair: steps of C by a factor of 64.
_COARSE = {"gamma": _C, "C": _C[::2]}
_FEW_LANDMARKS = {"n_landmarks": (100, 300), **_COARSE}
_FEW_NODES = {"n_hidden": (100, 300), **_COARSE}
_ALD = {"gamma": _C, "delta": (0.05, 0.2, 0.4)}
_BOOSTING = {"learning_rate": (0.05, 0.2), "n_leaves": (7, 31)}
_NEIGHBORS = {"n_neighbors": (1, 3, 5, 9, 15, 25)}
_ON_BUDGET = "Support vector machine on a budget, by stochastic gradient descent"
_LINEAR = "Linear support vector machine, by stochastic gradient descent"
_FIXED_BUDGET = "Kernel online sequential ELM with a fixed budget"
_DEPENDENCY = "Kernel online sequential ELM with approximate linear dependency"
_BINS = "Gradient boosting of trees on binned values"
#: All values of C share a factor; among numbers of nodes, the largest takes most of the time.
_SHARES = {
    "elm": 0.012,
    "k-elm": 0.057,
    "ls-svm": 0.1,
    "mk-elm": 0.6,
    "eem": 1.7,
    "eekm": 1.6,
    "w-elm": 2.1,
}
_STREAM = ("batch_size", "initial_batch")
_START = (*_STREAM, "C", "start")
_ANY_KERNEL = ("kernel", "degree", "coef0", "widths")
_ATOMS = ("threshold", "max_atoms")
#: Their names are valid without an import of the estimators; a test checks that they are.
_SETTINGS = {
    ("ald-kos-elm", "classification"): _ATOMS,
    ("ald-kos-elm", "regression"): _ATOMS,
    ("eem", "classification"): ("activation",),
    ("elm", "classification"): ("slope",),
    ("ls-svm", "classification"): ("class_weight", "weighting"),
    ("mk-elm", "classification"): ("kernels", "max_iter", "q", "radius"),
    ("os-elm", "classification"): _START,
    ("os-elm", "regression"): _START,
    ("os-pvm", "classification"): (*_STREAM, "mode", "ratio", "update_mean"),
    ("rk-elm", "classification"): _ANY_KERNEL,
    ("rk-elm", "regression"): _ANY_KERNEL,
    ("rsvm", "regression"): ("epsilon", "smoothing"),
    ("svd+amm", "classification"): ("mode",),
    ("svd+bsgd", "classification"): ("maintenance",),
    ("svd+os-elm", "classification"): _START,
    ("svm", "classification"): ("class_weight", "max_iter"),
    ("svm", "regression"): ("nu",),
    ("w-elm", "classification"): ("activation",),
}
_SVM = _baseline(
    "svm", "Support vector machine, Gaussian kernel", "svm:SVM", _KERNEL, None
)
_ENTRIES = (
    _entry(
        "elm",
        "Extreme learning machine, ridge solution",
        "elm:ELM",
        {"n_hidden": _L, "C": _C},
        _hidden_cost,
    ),
    _entry(
        "os-elm",
        "Online sequential ELM",
        "os_elm:OSELM",
        {"n_hidden": _L},
        _hidden_cost,
    ),
    _entry(
        "k-elm",
        "Kernel ELM",
        "kernel_elm:KELM",
        _KERNEL,
        _kernel_cost,
        prediction_cost=_distances_cost,
    ),
    _entry(
        "kos-elm",
        "Kernel online sequential ELM that keeps every row",
        "kos_elm:KOSELM",
        _KERNEL,
        _kernel_cost,
    ),
    _entry(
        "fb-kos-elm",
        _FIXED_BUDGET,
        "kos_elm:FBKOSELM",
        {**_KERNEL, "budget": (200,)},
        _online_cost,
    ),
    _entry("ald-kos-elm", _DEPENDENCY, "ald_kos_elm:ALDKOSELM", _ALD, _online_cost),
    _entry(
        "rk-elm",
        "Reduced kernel ELM, some rows as centres",
        "rk_elm:RKELM",
        _LANDMARKS,
        _hidden_cost,
    ),
    _entry(
        "elm-rbf",
        "ELM with radial basis functions at random centres",
        "elm_rbf:ELMRBF",
        _CENTRES,
        _hidden_cost,
    ),
    _entry(
        "mk-elm",
        "Multiple kernel ELM",
        "mk_elm:MKELM",
        {"C": _C},
        _multiple_kernel_cost,
    ),
    _classifier(
        "w-elm",
        "Weighted ELM, pseudo-inverse",
        "w_elm:WELM",
        {"n_hidden": _H},
        _hidden_cost,
    ),
    _classifier(
        "eem", "Extreme entropy machine", "eem:EEM", {"n_hidden": _H}, _hidden_cost
    ),
    _classifier(
        "eekm",
        "Extreme entropy kernel machine",
        "eekm:EEKM",
        {"n_landmarks": _H, "gamma": _C},
        _hidden_cost,
    ),
    _entry(
        "ls-svm",
        "Least-squares support vector machine",
        "ls_svm:LSSVM",
        _KERNEL,
        _kernel_cost,
        prediction_cost=_distances_cost,
    ),
    _entry(
        "rsvm",
        "Reduced support vector machine",
        "rsvm:RSVM",
        _MORE_LANDMARKS,
        _newton_cost,
    ),
    _classifier("bsgd", _ON_BUDGET, "bsgd:BSGD", _BUDGETS, _budget_cost),
    _classifier("pegasos", _LINEAR, "pegasos:Pegasos", {"C": _C}, _hyperplane_cost),
    _classifier(
        "amm",
        "Adaptive multi-hyperplane machine",
        "amm:AMM",
        _WEIGHTS,
        _hyperplane_cost,
    ),
    _classifier(
        "llsvm",
        "Low-rank linearised support vector machine",
        "baselines:llsvm_",
        _MORE_LANDMARKS,
        _hidden_cost,
    ),
    _classifier(
        "pvm", "Projection vector machine", "pvm:PVM", _THETA, _projection_cost
    ),
    _classifier(
        "os-pvm", "Online sequential PVM", "os_pvm:OSPVM", _THETA, _stream_cost
    ),
    _projected_entry("os-elm", "Online sequential ELM", {"n_hidden": _L}),
    _projected_entry("bsgd", "BSGD", _BUDGETS),
    _projected_entry("amm", "AMM", _WEIGHTS),
    _projected_entry("pegasos", "Pegasos", {"C": _C}),
    _baseline("ridge", "Linear ridge", "baselines:ridge_", {"C": _C}, _linear_cost),
    _baseline(
        "nystroem-ridge",
        "Nystroem features and ridge",
        "baselines:nystroem_ridge_",
        _FEW_LANDMARKS,
        _hidden_cost,
    ),
    _baseline(
        "rff-ridge",
        "Random Fourier features and ridge",
        "baselines:rff_ridge_",
        _FEW_NODES,
        _hidden_cost,
    ),
    replace(_SVM, regression="elmbench.models.baselines:svm_regressor"),
    _baseline(
        "extra-trees",
        "Extremely randomised trees",
        "sklearn.ensemble:ExtraTrees",
        _TREES,
        _extra_trees_cost,
        predicts_likeliest=True,
    ),
    _baseline(
        "hist-gradient-boosting",
        _BINS,
        "baselines:hist_gradient_boosting_",
        _BOOSTING,
        _boosting_cost,
    ),
    _classifier(
        "logistic-regression",
        "Logistic regression",
        "baselines:logistic_regression_",
        {"C": _C},
        _linear_cost,
    ),
    _entry(
        "random-forest",
        "Random forest",
        "sklearn.ensemble:RandomForest",
        _TREES,
        _forest_cost,
        predicts_likeliest=True,
    ),
    _entry(
        "knn",
        "k nearest neighbours",
        "baselines:KNN",
        _NEIGHBORS,
        _linear_cost,
        prediction_cost=_distances_cost,
        predicts_likeliest=True,
    ),
    _entry(
        DUMMY,
        "Most frequent class, or mean; ignores the features",
        "sklearn.dummy:Dummy",
        {},
        _linear_cost,
    ),
)
#: The models of the suite by name, which models from outside may not take.
BUILT_IN = {entry.name: entry for entry in _ENTRIES}
