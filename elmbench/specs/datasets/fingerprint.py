"""A few numbers by which the content of a data set is known, as `datasets.yaml` spells them."""

from typing import Literal

from pydantic import Field

from elmbench.specs.datasets.steps import SpecPart

#: Words of the remark on rows that are not those of the public file.
OTHER_DATA = "is other data than"
#: Words of the remark on a training part without its test part, of which fewer rows are left to learn.
TRAINING_ONLY = "only the training part is here"


class Fingerprint(SpecPart):
    """Numbers that the prepared rows have, in any order of rows and columns (`elmbench data fingerprint NAME`).

    Each column is standardised to z, columns of one value are left out. a are the means of z over the columns of each
    row, b those of z^2. `columns`: the mean over the columns of arcsinh(mean / deviation), and the mean and deviation
    of the logarithm of their deviations. `rows`: the deviation and skewness of a, the deviation of b. `target`:
    arcsinh(mean / deviation) and the logarithm of the deviation of the target as it is coded, the mean share of a
    column's variance that the classes (or a line in the target) explain, and the target's correlations with a and b.
    `parts`: the correlations of a, b and the target with being a training row. `decimals`: of the value that has most.
    `part`: whether the numbers are of all rows, or of the official training part alone.
    """

    columns: tuple[float, float, float]
    rows: tuple[float, float, float]
    target: tuple[float, float, float, float, float]
    parts: tuple[()] | tuple[float, float, float] = ()
    decimals: int = Field(ge=0)
    part: Literal["all", "train"] = "all"
