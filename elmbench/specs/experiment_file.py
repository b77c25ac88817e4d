"""An experiment file, and its changes by readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from elmbench.specs.datasets import (
    DatasetSpec,
    is_of_suite,
    load_dataset_specs,
    suite_dataset_specs,
)
from elmbench.specs.experiments import PROFILES, Experiment, Profile
from elmbench.specs.files import parse_spec, raw_names, spec_root
from elmbench.specs.papers import Paper
from elmbench.specs.published import PublishedTable, read_published_table

#: Keys of a reading whose entries each change one of the table's, and the keys with the names of
#: these.
CHANGED_BY_NAME = {"models": "models", "grids": "grids", "data": "datasets"}


@dataclass(frozen=True)
class ExperimentFile:
    """An experiment file as read, before any profile or reading."""

    path: Path
    #: The YAML, with the keys of the table that it is based on filled in.
    content: dict[str, Any]
    paper: Paper
    #: All tables of the paper; empty for a user's own table.
    tables: list[ExperimentFile] = field(
        default_factory=list, repr=False, compare=False
    )
    #: A user's data sets, from a comparison or from the `datasets.yaml` of the user's table.
    #: They come before all others of the same name.
    datasets: tuple[DatasetSpec, ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def spec(self) -> Experiment:
        """The printed protocol, with default readings.

        It is validated on first use, since a command needs few of the tables; ElmbenchError if it
        is not valid.
        """
        return parse_spec(Experiment, self.content, self.path).with_grids()

    @property
    def is_of_suite(self) -> bool:
        """True if the file came with elmbench."""
        return self.path.is_relative_to(spec_root() / "experiments")

    @property
    def id(self) -> str:
        """The id of the table, such as `eem/table4`: the key of the paper and the file's name."""
        return str(self.content["id"])

    def find_dataset(self, name: str) -> DatasetSpec:
        """Return the data set of a name or alias; raise ElmbenchError if there is none.

        The user's data sets that came with the table are looked up first, then those of
        `load_dataset_specs`. For a table of the suite, the suite's data sets precede a user's added
        ones.
        """
        for spec in self.datasets:
            if name in (spec.name, *spec.aliases):
                return spec
        if self.is_of_suite and is_of_suite(name):
            return suite_dataset_specs().find(name)
        return load_dataset_specs().find(name)

    @property
    def names(self) -> list[str]:
        """The id and the aliases, all of which commands accept."""
        return [self.id, *raw_names(self.content, "aliases")]

    @property
    def all_columns(self) -> set[str]:
        """The names of the columns of all tables of the paper; empty for a user's own table.

        The suite measures no model that the paper prints under any other name.
        """
        return {
            column
            for table in self.tables
            for column in raw_names(table.content, "models")
        }

    @cached_property
    def published(self) -> PublishedTable:
        """The paper's values for this table, read once, on first use; empty if it prints none."""
        return read_published_table(self.spec.published, self.path.parent)

    @property
    def profiles(self) -> list[str]:
        """The profiles under which the table has results, all unless its file excludes one."""
        return [
            name
            for name in PROFILES
            if self.spec.profiles.get(name, Profile()) is not None
        ]

    @property
    def choices(self) -> list[dict[str, str]]:
        """A dict {reading: value} for each value of a reading that is not its default."""
        return [
            {name: value}
            for name in self.spec.readings
            for value in [*self.paper.readings[name].values][1:]
        ]

    def apply_readings(self, readings: Mapping[str, str]) -> Experiment:
        """Return the table changed by values of readings; the same object if they change nothing.

        `readings`: {id of a reading: name of the chosen value}, both as `paper.yaml` defines them
        (else KeyError). They are applied in the order of their ids; other readings have their
        defaults. Raises ElmbenchError if the changed table is not valid.
        """
        changes = {
            name: self.paper.readings[name].values[value].set
            for name, value in sorted(readings.items())
        }
        if not any(changes.values()):
            return self.spec
        content = reduce(overlay, changes.values(), self.content)
        prefix = f"({self.id} under the reading {', '.join(changes)})"
        source = self.path.with_name("paper.yaml")
        return parse_spec(Experiment, content, source, prefix).with_grids()


def overlay(
    content: dict[str, Any], change: dict[str, Any], *, add: bool = False
) -> dict[str, Any]:
    """Return a copy of `content` with the keys of `change` replaced, mapping by mapping.

    A mapping in `change` changes single keys of the one in `content`; any other value replaces the
    whole value. `add`: also add models, grids and data sets that `content` does not have. Without
    it, changes to these are ignored, so that one reading fits every table of a paper. An empty
    mapping in `change` replaces the whole entry if `add` is true, and is ignored otherwise.
    """
    if not add:
        change = dict(change)
        for key, section in CHANGED_BY_NAME.items():
            if isinstance(change.get(key), dict):
                present = raw_names(content, section)
                change[key] = {
                    name: value
                    for name, value in change[key].items()
                    if name in present
                }
        change = {key: value for key, value in change.items() if value != {}}
    merged = dict(content)
    for key, value in change.items():
        is_mapping = (
            isinstance(value, dict) and value and isinstance(merged.get(key), dict)
        )
        merged[key] = overlay(merged[key], value, add=True) if is_mapping else value
    return merged
