"""What `datasets.yaml` says of a data set: where it comes from, what it must look like, how it is prepared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import Field, model_validator

from elmbench.errors import ElmbenchError, unknown_name
from elmbench.specs.datasets.fingerprint import Fingerprint
from elmbench.specs.datasets.options import chosen_options, full_name, split_name
from elmbench.specs.datasets.sources import AnySource, SourceSpec
from elmbench.specs.datasets.steps import Label, SpecPart, Step
from elmbench.specs.files import invalid, parse_spec, read_yaml, spec_root

NEXT = "elmbench list datasets"
#: What no file's name on any system may hold, and how long it may be with an ending.
_NO_STEM = re.compile(r"[/\\\x00-\x1f]")
_LONGEST_NAME = 200


class Shape(SpecPart):
    """Counts that a table must have.

    `classes` are the rows of each label in the order that gives the class index (null: the count is not known), or
    only the number of classes; `split` the rows of the official parts, training rows first.
    """

    instances: int = Field(ge=1)
    features: int = Field(ge=1)
    classes: dict[Label, int | None] | int | None = None
    split: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _sums(self) -> Shape:
        if self.split is not None and sum(self.split) != self.instances:
            raise ValueError(f"the split {self.split} does not sum to {self.instances} instances")
        if isinstance(self.classes, dict):
            counts = [count for count in self.classes.values() if count is not None]
            if len(counts) == len(self.classes) and sum(counts) != self.instances:
                raise ValueError(f"the classes sum to {sum(counts)}, not to {self.instances} instances")
        return self


class PaperCounts(SpecPart):
    """What a paper says of the data set; a difference from the public file is shown, never raised."""

    name: str
    instances: int | None = None
    features: int | None = None
    negatives: int | None = None
    positives: int | None = None
    classes: int | None = None
    train: int | None = None
    test: int | None = None
    note: str = ""


class DatasetSpec(SpecPart):
    """One data set.

    `positive` are the labels of the positive class (the other labels are "the rest"); without it a classification
    task has the classes of `shape`. `shape` is that of the public file, `prepared` that after the preparation where
    it differs, `training_part` that of the official training rows where they are taken without the test rows.
    `file` is the stem of the files in a data directory, which several entries may share. `fingerprint` is that of the
    prepared rows of the public file, where they were at hand.

    With `by_fold`, words and missing values are left to the folds: what replaces them is taken from training rows only.
    `groups` names a column that tells which rows belong together, `ordered_by` one that the rows are sorted by; neither
    is a feature. `day_first` settles whether the date 1/2/2023 is in February or in January, if no value does.

    The name of generated data may fix options of theirs, as in `sparse-10k[density=0.6]` (see `with_options`).
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    file: str = ""
    task: Literal["classification", "regression"]
    positive: tuple[Label, ...] = ()
    shape: Shape
    prepared: Shape | None = None
    training_part: Shape | None = None
    fingerprint: Fingerprint | None = None
    sparse: bool = False
    by_fold: bool = False
    groups: str | None = None
    ordered_by: str | None = None
    day_first: bool | None = None
    redraw: Literal["run"] | None = None
    papers: dict[str, PaperCounts] = Field(default_factory=dict)
    sources: tuple[AnySource, ...] = Field(min_length=1)
    prepare: tuple[Step, ...] = ()
    citation: str
    licence: str = "not stated"
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> DatasetSpec:
        classes = self.shape.classes
        for called in (self.name, self.file):
            # It is a part of paths: what is written for a data set is to stay in the folder that is meant.
            if _NO_STEM.search(called) or called.startswith(".") or len(called) > _LONGEST_NAME:
                raise ValueError(
                    f"{called!r} cannot be a file's name; expected a word without / and without a dot first"
                )
        if self.task == "regression" and self.positive:
            raise ValueError("a regression has no positive class")
        if self.task == "classification" and classes is None:
            raise ValueError("a classification needs the classes in shape")
        for label in self.positive:
            if isinstance(classes, dict) and label not in classes:
                raise ValueError(f"positive: {label!r} is none of the classes {', '.join(classes)}")
        if self.redraw and not self.generator:
            raise ValueError("only generated data are redrawn every run")
        return self

    @property
    def stem(self) -> str:
        """Stem of the file names in a data directory."""
        return self.file or self.name

    @property
    def base(self) -> str:
        """The name without the options that it fixes: what generated rows are drawn by."""
        return split_name(self.name)[0]

    @property
    def generator(self) -> SourceSpec | None:
        """The source that computes the rows, if they are computed."""
        return self.sources[0] if self.sources[0].generated else None

    def chosen_options(self, options: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the value of every option of the data: as given, else the default.

        Raises
        ------
        ElmbenchError
            If an option or its value is not among those that the generator declares.
        """
        return chosen_options(self.name, self.sources[0].declared_options, options or {})

    def with_options(self, options: Mapping[str, float]) -> DatasetSpec:
        """Return generated data with some options fixed: a spec of its own name that allows these values alone.

        Its rows are those of this spec under the same options. A file in a data directory has the full name.

        Raises
        ------
        ElmbenchError
            As for `chosen_options`.
        """
        chosen = self.chosen_options(options)
        first, *others = self.sources
        fixed = {option: chosen[option] for option in first.declared_options if option in options}
        sources = (
            first.with_options(first.declared_options | {name: (value,) for name, value in fixed.items()}),
            *others,
        )
        changes = {"name": full_name(self.name, fixed), "file": "", "aliases": (), "fingerprint": None}
        return self.model_copy(update={**changes, "sources": sources})

    @property
    def positives(self) -> int | None:
        """Rows of the positive class in the public file, where the counts are known."""
        if not self.positive or not isinstance(self.shape.classes, dict):
            return None
        counts = [self.shape.classes[label] for label in self.positive]
        return None if None in counts else sum(count for count in counts if count is not None)

    def differences(self, paper: str) -> tuple[str, ...]:
        """Return how the counts that a paper prints differ from the data, one sentence each."""
        said = self.papers.get(paper)
        if said is None:
            return ()
        here = self.prepared or self.shape
        positives = self.positives
        if self.prepared is not None and isinstance(self.prepared.classes, dict) and self.positive:
            positives = sum(self.prepared.classes[label] or 0 for label in self.positive)
        negatives = None if positives is None else here.instances - positives
        classes = here.classes if isinstance(here.classes, int) else len(here.classes or ())
        parts = said.train + said.test if said.train and said.test else None
        pairs = [
            ("instances", said.instances, here.instances),
            ("features", said.features, here.features),
            ("negative rows", said.negatives, negatives),
            ("positive rows", said.positives, positives),
            ("classes", said.classes, 2 if self.positive else classes or None),
            ("training and test rows", parts, here.instances),
        ]
        found = [
            f"{what}: {in_paper} in the paper, {in_data} in the data"
            for what, in_paper, in_data in pairs
            if in_paper is not None and in_data is not None and in_paper != in_data
        ]
        return (*found, said.note) if said.note else tuple(found)


class DatasetSpecs(dict[str, DatasetSpec]):
    """Every data set, by name; `find` also knows the aliases, and names with options."""

    def __init__(self, specs: list[DatasetSpec]) -> None:
        super().__init__((spec.name, spec) for spec in specs)
        self._names: dict[str, str] = {spec.name: spec.name for spec in specs}
        for spec in specs:
            for alias in spec.aliases:
                other = self._names.setdefault(alias, spec.name)
                if other != spec.name or alias == spec.name:
                    found = f"datasets.yaml: the alias {alias!r} of {spec.name!r} also names {other!r}"
                    raise invalid(found, "each name and each alias once")

    def knows(self, name: str) -> bool:
        """Tell whether a name or alias, as it is spelled, is taken."""
        return name in self._names

    def find(self, name: str) -> DatasetSpec:
        """Return the data set of a name or alias: as it is spelled, else whatever the case of its letters.

        Generated data may have options after their name, as in `sparse-10k[density=0.6]`.
        """
        base, options = split_name(name)
        if options:
            return self.find(base).with_options(options)
        if name in self._names:
            return self[self._names[name]]
        folded = name.casefold()
        found = sorted({owner for key, owner in self._names.items() if key.casefold() == folded})
        if len(found) == 1:
            return self[found[0]]
        if found:
            spellings = [f"{key!r} ({owner})" for key, owner in self._names.items() if key.casefold() == folded]
            either = f"{name!r} may be any of {', '.join(spellings)}"
            raise ElmbenchError(either, expected="one of them as it is spelled", next_step=NEXT)
        raise unknown_name("data set", name, list(self._names), NEXT)


def parse_dataset_specs(content: Any, source: str) -> DatasetSpecs:
    """Validate the content of a `datasets.yaml`.

    An entry with `like: NAME` takes over what NAME says and replaces the keys that it gives itself; aliases, the
    papers' counts and the fingerprint are never taken over, and the files in a data directory are those of NAME.
    """
    if not isinstance(content, dict):
        raise invalid(f"{source}: is no mapping", "data set names, each with its keys")
    specs = []
    for name, entry in content.items():
        prefix = str(name)
        if split_name(prefix)[1]:
            raise invalid(f"{source}: the name {prefix!r} has options", "a name without brackets")
        merged = {"name": prefix, **(entry if isinstance(entry, dict) else {})}
        if "like" in merged:
            like = merged.pop("like")
            base = content.get(like) if isinstance(like, str) else None
            if not isinstance(base, dict) or "like" in base:
                full = "the name of a data set that is described in full"
                raise invalid(f"{source}: '{prefix}.like' is {entry['like']!r}", full)
            inherited = {key: value for key, value in base.items() if key not in ("aliases", "papers", "fingerprint")}
            merged = {"file": entry["like"], **inherited, **merged}
        specs.append(parse_spec(DatasetSpec, merged, source, prefix))
    return DatasetSpecs(specs)


#: Data sets of a user's own, by name.
_added: dict[str, DatasetSpec] = {}


def add_dataset_specs(specs: Iterable[DatasetSpec]) -> None:
    """Let `load_dataset_specs` know data sets of a user's own too; one of the same name takes the place of an earlier.

    Raises
    ------
    ElmbenchError
        If the suite has a data set of that name, or an alias.
    """
    own = _of_suite()
    for spec in specs:
        for name in (spec.name, *spec.aliases):
            if own.knows(name):
                found = f"the data set {name!r} has the name of one of the suite"
                raise ElmbenchError(found, expected="a name of its own", next_step=NEXT)
        _added[spec.name] = spec
    load_dataset_specs.cache_clear()


def is_of_suite(name: str) -> bool:
    """Tell whether a data set of `datasets.yaml` has a name or alias, as it is spelled."""
    return _of_suite().knows(name)


@cache
def load_dataset_specs() -> DatasetSpecs:
    """Return every data set of `datasets.yaml`, and those that were added."""
    return DatasetSpecs([*_of_suite().values(), *_added.values()])


@cache
def _of_suite() -> DatasetSpecs:
    path = spec_root() / "datasets.yaml"
    return parse_dataset_specs(read_yaml(path), str(path))
