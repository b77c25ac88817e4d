"""Every command and its module, in the order in which `elmbench --help` lists them."""

from collections.abc import Sequence
from importlib import import_module

_MODULES = {
    "run": ("run",),
    "compare": ("compare",),
    "predict": ("predict",),
    "specs": ("list", "show", "validate", "env"),
    "results": ("status", "merge", "table", "check", "report", "baseline"),
    "data": ("data",),
}
VERBS = [verb for verbs in _MODULES.values() for verb in verbs]


def declare(arguments: Sequence[str]) -> None:
    """Import the modules of the commands that the arguments name, or else of all commands; they register themselves."""
    named = [module for module, verbs in _MODULES.items() if not {*verbs}.isdisjoint(arguments)]
    for module in named or _MODULES:
        import_module(f"elmbench.cli.{module}")
