"""Where a data set may come from, and the steps that prepare it, as `datasets.yaml` spells them."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

#: Ding's sets as imbalanced-learn publishes them, all in one archive.
DING_ARCHIVE = "https://zenodo.org/record/61452/files/benchmark-imbalanced-learn.tar.gz"

# YAML reads an unquoted 1 as a number; labels are words, whatever they are spelled with.
Label = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if isinstance(value, int | float) else value),
    WithJsonSchema({"type": ["string", "number"]}),
]


class SpecPart(BaseModel):
    """A part of a spec: cannot be changed, and knows no key but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class OneHot(SpecPart):
    """Replace a nominal column by one 0/1 column a category, categories in alphabetical (numbers: rising) order."""

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
    """Put the mean of the known values of a column in place of the missing ones (0 where none is known)."""

    step: Literal["fill-missing"]
    by: Literal["mean"] = "mean"


class DropConstantColumns(SpecPart):
    """Drop every column that has the same value in all rows."""

    step: Literal["drop-constant-columns"]


class DropRepeatedRows(SpecPart):
    """Keep the first of several rows that agree in every feature and in the label."""

    step: Literal["drop-repeated-rows"]


class Round(SpecPart):
    """Round every value to so many decimals: for a source that prints more digits than the public file."""

    step: Literal["round"]
    decimals: int = Field(ge=0, le=15)


class ResizeImages(SpecPart):
    """Resize the images that the rows hold, row-major, by the mean over the area of each new pixel."""

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


class _Source(SpecPart):
    """A place that a data set comes from, and what turns its layout into that of the public file.

    `labels` maps the labels of this source to those of the public file ("*": every other one); `prepare` lists the
    steps that are needed for this source alone and come before those of the data set. A source that is
    `already_prepared` needs none of the data set's own steps. `split_in_order`: the training part comes first.
    `other_values`: it scales or codes the features in a way of its own, so that no fingerprint fits them.
    Every kind of source has a `title`, in a few words; one that needs a network the `addresses` of its files.
    """

    labels: dict[Label, Label] = Field(default_factory=dict)
    prepare: tuple[Step, ...] = ()
    already_prepared: bool = False
    split_in_order: bool = False
    other_values: bool = False
    note: str = ""


class ScikitLearnSource(_Source):
    """A set that scikit-learn brings along: never needs a network."""

    kind: Literal["scikit-learn"]
    loader: Literal["load_breast_cancer", "load_digits"]

    @property
    def title(self) -> str:
        return f"scikit-learn {self.loader}"


class GeneratorSource(_Source):
    """A set that is computed. `options`: what a caller may choose, for each option its values, default first."""

    kind: Literal["generator"]
    generator: str
    parameters: dict[str, int | float] = Field(default_factory=dict)
    options: dict[str, tuple[float, ...]] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"generator {self.generator}"


class OpenMLSource(_Source):
    """OpenML data sets by id; several are joined column by column.

    `target` is the name of the target, or its position (-1: the last column); without it, it is the default target
    that OpenML names.
    """

    kind: Literal["openml"]
    id: int | tuple[int, ...]
    target: str | int | None = None
    inactive: bool = False

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.id,) if isinstance(self.id, int) else self.id

    @property
    def title(self) -> str:
        return "OpenML " + ", ".join(map(str, self.ids))

    @property
    def addresses(self) -> tuple[str, ...]:
        """The server's usual address: that of each file, and another server, only the client knows."""
        return ("https://www.openml.org",)


class ImbalancedLearnSource(_Source):
    """One of Ding's imbalanced sets, under its name and number in `imblearn.datasets.fetch_datasets`."""

    kind: Literal["imbalanced-learn"]
    name: str
    number: int = Field(ge=1, le=27)

    @property
    def title(self) -> str:
        return f"imbalanced-learn {self.name}"

    @property
    def addresses(self) -> tuple[str, ...]:
        return (DING_ARCHIVE,)


class LibsvmSource(_Source):
    """Files of the LIBSVM collection: one file, or a training and a test file.

    `width` is the number of features where it is not that of the public file.
    """

    kind: Literal["libsvm"]
    width: int | None = None
    url: str | None = None
    train: str | None = None
    test: str | None = None

    @model_validator(mode="after")
    def _one_or_two(self) -> LibsvmSource:
        if (self.url is None) == (self.train is None or self.test is None):
            raise ValueError("give either url, or both train and test")
        return self

    @property
    def urls(self) -> dict[str, str]:
        """URL of each part: 'all', or 'train' and 'test'."""
        if self.url is not None:
            return {"all": self.url}
        return {"train": str(self.train), "test": str(self.test)}

    @property
    def title(self) -> str:
        return "LIBSVM " + ", ".join(url.rsplit("/", 1)[1] for url in self.addresses)

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.urls.values())


class Member(SpecPart):
    """Where in an archive one part of the rows is.

    `features` names the file with one row a line (its folder inside the archive does not matter), `labels` a second
    file, if the target of each row is the first field of a line there.
    """

    features: str
    labels: str | None = None


class ArchiveSource(_Source):
    """A text table without a header, alone (compressed or not) or in a zip or tar archive, at an address.

    `target` is the position of the target among the columns (-1: the last), if it is not in a file of its own;
    `drop` the positions of columns that are no features. In layout `index-value` the rows are such pairs.
    """

    kind: Literal["archive"]
    url: str
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    members: dict[Literal["all", "train", "test"], Member] = Field(default_factory=dict)
    target: int = -1
    drop: tuple[int, ...] = ()
    separator: Literal["comma", "space"] = "comma"
    layout: Literal["table", "index-value"] = "table"

    @property
    def title(self) -> str:
        return self.url

    @property
    def addresses(self) -> tuple[str, ...]:
        return (self.url,)


class FileSource(_Source):
    """A user's file, its path relative to the YAML file that names it.

    `target` is the name of the target column or its position (-1: the last); if empty, it is a column that is called
    target, class, label or y, else the last. `drop` names columns that are not features, `words` columns of categories
    even if they look like numbers, `dates` columns of dates, which become features. `separator`, `decimal` and `header`
    describe a text table; they are detected unless they are given. `drop_missing_target` leaves out rows without a
    target.
    """

    kind: Literal["file"]
    path: str
    target: str | int = "target"
    drop: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    separator: str = ""
    decimal: Literal["", ".", ","] = ""
    header: bool | None = None
    drop_missing_target: bool = False

    @property
    def title(self) -> str:
        return PurePath(self.path).name


Source = Annotated[
    FileSource
    | ScikitLearnSource
    | GeneratorSource
    | OpenMLSource
    | ImbalancedLearnSource
    | LibsvmSource
    | ArchiveSource,
    Field(discriminator="kind"),
]
NetworkSource = OpenMLSource | ImbalancedLearnSource | LibsvmSource | ArchiveSource
