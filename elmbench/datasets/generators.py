"""Data sets that are computed: a table of generators, the options of each, and what identifies their output."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elmbench.datasets.artificial import sparse_rows, waveform
from elmbench.datasets.mackey_glass import mackey_glass
from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from elmbench.specs.dataset_sources import GeneratorSource
    from elmbench.specs.datasets import DatasetSpec


@dataclass(frozen=True)
class Generator:
    """A function `(name, run, cache_dir, **parameters) -> X, y`, and a version that rises when its numbers change."""

    function: Callable[..., tuple[Any, Any]]
    version: int


GENERATORS = {
    "mackey-glass": Generator(mackey_glass, 1),
    "sparse": Generator(sparse_rows, 1),
    "waveform": Generator(waveform, 1),
}


def chosen_options(spec: DatasetSpec, options: Mapping[str, float] | None) -> dict[str, float]:
    """Return the value of every option of a data set: as chosen, else the default.

    Raises
    ------
    ElmbenchError
        If the data set has no such option, or the option no such value.
    """
    declared = spec.generator.options if spec.generator else {}
    chosen = {option: values[0] for option, values in declared.items()}
    for option, value in (options or {}).items():
        if option not in declared:
            raise ElmbenchError(
                f"{spec.name} has no option {option!r}",
                expected=", ".join(declared) or "none: this data set has no options",
                next_step="correct the option",
            )
        match = [allowed for allowed in declared[option] if allowed == float(value)]
        if not match:
            raise ElmbenchError(
                f"the option {option!r} of {spec.name} is {value!r}",
                expected="one of " + ", ".join(f"{allowed:g}" for allowed in declared[option]),
                next_step="correct the option",
            )
        chosen[option] = match[0]
    return chosen


def identity(spec: DatasetSpec, source: GeneratorSource, options: Mapping[str, float], run: int) -> str:
    """Return what determines generated data, hashed: the generator, its version and parameters, options and run."""
    content = {
        "name": spec.name,
        "generator": source.generator,
        "version": _generator(spec, source).version,
        "parameters": {key: float(value) for key, value in source.parameters.items()},
        "options": {key: float(value) for key, value in options.items()},
        "run": run if spec.redraw else 0,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def generate(
    spec: DatasetSpec,
    source: GeneratorSource,
    options: Mapping[str, float],
    run: int,
    cache_dir: Path | str | None,
) -> tuple[Any, Any]:
    """Return the features and targets that a generator draws."""
    generator = _generator(spec, source)
    return generator.function(spec.name, run if spec.redraw else 0, cache_dir, **source.parameters, **options)


def _generator(spec: DatasetSpec, source: GeneratorSource) -> Generator:
    if source.generator not in GENERATORS:
        raise ElmbenchError(
            f"datasets.yaml: the generator of {spec.name!r} is {source.generator!r}",
            expected="one of " + ", ".join(sorted(GENERATORS)),
            next_step="correct it, then: elmbench validate",
        )
    return GENERATORS[source.generator]
