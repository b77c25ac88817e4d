"""The steps that prepare a data set, as `datasets.yaml` spells them."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

# YAML reads an unquoted 1 as a number, but a label is a word.
Label = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value),
    WithJsonSchema({"type": ["string", "number"]}),
]


class SpecPart(BaseModel):
    """A part of a spec: immutable, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


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
