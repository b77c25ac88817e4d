"""Data sets that scikit-learn brings along."""

import numpy as np

from elmbench.datasets.table import Table
from elmbench.specs.datasets.sources import ScikitLearnSource


def load_bundled(source: ScikitLearnSource) -> Table:
    """Return the rows that a loader of `sklearn.datasets` gives."""
    from sklearn import datasets

    bunch = getattr(datasets, source.loader)()
    names = tuple(str(name) for name in bunch.feature_names)
    return Table(np.array(bunch.data, dtype=np.float64), names, np.asarray(bunch.target), source.title)
