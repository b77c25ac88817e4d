"""Kinds of source, one class in each file; the registry is `elmbench.specs.datasets.sources`.

A plug-in file (`--plugin FILE`) adds a subclass of `Source` in a dictionary `SOURCES`.
"""

from elmbench.datasets.sources.base import Source, SourceRequest

__all__ = ["Source", "SourceRequest"]
