"""Data sets that come with scikit-learn."""

from typing import Literal

import numpy as np

from elmbench.datasets.sources.base import Request, Source
from elmbench.datasets.table import Table


class ScikitLearnSource(Source):
    """A data set that comes with scikit-learn."""

    kind: Literal["scikit-learn"]
    loader: Literal["load_breast_cancer", "load_digits"]

    @property
    def title(self) -> str:
        return f"scikit-learn {self.loader}"

    def load(self, request: Request) -> Table:
        from sklearn import datasets

        bunch = getattr(datasets, self.loader)()
        names = tuple(str(name) for name in bunch.feature_names)
        return Table(np.array(bunch.data, dtype=np.float64), names, np.asarray(bunch.target), self.title)
