"""Parts of an entry in `datasets.yaml`: its steps of preparation, its fingerprint, its sources and
their registry.
"""

from inspect import isabstract
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainValidator, SerializeAsAny

from elmbench.lazy import load_object
from elmbench.specs.files import SpecPart

#: The remark on rows that differ from the public file.
OTHER_DATA = "is other data than"
#: The remark on a training part without its test part, which leaves fewer training rows.
TRAINING_ONLY = "only the training part is here"


def _as_label(value: Any) -> Any:
    """Return a label as text, although YAML reads an unquoted 1 as a number.

    Raises ValueError for a boolean. Values other than numbers are returned as they are, for the
    validator.
    """
    if isinstance(value, bool):
        raise ValueError(
            "expected a label in quotes, since YAML reads words such as yes and no as truth values"
        )
    return str(value) if isinstance(value, int | float) else value


Label = Annotated[
    str, BeforeValidator(_as_label, json_schema_input_type=str | int | float)
]


class PlainStep(SpecPart):
    """A step without options.

    `one-hot` replaces each nominal column by a 0/1 column for each category, in alphabetical order
    (numbers: ascending). `drop-missing-rows` drops every row in which a feature is missing,
    `drop-constant-columns` every column that has the same value in all rows. `drop-repeated-rows`
    keeps the first of several rows that agree in every feature and in the label. `fill-missing`
    imputes missing values by the mean of the column's known values, or 0 if there are none.
    """

    #: The kind of step.
    step: Literal[
        "one-hot",
        "drop-missing-rows",
        "drop-constant-columns",
        "drop-repeated-rows",
        "fill-missing",
    ]


class Ordinal(SpecPart):
    """Replace the categories of a nominal column by 1, 2, ... in the given order."""

    #: The kind of step.
    step: Literal["ordinal"]
    #: A nominal column.
    column: str
    #: Its categories in ascending order.
    order: tuple[Label, ...]


class DropColumns(SpecPart):
    """Drop columns by name."""

    #: The kind of step.
    step: Literal["drop-columns"]
    #: Names of columns.
    columns: tuple[str, ...]


class Round(SpecPart):
    """Round every value to `decimals`, for a source with more digits than the public file."""

    #: The kind of step.
    step: Literal["round"]
    #: The number of decimals that are kept.
    decimals: int = Field(ge=0, le=15)


class ResizeImages(SpecPart):
    """Resize images by the mean over the area of each new pixel.

    An image is a row of the data, in row-major order.
    """

    #: The kind of step.
    step: Literal["resize-images"]
    #: Rows of pixels of the stored images.
    height: int = Field(ge=1)
    #: Columns of pixels of the stored images.
    width: int = Field(ge=1)
    #: Rows of pixels of the resized images.
    to_height: int = Field(ge=1)
    #: Columns of pixels of the resized images.
    to_width: int = Field(ge=1)


Step = Annotated[
    PlainStep | Ordinal | DropColumns | Round | ResizeImages,
    Field(discriminator="step"),
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

    #: Means and deviations of the columns.
    columns: tuple[float, float, float]
    #: Deviations and skewness over the rows.
    rows: tuple[float, float, float]
    #: The target, and its relation to the features.
    target: tuple[float, float, float, float, float]
    #: The official parts.
    parts: tuple[()] | tuple[float, float, float] = ()
    #: The rows that it is of.
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
