"""One outer fold of a data set: its rows in the order of learning, encoded, imputed and scaled."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elmbench.errors import ElmbenchError
from elmbench.evaluation.content import (
    OMITTED,
    OPTIONAL,
    content_name,
    content_of_fields,
)
from elmbench.evaluation.splits import (
    ALL_ROWS,
    Indices,
    n_training_rows,
    order_rows,
    outer_parts,
    part_sizes,
    sample_rows,
)
from elmbench.lazy import LazyModule
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.scaling import Scale, TargetScale
from elmbench.specs.splits import BOOTSTRAPS, GIVEN, LEAVE_ONE_OUT, SIZED, Split

if TYPE_CHECKING:
    import pandas as pd

    from elmbench.datasets.dataset import Columns, Dataset
    from elmbench.evaluation import preprocessing
else:
    # The process of a comparison does without scikit-learn, which its workers import.
    preprocessing = LazyModule("elmbench.evaluation.preprocessing")

#: Increase this when the meaning of stored results changes, but nothing else in their keys does.
RESULT_FORMAT = 1
#: Samples of more values, before they are encoded, are large.
_MANY_VALUES = 2_000_000


@dataclass(frozen=True)
class DatasetRef:
    """The data of a task.

    `checksum`: hash of the prepared arrays, or of the settings that they are drawn from. `run`: 0
    if the data are the same in every run. `rows`: the number of rows that a profile keeps; None for
    all. `spec`: the entry in `datasets.yaml`; None if a stored result is only read. The caches of
    rows distinguish it: other files with the same checksum may differ in their labels, in the names
    of their columns or in the order of their rows.
    """

    name: str
    checksum: str = field(metadata=content_name("identity"))
    run: int = 0
    options: dict[str, float] = field(default_factory=dict, hash=False)
    rows: int | None = None
    spec: DatasetSpec | None = field(
        default=None, hash=False, repr=False, metadata=OMITTED
    )
    #: The path of the file of given splits, whose checksum the split has; empty if there is none.
    splits_file: str = field(default="", repr=False, metadata=OMITTED)

    @property
    def n_rows(self) -> int:
        """The number of rows that are used, according to the spec."""
        assert self.spec is not None
        return min(self.spec.shape.instances, self.rows or self.spec.shape.instances)

    @property
    def n_features(self) -> int:
        """The number of features before they are encoded, according to the spec."""
        assert self.spec is not None
        return self.spec.shape.features


@dataclass(frozen=True)
class FoldProtocol:
    """The split, order and scaling of the rows of a data set.

    `scale`, `targets`: scaling of the inputs, and of the targets of a regression; None for none.
    `outer`: the outer split. `order` ({"shuffled", "stored"}): the order in which the training rows
    are learnt.
    """

    scale: Scale | None
    outer: Split
    order: str
    targets: TargetScale | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class OuterFold:
    """One outer fold of one run.

    `task` ({"classification", "regression"}). `run`, `fold`: counted from 0. `format`: the version
    of the meaning of results, `RESULT_FORMAT`. `train_rows`, `test_rows`: the numbers of random
    rows to learn and to predict; None for all.
    """

    task: str
    dataset: DatasetRef
    protocol: FoldProtocol
    run: int
    fold: int
    format: int = RESULT_FORMAT
    train_rows: int | None = field(default=None, metadata=OPTIONAL)
    test_rows: int | None = field(default=None, metadata=OPTIONAL)

    def content(self) -> dict[str, Any]:
        """Return the JSON content of the fold, which is part of the keys of its tasks."""
        return self._content

    @cached_property
    def _content(self) -> dict[str, Any]:
        """The fields of the fold as a dict in the types of JSON; all models of a table share it."""
        return content_of_fields(self)

    @property
    def seed_key(self) -> tuple[str, int, int]:
        """The data set, the run and the fold, which the seeds of random draws depend on."""
        return self.dataset.name, self.run, self.fold

    @property
    def is_of_all_rows(self) -> bool:
        """True for a whole leave-one-out, which consists of the folds of `folds_of_rows`."""
        outer = self.protocol.outer
        return outer.kind == LEAVE_ONE_OUT and outer.folds == 1

    @cached_property
    def n_train(self) -> int:
        """The number of training rows to learn, according to the spec.

        Rough for folds, which may differ by a row, and for given or plug-in parts.
        """
        n_part = self._n_training_part
        return n_part if self.train_rows is None else min(n_part, self.train_rows)

    @property
    def is_sampled(self) -> bool:
        """True if only some of the training or test rows are used."""
        return self.train_rows is not None or self.test_rows is not None

    @property
    def n_test(self) -> int:
        """The number of test rows to predict: of `_n_test_part`, `test_rows` at most."""
        n_part = self._n_test_part
        return n_part if self.test_rows is None else min(n_part, self.test_rows)

    @property
    def _n_test_part(self) -> int:
        """The number of rows of the test part, according to the spec.

        That of all rows if the part is of unknown size: of official parts without sizes, and of the
        only fold of a given or plug-in split. Too large for a holdout that leaves out rows. For
        bootstraps, it is the expected number.
        """
        n = self.dataset.n_rows
        if self.protocol.outer.kind in BOOTSTRAPS:
            # (1 - 1/n)^n of the rows are not drawn.
            return round(math.exp(-1) * n)
        n_other_rows = n - self._n_training_part
        return n_other_rows if n_other_rows > 0 else n

    @property
    def _n_training_part(self) -> int:
        """The number of rows of the training part, according to the spec.

        Of official parts, it is the size that the spec gives, in proportion if only some rows are
        used, or that of all rows if it gives none; of other splits, it follows from the number of
        all rows.
        """
        n = self.dataset.n_rows
        outer = split_of_rows(self.dataset, self.protocol.outer, n)
        if outer.kind != "official":
            return n_training_rows(outer, n)
        spec = self.dataset.spec
        if spec is None or spec.shape.split is None:
            return n
        return spec.shape.split[0] * n // spec.shape.instances


@dataclass(frozen=True)
class FoldData:
    """The rows of one outer fold, scaled.

    `prepare`: returns `X_train` and `X_test`; it is called when one of them is first used.
    `prepare_few`: returns the inputs of training rows at some positions without preparing the
    others; None if that is no less work. `y_train`, `y_test` (ndarray of shape (n,)): -1/+1 for two
    classes, 0, 1, ... for more, real values for regression. `labels`: every label of the data set;
    None for regression. `source` (data frame or None): the rows of the data set if they are encoded
    and imputed on each fold. `source_rows` (ndarray of shape (n_train,) or None): the positions of
    the training rows there.
    `columns`: the kinds of the columns of `source`.
    `groups`, `weights` (ndarray of shape (n_train,) or None): the number of each training row's
    group, and its weight in a fit. `times` (ndarray of shape (n_train,) or None): a number of each
    training row that rises with its time. `rows` (ndarray of shape (n_train,) or None): the number
    of each training row in the data file. `in_units`: returns targets or predictions, of shape
    (n,), in the units of the metrics. `identity`: equal only for equal rows; None if it is unknown.
    """

    prepare: Callable[[], tuple[Any, Any]]
    prepare_few: Callable[[Indices], Any] | None = field(default=None, kw_only=True)
    y_train: NDArray[Any]
    y_test: NDArray[Any]
    labels: list[int] | None
    source: "pd.DataFrame | None" = None
    source_rows: Indices | None = None
    columns: "Columns | None" = None
    groups: NDArray[np.int64] | None = None
    times: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    rows: Indices | None = None
    in_units: Callable[[NDArray[Any]], NDArray[Any]] = lambda values: values
    identity: Hashable = None

    @property
    def X_train(self) -> Any:
        """The training rows, in the order in which a sequential model learns them.

        An ndarray or a CSR matrix of shape (n_train, n_features).
        """
        return self._inputs[0]

    @property
    def X_test(self) -> Any:
        """The test rows: an ndarray or a CSR matrix of shape (n_test, n_features)."""
        return self._inputs[1]

    @property
    def raw(self) -> "pd.DataFrame | None":
        """The training rows of `source`, neither encoded nor imputed, of shape (n_train, d); None
        without it.
        """
        if self.source is None or self.source_rows is None:
            return None
        return preprocessing.take_rows(self.source, self.source_rows)

    def rows_to_prepare(self, rows: Indices | slice) -> Any:
        """Return the training rows at the positions `rows`, from which inner folds are prepared.

        They are a raw data frame, neither encoded nor imputed, if each fold does so; else inputs of
        models, as in `X_train`.
        """
        # Only these: to prepare all training rows would take longer than a search on a few.
        if self.source is not None and self.source_rows is not None:
            return preprocessing.take_rows(self.source, self.source_rows[rows])
        if self.prepare_few is not None and not isinstance(rows, slice):
            return self.prepare_few(rows)
        return preprocessing.take_rows(self.X_train, rows)

    @cached_property
    def _inputs(self) -> tuple[Any, Any]:
        """The inputs X_train and X_test, prepared on first use."""
        return self.prepare()


def labels_of(data: "Dataset") -> list[int] | None:
    """Return every label that `data.y` may hold: -1 and +1, or 0, 1, ...; None for regression."""
    if data.classes is None:
        return None
    return [-1, 1] if len(data.classes) == 2 else list(range(len(data.classes)))


@lru_cache(maxsize=4)
def load_rows(dataset: DatasetRef, data_dir: str | None) -> "Dataset":
    """Return the rows of a task: all, or a random sample of `dataset.rows` if there are more.

    The sample keeps the shares of the classes; that of a regression is a plain one. It is in
    ascending order and the same in every run. The last four data sets are cached, so they must not
    be changed. The reference must have a `spec`. `data_dir`: the folder of the user's files; None
    for `ELMBENCH_DATA_DIR`.
    """
    from elmbench.datasets.load import (
        load_from_spec,  # SciPy's sparse matrices take long to import
    )

    assert dataset.spec is not None
    data = load_from_spec(dataset.spec, data_dir, dataset.run)
    if dataset.rows is None or dataset.rows >= len(data.y):
        return data
    numbers = sample_rows(
        data.y, dataset.rows, data.classes is not None, "subsample", data.name
    )
    return _take_rows(data, numbers)


def _take_rows(data: "Dataset", numbers: Indices) -> "Dataset":
    """Return the data set with only the rows of these numbers, in this order.

    All columns with a value for each row follow. The official parts become positions among the
    rows, in ascending order.
    """
    splits = data.splits and {
        part: np.flatnonzero(np.isin(numbers, rows))
        for part, rows in data.splits.items()
    }
    by_row: dict[str, Any] = {
        name: getattr(data, name)
        for name in ("groups", "times", "folds", "weights", "rows")
    }
    columns = {
        name: values[numbers] for name, values in by_row.items() if values is not None
    }
    return replace(
        data,
        X=preprocessing.take_rows(data.X, numbers),
        y=data.y[numbers],
        splits=splits,
        **columns,
    )


@lru_cache(maxsize=2)
def _scaled_rows(dataset: DatasetRef, data_dir: str | None, scale: Scale) -> Any:
    """Return all rows of a data set, with a scaling that is fitted to all of them.

    The last two results are cached, so they must not be changed. `data_dir`: the folder of the
    user's files; None for `ELMBENCH_DATA_DIR`.
    """
    return preprocessing.prepared_inputs(
        load_rows(dataset, data_dir).X, slice(None), scale
    )


def scaled_inputs(
    dataset: DatasetRef, data_dir: str | None, scale: Scale | None, train: Indices
) -> Any:
    """Return all rows of a data set as inputs of models, encoded and scaled.

    `scale`: None for no scaling. `train`: the rows that the encoding and the scaling are fitted to.
    If the protocol fits the scaling to all rows (`scale.fit_on`), and the rows are complete
    numbers, `train` is not used, and the cached result must not be changed. `data_dir`: the folder
    of the user's files; None for `ELMBENCH_DATA_DIR`. The result is an array or a CSR matrix of
    shape (n, number of inputs).
    """
    data = load_rows(dataset, data_dir)
    if scale is None or scale.fit_on == "train" or data.is_raw:
        return preprocessing.prepared_inputs(data.X, train, scale, data.encoded_columns)
    return _scaled_rows(dataset, data_dir, scale)


def split_of_rows(dataset: DatasetRef, split: Split, n_rows: int) -> Split:
    """Return a split with its sizes for the `n_rows` rows that are used.

    If a profile uses fewer rows than the data set has, the test part of a holdout of any kind
    shrinks in proportion, to one row at least, and the training part has all other rows. Given
    splits get the path of their file instead; other splits stay.
    """
    if split.kind == GIVEN:
        return replace(split, file=dataset.splits_file)
    whole = (
        dataset.spec.shape.instances
        if dataset.spec and dataset.rows is not None
        else n_rows
    )
    if split.kind not in SIZED or n_rows >= whole:
        return split
    _, test_of_whole = part_sizes(split, whole)
    test = max(1, test_of_whole * n_rows // whole)
    return Split(split.kind, 1, n_rows - test, test)


@lru_cache(maxsize=2)
def _cached_parts(
    dataset: DatasetRef, data_dir: str | None, outer: Split, run: int
) -> Sequence[tuple[Indices, Indices]]:
    """Return the training and test rows of every outer fold of a run.

    The training rows are not yet in the order of learning. The last two runs are cached, because
    the folds of a run come in sequence. `data_dir`: the folder of the user's files; None for
    `ELMBENCH_DATA_DIR`.
    """
    data = load_rows(dataset, data_dir)
    return outer_parts(data, split_of_rows(dataset, outer, len(data.y)), run)


def fold_data(outer_fold: OuterFold, data_dir: str | None) -> FoldData:
    """Return the data of an outer fold: its training rows, in the order of learning, and test rows.

    The inputs are encoded and scaled when they are first used; of a fold that uses only some of its
    rows, only these. Raises ElmbenchError for a whole leave-one-out. `data_dir`: the folder of the
    user's files; None for `ELMBENCH_DATA_DIR`.
    """
    learnt, tested = fold_rows(outer_fold, data_dir)
    whole = load_rows(outer_fold.dataset, data_dir)
    if outer_fold.is_sampled:
        inputs = _sampled_inputs
        data, train, test = _sampled_rows(outer_fold, data_dir)
    else:
        inputs = _all_inputs
        data = whole
        train = learnt
        test = tested

    def prepare() -> tuple[Any, Any]:
        """Return the inputs of the training and of the test rows, as copies."""
        X = inputs(outer_fold, data_dir)
        return X[train], X[test]  # copies, since a model may change its inputs

    def prepare_few(rows: Indices) -> Any:
        """Return the inputs of the training rows at these positions."""
        few = preprocessing.take_rows(data.X, train[rows])
        return _fitted_scaling(outer_fold, data_dir).transform(few)

    fold = fold_of(data, prepare, outer_fold.protocol.targets, train, test)
    scale = outer_fold.protocol.scale
    fits_by_fold = scale is None or scale.fit_on == "train"
    if fits_by_fold and not data.is_raw and not outer_fold.is_sampled:
        fold = replace(fold, prepare_few=prepare_few)
    rows = learnt if whole.rows is None else whole.rows[learnt]
    return replace(fold, identity=(outer_fold, data_dir), rows=rows)


def _sampled_rows(
    outer_fold: OuterFold, data_dir: str | None
) -> "tuple[Dataset, Indices, Indices]":
    """Return a data set of the rows that an outer fold learns, followed by its test rows.

    Also return the positions of the learnt and of the test rows in it. It is for folds that use
    only some of their rows. `data_dir`: the folder of the user's files; None for
    `ELMBENCH_DATA_DIR`.
    """
    train, test = fold_rows(outer_fold, data_dir)
    rows = np.concatenate([train, test])
    data = _take_rows(load_rows(outer_fold.dataset, data_dir), rows)
    return data, np.arange(len(train)), np.arange(len(train), len(rows))


@lru_cache(maxsize=8)
def _fitted_scaling(outer_fold: OuterFold, data_dir: str | None) -> Any:
    """Return the pipeline that scales complete rows of numbers, fitted to the training rows of an
    outer fold; cached because several models search on a few of them.

    It changes nothing if the protocol has no scaling. `data_dir`: the folder of the user's files;
    None for `ELMBENCH_DATA_DIR`.
    """
    train = fold_rows(outer_fold, data_dir)[0]
    X = load_rows(outer_fold.dataset, data_dir).X
    return preprocessing.fitted_preprocessing(X, train, outer_fold.protocol.scale)


@lru_cache(maxsize=1)
def _all_inputs(outer_fold: OuterFold, data_dir: str | None) -> Any:
    """Return all rows of a data set as inputs, encoded and scaled as an outer fold does it.

    The last ones are cached because several models learn one fold, so they must not be changed.
    `data_dir`: the folder of the user's files; None for `ELMBENCH_DATA_DIR`.
    """
    train = fold_rows(outer_fold, data_dir)[0]
    return scaled_inputs(outer_fold.dataset, data_dir, outer_fold.protocol.scale, train)


def _sampled_inputs(outer_fold: OuterFold, data_dir: str | None) -> Any:
    """Return the learnt rows of an outer fold, followed by its test rows, as inputs of models.

    They are those of `_sampled_rows`, encoded and scaled by a fit to the learnt rows. Several
    models learn them: those of the last eight folds are cached, or of the last one if it has many
    values. `data_dir`: the folder of the user's files; None for `ELMBENCH_DATA_DIR`.
    """
    n_rows = outer_fold.n_train + outer_fold.n_test
    n_values = n_rows * outer_fold.dataset.n_features
    inputs_of = _large_inputs if n_values > _MANY_VALUES else _small_inputs
    return inputs_of(outer_fold, data_dir)


def _prepared_sample(outer_fold: OuterFold, data_dir: str | None) -> Any:
    """Return the rows of `_sampled_rows` as inputs of models.

    `data_dir`: the folder of the user's files; None for `ELMBENCH_DATA_DIR`.
    """
    data, learnt, _ = _sampled_rows(outer_fold, data_dir)
    scale = outer_fold.protocol.scale
    return preprocessing.prepared_inputs(data.X, learnt, scale, data.encoded_columns)


_small_inputs = lru_cache(maxsize=8)(_prepared_sample)
_large_inputs = lru_cache(maxsize=1)(_prepared_sample)


def fold_of(
    data: "Dataset",
    prepare: Callable[[], tuple[Any, Any]],
    targets: TargetScale | None,
    train: Indices,
    test: Indices,
) -> FoldData:
    """Return the data of a fold with the rows numbered `train` and `test` of a data set.

    `prepare`: returns the inputs of the two parts. `targets`: the scaling of the targets of a
    regression, which classes do not have; None for none. If the targets are scaled, but the metrics
    are not, `in_units` of the result undoes the scaling; else it changes nothing. The result has no
    `rows`, no `identity` and no `prepare_few`.
    """
    y = data.y
    scale = None if data.classes is not None else targets
    if scale is not None:
        fitted = train if scale.fit_on == "train" else slice(None)
        # Scalers take columns.
        scaler = preprocessing.scaler_of(scale).fit(y[fitted, np.newaxis])
        y = scaler.transform(y[:, np.newaxis])[:, 0]
    fold = FoldData(
        prepare=prepare,
        y_train=y[train],
        y_test=y[test],
        labels=labels_of(data),
        **_training_columns(data, train),
    )
    if scale is None or scale.metrics == "scaled":
        return fold

    def in_units(values: NDArray[Any]) -> NDArray[Any]:
        """Return scaled targets, of shape (n,), in the units of the data."""
        unscaled: NDArray[Any] = scaler.inverse_transform(values[:, np.newaxis])
        return unscaled[:, 0]

    return replace(fold, in_units=in_units)


def folds_of_rows(outer_fold: OuterFold, data_dir: str | None) -> list[OuterFold]:
    """Return the folds of a whole leave-one-out as separate outer folds, one for each row.

    `outer_fold`: the whole leave-one-out. `data_dir`: the folder of the user's files; None for
    `ELMBENCH_DATA_DIR`.
    """
    n_rows = len(load_rows(outer_fold.dataset, data_dir).y)
    protocol = replace(outer_fold.protocol, outer=Split(LEAVE_ONE_OUT, n_rows))
    return [replace(outer_fold, protocol=protocol, fold=row) for row in range(n_rows)]


def fold_of_all_rows(outer_fold: OuterFold) -> OuterFold:
    """Return the fold that learns all rows of the data set and tests the same rows.

    The fold's numbers of random rows, if it has any, still limit both parts.
    """
    all_rows = Split(ALL_ROWS, outer_fold.protocol.outer.folds)
    protocol = replace(outer_fold.protocol, outer=all_rows)
    return replace(outer_fold, protocol=protocol)


def _training_columns(data: "Dataset", train: Indices) -> dict[str, Any]:
    """Return the arguments of `FoldData` that have a value for each training row.

    These are {`groups`, `times` or `weights`: array of shape (n_train,)}, as far as the data have
    them. For rows that are encoded on each fold, the fields that lead to them are added: source,
    source_rows and columns.
    """
    by_row = {"groups": data.groups, "times": data.times, "weights": data.weights}
    columns: dict[str, Any] = {
        name: values[train] for name, values in by_row.items() if values is not None
    }
    if data.is_raw:
        columns["source"] = data.X
        columns["source_rows"] = train
        columns["columns"] = data.columns
    return columns


def fold_rows(outer_fold: OuterFold, data_dir: str | None) -> tuple[Indices, Indices]:
    """Return the rows that an outer fold learns, in the order of learning, and those that it tests.

    They are samples of its parts if it has numbers of random rows. Raises ElmbenchError for a whole
    leave-one-out, which is no single fold. `data_dir`: the folder of the user's files; None for
    `ELMBENCH_DATA_DIR`.
    """
    if outer_fold.is_of_all_rows:
        raise ElmbenchError(
            "leave-one-out is for tables of fits alone",
            expected="another kind of outer split, such as {kind: kfold, folds: ROWS}",
            next_step="correct protocol.outer of the experiment",
        )
    if outer_fold.is_sampled:
        return _random_rows(outer_fold, data_dir)
    return _whole_rows(outer_fold, data_dir)


def _whole_rows(outer_fold: OuterFold, data_dir: str | None) -> tuple[Indices, Indices]:
    """Return all training rows of an outer fold, in the order of learning, and the test rows.

    The numbers of random rows, `train_rows` and `test_rows` of the fold, are ignored. `data_dir`:
    the folder of the user's files; None for `ELMBENCH_DATA_DIR`.
    """
    protocol = outer_fold.protocol
    parts = _cached_parts(outer_fold.dataset, data_dir, protocol.outer, outer_fold.run)
    train, test = parts[outer_fold.fold]
    return order_rows(train, protocol.order, *outer_fold.seed_key), test


@lru_cache(maxsize=8)
def _random_rows(
    outer_fold: OuterFold, data_dir: str | None
) -> tuple[Indices, Indices]:
    """Return the training rows of an outer fold that are learnt, and the test rows.

    If the fold has a number of either, they are a random sample, which keeps the shares of the
    classes; that of a regression is a plain one. Learnt rows are in the order of learning, test
    rows in ascending order. They are cached because several models use them. `data_dir`: the folder
    of the user's files; None for `ELMBENCH_DATA_DIR`.
    """
    train, test = _whole_rows(outer_fold, data_dir)
    y = load_rows(outer_fold.dataset, data_dir).y

    def draw(rows: Indices, n_rows: int | None, purpose: str) -> Indices:
        """Return a sample of rows; all of them if there are no more than `n_rows`.

        `rows`: numbers of rows. `n_rows`: None for all. `purpose`: a word that seeds the draw.
        """
        if n_rows is None or n_rows >= len(rows):
            return rows
        is_classification = outer_fold.task == "classification"
        drawn = sample_rows(
            y[rows], n_rows, is_classification, purpose, *outer_fold.seed_key
        )
        return rows[drawn]

    learnt = draw(train, outer_fold.train_rows, "learnt")
    tested = draw(test, outer_fold.test_rows, "tested")
    return learnt, tested
