"""Data sets that come with scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from elmbench.datasets.sources.base import Source, SourceRequest

if TYPE_CHECKING:
    from elmbench.datasets.table import Table


class ScikitLearnSource(Source):
    """A data set that comes with scikit-learn."""

    #: The kind of source.
    kind: Literal["scikit-learn"]
    #: The function of scikit-learn that loads the data set.
    loader: Literal[
        "load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"
    ]

    @property
    def title(self) -> str:
        """The source in words: "scikit-learn" and the name of the loader."""
        return f"scikit-learn {self.loader}"

    def load(self, request: SourceRequest) -> Table:
        """Return the data set as a table, with the names of its features.

        Classes are numbers from 0, not their names.
        """
        import numpy as np
        from sklearn import datasets

        from elmbench.datasets.table import Table

        bunch = getattr(datasets, self.loader)()
        names = tuple(str(name) for name in bunch.feature_names)
        return Table(
            np.array(bunch.data, dtype=np.float64),
            names,
            np.asarray(bunch.target),
            self.title,
        )
