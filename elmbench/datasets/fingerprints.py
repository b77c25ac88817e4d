"""The fingerprints of the rows that are at hand, written into a `datasets.yaml`."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from elmbench.datasets.dataset import Dataset, fingerprint_numbers
from elmbench.datasets.load import load_from_spec
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.files import write_atomically
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.preparation import Fingerprint
from elmbench.specs.files import SpecLoader, read_yaml

_LINE = re.compile(r"  fingerprint:.*\n")
#: Decimals of the numbers in `datasets.yaml`.
_PLACES = 7
#: Generated rows of more values than this have none: drawing them to look at them takes minutes.
_MOST_VALUES = 50_000_000


def write_fingerprints(
    path: Path, specs: Iterable[DatasetSpec], data_dir: str | None
) -> dict[str, Fingerprint]:
    """Write the fingerprints of the data sets that are at hand into the `datasets.yaml` at `path`.

    They replace earlier ones. Returns {name: fingerprint}. `data_dir`: None for
    `ELMBENCH_DATA_DIR`. Raises ElmbenchError if the entries of the file are written in a way that
    cannot be changed line by line. `specs`: of the data sets; those that are not at hand are left
    out.
    """
    fingerprints = fingerprints_of(specs, data_dir)
    lines = path.read_text("utf-8").rstrip("\n") + "\n"
    text = with_fingerprints(lines, fingerprints)
    _check_text(text, fingerprints, path)
    write_atomically(path, text)
    return fingerprints


def _check_text(text: str, fingerprints: Mapping[str, Fingerprint], path: Path) -> None:
    """Raise ElmbenchError unless `text`, as YAML, is the file at `path` with these fingerprints.

    `fingerprints`: {name of a data set in the file: fingerprint}.
    """
    expected = read_yaml(path)
    for name, fingerprint in fingerprints.items():
        line = yaml.safe_load(as_line(fingerprint))
        expected[name] = expected[name] | line
    try:
        is_right = yaml.load(text, SpecLoader) == expected
    except yaml.YAMLError:
        is_right = False
    if not is_right:
        lines = "".join(
            f"\n{name}:\n{as_line(one).rstrip()}" for name, one in fingerprints.items()
        )
        raise ElmbenchError(
            f"{path}: an entry has a form that cannot be changed line by line",
            expected="each key on a line of its own, two spaces from the margin",
            next_step=f"write the fingerprints yourself:{lines}",
        )


def fingerprints_of(
    specs: Iterable[DatasetSpec], data_dir: str | None = None
) -> dict[str, Fingerprint]:
    """Return {name: fingerprint} of each data set that is at hand.

    If only the official training part is here, it is the fingerprint of that part. Rows that each
    fold encodes have no fingerprint. `data_dir`: None for `ELMBENCH_DATA_DIR`. `specs`: of the data
    sets.
    """
    fingerprints = {}
    for spec in specs:
        fingerprint = _fingerprint(spec, data_dir)
        if fingerprint is not None:
            fingerprints[spec.name] = fingerprint
    return fingerprints


def _fingerprint(spec: DatasetSpec, data_dir: str | None) -> Fingerprint | None:
    """Return the fingerprint of a data set; None if it has none or is not at hand.

    It has none if each fold encodes it, or if it is generated, sparse and too large. If only the
    official training part is here, it is the fingerprint of that part. `data_dir`: None for
    `ELMBENCH_DATA_DIR`.
    """
    n_values = spec.shape.instances * spec.shape.features
    if spec.generator and spec.sparse and n_values > _MOST_VALUES:
        return None
    try:
        data = load_from_spec(spec, data_dir)
    except DataUnavailableError:
        return None
    if data.is_raw:
        return None
    training_only = spec.is_training_part(len(data.y), data.splits is not None)
    return fingerprint_of(data).model_copy(
        update={"part": "train" if training_only else "all"}
    )


def fingerprint_of(data: Dataset) -> Fingerprint:
    """Return the fingerprint of prepared rows of numbers, rounded to seven decimals.

    Its `part` is the default, `all`.
    """
    n_train = len(data.splits["train"]) if data.splits else None
    numbers = fingerprint_numbers(data.X, data.y, data.task, n_train)
    rounded = {
        name: tuple(round(value, _PLACES) + 0.0 for value in values)
        for name, values in numbers.items()
    }
    return Fingerprint.model_validate(rounded)


def as_line(fingerprint: Fingerprint) -> str:
    """Return a fingerprint as the line of YAML that `datasets.yaml` has, with its line feed."""
    content = fingerprint.model_dump(exclude_defaults=True)
    shown = (f"{key}: {_yaml_value(value)}" for key, value in content.items())
    return f"  fingerprint: {{{', '.join(shown)}}}\n"


def _yaml_value(value: object) -> str:
    """Return a value of a fingerprint as YAML; a tuple becomes '[a, b]'."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def with_fingerprints(text: str, fingerprints: Mapping[str, Fingerprint]) -> str:
    """Return the text of a `datasets.yaml` with these fingerprints in place of earlier ones.

    `fingerprints`: {name of a data set: fingerprint}; names that the text lacks are ignored. The
    rest of the text stays.
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
