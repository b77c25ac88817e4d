"""Kinds of source, one class in each file; the registry is `elmbench.specs.datasets.sources`.

A plug-in file (`--plugin FILE`) adds a subclass of `Source` in a dictionary `SOURCES`.
"""

from elmbench.datasets.sources.base import Request, Source

__all__ = ["Request", "Source"]
