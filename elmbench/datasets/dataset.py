"""A data set that is ready for use, its checksum and its fingerprint.

A fingerprint is a few numbers that identify the rows. They depend neither on the order of rows and
columns nor on the names of the labels, and little on rounding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from elmbench.specs.datasets.preparation import Fingerprint

if TYPE_CHECKING:
    import pandas as pd

    from elmbench.datasets.table import Table

Array = NDArray[np.float64]

#: The allowed difference of two numbers: values that are rounded to three decimals change them by
#: less.
_SAME = 1e-3
#: The features that the words of a column of text are reduced to.
TEXT_FEATURES = 50
#: Values that are processed at once.
_BLOCK = 1_000_000

_MEANING = {
    "columns": "the columns have other means or another scale",
    "rows": "the columns go together in another way",
    "target": "the targets are others, or belong to other rows",
    "parts": "other rows are the training part",
}


class Columns(NamedTuple):
    """The kinds of the columns of a user's rows, and how new rows are read.

    Attributes
    ----------
    numbers : tuple of str
    dates : mapping of str to str
        The format of the words of each column of dates.
    words : tuple of str
        Columns of categories.
    codes : tuple of str
        The columns of words in which words such as `unknown` are missing values.
    decimal : {"", ".", ","}
        The decimal mark of numbers that are text; a point if empty.
    text : tuple of str
        Columns of text.
    signs : mapping of str to str
        The sign, such as $ or %, of each column whose numbers are written with one.
    """

    numbers: tuple[str, ...]
    dates: Mapping[str, str]
    words: tuple[str, ...]
    codes: tuple[str, ...] = ()
    decimal: str = ""
    text: tuple[str, ...] = ()
    signs: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def of_table(cls, table: Table) -> Self:
        """Return the kinds of the columns of a table: its nominal ones are dates, text or words.

        Only those columns that the table names as codes are `codes`.
        """
        names = table.names
        dates = {name: table.dates[name] for name in names if name in table.dates}
        text = tuple(name for name in names if name in table.text)
        numbers = tuple(name for name in names if name not in table.nominal)
        nominal = [name for name in names if name in table.nominal]
        words = tuple(
            name for name in nominal if name not in dates and name not in text
        )
        codes = tuple(name for name in words if name in table.codes)
        signs = {name: table.signs[name] for name in numbers if name in table.signs}
        return cls(
            numbers=numbers,
            dates=dates,
            words=words,
            codes=codes,
            decimal=table.decimal,
            text=text,
            signs=signs,
        )

    def only(self, names: Collection[str]) -> Self:
        """Return the kinds of those columns that are among `names`.

        `codes`, `decimal` and `signs` stay as they are, and may name columns that are left out.
        """

        def select(columns: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in columns if name in names)

        dates = {name: form for name, form in self.dates.items() if name in names}
        return self._replace(
            numbers=select(self.numbers),
            dates=dates,
            words=select(self.words),
            text=select(self.text),
        )


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set, prepared but not scaled.

    Attributes
    ----------
    X : ndarray, CSR matrix or data frame of shape (n, d)
        The features, float64; a data frame if some are words or dates, or have missing values,
        which are encoded and imputed on each fold.
    y : ndarray of shape (n,)
        int8 -1/+1 with +1 the declared positive class; the class index in declared order (int64)
        where there are more than two classes; float64 for regression.
    name : str
        Name in the suite, such as 'wdbc'.
    task : {'classification', 'regression'}
    classes : tuple of str or None
        Original labels of classes 0, 1, ..., or of -1 and +1 ('rest' for several negative labels,
        several positive ones joined by '+').
    feature_names : tuple of str
    source : str
        The file or source of the rows.
    checksum : str
        SHA-256 over the prepared arrays, 64 hexadecimal digits; of data that are redrawn every run
        also over what they are drawn from.
    splits : dict or None
        Row indices of the official parts, {'train': ..., 'test': ...}, if the source has them.
    notes : tuple of str
        Remarks for the users of the data.
    remarks : tuple of str
        The notes about these rows, such as assumptions about their labels.
    columns : Columns or None
        The kinds of the columns; None for sparse rows.
    has_boolean_labels : bool
        True if the labels were read as booleans, not as words or numbers.
    groups : ndarray of shape (n,) or None
        A number for each row, the same for rows of one group.
    times : ndarray of shape (n,) or None
        A number for each row that rises with its time, the same for rows of one time.
    folds : ndarray of shape (n,) or None
        The outer fold of each row, from 0; -1 for rows that are always training rows.
    weights : ndarray of shape (n,) or None
        The weight of each row in a fit.
    rows : ndarray of shape (n,) or None
        The number of each row in the user's file, from 0; None if they are all there, in their
        order.
    """

    X: NDArray[np.float64] | sp.csr_matrix | pd.DataFrame
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
    columns: Columns | None = None
    has_boolean_labels: bool = False
    groups: NDArray[np.int64] | None = None
    times: NDArray[np.int64] | None = None
    folds: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    rows: NDArray[np.intp] | None = None

    @property
    def is_raw(self) -> bool:
        """True if `X` is a data frame with words, dates or missing values.

        Each fold encodes and imputes them.
        """
        return not (isinstance(self.X, np.ndarray) or sp.issparse(self.X))

    @property
    def encoded_columns(self) -> Columns | None:
        """The kinds of the columns if each fold encodes or imputes them.

        None if a fold only scales them.
        """
        return self.columns if self.is_raw else None

    def labels_of(self, rows: NDArray[np.intp]) -> NDArray[np.str_]:
        """Return the original labels of some rows of a classification, in the order of `rows`.

        `rows`: positions in `y`. The labels are texts from `classes`. Not for a regression.
        """
        assert self.classes is not None
        codes = self.y[rows]
        if len(self.classes) <= 2:
            codes = (codes > 0).astype(int)
        labels = np.array(self.classes)
        return labels[codes]

    def add_remark(self, remark: str) -> Self:
        """Return the same data with one more remark, which is also one of the notes."""
        return replace(
            self, notes=(*self.notes, remark), remarks=(*self.remarks, remark)
        )


