"""Descriptions of data sets in `datasets.yaml`: sources, counts, preparation, the papers'
counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.specs.datasets.preparation import Fingerprint, Label, Step
from elmbench.specs.datasets.source_registry import BUILT_IN, AnySource, SourceSpec
from elmbench.specs.files import (
    SpecPart,
    invalid,
    is_checkout,
    parse_spec,
    raw_names,
    read_yaml,
    spec_root,
)

LearningTask = Literal["classification", "regression"]
NEXT = "elmbench list datasets"
#: Characters that some system forbids in names of files, and the length that leaves room for an
#: ending.
_NOT_IN_A_STEM = re.compile(r"[/\\\x00-\x1f]")
_LONGEST_NAME = 200
#: A class is rare if it has at most this share of the rows of an average class.
_RARE = 0.2
_NAME_WITH_OPTIONS = re.compile(r"([^\[\]]+)\[([^\[\]]*)\]")


class Shape(SpecPart):
    """The expected counts of a table."""

    #: The number of rows.
    instances: int = Field(ge=1)
    #: The number of columns besides the target.
    features: int = Field(ge=1)
    #: The rows of each label in the order that gives the class index (null: the count is not
    #: known), or only the number of classes.
    classes: dict[Label, int | None] | int | None = None
    #: The rows of the official parts, training rows first.
    split: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _sums(self) -> Self:
        """Raise ValueError if the parts or the classes do not sum to the number of rows."""
        if self.split is not None and sum(self.split) != self.instances:
            raise ValueError(
                f"the split {self.split} does not sum to {self.instances} instances"
            )
        total = self.count(self.labels)
        if total not in (None, self.instances):
            raise ValueError(
                f"the classes sum to {total}, not to {self.instances} instances"
            )
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of their class indices; empty if they are not known."""
        return tuple(self.classes) if isinstance(self.classes, dict) else ()

    @property
    def has_rare_class(self) -> bool:
        """True if the smallest class has at most a fifth of the rows of an average class.

        Classes of no or an unknown number of rows do not count; False if fewer than two classes
        count.
        """
        sizes = self.classes.values() if isinstance(self.classes, dict) else ()
        known = [n_rows for n_rows in sizes if n_rows]
        return len(known) > 1 and min(known) <= _RARE * sum(known) / len(known)

    def count(self, labels: Iterable[str]) -> int | None:
        """Return the number of rows that have one of `labels`.

        It is None if the number of rows of one label is not known, such as that of a label that
        does not exist, or `labels` is empty.
        """
        counts = [
            self.classes.get(label) if isinstance(self.classes, dict) else None
            for label in labels
        ]
        return (
            None
            if None in counts or not counts
            else sum(count or 0 for count in counts)
        )


class RowColumns(SpecPart):
    """The columns of a file that are not features, and the order of day and month."""

    #: The column of groups, whose rows belong together.
    groups: str | None = None
    #: The column of outer folds.
    fold: str | None = None
    #: The column of weights of rows in fits.
    weights: str | None = None
    #: The column by which the rows are sorted.
    ordered_by: str | None = None
    #: True if 1/2/2023 is in February, false if it is in January; only needed if no value decides.
    day_first: bool | None = None


def _check_stem(stem: str) -> None:
    """Raise ValueError unless a text can be the stem of a file's name, or is empty.

    It must have no separator, not begin with a dot and not be too long.
    """
    has_separator = _NOT_IN_A_STEM.search(stem) is not None
    if has_separator or stem.startswith(".") or len(stem) > _LONGEST_NAME:
        raise ValueError(
            f"{stem!r} cannot be a file's name; expected a word without / and without a dot first"
        )


