"""Models that are estimator objects of a program, not classes."""

import inspect
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from elmbench.errors import ElmbenchError
from elmbench.registry.entry import ModelEntry


def write_plugin(estimators: Mapping[str, Any], folder: Path, search_path: list[str]) -> Path:
    """Write estimators to a plug-in file, which worker processes can load, and return it.

    `estimators`: by their names as models. `folder`: an existing one. `search_path`: folders that their modules may be
    imported from.
    """
    import cloudpickle

    try:
        # By value, so that classes of a script or a notebook reach the workers.
        content = cloudpickle.dumps(dict(estimators))
    except Exception as error:
        problem = f"an estimator cannot be sent to a worker process: {error}"
        expected, next_step = "estimators that can be pickled", "define the class in a module, and name module:Class"
        raise ElmbenchError(problem, expected=expected, next_step=next_step) from error
    pickled = folder / f"estimators-{sha256(content).hexdigest()[:12]}.pkl"
    pickled.write_bytes(content)
    path = pickled.with_suffix(".py")
    path.write_text(
        f"import sys\nfrom pathlib import Path\nfrom {__name__} import read_entries\n"
        f"sys.path += [folder for folder in {search_path!r} if folder not in sys.path]\n"
        f"MODELS = read_entries(Path({str(pickled)!r}))\n",
        encoding="utf-8",
    )
    return path


def read_entries(path: Path) -> dict[str, ModelEntry]:
    """Return the models that `write_plugin` has pickled."""
    import cloudpickle

    content = path.read_bytes()
    version = sha256(content).hexdigest()[:12]
    return {name: _entry(name, estimator, version) for name, estimator in cloudpickle.loads(content).items()}


def _entry(name: str, estimator: Any, version: str) -> ModelEntry:
    from sklearn.base import is_classifier, is_regressor

    kinds = {"classification": is_classifier, "regression": is_regressor}
    factory = _factory(estimator)
    tasks = {task: factory for task, is_kind in kinds.items() if is_kind(estimator)}
    if not tasks:
        problem = f"the model {name!r} is neither a classifier nor a regressor: {estimator!r}"
        raise ElmbenchError(problem, expected="a scikit-learn estimator", next_step="correct `models`")
    title = type(estimator).__name__
    return ModelEntry(name, title, tasks.get("classification"), tasks.get("regression"), version=version)


def _factory(estimator: Any) -> Callable[..., Any]:
    """Return a function that clones an estimator with other parameters; `random_state` seeds all of its unset seeds."""
    params = estimator.get_params()
    seeds = [name for name in params if name.rpartition("__")[2] == "random_state"]
    unset = [name for name in seeds if params[name] is None]

    def make(random_state: Any = None, **given: Any) -> Any:
        from sklearn.base import clone

        return clone(estimator).set_params(**dict.fromkeys(unset, random_state) | given)

    names = [name for name in params if name not in seeds and name.isidentifier()] + ["random_state"] * bool(unset)
    keyword = inspect.Parameter.KEYWORD_ONLY
    make.__signature__ = inspect.Signature([inspect.Parameter(name, keyword) for name in names])  # type: ignore[attr-defined]
    make.__name__ = type(estimator).__name__
    return make
