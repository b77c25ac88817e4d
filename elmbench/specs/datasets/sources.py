"""Sources of data sets in `datasets.yaml`: the base class of the kinds, and their registry."""

from inspect import isabstract
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import Field, GetJsonSchemaHandler, PlainValidator, SerializeAsAny, TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from elmbench.lazy import load
from elmbench.registry.plugins import plugin_objects
from elmbench.specs.datasets.steps import Label, Step
from elmbench.specs.files import SpecPart

#: The suite's own kinds of source: the class of each, in a module below `elmbench.datasets.sources`.
BUILT_IN = {
    "file": "file:FileSource",
    "scikit-learn": "scikit_learn:ScikitLearnSource",
    "generator": "generator:GeneratorSource",
    "openml": "openml:OpenMLSource",
    "libsvm": "libsvm:LibsvmSource",
    "archive": "archive:ArchiveSource",
}


class SourceSpec(SpecPart):
    """A source of a data set, and the steps that turn its layout into that of the public file.

    `labels` maps the labels of this source to those of the public file ("*": every other one); `prepare` lists steps
    for this source alone, which come before those of the data set. A source that is `already_prepared` skips the data
    set's steps. `split_in_order`: the training part comes first. `other_values`: the source scales or codes the
    features in another way, so no fingerprint fits them.
    """

    #: Its rows are computed.
    generated: ClassVar[bool] = False

    kind: str
    labels: dict[Label, Label] = Field(default_factory=dict)
    prepare: tuple[Step, ...] = ()
    already_prepared: bool = False
    split_in_order: bool = False
    other_values: bool = False
    note: str = ""

    @property
    def title(self) -> str:
        """The source in a few words."""
        return self.kind


class FileOptions(SpecPart):
    """The options for reading a user's file, as `FileSource` describes them; empty and None mean: detected."""

    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False
    test: str = ""


def source_class(kind: object) -> type[SourceSpec]:
    """Return the class of a kind of source: of the suite, or of a plug-in file's dictionary `SOURCES`."""
    if kind in BUILT_IN:
        built_in: type[SourceSpec] = load(f"elmbench.datasets.sources.{BUILT_IN[str(kind)]}")
        return built_in
    added = plugin_objects("SOURCES")
    if kind not in added:
        raise ValueError(f"the kind of source is {kind!r}, not one of {', '.join([*BUILT_IN, *added])}")
    source = added[str(kind)]
    if not (isinstance(source, type) and issubclass(source, SourceSpec)):
        raise ValueError(f"the kind of source {kind!r} is {source!r}, not a class of elmbench.datasets.sources.Source")
    if isabstract(source):
        raise ValueError(f"the kind of source {kind!r} has no {' and no '.join(sorted(source.__abstractmethods__))}")
    return source


def parse_source(content: Any) -> SourceSpec:
    """Return a source, validated by the class of its kind."""
    if isinstance(content, SourceSpec):
        return content
    return source_class(content.get("kind") if isinstance(content, dict) else content).model_validate(content)


class _UnionSchema:
    """The JSON schema of a source: that of all the suite's kinds."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        kinds = tuple(map(source_class, BUILT_IN))
        union: Any = Annotated[Union[kinds], Field(discriminator="kind")]  # noqa: UP007
        return handler(TypeAdapter(union).core_schema)


AnySource = Annotated[SerializeAsAny[SourceSpec], PlainValidator(parse_source), _UnionSchema]
