"""Scaling of the inputs, by columns or by rows, and of the targets of a regression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.protocol.splits import Indices
from elmbench.specs.protocol import Scale

#: Kinds of scaling that keep sparse rows sparse.
KEEP_ZEROS = ("max-abs", "unit-rows")


def scale_columns(X: Any, rows: Indices | slice, scale: Scale) -> Any:
    """Return all rows of `X`, scaled by factors from `rows` (for `unit-rows`: from each row itself).

    `X` (ndarray or CSR matrix of shape (n, d)). The result (ndarray or CSR matrix of shape (n, d)): a column that is
    constant over `rows` becomes the lower end of the range, or zero for `standard`.

    Raises ElmbenchError if sparse rows would become dense.
    """
    from scipy.sparse import issparse

    if issparse(X) and scale.kind not in KEEP_ZEROS:
        raise ElmbenchError(
            f"scaling of kind {scale.kind!r} would make sparse rows dense",
            expected="`scale: {kind: max-abs}`, `scale: {kind: unit-rows}` or `scale: null`",
            next_step="correct the protocol of the experiment",
        )
    return scaler_of(scale).fit(X[rows]).transform(X)


def scaler_of(scale: Scale) -> Any:
    """Return scikit-learn's transformer for a scaling."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

    scaler = {
        "range": lambda: MinMaxScaler(scale.range),
        "standard": StandardScaler,
        "max-abs": MaxAbsScaler,
        "unit-rows": Normalizer,
    }
    return scaler[scale.kind]()


def scale_targets(y: NDArray[np.float64], rows: Indices | slice, scale: Scale) -> NDArray[np.float64]:
    """Return the targets of a regression, of shape (n,), scaled by factors from `rows`."""
    scaled: NDArray[np.float64] = scale_columns(y[:, np.newaxis], rows, scale)[:, 0]
    return scaled


def unscaled_targets(
    values: NDArray[np.float64], y: NDArray[np.float64], rows: Indices | slice, scale: Scale
) -> NDArray[np.float64]:
    """Return predictions of scaled targets in the units of `y`; see `scale_targets`."""
    scaler = scaler_of(scale).fit(y[rows, np.newaxis])
    unscaled: NDArray[np.float64] = scaler.inverse_transform(values[:, np.newaxis])[:, 0]
    return unscaled
