"""Parts of an entry in `datasets.yaml`: the steps that prepare a data set, and the fingerprint of its content."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from elmbench.specs.files import SpecPart

#: The remark on rows that are not those of the public file.
OTHER_DATA = "is other data than"
#: The remark on a training part without its test part, which leaves fewer training rows.
TRAINING_ONLY = "only the training part is here"


def _as_label(value: Any) -> Any:
    """Return a label, which is a word, although YAML reads an unquoted 1 as a number."""
    if isinstance(value, bool):
        raise ValueError(
            "expected a label in quotes, because YAML reads yes, no, on, off, true and false as truth values"
        )
    return str(value) if isinstance(value, int | float) else value


Label = Annotated[str, BeforeValidator(_as_label), WithJsonSchema({"type": ["string", "number"]})]


class OneHot(SpecPart):
    """Replace a nominal column by a 0/1 column for each category, in alphabetical order (numbers: ascending)."""

    step: Literal["one-hot"]
    columns: tuple[str, ...] | Literal["nominal"] = "nominal"


class Ordinal(SpecPart):
    """Replace the categories of a nominal column by 1, 2, ... in the given order."""

    step: Literal["ordinal"]
    column: str
    order: tuple[Label, ...]


class DropColumns(SpecPart):
    """Drop columns by name."""

    step: Literal["drop-columns"]
    columns: tuple[str, ...]


class DropMissingRows(SpecPart):
    """Drop every row in which a feature is missing."""

    step: Literal["drop-missing-rows"]


class FillMissing(SpecPart):
    """Impute missing values by the mean of the column's known values, or 0 if there are none."""

    step: Literal["fill-missing"]
    by: Literal["mean"] = "mean"


class DropConstantColumns(SpecPart):
    """Drop every column that has the same value in all rows."""

    step: Literal["drop-constant-columns"]


class DropRepeatedRows(SpecPart):
    """Keep the first of several rows that agree in every feature and in the label."""

    step: Literal["drop-repeated-rows"]


class Round(SpecPart):
    """Round every value to `decimals`, for a source with more digits than the public file."""

    step: Literal["round"]
    decimals: int = Field(ge=0, le=15)


class ResizeImages(SpecPart):
    """Resize images, stored in rows in row-major order, by the mean over the area of each new pixel."""

    step: Literal["resize-images"]
    height: int = Field(ge=1)
    width: int = Field(ge=1)
    to_height: int = Field(ge=1)
    to_width: int = Field(ge=1)


Step = Annotated[
    OneHot
    | Ordinal
    | DropColumns
    | DropMissingRows
    | FillMissing
    | DropConstantColumns
    | DropRepeatedRows
    | Round
    | ResizeImages,
    Field(discriminator="step"),
]


class Fingerprint(SpecPart):
    """Numbers of the prepared rows that do not depend on the order of rows and columns.

    Each column is standardised to z; columns of one value are left out. a are the means of z over the columns of each
    row, b those of z^2. `columns`: the mean over the columns of arcsinh(mean / deviation), and the mean and deviation
    of the logarithm of their deviations. `rows`: the deviation and skewness of a, the deviation of b. `target`:
    arcsinh(mean / deviation) and the logarithm of the deviation of the target as it is coded, the mean share of a
    column's variance that the classes (or a line in the target) explain, and the target's correlations with a and b.
    `parts`: the correlations of a, b and the target with being a training row. `decimals`: the largest number of
    decimals of a value. `part`: all rows, or the official training part alone.
    """

    columns: tuple[float, float, float]
    rows: tuple[float, float, float]
    target: tuple[float, float, float, float, float]
    parts: tuple[()] | tuple[float, float, float] = ()
    decimals: int = Field(ge=0)
    part: Literal["all", "train"] = "all"
