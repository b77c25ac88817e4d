"""The fingerprint of a data set in `datasets.yaml`: a few numbers that identify its content."""

from typing import Literal

from pydantic import Field

from elmbench.specs.datasets.steps import SpecPart

#: The remark on rows that are not those of the public file.
OTHER_DATA = "is other data than"
#: The remark on a training part without its test part, which leaves fewer training rows.
TRAINING_ONLY = "only the training part is here"


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
