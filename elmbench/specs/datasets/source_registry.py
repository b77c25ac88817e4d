"""The sources of a data set in `datasets.yaml`, and the registry of their kinds."""

from inspect import isabstract
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, SerializeAsAny

from elmbench.lazy import load_object
from elmbench.specs.datasets.preparation import Label, Step
from elmbench.specs.files import SpecPart

#: The remark on rows that differ from the public file.
OTHER_DATA = "is other data than"
#: The remark on a training part without its test part, which leaves fewer training rows.
TRAINING_ONLY = "only the training part is here"


#: The suite's own kinds of source: the class of each, in a module below
#: `elmbench.datasets.sources`.
BUILT_IN = {
    "file": "file:FileSource",
    "scikit-learn": "scikit_learn:ScikitLearnSource",
    "generator": "generator:GeneratorSource",
    "openml": "openml:OpenMLSource",
    "libsvm": "libsvm:LibsvmSource",
    "archive": "archive:ArchiveSource",
}


class SourceSpec(SpecPart):
    """A source of a data set, and the steps that turn its layout into that of the public file."""

    #: Its rows are computed.
    generated: ClassVar[bool] = False

    #: The kind of source.
    kind: str
    #: The public file's label of each label of this source; `*` stands for every other one.
    labels: dict[Label, Label] = Field(default_factory=dict)
    #: Steps for this source alone, which come before those of the data set.
    prepare: tuple[Step, ...] = ()
    #: True for a source of prepared rows, which skips the steps of the data set.
    already_prepared: bool = False
    #: True for a source whose training part comes first.
    split_in_order: bool = False
    #: True for a source that scales or codes the features in another way, so no fingerprint fits
    #: it.
    other_values: bool = False
    #: A remark on the source.
    note: str = ""

    @property
    def title(self) -> str:
        """The source in a few words, for people; by default its kind."""
        return self.kind


class FileOptions(SpecPart):
    """The options for reading a user's file; empty and None mean: detected."""

    #: Names of columns that are not features.
    drop: tuple[str, ...] = ()
    #: Columns of categories, even if they look like numbers.
    words: tuple[str, ...] = ()
    #: Columns of text, whose words become features.
    text: tuple[str, ...] = ()
    #: The separator of a text table; detected by default.
    separator: str = ""
    #: The decimal mark of a text table; detected by default.
    decimal: Literal["", ".", ","] = ""
    #: True if a text table has names of columns, which are x0, x1, ... otherwise; detected by
    #: default.
    header: bool | None = None
    #: True to leave out rows without a target.
    drop_missing_target: bool = False
    #: Another file, with the official test rows.
    test: str = ""


def source_kinds() -> list[str]:
    """Return the kinds of source of the suite and of the loaded plug-in files."""
    # It imports the registry, which few commands need.
    from elmbench.registry.plugins import plugin_objects

    return [*BUILT_IN, *plugin_objects("SOURCES")]


def source_class(kind: object) -> type[SourceSpec]:
    """Return the class of a kind of source: of the suite, or of a plug-in file.

    A plug-in file declares it in the dictionary `SOURCES`. Raises ValueError if there is none, or
    it is not a complete `Source`.
    """
    name = str(kind)
    if name in BUILT_IN:
        return load_object(f"elmbench.datasets.sources.{BUILT_IN[name]}")
    # It imports the registry, which few commands need.
    from elmbench.registry.plugins import (
        plugin_objects,
    )

    added = plugin_objects("SOURCES")
    if name not in added:
        raise ValueError(
            f"the kind of source is {kind!r}, not one of {', '.join(source_kinds())}"
        )
    source = added[name]
    if not (isinstance(source, type) and issubclass(source, SourceSpec)):
        raise ValueError(
            f"the kind of source {kind!r} is {source!r}, not a class of "
            "elmbench.datasets.sources.Source"
        )
    if isabstract(source):
        raise ValueError(
            f"the kind of source {kind!r} has no "
            f"{' and no '.join(sorted(source.__abstractmethods__))}"
        )
    return source


def parse_source(content: Any) -> SourceSpec:
    """Return a source from its keys in a file, validated by the class of its kind.

    `content`: the keys; a source is returned as it is. Raises ValueError for an unknown kind.
    """
    if isinstance(content, SourceSpec):
        return content
    return source_class(
        content.get("kind") if isinstance(content, dict) else content
    ).model_validate(content)


AnySource = Annotated[
    SerializeAsAny[SourceSpec],
    PlainValidator(parse_source, json_schema_input_type=SourceSpec),
]
