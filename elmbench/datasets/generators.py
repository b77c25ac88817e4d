"""Generators of data sets: functions `(name, run, **parameters) -> X, y`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.mackey_glass import mackey_glass
from elmbench.numerics.seeds import generator

#: The two waves of each class, classes numbered as in the public file.
MIXED = ((1, 2), (0, 2), (0, 1))


def base_waves() -> NDArray[np.float64]:
    """Return the three triangular waves, an array of shape (3, 21), with peaks of 6 at 11, 15 and 7."""
    points = np.arange(1, 22)
    return np.array([np.maximum(6.0 - np.abs(points - peak), 0.0) for peak in (11, 15, 7)])


def waveform(name: str, run: int, *, rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw waveforms: u h_a + (1 - u) h_b + e, with u uniform on [0, 1] and e standard normal at each of 21 points.

    Returns
    -------
    X : ndarray of shape (rows, 21)
    y : ndarray of shape (rows,)
        0, 1 or 2, equally likely. The best possible classifier is right in about 86 of 100 rows.

    References
    ----------
    Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, section 2.6.1.
    """
    stream = generator("data", name, run)
    waves = base_waves()
    y = stream.integers(3, size=rows)
    u = stream.random(rows)[:, None]
    first, second = np.array(MIXED)[y].T
    return u * waves[first] + (1.0 - u) * waves[second] + stream.standard_normal((rows, 21)), y


def sparse_rows(
    name: str, run: int, *, rows: int, features: int, density: float
) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """Draw sparse rows of two classes of equal size.

    Every row has round(density * features) entries, at positions drawn without replacement, uniform on (0, 1].

    Returns
    -------
    X : CSR matrix of shape (rows, features)
    y : ndarray of shape (rows,)
        -1 or +1.

    References
    ----------
    RKELM, section 6.4 and Fig. 4.
    """
    stream = generator("data", name, run)
    n_entries = round(density * features)
    indices = np.empty((rows, n_entries), dtype=np.int64)
    for row in range(rows):
        indices[row] = np.sort(stream.choice(features, n_entries, replace=False, shuffle=False))
    values = 1.0 - stream.random(rows * n_entries)
    X = sp.csr_matrix((values, indices.ravel(), np.arange(rows + 1) * n_entries), shape=(rows, features))
    return X, stream.permutation(np.where(np.arange(rows) % 2, 1, -1))


#: The generators by name.
GENERATORS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "mackey-glass": mackey_glass,
    "sparse": sparse_rows,
    "waveform": waveform,
}
