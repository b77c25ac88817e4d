"""One outer fold of a data set: which rows, in which order, scaled how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmbench.datasets import Dataset, load_dataset
from elmbench.errors import ElmbenchError
from elmbench.numerics.seeds import generator, integer_seed

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class FoldData:
    """The rows of one outer fold, scaled.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_train, n_features), (n_test, n_features)
        The training rows stand in the order in which a sequential model sees them.
    y_train, y_test : ndarray of shape (n_train,), (n_test,)
        -1/+1 for two classes, 0, 1, ... for more, real values for regression.
    labels : list of int or None
        Every label of the data set; None for regression.
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    labels: list[int] | None


def splitter(kind: str, folds: int, seed: int) -> Any:
    """Return scikit-learn's splitter of that kind, shuffled.

    Parameters
    ----------
    kind : {"stratified-kfold", "kfold"}
    folds : int
    seed : int
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    return {"stratified-kfold": StratifiedKFold, "kfold": KFold}[kind](folds, shuffle=True, random_state=seed)


def outer_split(data: Dataset, protocol: dict[str, Any], run: int, fold: int) -> tuple[Indices, Indices]:
    """Return the training and test rows of an outer fold.

    They depend on the data set and the run only, so that every model is compared on the same rows. The training rows
    come in the order of presentation.

    Parameters
    ----------
    data : Dataset
    protocol : dict
        `outer` with `kind` and `folds`; `order`, "shuffled" or "stored".
    run, fold : int
        Counted from 0.
    """
    kind, folds = protocol["outer"]["kind"], protocol["outer"]["folds"]
    check_foldable(data, kind, folds)
    splits = splitter(kind, folds, integer_seed("split", data.name, run)).split(data.X, data.y)
    train, test = next(pair for i, pair in enumerate(splits) if i == fold)
    if protocol["order"] == "shuffled":
        train = generator("order", data.name, run, fold).permutation(train)
    return train, test


def check_foldable(data: Dataset, kind: str, folds: int) -> None:
    """Refuse a split that would leave a fold empty or without one of the classes."""
    smallest = len(data.y)
    if kind == "stratified-kfold":
        smallest = int(np.unique(data.y, return_counts=True)[1].min())
    if smallest < folds:
        what = "rows" if kind == "kfold" else "rows in its smallest class"
        raise ElmbenchError(
            f"{data.name} has {smallest} {what}, too few for {folds} folds",
            expected=f"at least {folds}",
            next_step="lower `folds` in the experiment's protocol",
        )


def scale_columns(X: NDArray[np.float64], fit_rows: Indices | slice, low: float, high: float) -> NDArray[np.float64]:
    """Return the columns of `X` brought linearly to [low, high] over `fit_rows`; a constant column becomes `low`."""
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((low, high)).fit(X[fit_rows])
    scaled: NDArray[np.float64] = scaler.transform(X)
    return scaled


def labels_of(data: Dataset) -> list[int] | None:
    """Return every label that `data.y` may hold: -1 and +1, or 0, 1, ...; None for regression."""
    if data.classes is None:
        return None
    return [-1, 1] if len(data.classes) == 2 else list(range(len(data.classes)))


def subsample(data: Dataset, rows: int | None) -> Indices:
    """Return the rows that a profile keeps: all, or a random `rows` of them (by class where there are classes)."""
    n = len(data.y)
    if rows is None or rows >= n:
        return np.arange(n)
    return stratified_rows(np.asarray(data.y), rows, data.classes is not None, "subsample", data.name)


def stratified_rows(y: NDArray[Any], rows: int, by_class: bool, *key: str | int) -> Indices:
    """Return `rows` random row numbers in rising order, in the classes' proportions where there are classes."""
    from sklearn.utils import resample

    if not by_class:
        return np.sort(generator(*key).permutation(len(y))[:rows])
    # Not StratifiedShuffleSplit: it refuses to leave out fewer rows than there are classes.
    keep = resample(np.arange(len(y)), replace=False, n_samples=rows, stratify=y, random_state=integer_seed(*key))
    return np.sort(np.asarray(keep))


@lru_cache(maxsize=4)
def _loaded(name: str, data_dir: str | None, run: int, options: tuple[Any, ...], rows: int | None) -> Dataset:
    data = load_dataset(name, data_dir, run=run, options=dict(options))
    keep = subsample(data, rows)
    return data if len(keep) == len(data.y) else replace(data, X=data.X[keep], y=data.y[keep])


def load_for(dataset: dict[str, Any], data_dir: str | None) -> Dataset:
    """Return the data set that a unit names; the last few are kept.

    Parameters
    ----------
    dataset : dict
        `name`, `run` (0 where the data are the same in every run), `options`, `rows`.
    data_dir : str or None
    """
    options = tuple(sorted(dataset["options"].items()))
    return _loaded(dataset["name"], data_dir, dataset["run"], options, dataset["rows"])


@lru_cache(maxsize=2)
def _scaled(
    name: str,
    data_dir: str | None,
    run: int,
    options: tuple[Any, ...],
    rows: int | None,
    low: float,
    high: float,
) -> NDArray[np.float64]:
    X = _loaded(name, data_dir, run, options, rows).X
    return scale_columns(X, slice(None), low, high)


def scaled_inputs(
    dataset: dict[str, Any], data_dir: str | None, scale: dict[str, Any] | None, train: Indices
) -> NDArray[np.float64]:
    """Return all rows of a data set, scaled as the protocol says.

    Parameters
    ----------
    dataset : dict
        As for `load_for`.
    data_dir : str or None
    scale : dict or None
        `range` and `fit-on` ("all" rows, or the "train" part).
    train : ndarray of int
        The training rows.
    """
    X = load_for(dataset, data_dir).X
    if scale is None:
        return X
    low, high = scale["range"]
    if scale["fit-on"] == "train":
        return scale_columns(X, train, low, high)
    options = tuple(sorted(dataset["options"].items()))
    return _scaled(dataset["name"], data_dir, dataset["run"], options, dataset["rows"], low, high)


def fold_data(unit: dict[str, Any], data_dir: str | None) -> FoldData:
    """Return the scaled rows of the outer fold that a unit names."""
    data = load_for(unit["dataset"], data_dir)
    train, test = outer_split(data, unit["protocol"], unit["run"], unit["fold"])
    X = scaled_inputs(unit["dataset"], data_dir, unit["protocol"]["scale"], train)
    return FoldData(X[train], data.y[train], X[test], data.y[test], labels_of(data))