class DatasetSpec(RowColumns):
    """One data set.

    The name of generated data may fix their options, as in `sparse-10k[density=0.6]`.
    """

    #: The name of the entry.
    name: str
    #: The data set in a few words.
    title: str
    #: Other names of the data set.
    aliases: tuple[str, ...] = ()
    #: The stem of its files in a data directory, which several entries may share; the name by
    #: default.
    file: str = ""
    #: The kind of target.
    task: LearningTask
    #: The labels of the positive class; the other labels are the rest.
    positive: tuple[Label, ...] = ()
    #: The counts of the public file.
    shape: Shape
    #: The counts after the preparation, if they differ.
    prepared: Shape | None = None
    #: The counts of the official training rows, if they are used without the test rows.
    training_part: Shape | None = None
    #: Numbers that identify the prepared rows of the public file.
    fingerprint: Fingerprint | None = None
    #: True for rows that are mostly zeros.
    sparse: bool = False
    #: True if categories are encoded and missing values imputed on each fold, from training rows
    #: only.
    by_fold: bool = False
    #: `run` for generated rows that are drawn again in each run.
    redraw: Literal["run"] | None = None
    #: The name and the counts of the data set in each paper, which need not be those of the public
    #: file.
    papers: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    #: The sources; the first one that can be reached is used.
    sources: tuple[AnySource, ...] = Field(min_length=1)
    #: Steps that prepare the rows.
    prepare: tuple[Step, ...] = ()
    #: The publication to cite.
    citation: str
    #: The licence of the data.
    licence: str = "not stated"
    #: Remarks on the data.
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        """Raise ValueError if the parts of the specification contradict each other.

        Names of files, classes and positive labels are checked, and that only generated data are
        redrawn.
        """
        for stem in (self.name, self.file):
            _check_stem(stem)
        if self.task == "classification":
            self._check_classes()
        elif self.positive:
            raise ValueError("a regression has no positive class")
        if self.redraw and not self.generator:
            raise ValueError("only generated data are redrawn every run")
        return self

    def _check_classes(self) -> None:
        """Raise ValueError unless a classification names its classes consistently.

        It must have classes, two classes a positive one, and positive labels must be among the
        known labels.
        """
        classes = self.shape.classes
        labels = self.shape.labels
        if classes is None:
            raise ValueError("a classification needs the classes in shape")
        has_two_classes = classes == 2 or len(labels) == 2
        if has_two_classes and not self.positive:
            raise ValueError(
                "of two classes, `positive` must name the one that precision and recall are about"
            )
        for label in self.positive:
            if labels and label not in labels:
                names = ", ".join(labels)
                raise ValueError(f"positive: {label!r} is none of the classes {names}")

    @property
    def stem(self) -> str:
        """The stem of the names of the files in a data directory, such as `wine` of `wine.csv`."""
        return self.file or self.name

    @property
    def base(self) -> str:
        """The name without its options, such as `sparse-10k` for `sparse-10k[density=0.6]`.

        It seeds generated rows, so that options do not change the seed.
        """
        return split_name(self.name)[0]

    @property
    def generator(self) -> SourceSpec | None:
        """The source that computes the rows; None if the first source does not compute them."""
        return self.sources[0] if self.sources[0].generated else None

    @property
    def outside_kinds(self) -> tuple[str, ...]:
        """The distinct kinds of sources that an installed package or a plug-in file defines."""
        kinds = dict.fromkeys(source.kind for source in self.sources)
        return tuple(kind for kind in kinds if kind not in BUILT_IN)

    def is_training_part(self, n_rows: int, is_split: bool) -> bool:
        """Return True if loaded rows are the official training part alone.

        `n_rows`: the number of loaded rows. `is_split`: True if they have both official parts.
        """
        return (
            self.training_part is not None
            and not is_split
            and n_rows == self.training_part.instances
        )

    @property
    def public(self) -> Shape:
        """The counts of the public file after the preparation of its rows."""
        return self.prepared or self.shape

    @property
    def options(self) -> dict[str, float]:
        """A dict {option: value} of generated data; empty for other data.

        It is the default, which is the first allowed value, unless `with_options` has fixed it.
        """
        return {
            option: float(values[0])
            for option, values in getattr(self.generator, "options", {}).items()
        }

    def with_options(self, options: Mapping[str, float]) -> Self:
        """Return the spec of generated data with fixed values of some options, {option: value}.

        Its name is the same; it has no fingerprint. Without options, return the spec itself. Raises
        ElmbenchError for an option or value that the generator does not declare.
        """
        if not options:
            return self
        declared: dict[str, tuple[float, ...]] = getattr(self.generator, "options", {})
        for option, value in options.items():
            if option not in declared:
                problem = f"{self.name} has no option {option!r}"
                expected = ", ".join(declared) or "none: this data set has no options"
            elif value not in declared[option]:
                problem = f"the option {option!r} of {self.name} is {value!r}"
                expected = "one of " + ", ".join(
                    f"{allowed:g}" for allowed in declared[option]
                )
            else:
                continue
            raise ElmbenchError(
                problem, expected=expected, next_step="correct the option"
            )
        first, *others = self.sources
        source = first.model_copy(
            update={
                "options": declared | {option: (v,) for option, v in options.items()}
            }
        )
        return self.model_copy(
            update={"fingerprint": None, "sources": (source, *others)}
        )


