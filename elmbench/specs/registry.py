"""The registry of models: a name, an estimator for each task, the grid that is searched where nothing else is said.

A model is added by a file under `elmbench/models/` and one line in `_BUILT_IN`; a package from outside adds one by an
entry point in the group `elmbench.models`, a script by `--plugin FILE`. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name

TASKS = ("classification", "regression")


@dataclass(frozen=True)
class ModelEntry:
    """How a name becomes an estimator.

    Attributes
    ----------
    name : str
        As it is typed: `k-elm`.
    title : str
        One line for `elmbench list models`.
    classification, regression : str or callable or None
        The estimator class or factory for each task, or its address `module:name`; None where the model has none.
    grid : mapping of str to sequence
        Default grid.
    baseline : bool
        Whether it is one of the models that `--with-baselines` adds to a run.
    version : str
        Part of every stored result's key where the estimator does not say its own `model_version`.
    origin : str
        Where the entry comes from, for `elmbench list models`.
    cost : callable or None
        Operations of one fit, from the rows, the columns and the hyperparameters; for estimates of time.
    """

    name: str
    title: str
    classification: str | Callable[..., Any] | None = None
    regression: str | Callable[..., Any] | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    baseline: bool = False
    version: str = ""
    origin: str = "built-in"
    cost: Callable[[int, int, Mapping[str, Any]], float] | None = None

    def factory(self, task: str) -> Callable[..., Any]:
        """Return the estimator class or factory for a task.

        Raises
        ------
        ElmbenchError
            If the model has none for this task, or its address leads nowhere.
        """
        target = getattr(self, task)
        if target is None:
            other = next(t for t in TASKS if getattr(self, t) is not None)
            raise ElmbenchError(
                f"the model {self.name!r} has no estimator for {task}",
                expected=f"a model for {task}; {self.name!r} does {other}",
                next_step="elmbench list models",
            )
        return self._imported(target) if isinstance(target, str) else target

    def _imported(self, address: str) -> Callable[..., Any]:
        module, _, attribute = address.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ElmbenchError(
                f"the model {self.name!r} ({self.origin}) is at {address!r}, which cannot be imported: {error}",
                expected="an address `module:name`",
                next_step="correct it where it is declared",
            ) from error
        return found


_C = tuple(2.0**e for e in range(-8, 14, 3))
_GAMMA = _C
_L = (50, 100, 200, 400)


def _kernel_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    return n**2 * (2 * d + 20) + n**3 / 3


def _hidden_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    size = params.get("n_hidden") or params.get("n_landmarks") or 400
    smaller = min(n, size)
    return n * size * (2 * d + 20) + 2 * n * size * smaller + smaller**3 / 3


def _online_cost(n: int, d: int, params: Mapping[str, Any]) -> float:
    size = min(n, params.get("budget", 200))
    return 10.0 * n * size * (size + d)


def _own(name: str, title: str, address: str, grid: Mapping[str, tuple[Any, ...]], cost: Any) -> ModelEntry:
    return ModelEntry(name, title, f"{address}Classifier", f"{address}Regressor", grid, cost=cost)


def _baseline(name: str, title: str, grid: Mapping[str, tuple[Any, ...]], cost: Any = None) -> ModelEntry:
    stem = name.replace("-", "_")
    address = f"elmbench.models.baselines:{stem}"
    return ModelEntry(name, title, f"{address}_classifier", f"{address}_regressor", grid, baseline=True, cost=cost)


_MODELS = "elmbench.models"
_BUILT_IN = (
    _own(
        "elm", "Extreme learning machine, ridge solution", f"{_MODELS}.elm:ELM", {"n_hidden": _L, "C": _C}, _hidden_cost
    ),
    _own("os-elm", "Online sequential ELM", f"{_MODELS}.os_elm:OSELM", {"n_hidden": _L, "C": _C}, _hidden_cost),
    _own("k-elm", "Kernel ELM", f"{_MODELS}.kernel_elm:KELM", {"gamma": _GAMMA, "C": _C}, _kernel_cost),
    _own(
        "kos-elm",
        "Kernel online sequential ELM that keeps every row",
        f"{_MODELS}.kos_elm:KOSELM",
        {"gamma": _GAMMA, "C": _C},
        lambda n, d, params: 2.0 * n**3,
    ),
    _own(
        "fb-kos-elm",
        "Kernel online sequential ELM with a fixed budget",
        f"{_MODELS}.fb_kos_elm:FBKOSELM",
        {"gamma": _GAMMA, "C": _C, "budget": (50, 100, 200)},
        _online_cost,
    ),
    _own(
        "ald-kos-elm",
        "Kernel online sequential ELM with approximate linear dependency",
        f"{_MODELS}.ald_kos_elm:ALDKOSELM",
        {"gamma": _GAMMA, "delta": (0.05, 0.2, 0.4)},
        _online_cost,
    ),
    _baseline("ridge", "Linear ridge", {"C": _C}),
    _baseline(
        "nystroem-ridge",
        "Nystroem features and ridge",
        {"n_landmarks": (100, 300), "gamma": _GAMMA, "C": _C},
        _hidden_cost,
    ),
    _baseline(
        "rff-ridge",
        "Random Fourier features and ridge",
        {"n_hidden": (100, 300), "gamma": _GAMMA, "C": _C},
        _hidden_cost,
    ),
    _baseline("svm", "Support vector machine, Gaussian kernel", {"gamma": _GAMMA, "C": _C}, _kernel_cost),
    _baseline("extra-trees", "Extremely randomised trees", {"n_estimators": (100,)}),
)

#: Models of plug-in files and the file of each.
_plugins: dict[str, tuple[ModelEntry, Path]] = {}


def registry() -> dict[str, ModelEntry]:
    """Return every model by name: the suite's own, those of installed packages, those of plug-in files.

    Raises
    ------
    ElmbenchError
        If a model from outside takes a name that is in use, or cannot be read.
    """
    entries = {entry.name: entry for entry in _BUILT_IN}
    for entry in (*_from_entry_points(), *(entry for entry, _ in _plugins.values())):
        if entry.name in entries:
            raise ElmbenchError(
                f"the model name {entry.name!r} ({entry.origin}) is taken by {entries[entry.name].origin}",
                expected="a name of its own",
                next_step="rename it where it is declared",
            )
        entries[entry.name] = entry
    return entries


def find_model(name: str) -> ModelEntry:
    """Return the entry of a model.

    Raises
    ------
    ElmbenchError
        If there is none of that name.
    """
    entries = registry()
    if name not in entries:
        raise unknown_name("model", name, list(entries), "elmbench list models")
    return entries[name]


def make_model(name: str, *, task: str = "classification", **params: Any) -> Any:
    """Return an unfitted estimator.

    Parameters
    ----------
    name : str
        A name of `elmbench list models`.
    task : {"classification", "regression"}
        What it is for.
    **params
        Its parameters.

    Returns
    -------
    estimator
        As scikit-learn has them: `fit`, `predict`, `get_params`.

    Raises
    ------
    ElmbenchError
        If there is no such model, task or parameter.

    Examples
    --------
    >>> make_model("k-elm", C=32, gamma=0.03)
    KELMClassifier(C=32, gamma=0.03)
    """
    if task not in TASKS:
        raise unknown_name("task", task, list(TASKS), "make_model(name, task=...)")
    factory = find_model(name).factory(task)
    known = parameter_names(factory)
    for key in params:
        if known is not None and key not in known:
            raise ElmbenchError(
                f"the model {name!r} has no parameter {key!r}",
                expected=f"one of {', '.join(known)}",
                next_step=f"elmbench list models, or in Python: help({factory.__name__})",
            )
    return factory(**params)


def parameter_names(factory: Callable[..., Any]) -> list[str] | None:
    """Return the names of a factory's parameters, or None where it takes any."""
    parameters = inspect.signature(factory).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return None
    return list(parameters)


