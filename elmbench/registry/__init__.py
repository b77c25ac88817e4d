"""The registry of models: a name, an estimator for each task, a default grid.

A model is added by a file under `elmbench/models/` and one line in `built_in.py`; a package from
outside adds one by an entry point in the group `elmbench.models`, a script by `--plugin FILE`.
Models are imported on first use.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.registry.built_in import BUILT_IN, DUMMY, TASKS, ModelEntry
from elmbench.registry.plugins import load_address, models_of_packages, plugin_objects

# A look at the metadata takes half a millisecond, for each cell.
_installed_version = cache(version)


def registry() -> dict[str, ModelEntry]:
    """Return {name: entry} of every model: the suite's own, then those of installed packages and of
    the plug-in files that are loaded. Raises ElmbenchError if two have the same name.
    """
    entries = dict(BUILT_IN)
    for entry in (*models_of_packages(), *plugin_objects("MODELS").values()):
        if entry.name in entries:
            problem = (
                f"the model name {entry.name!r} ({entry.origin}) is taken by "
                f"{entries[entry.name].origin}"
            )
            raise ElmbenchError(
                problem,
                expected="a name of its own",
                next_step="rename it where it is declared",
            )
        entries[entry.name] = entry
    return entries


#: Names that models are known by elsewhere, in lower case, and the names to type.
_KNOWN_AS = {
    "rf": "random-forest",
    "randomforest": "random-forest",
    "extratrees": "extra-trees",
    "gbm": "hist-gradient-boosting",
    "svc": "svm",
    "logreg": "logistic-regression",
    "kelm": "k-elm",
    "xgb": "xgboost:XGBClassifier",
    "xgboost": "xgboost:XGBClassifier",
    "lgbm": "lightgbm:LGBMClassifier",
    "lightgbm": "lightgbm:LGBMClassifier",
    "catboost": "catboost:CatBoostClassifier",
}


def find_model(name: str) -> ModelEntry:
    """Return the entry of a model, by its name or by its address `package.module:Class`. Raises
    ElmbenchError for an unknown name, with a suggestion, and for an address that cannot be loaded.
    """
    if ":" in name:
        return load_address(name)
    entries = registry()
    if name in entries:
        return entries[name]
    known_as = _KNOWN_AS.get(name.lower().replace("_", "-"))
    if known_as is None:
        raise unknown_name("model", name, list(entries), "elmbench list models")
    is_installed_apart = ":" in known_as
    raise ElmbenchError(
        f"unknown model {name!r} (did you mean {known_as!r}?)",
        expected="a class of an installed package, as package:Class"
        if is_installed_apart
        else "a name of elmbench list models",
        next_step=f"-m {known_as}",
    )


def make_model(name: str, *, task: str = "classification", **params: Any) -> Any:
    """Return an unfitted estimator. Raises ElmbenchError for an unknown name, task or parameter.

    Parameters
    ----------
    name : str
        A name of `elmbench list models`, or an address `package.module:Class`.
    task : {"classification", "regression"}
    **params
        Parameters of the estimator, a scikit-learn one.

    Examples
    --------
    >>> make_model("k-elm", C=32, gamma=0.03)
    KELMClassifier(C=32, gamma=0.03)
    """
    if task not in TASKS:
        raise unknown_name("task", task, list(TASKS), "make_model(name, task=...)")
    entry = find_model(name)
    check_parameters(entry, task, params)
    return entry.factory(task)(**params)


def check_parameters(entry: ModelEntry, task: str, params: Iterable[str]) -> None:
    """Raise ElmbenchError, with the known names, for names that are not parameters of a model.

    `entry`: of the model. `task`: "classification" or "regression". `params`: the names, or a dict
    with them as keys. A factory that accepts any name raises none. A built-in estimator is imported
    only if its entry lacks a name, because scikit-learn takes two seconds.
    """
    if entry.origin == ModelEntry.origin and {*params} <= {
        *entry.grid,
        *entry.settings.get(task, ()),
    }:
        return
    names = parameter_names(entry.factory(task))
    for key in params:
        if names is not None and key not in names:
            raise unknown_name(
                f"parameter of the model {entry.name}:",
                key,
                names,
                "elmbench list models",
            )


@cache  # a run asks for them with every cell
def parameter_names(factory: Callable[..., Any]) -> list[str] | None:
    """Return the names of the parameters of an estimator class or factory; None if it accepts any,
    as it has `**params`.
    """
    parameters = inspect.signature(factory).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return None
    return list(parameters)


def try_factory(factory: Callable[..., Any], **params: Any) -> Any | None:
    """Return the estimator that a class or factory makes with some parameters; None if it raises
    TypeError, as for a missing parameter. Other errors of a plug-in's `__init__` are raised.
    """
    try:
        return factory(**params)
    except TypeError:
        return None


def has_method(factory: Callable[..., Any], *names: str) -> bool:
    """Return True if the estimator that a class or factory makes has at least one of the methods
    `names`. Also True if the factory needs parameters, so that nothing is known.

    An instance is made only if the class alone does not decide, because `__init__` may hang; its
    errors, apart from TypeError, are raised.
    """
    if isinstance(factory, type):
        attributes = [inspect.getattr_static(factory, name, None) for name in names]
        if any(map(inspect.isfunction, attributes)):
            return True
    model = try_factory(factory)
    return model is None or any(hasattr(model, name) for name in names)


def ignores_features(name: str) -> bool:
    """Return True if the predictions of a model do not depend on the features: the built-in dummy,
    or a model from elsewhere whose estimator is of `sklearn.dummy` or derives from it.

    `name`: of the model, or its address. False for a model that cannot be found, and for a factory
    from elsewhere that needs parameters. Raises ElmbenchError if its import fails.
    """
    if name in BUILT_IN:
        return name == DUMMY
    try:
        entry = find_model(name)
    except ElmbenchError:
        return False
    task = next(task for task in TASKS if getattr(entry, task) is not None)
    factory = entry.factory(task)
    estimator_class = (
        factory if isinstance(factory, type) else type(try_factory(factory))
    )
    return any(base.__module__ == "sklearn.dummy" for base in estimator_class.__mro__)


def list_models() -> list[str]:
    """Return the names of all models, the suite's own first; those of loaded plug-in files are
    last.
    """
    return list(registry())


def model_version(entry: ModelEntry, task: str) -> str:
    """Return the version of a model as a text, which is part of a stored result's key; it changes
    when the model's numbers may.

    `task`: "classification" or "regression". It has the `model_version` of the estimator and the
    version of the entry, with a comma, or the one that there is; "scikit-learn VERSION" if there is
    none, and for scikit-learn's own estimators.
    """
    versions: list[str] = []
    if not entry.is_of_scikit_learn:
        of_class = getattr(entry.factory(task), "model_version", None)
        # A plug-in's class may inherit `model_version`; the version of its file or package counts
        # in any case.
        versions = [
            str(number)
            for number in (of_class, entry.version)
            if number not in (None, "")
        ]
    return ", ".join(versions) or f"scikit-learn {_installed_version('scikit-learn')}"