class DatasetSpecs(Mapping[str, DatasetSpec]):
    """Every data set, by name; `find` also knows the aliases, and names with options.

    `entries`: data sets, or their keys in a file, `source`, which are validated on first use.
    """

    def __init__(
        self, entries: Mapping[str, DatasetSpec | dict[str, Any]], source: str = ""
    ) -> None:
        self.entries = dict(entries)
        self._source = source
        #: The data set of each name and alias.
        self.names: dict[str, str] = {name: name for name in entries}
        for name, entry in entries.items():
            for alias in (
                entry.aliases
                if isinstance(entry, DatasetSpec)
                else raw_names(entry, "aliases")
            ):
                other = self.names.setdefault(alias, name)
                if other != name or alias == name:
                    problem = f"datasets.yaml: the alias {alias!r} of {name!r} also names {other!r}"
                    raise invalid(problem, "each name and each alias once")

    def __getitem__(self, name: str) -> DatasetSpec:
        """Return the data set of a name, validated on first use; raise KeyError for an alias."""
        entry = self.entries[name]
        if not isinstance(entry, DatasetSpec):
            entry = self.entries[name] = parse_spec(
                DatasetSpec, entry, self._source, name
            )
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def joined_with(self, specs: Mapping[str, DatasetSpec]) -> DatasetSpecs:
        """Return a new mapping of the data sets of this one and of `specs`, {name: data set}.

        Data sets of `specs` replace those of the same name, and take over their aliases from any
        data set. Aliases of a replaced data set that its replacement does not declare are dropped.
        """
        joined = DatasetSpecs({}, self._source)
        joined.entries = self.entries | dict(specs)
        names = {
            name: owner for name, owner in self.names.items() if owner not in specs
        }
        joined.names = names | DatasetSpecs(specs).names
        return joined

    def find(self, name: str) -> DatasetSpec:
        """Return the data set of a name or alias.

        The case matters only if two names differ by nothing else. Raises ElmbenchError for an
        unknown name.

        Generated data may have options after their name, as in `sparse-10k[density=0.6]`. Their
        rows are those of the data set under these options. A file in a data directory has the full
        name.
        """
        base, options = split_name(name)
        if options:
            spec = self.find(base).with_options(options)
            fixed = ",".join(
                f"{option}={value:g}"
                for option, value in spec.options.items()
                if option in options
            )
            return spec.model_copy(
                update={"name": f"{spec.name}[{fixed}]", "file": "", "aliases": ()}
            )
        if name in self.names:
            return self[self.names[name]]
        owners = {
            owner
            for key, owner in self.names.items()
            if key.casefold() == name.casefold()
        }
        if len(owners) == 1:
            return self[owners.pop()]
        raise unknown_name("data set", name, list(self.names), NEXT)


def split_name(name: str) -> tuple[str, dict[str, float]]:
    """Return the name of a data set without its options, and the options.

    'a[b=1,c=2]' gives 'a' and {'b': 1.0, 'c': 2.0}; a name without brackets has no options. Raises
    ElmbenchError if an option is not a number.
    """
    match = _NAME_WITH_OPTIONS.fullmatch(name)
    if match is None:
        return name, {}
    options: dict[str, float] = {}
    for part in match[2].split(","):
        option, _, value = part.partition("=")
        try:
            options[option.strip()] = float(value)
        except ValueError:
            problem = f"{part.strip()!r} is not an option of the data set {name!r}"
            raise ElmbenchError(
                problem, expected="OPTION=NUMBER", next_step="correct the option"
            ) from None
    return match[1], options


def parse_dataset_specs(content: Any, source: str) -> DatasetSpecs:
    """Return the data sets of a `datasets.yaml`, all validated; raise ElmbenchError for a fault.

    `content`: that of the file, as YAML reads it: {NAME: keys}. `source`: the file, for messages.
    """
    entries = _read_entries(content, source)
    return DatasetSpecs(
        {
            name: parse_spec(DatasetSpec, entry, source, name)
            for name, entry in entries.items()
        }
    )


