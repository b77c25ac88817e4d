"""elmbench reruns the experiments of five papers on extreme learning machines.

From Python: `run`, `compare`, `read_results`, `PathSearchCV`, `load_dataset`, `make_model` and `list_models`; the
estimators are in `elmbench.models`.
"""

from typing import Any

__all__ = ["PathSearchCV", "__version__", "compare", "list_models", "load_dataset", "make_model", "read_results", "run"]

_HOMES = {
    "PathSearchCV": "elmbench.models.path_search",
    "load_dataset": "elmbench.datasets",
    "run": "elmbench.workflow.api",
    "compare": "elmbench.workflow.compare",
    "read_results": "elmbench.reporting.saved",
    "make_model": "elmbench.specs.registry",
    "list_models": "elmbench.specs.registry",
}


def __getattr__(name: str) -> Any:
    # Imported when first used, so that `elmbench --help` does not wait for numpy and scikit-learn.
    if name == "__version__":
        from importlib.metadata import version

        return version("elmbench")
    if name not in _HOMES:
        raise AttributeError(f"module 'elmbench' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
