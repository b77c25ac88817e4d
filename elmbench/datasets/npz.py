"""Read the arrays of a NumPy archive: features, dense or as the parts of a CSR matrix, and a target.

Every part is checked before it is used: SciPy's compiled code trusts the indices of a matrix that it is given.
"""

import io
import math
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.datasets.table import BYTES_OF_A_NAME, Table, check_size

_CSR = ("data", "indices", "indptr", "shape")
#: Kinds of NumPy's types: truth values, integers, floats; and words.
_NUMBERS, _WORDS = "biuf", "US"


def read_npz(content: bytes, origin: str, most: int | None = None, sparse: bool = True) -> Table:
    """Return the table of an archive.

    The names of its arrays: ours (X, target), Ding's (data, label), pictures (images, target), or SciPy's for sparse
    rows. Where rows are not kept `sparse`, `most` is also how many bytes they may have once they are dense.

    Raises
    ------
    ValueError
        If it is no such archive, a part is missing or does not fit the others, or it unpacks to more than `most` bytes.
    """
    arrays = _arrays(content, most)
    target = _find(arrays, "target", ("target", "y", "label"), _NUMBERS + _WORDS)
    X: Any
    if arrays.keys() >= set(_CSR):
        X = _matrix(*(arrays[name] for name in _CSR))
        if not sparse:
            check_size(8 * math.prod(X.shape), most)
    else:
        X = _find(arrays, "features", ("X", "data", "images"), _NUMBERS + _WORDS).astype(np.float64)
        if X.ndim < 2:
            raise ValueError(f"its features are an array of {X.ndim} dimensions, not of rows and columns")
        X = X.reshape(len(X), -1)
    if target.ndim == 0 or target.size != len(target) or X.shape[0] != len(target):
        raise ValueError(f"it holds {X.shape[0]} rows of features and {target.size} targets, not one target a row")
    check_size(BYTES_OF_A_NAME * X.shape[1], most)
    target = target.ravel()
    if target.dtype.kind in _WORDS:
        target = target.astype(str).astype(object)
    elif target.dtype.kind in "bf":
        target = target.astype(np.float64)
    return Table.of_numbers(X, target, origin)


def _arrays(content: bytes, most: int | None) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        total = 0
        for info in archive.infolist():
            if info.flag_bits & 1:
                raise ValueError(f"its part {info.filename} is encrypted")
            total += info.file_size
            check_size(total, most)
        for info in archive.infolist():
            _check_header(archive, info)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: np.asarray(arrays[name]) for name in arrays.files}


def _check_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Check that a part is a plain array and as long as its header says: the room for it is taken beforehand."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    if dtype.fields is not None or dtype.hasobject:
        raise ValueError(f"its part {info.filename} holds {'objects' if dtype.hasobject else 'records'}, not numbers")
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"its part {info.filename} is shorter than its header says")


def _find(arrays: dict[str, NDArray[Any]], what: str, names: tuple[str, ...], kinds: str) -> NDArray[Any]:
    found = next((name for name in names if name in arrays), None)
    if found is None:
        held = ", ".join(sorted(arrays))
        raise ValueError(f"it holds the arrays {held}: no {what}, which is called {' or '.join(names)}")
    if arrays[found].dtype.kind not in kinds:
        raise ValueError(f"its array {found} holds {arrays[found].dtype}, not numbers or words")
    return arrays[found]


def _matrix(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]) -> sp.csr_matrix:
    """Return the CSR matrix of its parts, float64, each row sorted."""
    if shape.shape != (2,) or any(part.ndim != 1 for part in (data, indices, indptr)):
        raise ValueError("the parts of its sparse matrix are not vectors, or its shape is not two numbers")
    if data.dtype.kind not in _NUMBERS or any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
        raise ValueError("the indices of its sparse matrix are no integers, or its values no numbers")
    n, d = (int(length) for length in shape)
    starts = indptr.astype(np.int64)
    if n < 0 or d < 0 or len(starts) != n + 1:
        raise ValueError(f"indptr of its sparse matrix has {len(starts)} entries for {n} rows of {d} features")
    if starts[0] != 0 or (np.diff(starts) < 0).any() or not starts[-1] == len(indices) == len(data):
        raise ValueError("indptr of its sparse matrix does not rise from 0 to the number of its values")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < d:
        raise ValueError(f"indices of its sparse matrix are not all from 0 to {d - 1}")
    X = sp.csr_matrix((data.astype(np.float64), indices.astype(np.int64), starts), shape=(n, d))
    X.sort_indices()
    first = np.zeros(len(indices), dtype=bool)
    first[X.indptr[:-1][np.diff(X.indptr) > 0]] = True
    if (~first[1:] & (np.diff(X.indices) == 0)).any():
        raise ValueError("a row of its sparse matrix has two values of one feature")
    return X
