"""Kinds of work, one file each: its key, its inputs, its execution, its cost, its label.

A kind of work is added by a file with a frozen dataclass that derives from `Work`, and a line in
`_BUILT_IN`; a plug-in file declares kinds in a dictionary `WORK`, from kind to class. A kind is
imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elmbench.errors import ElmbenchError, unknown_name, wording
from elmbench.lazy import load

if TYPE_CHECKING:
    from elmbench.specs.datasets import DatasetSpec
    from elmbench.tasks.base import Work

#: The kind of work that stores predictions.
FIT_KIND = "cell"
#: The address of the class of each kind of work, and of the choice by each divergence.
_BUILT_IN: dict[str, Any] = {
    FIT_KIND: "elmbench.tasks.fit:Fit",
    "importance": "elmbench.tasks.importance:Importance",
    "kernel-weights": "elmbench.tasks.kernel_weights:KernelWeights",
    "search": "elmbench.tasks.search:Search",
    "grid": "elmbench.tasks.grid:GridEvaluation",
    "choice": "elmbench.tasks.choice:Choice",
    "divergence": "elmbench.tasks.divergence:Projections",
    "dcs-gaussians": "elmbench.tasks.divergence:DivergenceChoice",
    "dcs-kde": "elmbench.tasks.divergence:DivergenceChoice",
    "stream": "elmbench.tasks.stream:Stream",
    "curve": "elmbench.tasks.curve:Curve",
    "correlation": "elmbench.tasks.correlation:Correlation",
    "description": "elmbench.tasks.description:Description",
}


def work_from(
    content: dict[str, Any], spec: DatasetSpec | None = None, splits_file: str = ""
) -> Work:
    """Return the work with the content of `Work.content`; `spec` of its data set is needed to run
    or estimate it, and the path of the file of given splits to run it.

    Raises ElmbenchError if there is no such kind of work, or the content is not its.
    """
    from elmbench.evaluation.content import read_content
    from elmbench.registry.plugins import plugin_objects

    kind = content.get("criterion") or content.get("kind")
    kinds = _BUILT_IN | plugin_objects("WORK")
    if not isinstance(kind, str):
        raise _unusable(content, f"its kind is {kind!r:.100}")
    if kind not in kinds:
        plugin = wording("--plugin FILE", "plugins=[FILE]")
        raise unknown_name(
            "kind of work", kind, list(kinds), f"load the plug-in that declares it: {plugin}"
        )
    cls: type[Work] = load(kinds[kind]) if isinstance(kinds[kind], str) else kinds[kind]
    try:
        work: Work = read_content(cls, content, spec=spec, splits_file=splits_file)
        needs_keys = all(isinstance(key, str) for key in work.needs)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _unusable(content, f"{type(error).__name__}: {error}") from error
    if not needs_keys:
        raise _unusable(content, "the work that it needs has no keys")
    return work


def _unusable(content: dict[str, Any], problem: str) -> ElmbenchError:
    """Return the error for content that is not that of a kind of work."""
    return ElmbenchError(
        f"stored work cannot be read: {content!r:.100} ({problem})",
        expected="work that this version of elmbench stored",
        next_step="move the folder .store of the results away, then run again",
    )
