"""Every verb, declared in the order in which `elmbench --help` lists them."""

from importlib import import_module


def declare() -> None:
    """Have each verb declared to the app, by the import of its module."""
    for module in ("run", "compare", "predict", "specs", "results", "data"):
        import_module(f"elmbench.cli.{module}")