def array_checksum(X: Any, y: NDArray[Any], *more: str) -> str:
    """Return the SHA-256 of features, targets and further words, as hexadecimal digits.

    It is the same for any byte order or layout of the arrays, and for -0.0 and 0.0. `X` and `y`
    hold numbers. Sparse rows must have sorted indices and no stored zeros. `more`: further words,
    such as the names of classes, in an order that counts.
    """
    digest = hashlib.sha256(b"elmbench dataset 1")
    if sp.issparse(X):
        parts = [
            ("indptr", X.indptr, "<i8"),
            ("indices", X.indices, "<i8"),
            ("data", X.data, "<f8"),
        ]
    else:
        parts = [("X", X, "<f8")]
    parts.append(("y", y, "<f8"))
    for name, array, kind in parts:
        digest.update(f"|{name}{X.shape}|".encode())
        # In blocks, so that no second copy of the array is made.
        n_blocks = max(1, array.size // _BLOCK)
        for block in np.array_split(np.asarray(array), n_blocks):
            # Adding zero turns -0.0, which some sources print, into 0.0.
            digest.update(np.ascontiguousarray(block + 0, dtype=kind).tobytes())
    for word in more:
        digest.update(f"|{word}".encode())
    return digest.hexdigest()


def differences(data: Dataset, expected: Fingerprint) -> tuple[str, ...]:
    """Return descriptions of the differences between rows and a fingerprint; empty if they match.

    Official parts are compared if both have them. A fingerprint with `part: train` is compared with
    the training part, or with all rows if they have no parts. `data` holds numbers only.
    `expected`: the fingerprint.
    """
    X = data.X
    y = data.y
    n_train = len(data.splits["train"]) if data.splits else None
    if expected.part == "train":
        X = X[:n_train]
        y = y[:n_train]
        n_train = None
    numbers = fingerprint_numbers(X, y, data.task, n_train)
    return tuple(
        _MEANING[name]
        for name, values in numbers.items()
        if not _are_same(values, getattr(expected, name))
    )


def _are_same(values: tuple[float, ...], expected: tuple[float, ...]) -> bool:
    """Return True if two tuples of equally many numbers differ by at most 0.001 in each number.

    Also True if one of the two is empty, because the rows or the public file have no such numbers.
    NaN differs from every number.
    """
    if not values or not expected:
        return True
    distances = np.abs(np.subtract(values, expected))
    return bool((distances <= _SAME).all())


def _correlation_weights(y: NDArray[Any], task: str) -> Array:
    """Return the weights that columns are correlated with, of shape (n, k).

    For a regression, the standardised targets (k = 1). For a classification, an indicator of each
    class in ascending order, divided by the root of the class's share of the rows. `y`: the targets
    or classes, of shape (n,). `task`: "regression" or "classification".
    """
    if task == "regression":
        return _standardise(y)[:, None]
    indicators = (y[:, None] == np.unique(y)).astype(np.float64)
    return np.asarray(indicators / np.sqrt(indicators.mean(axis=0)))


def fingerprint_numbers(
    X: Any, y: NDArray[Any], task: str, n_train: int | None
) -> dict[str, tuple[float, ...]]:
    """Return the numbers of a fingerprint from prepared rows and targets, a tuple for each key.

    The keys are `columns`, `rows`, `target` and `parts`, with 3, 3, 5 and 3 numbers; `parts` is
    empty if `n_train`, the number of training rows, is None. The training rows are the first ones.
    Only `columns` is present, with NaNs, if no column varies or the target is constant. `task`:
    "regression" or "classification".
    """
    mean, std = _moments(X)
    magnitudes = np.maximum(np.abs(mean), np.finfo(float).tiny)
    varying = std > 1e-9 * magnitudes
    target = np.asarray(y, dtype=np.float64)
    target_std = target.std()
    if not varying.any() or target_std == 0:  # which no data set has
        return {"columns": (np.nan, np.nan, np.nan)}
    weights = _correlation_weights(y, task)
    total, energy, class_means = _projections(X, mean, std, varying, weights)
    # A constant added to a column changes arcsinh(mean / deviation), but not the scale.
    varying_means = mean[varying]
    deviations = std[varying]
    ratios = np.arcsinh(varying_means / deviations)
    scales = np.log(deviations)
    cubes = _standardise(total) ** 3
    squared_means = np.sum(class_means**2, axis=1)
    # The target's ratio, its scale, and how it depends on the rows.
    target_ratio = np.arcsinh(target.mean() / target_std)
    numbers = {
        "columns": (np.mean(ratios), np.mean(scales), np.std(scales)),
        "rows": (np.std(total), np.mean(cubes), np.std(energy)),
        "target": (
            target_ratio,
            np.log(target_std),
            np.mean(squared_means),
            _correlation(total, target),
            _correlation(energy, target),
        ),
        "parts": (),
    }
    if n_train is not None:
        is_training = np.arange(len(target)) < n_train
        part = is_training.astype(np.float64)
        numbers["parts"] = tuple(
            _correlation(values, part) for values in (total, energy, target)
        )
    return {name: tuple(map(float, values)) for name, values in numbers.items()}


def _moments(X: Any) -> tuple[Array, Array]:
    """Return the means and the standard deviations of the columns, each of shape (d,).

    `X`: dense or sparse rows. The deviations divide by n, not n - 1.
    """
    if not sp.issparse(X):
        return X.mean(axis=0), X.std(axis=0)
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = X.multiply(X)
    mean_square = np.asarray(squares.mean(axis=0)).ravel()
    variance = mean_square - mean**2
    # Round-off may make a zero negative.
    positive = np.maximum(variance, 0.0)
    std = np.sqrt(positive)
    return mean, std


def _projections(
    X: Any, mean: Array, std: Array, varying: NDArray[np.bool_], weights: Array
) -> tuple[Array, Array, Array]:
    """Return the mean and the mean square of each row's standardised values, and Z'W / n.

    The first two have the shape (n,). Z holds the standardised values of the varying columns alone,
    W is `weights` of shape (n, k), and Z'W / n has the shape (number of these columns, k).

    `X`: the values before they are standardised, of shape (n, d), dense or sparse. `mean`, `std`:
    of all columns, of shape (d,). `varying`: a mask of the columns that are not constant, of shape
    (d,), with at least one.
    """
    n_rows = X.shape[0]
    n_varying = int(varying.sum())
    # A constant column counts as zero.
    divisors = np.where(varying, std, 1.0)
    reciprocals = 1.0 / divisors
    factors = np.where(varying, reciprocals, 0.0)
    project = _project_sparse if sp.issparse(X) else _project_dense
    total, energy, products = project(X, mean, factors, weights)
    mean_value = total / n_varying
    mean_square = energy / n_varying
    mean_products = products[varying] / n_rows
    return mean_value, mean_square, mean_products


def _project_sparse(
    X: Any, mean: Array, factors: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """Return the sums and the squared norms of the rows of Z = (X - mean) * factors, and Z'W.

    They have the shapes (n,), (n,) and (d, k); W is `weights` of shape (n, k). Z itself would be
    dense: the rows are scaled alone, and the mean is subtracted from the results. `factors`: of the
    columns, of shape (d,), 0 for those that do not count.
    """
    scaled = sp.csr_matrix(X @ sp.diags(factors))
    shift = mean * factors
    # Sums of the rows s - m, with the scaled rows s and the shift m.
    sums = np.asarray(scaled.sum(axis=1)).ravel()
    total = sums - shift.sum()
    # Squared norms |s|^2 - 2 s.m + |m|^2.
    squared_entries = scaled.multiply(scaled)
    squares = np.asarray(squared_entries.sum(axis=1)).ravel()
    along_shift = scaled @ shift
    squared_shift = shift @ shift
    energy = squares - 2.0 * along_shift + squared_shift
    # S'W - m 1'W.
    weight_sums = weights.sum(axis=0)
    shift_products = np.outer(shift, weight_sums)
    products = scaled.T @ weights - shift_products
    return total, energy, products


def _project_dense(
    X: Array, mean: Array, factors: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """Return the sums and the squared norms of the rows of Z = (X - mean) * factors, and Z'W.

    They have the shapes (n,), (n,) and (d, k); W is `weights` of shape (n, k). Z is computed in
    blocks of rows. `factors`: of the columns, of shape (d,), 0 for those that do not count.
    """
    n_rows, n_columns = X.shape
    n_outputs = weights.shape[1]
    total = np.empty(n_rows)
    energy = np.empty(n_rows)
    products = np.zeros((n_columns, n_outputs))
    n_blocks = max(1, X.size // _BLOCK)
    numbers = np.arange(n_rows)
    for rows in np.array_split(numbers, n_blocks):
        # A block of Z.
        centred = X[rows] - mean
        block = centred * factors
        total[rows] = block.sum(axis=1)
        energy[rows] = np.einsum("ij,ij->i", block, block)
        products += block.T @ weights[rows]
    return total, energy, products


def _standardise(values: NDArray[Any]) -> Array:
    """Return values with mean 0 and deviation 1; all zero if they are constant within round-off.

    They are if their deviation is at most 1e-9 times the largest magnitude, or at most 1e-9.
    """
    std = values.std()
    # A constant with round-off has no skewness and no correlations.
    level = 1e-9 * max(1.0, float(np.abs(values).max()))
    return (
        np.asarray((values - values.mean()) / std)
        if std > level
        else np.zeros(len(values))
    )


def _correlation(one: Array, other: Array) -> float:
    """Return the correlation of two vectors; 0 if one of them is constant within round-off."""
    return float(np.mean(_standardise(one) * _standardise(other)))