def list_models() -> list[str]:
    """Return the names of all models, the suite's own first."""
    return list(registry())


def model_version(entry: ModelEntry, task: str) -> str:
    """Return the version that is part of a stored result's key: it changes when the model's numbers may."""
    own = getattr(entry.factory(task), "model_version", None)
    # A class from outside may have inherited the first; the version of its file or package counts in any case.
    known = [str(version) for version in (own, entry.version) if version not in (None, "")]
    if known:
        return ", ".join(known)
    import sklearn

    return f"scikit-learn {sklearn.__version__}"


@cache
def _from_entry_points() -> tuple[ModelEntry, ...]:
    """Return the models of installed packages; looked for once a process, as it takes milliseconds."""
    return tuple(_installed_models())


def _installed_models() -> Iterator[ModelEntry]:
    for point in entry_points(group="elmbench.models"):
        origin = f"package {point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            loaded = point.load()
        except Exception as error:
            raise ElmbenchError(
                f"the entry point {point.name!r} of {origin} cannot be loaded: {type(error).__name__}: {error}",
                next_step="correct or uninstall that package",
            ) from error
        yield _as_entry(point.name, loaded, origin, point.dist.version if point.dist else "")


def _as_entry(name: str, loaded: Any, origin: str, version: str) -> ModelEntry:
    """Return an entry for what a package or plug-in declares: a ModelEntry, or an estimator class."""
    if isinstance(loaded, ModelEntry):
        return ModelEntry(
            name, loaded.title, loaded.classification, loaded.regression, loaded.grid, loaded.baseline,
            loaded.version or version, origin, loaded.cost,
        )  # fmt: skip
    from sklearn.base import is_classifier, is_regressor

    if isinstance(loaded, type) and hasattr(loaded, "fit") and hasattr(loaded, "predict"):
        try:
            instance = loaded()
        except TypeError as error:
            raise ElmbenchError(
                f"the model {name!r} ({origin}) cannot be made without arguments: {error}",
                expected="a default for every parameter, as scikit-learn has it",
                next_step="correct it where it is declared",
            ) from error
        if is_classifier(instance) or is_regressor(instance):
            title = (inspect.getdoc(loaded) or loaded.__name__).splitlines()[0]
            return ModelEntry(
                name,
                title,
                classification=loaded if is_classifier(instance) else None,
                regression=loaded if is_regressor(instance) else None,
                version=version,
                origin=origin,
            )
    raise ElmbenchError(
        f"the model {name!r} ({origin}) is {loaded!r}",
        expected="an estimator class (a ClassifierMixin or RegressorMixin with fit and predict) or a ModelEntry",
        next_step="correct it where it is declared",
    )


