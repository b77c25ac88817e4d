"""Every verb, declared in the order in which `elmbench --help` lists them."""

from importlib import import_module

for _module in ("run", "compare", "specs", "results", "data"):
    import_module(f"elmbench.cli.{_module}")
