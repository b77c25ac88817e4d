"""The steps that prepare the rows of a data set in `datasets.yaml`, and their fingerprint."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from elmbench.specs.files import SpecPart


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
