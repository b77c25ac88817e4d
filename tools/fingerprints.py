"""The fingerprints in `datasets.yaml`, for maintainers: `python -m tools.fingerprints [NAME ...]`.

They are taken from the data that are at hand, so look at what changed before it is committed.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from elmbench.datasets.dataset import Dataset, fingerprint_numbers
from elmbench.datasets.load import load_from_spec
from elmbench.errors import DataUnavailableError
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.datasets.sources import Fingerprint
from elmbench.specs.files import spec_root

_LINE = re.compile(r"  fingerprint:.*\n")
#: Decimals of the numbers in `datasets.yaml`.
_PLACES = 7
#: Generated rows of more values than this have none: drawing them to look at them takes minutes.
_MOST_VALUES = 50_000_000


def fingerprints(names: Iterable[str] = ()) -> dict[str, Fingerprint]:
    """Return the fingerprint of each data set that is at hand (of all, if none is named), in the
    order of the specs.

    If only the official training part is here, it is the fingerprint of that part.
    """
    specs = load_dataset_specs()
    chosen = [specs.find(name) for name in names] or list(specs.values())
    return {
        spec.name: one for spec in chosen if (one := _fingerprint(spec)) is not None
    }


def _fingerprint(spec: DatasetSpec) -> Fingerprint | None:
    if (
        spec.generator
        and spec.sparse
        and spec.shape.instances * spec.shape.features > _MOST_VALUES
    ):
        return None
    try:
        data = load_from_spec(spec)
    except DataUnavailableError:
        return None
    training_only = spec.is_training_part(len(data.y), data.splits is not None)
    return fingerprint_of(data).model_copy(
        update={"part": "train" if training_only else "all"}
    )


def fingerprint_of(data: Dataset) -> Fingerprint:
    """Return the fingerprint of the rows, with the digits of `datasets.yaml`."""
    n_train = len(data.splits["train"]) if data.splits else None
    numbers = fingerprint_numbers(data.X, data.y, data.task, n_train)
    rounded = {
        name: tuple(round(value, _PLACES) + 0.0 for value in values)
        for name, values in numbers.items()
    }
    return Fingerprint.model_validate(rounded)


def as_line(fingerprint: Fingerprint) -> str:
    """Return a fingerprint as the line of YAML that `datasets.yaml` has."""
    content = fingerprint.model_dump(exclude_defaults=True)
    shown = (f"{key}: {_shown(value)}" for key, value in content.items())
    return f"  fingerprint: {{{', '.join(shown)}}}\n"


def _shown(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def with_fingerprints(text: str, fingerprints: dict[str, Fingerprint]) -> str:
    """Return the text of a `datasets.yaml` with these fingerprints in place of its own; the rest
    stays.
    """
    blocks = re.split(r"(?m)^(?=[\w-]+:)", text)
    for number, block in enumerate(blocks):
        name = block.partition(":")[0]
        if name not in fingerprints:
            continue
        lines = _LINE.sub("", block).splitlines(keepends=True)
        # After the counts; an entry that is based on another one has it at its end.
        line = next(
            (
                i
                for i, line in enumerate(lines)
                if line.startswith(("  papers:", "  sources:"))
            ),
            None,
        )
        if line is None:
            line = next(
                (i for i, line in enumerate(lines) if not line.strip()), len(lines)
            )
        blocks[number] = "".join(
            [*lines[:line], as_line(fingerprints[name]), *lines[line:]]
        )
    return "".join(blocks)


def main(names: list[str]) -> None:
    """Write the fingerprints into the `datasets.yaml` of this checkout."""
    path: Path = spec_root() / "datasets.yaml"
    path.write_text(
        with_fingerprints(path.read_text("utf-8"), fingerprints(names)), "utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
