"""Every verb, declared in the order in which `elmbench --help` lists them."""

from importlib import import_module


def declare() -> None:
    """Import the modules of all commands, which add them to the app."""
    for module in ("run", "compare", "predict", "specs", "results", "data"):
        import_module(f"elmbench.cli.{module}")
