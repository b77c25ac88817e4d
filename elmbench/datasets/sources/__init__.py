"""Kinds of source, one class a file; the registry is `elmbench.specs.datasets.sources`.

A package from outside adds a subclass of `Source` by an entry point in the group `elmbench.sources`, a script by a
dictionary `SOURCES` and `--plugin FILE`.
"""

from elmbench.datasets.sources.base import Request, Source

__all__ = ["Request", "Source"]