def _read_entries(content: Any, source: str) -> dict[str, dict[str, Any]]:
    """Return {data set: {key: value}} of a `datasets.yaml`; the keys are not validated.

    `content`: that of the file, as YAML reads it. `source`: the file, for messages. An entry with
    `like: NAME` inherits the keys of NAME except those that it sets itself. Aliases, the papers'
    counts and the fingerprint are never inherited; the files in a data directory are those of NAME.
    Each returned entry has its name under the key `name`. Raises ElmbenchError if the content is
    not a mapping, if an entry of it has the key `name`, for a name with options, and for a NAME
    that is unknown or is like another entry.
    """
    if not isinstance(content, dict):
        raise invalid(f"{source}: not a mapping", "data set names, each with its keys")
    entries: dict[str, dict[str, Any]] = {}
    for name, entry in content.items():
        prefix = str(name)
        if split_name(prefix)[1]:
            raise invalid(
                f"{source}: the name {prefix!r} has options", "a name without brackets"
            )
        keys = entry if isinstance(entry, dict) else {}
        if "name" in keys:
            raise invalid(
                f"{source}: '{prefix}.name' is {keys['name']!r}",
                f"no key 'name', as {prefix!r} is the name",
            )
        merged = {"name": prefix, **keys}
        if "like" in merged:
            like = merged.pop("like")
            base = content.get(like) if isinstance(like, str) else None
            if not isinstance(base, dict) or "like" in base:
                full = "the name of a data set that is described in full"
                raise invalid(f"{source}: '{prefix}.like' is {like!r}", full)
            inherited = {
                key: value
                for key, value in base.items()
                if key not in ("aliases", "papers", "fingerprint")
            }
            merged = {"file": like, **inherited, **merged}
        entries[prefix] = merged
    return entries


#: A user's data sets, by name.
_user_specs: dict[str, DatasetSpec] = {}
#: The names of a user's data sets, by the file that describes them.
_user_files: dict[Path, tuple[str, ...]] = {}


def add_dataset_specs(specs: Iterable[DatasetSpec], file: Path | None = None) -> None:
    """Add the data sets `specs` of a user to those of `load_dataset_specs`.

    They replace data sets of the same name. `file`: the `datasets.yaml` that describes `specs`, and
    no further data sets; None for data of a command. A second call for a file replaces its names in
    `dataset_files`, but data sets of the first call stay.
    """
    specs = tuple(specs)
    _user_specs.update((spec.name, spec) for spec in specs)
    if file is not None:
        _user_files[file] = tuple(spec.name for spec in specs)
    load_dataset_specs.cache_clear()


def added_dataset_specs() -> tuple[DatasetSpec, ...]:
    """Return the user's data sets that `add_dataset_specs` has added."""
    return tuple(_user_specs.values())


def dataset_files() -> dict[Path, tuple[str, ...]]:
    """Return {path of a `datasets.yaml` of the user: names of the data sets that it describes}.

    If the user has none, return those of the suite's file in a checkout; in an installation, raise
    ElmbenchError.
    """
    if _user_files:
        return dict(_user_files)
    if not is_checkout():
        raise ElmbenchError(
            "no datasets.yaml of your own is read here",
            expected="the folder of a project, or --spec-dir FOLDER",
            next_step="elmbench new-paper KEY writes a project",
        )
    return {spec_root() / "datasets.yaml": tuple(suite_dataset_specs())}


def is_of_suite(name: str) -> bool:
    """Return True if the suite has a data set of exactly this name or alias."""
    return name in suite_dataset_specs().names


@cache
def load_dataset_specs() -> DatasetSpecs:
    """Return every data set of the suite, and the user's added ones, which have precedence.

    The result is cached until `add_dataset_specs` is called.
    """
    return suite_dataset_specs().joined_with(_user_specs)


@cache
def suite_dataset_specs() -> DatasetSpecs:
    """Return every data set of the suite's own `datasets.yaml`."""
    path = spec_root() / "datasets.yaml"
    return DatasetSpecs(_read_entries(read_yaml(path), str(path)), str(path))
