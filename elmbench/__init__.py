"""elmbench reruns the experiments of five papers on extreme learning machines.

Use `run`, `compare`, `read_results`, `PathSearchCV`, `load_dataset`, `make_model` and `list_models`
from Python. The estimators are in `elmbench.models`.
"""

from importlib import import_module
from typing import Any

from elmbench.lazy import attach

_MODULES = {
    "PathSearchCV": "elmbench.models.path_search",
    "load_dataset": "elmbench.datasets.load",
    "run": "elmbench.runs.execute",
    "compare": "elmbench.comparison.python_api",
    "read_results": "elmbench.runs.saved_results",
    "make_model": "elmbench.registry",
    "list_models": "elmbench.registry",
}

__all__ = ["__version__", "models", *_MODULES]
_get, _ = attach(__name__, _MODULES)


def __getattr__(name: str) -> Any:
    """Return a name of `_MODULES`, the version or the package of models; imported when
    first used.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("elmbench")
    return import_module("elmbench.models") if name == "models" else _get(name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
