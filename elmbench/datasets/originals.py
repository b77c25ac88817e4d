"""Whether rows are those of the public file that they are named after: what the counts cannot tell."""

from pathlib import PurePath

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.fingerprint import differences
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.fingerprint import OTHER_DATA
from elmbench.specs.datasets.sources import GeneratorSource, Source


def as_claimed(data: Dataset, spec: DatasetSpec, source: Source | None, other_data: bool = False) -> Dataset:
    """Return data that were held against the fingerprint of the public file, with a remark if they are not known.

    Parameters
    ----------
    source : Source or None
        What they come from; None for files of the user's own.
    other_data : bool
        Let other rows through, with a remark.

    Raises
    ------
    ElmbenchError
        If the rows are others, unless `other_data`.
    """
    if isinstance(source, GeneratorSource):
        return data
    expected = spec.fingerprint
    if expected is None or (source is not None and source.other_values) or not _comparable(data, spec):
        if source is not None:
            return data
        return data.remarked(f"{_names(data)}: only the counts were compared with those of {_original(spec)}")
    apart = differences(data, expected)
    if not apart:
        return data
    if other_data:
        return data.remarked(f"{_names(data)} {OTHER_DATA} {_original(spec)}: {', '.join(apart)}")
    raise ElmbenchError(
        f"{data.source} {OTHER_DATA} {_original(spec)} of {spec.name!r}: {', '.join(apart)}",
        expected="the same values, in any order of rows and columns",
        next_step="replace it, or give --other-data: every table will say so",
    )


def is_always_compared(spec: DatasetSpec, source: Source) -> bool:
    """Tell whether `as_claimed` holds all that may come from a source against a fingerprint, whatever its counts."""
    known = spec.fingerprint is not None and spec.fingerprint.part == "all" and spec.training_part is None
    return known and not source.other_values and not isinstance(source, GeneratorSource)


def _comparable(data: Dataset, spec: DatasetSpec) -> bool:
    """Tell whether the rows hold the part that the fingerprint is of."""
    part, there = spec.training_part, len(data.y)
    training_only = part is not None and data.splits is None and there == part.instances
    if spec.fingerprint is not None and spec.fingerprint.part == "train":
        return training_only or data.splits is not None
    return not training_only


def _names(data: Dataset) -> str:
    """Return what the rows were read from, without the folders."""
    return ", ".join(PurePath(name).name for name in data.source.split(", "))


def _original(spec: DatasetSpec) -> str:
    return "the generated rows of run 0" if spec.generator else "the public file"
