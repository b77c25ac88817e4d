"""elmbench reruns the experiments of five papers on extreme learning machines.

Use `run`, `compare`, `read_results`, `PathSearchCV`, `load_dataset`, `make_model` and `list_models` from Python. The
estimators are in `elmbench.models`.
"""

from typing import Any

__all__ = [
    "PathSearchCV",
    "__version__",
    "compare",
    "list_models",
    "load_dataset",
    "make_model",
    "models",
    "read_results",
    "run",
]

_MODULES = {
    "PathSearchCV": "elmbench.models.path_search",
    "load_dataset": "elmbench.datasets.load",
    "run": "elmbench.workflow.api",
    "compare": "elmbench.workflow.compare",
    "read_results": "elmbench.reporting.saved",
    "make_model": "elmbench.registry",
    "list_models": "elmbench.registry",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that `elmbench --help` does not wait for numpy and scikit-learn.
    from importlib import import_module, metadata

    if name == "__version__":
        return metadata.version("elmbench")
    if name == "models":
        return import_module("elmbench.models")
    if name not in _MODULES:
        raise AttributeError(f"module 'elmbench' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