def load_plugin(path: Path) -> list[str]:
    """Register the models of a Python file: its dictionary `MODELS`, from name to estimator class or ModelEntry.

    Returns
    -------
    list of str
        The names that it adds.

    Raises
    ------
    ElmbenchError
        If the file cannot be read or run, declares no models, or one whose name another plug-in has taken.
    """
    path = path.expanduser().resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ElmbenchError(
            f"cannot read the plug-in {path}: {error.strerror}",
            expected="a Python file",
            next_step="check the path",
        ) from error
    digest = hashlib.sha256(source).hexdigest()[:12]
    module_name = f"elmbench_plugin_{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ElmbenchError(
            f"the plug-in {path} is no Python file", expected="a name that ends in .py", next_step="check the path"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ElmbenchError(
            f"the plug-in {path} fails when it is loaded: {type(error).__name__}: {error}",
            expected="a file that runs by itself",
            next_step=f"python {path.name}",
        ) from error
    models = getattr(module, "MODELS", None)
    if not isinstance(models, dict) or not models:
        raise ElmbenchError(
            f"the plug-in {path} declares no models",
            expected='a dictionary such as MODELS = {"my-model": MyClassifier}',
            next_step="add it to the file",
        )
    for name, loaded in models.items():
        other = _plugins[name][1] if name in _plugins else path
        if other != path:
            raise ElmbenchError(
                f"the model name {name!r} of the plug-in {path} is taken by the plug-in {other}",
                expected="a name of its own",
                next_step="rename it in one of the two",
            )
        _plugins[name] = _as_entry(name, loaded, f"plug-in {path.name}", f"plug-in {digest}"), path
    return list(models)
