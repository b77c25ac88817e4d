"""What plug-in files declare besides models."""

from __future__ import annotations


def plugin_objects(kind: str) -> dict[str, object]:
    """Return what loaded plug-in files declare of a kind, by name."""
    return {}
