"""Imports on first use, so that `elmbench --help` imports neither numpy nor scikit-learn."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_object(address: str) -> Any:
    """Return the object at an address `module:name`."""
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


class LazyModule:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return a name of the module, which is imported if it has not been."""
        return getattr(import_module(self._name), name)


def attach(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package whose names are imported on first use.

    `package`: its name. `modules`: for each public name, the module that defines it.
    """

    def get(name: str) -> Any:
        """Return a name of the package, imported from its module.

        Raises AttributeError for a name that `modules` lacks.
        """
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        return load_object(f"{module}:{name}")

    def names() -> list[str]:
        """Return the names of the package in alphabetical order."""
        return sorted(modules)

    return get, names
