"""Parts of an entry in `datasets.yaml`: its steps of preparation, its fingerprint, its sources and
their registry.
"""

from inspect import isabstract
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainValidator, SerializeAsAny

from elmbench.lazy import load
from elmbench.specs.files import SpecPart

#: The remark on rows that differ from the public file.
OTHER_DATA = "is other data than"
#: The remark on a training part without its test part, which leaves fewer training rows.
TRAINING_ONLY = "only the training part is here"


def _as_label(value: Any) -> Any:
    """Return a label, which is a word, although YAML reads an unquoted 1 as a number."""
    if isinstance(value, bool):
        raise ValueError(
            "expected a label in quotes, since YAML reads words such as yes and no as truth values"
        )
    return str(value) if isinstance(value, int | float) else value


Label = Annotated[str, BeforeValidator(_as_label)]


class PlainStep(SpecPart):
    """A step without options.

    `one-hot` replaces each nominal column by a 0/1 column for each category, in alphabetical order
    (numbers: ascending). `drop-missing-rows` drops every row in which a feature is missing,
    `drop-constant-columns` every column that has the same value in all rows. `drop-repeated-rows`
    keeps the first of several rows that agree in every feature and in the label. `fill-missing`
    imputes missing values by the mean of the column's known values, or 0 if there are none.
    """

    step: Literal[
        "one-hot",
        "drop-missing-rows",
        "drop-constant-columns",
        "drop-repeated-rows",
        "fill-missing",
    ]


class Ordinal(SpecPart):
    """Replace the categories of a nominal column by 1, 2, ... in the given order."""

    step: Literal["ordinal"]
    column: str
    order: tuple[Label, ...]


class DropColumns(SpecPart):
    """Drop columns by name."""

    step: Literal["drop-columns"]
    columns: tuple[str, ...]


class Round(SpecPart):
    """Round every value to `decimals`, for a source with more digits than the public file."""

    step: Literal["round"]
    decimals: int = Field(ge=0, le=15)


class ResizeImages(SpecPart):
    """Resize images, stored in rows in row-major order, by the mean over the area of each new
    pixel.
    """

    step: Literal["resize-images"]
    height: int = Field(ge=1)
    width: int = Field(ge=1)
    to_height: int = Field(ge=1)
    to_width: int = Field(ge=1)


Step = Annotated[
    PlainStep | Ordinal | DropColumns | Round | ResizeImages, Field(discriminator="step")
]


class Fingerprint(SpecPart):
    """Numbers of the prepared rows that do not depend on the order of rows and columns.

    Each column is standardised to z; columns of one value are left out. a are the means of z over
    the columns of each row, b those of z^2. `columns`: the mean over the columns of arcsinh(mean /
    deviation), and the mean and deviation of the logarithm of their deviations. `rows`: the
    deviation and skewness of a, the deviation of b. `target`: arcsinh(mean / deviation) and the
    logarithm of the deviation of the target as it is coded, the mean share of a column's variance
    that the classes (or a line in the target) explain, and the target's correlations with a and b.
    `parts`: the correlations of a, b and the target with being a training row. `part`: all rows, or
    the official training part alone.
    """

    columns: tuple[float, float, float]
    rows: tuple[float, float, float]
    target: tuple[float, float, float, float, float]
    parts: tuple[()] | tuple[float, float, float] = ()
    part: Literal["all", "train"] = "all"


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
    """A source of a data set, and the steps that turn its layout into that of the public file.

    `labels` maps the labels of this source to those of the public file ("*": every other one);
    `prepare` lists steps for this source alone, which come before those of the data set. A source
    that is `already_prepared` skips the data set's steps. `split_in_order`: the training part comes
    first. `other_values`: the source scales or codes the features in another way, so no fingerprint
    fits them.
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
    """The options for reading a user's file, as `FileSource` describes them; empty and None mean:
    detected.
    """

    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False
    test: str = ""


def source_class(kind: object) -> type[SourceSpec]:
    """Return the class of a kind of source: of the suite, or of a plug-in file's dictionary
    `SOURCES`.
    """
    name = str(kind)
    if name in BUILT_IN:
        return load(f"elmbench.datasets.sources.{BUILT_IN[name]}")
    from elmbench.registry.plugins import (
        plugin_objects,
    )  # it imports the registry, which few commands need

    added = plugin_objects("SOURCES")
    if name not in added:
        raise ValueError(
            f"the kind of source is {kind!r}, not one of {', '.join([*BUILT_IN, *added])}"
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
    """Return a source, validated by the class of its kind."""
    if isinstance(content, SourceSpec):
        return content
    return source_class(
        content.get("kind") if isinstance(content, dict) else content
    ).model_validate(content)


AnySource = Annotated[SerializeAsAny[SourceSpec], PlainValidator(parse_source)]
