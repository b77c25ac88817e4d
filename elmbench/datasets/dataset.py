"""A data set that is ready for use, and its checksum."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, prepared but not scaled.

    Attributes
    ----------
    X : ndarray of shape (n, d), or CSR matrix of shape (n, d)
        The features, float64.
    y : ndarray of shape (n,)
        int8 -1/+1 with +1 the declared positive class; the class index in declared order (int64) where there are
        more than two classes; float64 for regression.
    name : str
        Name in the suite, such as 'wdbc'.
    task : {'classification', 'regression'}
    classes : tuple of str or None
        Original labels of classes 0, 1, ..., or of -1 and +1 ('rest' for several negative labels, several positive
        ones joined by '+').
    feature_names : tuple of str
    source : str
        The file or source of the rows.
    checksum : str
        SHA-256 over the prepared arrays, 64 hexadecimal digits; of data that are redrawn every run also over what
        they are drawn from.
    splits : dict or None
        Row indices of the official parts, {'train': ..., 'test': ...}, if the source has them.
    notes : tuple of str
        Remarks for the users of the data.
    remarks : tuple of str
        The notes about these rows, such as assumptions about their labels.
    nominal : tuple of int
        Columns of category numbers, to be encoded on each fold.
    groups : ndarray of shape (n,) or None
        A number for each row, the same for rows of one group.
    folds : ndarray of shape (n,) or None
        The outer fold of each row, from 0; -1 for rows that are always training rows.
    weights : ndarray of shape (n,) or None
        The weight of each row in a fit.
    rows : ndarray of shape (n,) or None
        The number of each row in the user's file, from 0; None if they are all there, in their order.
    """

    X: NDArray[np.float64] | sp.csr_matrix
    y: NDArray[Any]
    name: str
    task: str
    classes: tuple[str, ...] | None
    feature_names: tuple[str, ...]
    source: str
    checksum: str
    splits: dict[str, NDArray[np.int64]] | None = None
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    nominal: tuple[int, ...] = ()
    groups: NDArray[np.int64] | None = None
    folds: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    rows: NDArray[np.intp] | None = None

    @property
    def is_raw(self) -> bool:
        """True if categories or missing values are left to the folds."""
        return bool(self.nominal) or (not sp.issparse(self.X) and bool(np.isnan(self.X).any()))

    def remarked(self, remark: str) -> Self:
        """Return the same data with one more remark."""
        return replace(self, notes=(*self.notes, remark), remarks=(*self.remarks, remark))


def array_checksum(X: Any, y: NDArray[Any], *more: str) -> str:
    """Return the SHA-256 of features, targets and further words, for any byte order or layout of the arrays.

    Sparse rows must have sorted indices and no stored zeros.
    """
    digest = hashlib.sha256(b"elmbench dataset 1")
    if sp.issparse(X):
        parts = [("indptr", X.indptr, "<i8"), ("indices", X.indices, "<i8"), ("data", X.data, "<f8")]
    else:
        parts = [("X", X, "<f8")]
    parts.append(("y", y, "<f8"))
    for name, array, kind in parts:
        digest.update(f"|{name}{X.shape}|".encode())
        for block in np.array_split(np.asarray(array), max(1, array.size // 1_000_000)):  # no second copy of it all
            # Adding zero turns -0.0, which some sources print, into 0.0.
            digest.update(np.ascontiguousarray(block + 0, dtype=kind).tobytes())
    for word in more:
        digest.update(f"|{word}".encode())
    return digest.hexdigest()
