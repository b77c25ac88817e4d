"""Kinds of source, one class in each file; `elmbench.specs.datasets.source_registry` lists them.

A plug-in file (`--plugin FILE`) adds a subclass of `Source` in a dictionary `SOURCES`.
"""

from elmbench.datasets.sources.base import Source, SourceRequest

__all__ = ["Source", "SourceRequest"]
