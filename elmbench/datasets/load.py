"""Load a data set from the first source that has it, or only its identity, which is cached."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.dataset import Columns, Dataset, array_checksum, differences
from elmbench.datasets.find import find_source
from elmbench.datasets.preparation_steps import (
    check_numeric,
    check_shape,
    code_target,
    prepare_dataset,
    with_labels,
)
from elmbench.datasets.sources.base import (
    FolderSource,
    Source,
    SourceRequest,
    hash_of,
)
from elmbench.datasets.sources.file import FileSource, take_row_columns
from elmbench.datasets.table import Table
from elmbench.datasets.user_files.values import as_read
from elmbench.errors import ElmbenchError, first_line
from elmbench.files import WriteError, cache_folder, read_json, write_atomically
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.datasets.source_registry import OTHER_DATA, TRAINING_ONLY

#: Increase this when the code that loads or prepares rows changes its results.
LOADER_VERSION = 6
#: Packages that may change the rows.
_PACKAGES = ("numpy", "pandas", "pyarrow", "scikit-learn", "liac-arff")
#: Keys of a spec that do not affect the rows. The notes on a user's file are remarks.
_NOT_OF_ROWS = {"title", "aliases", "papers", "citation", "licence", "notes"}


def load_dataset(
    name: str,
    data_dir: Path | str | None = None,
    *,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    other_data: bool = False,
) -> Dataset:
    """Load a data set by name, prepared but not scaled. Never uses a network.

    A file `<name>[.train|.test].<csv|svm|arff|npz|parquet>[.gz|.bz2|.xz]` in the data directory
    comes first, then the sources of `datasets.yaml` in their order: data sets of scikit-learn,
    generators, and files that `elmbench data fetch` has put into the cache.

    Parameters
    ----------
    name : str
        Name or alias, such as 'wdbc' or 'Mackey-Glass'.
    data_dir : path, optional
        Folder of the user's files; by default `ELMBENCH_DATA_DIR`.
    run : int
        The run, for data that are redrawn every run.
    options : mapping of str to float, optional
        Options of generated data, such as `{"noise_variance": 0}`.
    other_data : bool
        Accept a file even if its rows are not those of the public file; a note says so.

    Raises
    ------
    DataUnavailableError
        If no source is reachable here.
    ElmbenchError
        If the name is unknown, or a file is damaged, or its rows are not those of the public file.
    """
    spec = load_dataset_specs().find(name).with_options(options or {})
    return load_compared(
        find_source(spec, data_dir), SourceRequest(spec, run), other_data
    )


def load_from_spec(
    spec: DatasetSpec, data_dir: Path | str | None = None, run: int = 0
) -> Dataset:
    """Load the data set of a spec, prepared but not scaled; check its counts but not its values.

    `run`: for data that are redrawn every run. `data_dir`: by default `ELMBENCH_DATA_DIR`. Raises
    DataUnavailableError if no source is reachable, ElmbenchError for rows that do not fit the spec.
    """
    return load_from(find_source(spec, data_dir), SourceRequest(spec, run))


@dataclass(frozen=True)
class Identity:
    """The properties of a data set that results depend on or show, as in `Dataset`.

    `remarks` are notes about its rows. Of data that are redrawn every run, the checksum is a hash
    of what they are drawn from.
    """

    checksum: str
    remarks: tuple[str, ...] = ()


def identify(
    spec: DatasetSpec,
    data_dir: Path | str | None = None,
    run: int = 0,
    other_data: bool = False,
) -> Identity:
    """Return the checksum and remarks of a data set, which are cached.

    Its rows are read only if the cache has no entry for this state of its files and options; the
    entry is then written. `other_data`: accept rows that are not those of the public file, with a
    remark. Raises ElmbenchError if they are refused, or change while they are read. `run`: for data
    that are redrawn every run. `data_dir`: by default `ELMBENCH_DATA_DIR`.
    """
    source = find_source(spec, data_dir)
    request = SourceRequest(spec, run)
    if spec.redraw and source.generated:
        return Identity(source.checksum(request))
    unused = (
        _NOT_OF_ROWS - {"notes"} if isinstance(source, FileSource) else _NOT_OF_ROWS
    )
    content = {
        "loader": LOADER_VERSION,
        "packages": [version(name) for name in _PACKAGES],
        "spec": spec.model_dump(mode="json", exclude=unused),
        "other_data": other_data,
    }
    state = hash_of(content | {"source": source.checksum(request)})
    path = cache_folder() / "checksums.json"
    entry_name = " ".join(
        [spec.name, *(str(file.resolve()) for file in source.files(request))]
    )
    match read_json(path).get(entry_name):
        case [str(old_state), str(checksum), [*remarks]] if old_state == state:
            return Identity(checksum, tuple(map(str, remarks)))
    data = load_compared(source, request, other_data)
    if hash_of(content | {"source": source.checksum(request)}) != state:
        problem = f"the file of {spec.title} has changed while it was read"
        raise ElmbenchError(
            problem,
            expected="a file that stays as it is",
            next_step="run the command again",
        )
    entries = read_json(path) | {entry_name: [state, data.checksum, data.remarks]}
    with suppress(WriteError):  # a cache that cannot be written costs time only
        write_atomically(path, json.dumps(entries, indent=1))
    return Identity(data.checksum, data.remarks)


class Identities:
    """The identities of data sets for the tables of one plan; each is looked up once.

    `data_dir`: the folder of the user's files; by default `ELMBENCH_DATA_DIR`.
    """

    def __init__(self, data_dir: Path | str | None = None) -> None:
        self._data_dir = data_dir
        #: By name, run and acceptance of other data, with the spec that was looked up: tables may
        #: give generated data of one name different options.
        self._known: dict[tuple[str, int, bool], tuple[DatasetSpec, Identity]] = {}

    def of(self, spec: DatasetSpec, run: int, other_data: bool) -> Identity:
        """Return the checksum and remarks of a data set, which are looked up once.

        `run`: for data that are redrawn every run. `other_data`: accept rows that are not those of
        the public file, with a remark. Raises DataUnavailableError if no source is available, and
        ElmbenchError if rows are refused.
        """
        key = (spec.name, run, other_data)
        if key in self._known:
            known_spec, identity = self._known[key]
            if known_spec == spec:
                return identity
        identity = identify(spec, self._data_dir, run, other_data)
        self._known[key] = (spec, identity)
        return identity


def load_from(source: Source, request: SourceRequest) -> Dataset:
    """Load a data set from one source, prepared but not scaled, with coded targets and a checksum.

    Rows that processes share are mapped into memory and not checked again. Raises ElmbenchError if
    the counts or labels are not those of the public file, or a value is not a finite number, except
    in data that each fold encodes and imputes.
    """
    spec = request.spec
    if isinstance(source, FileSource) and source.shared is not None:
        return _shared_rows(source.shared, spec)
    table, columns, _ = take_row_columns(_read_source(source, request), spec)
    if not spec.sparse:
        X = table.X.toarray() if sp.issparse(table.X) else table.X
        # By rows: results may depend on the order of the values in memory.
        table = replace(table, X=np.ascontiguousarray(X))
    has_boolean_labels = spec.task == "classification" and table.target.dtype == bool
    table = prepare_dataset(table, source.prepare)
    table = with_labels(table, spec, source.labels)
    table = _check_and_prepare(table, spec, source)
    y, classes = code_target(table, spec)
    if not spec.by_fold:
        check_numeric(table.drop_columns(table.dates))
    if spec.sparse:
        X = sp.csr_matrix(table.X)
        X.eliminate_zeros()
        X.sort_indices()
        table = replace(table, X=X)
    is_users = isinstance(source, FileSource)
    origin = [source.checksum(request)] if source.generated else []
    origin += _hashes_of_words(table)
    origin += [
        hashlib.sha256(column.tobytes()).hexdigest() for column in columns.values()
    ]
    splits = None
    if table.n_train is not None:
        rows = np.arange(len(y))
        splits = {"train": rows[: table.n_train], "test": rows[table.n_train :]}
        if is_users:
            origin.append(f"train {table.n_train}")
    notes = tuple(dict.fromkeys((*spec.notes, *table.notes)))
    return Dataset(
        X=_features(table) if spec.by_fold or table.dates else table.X,
        y=y,
        name=spec.name,
        task=spec.task,
        classes=classes,
        feature_names=table.names,
        source=table.origin,
        checksum=array_checksum(table.X, y, *origin),
        splits=splits,
        notes=notes,
        remarks=notes if is_users else table.notes,
        columns=None if spec.sparse else Columns.of_table(table),
        has_boolean_labels=has_boolean_labels,
        rows=table.positions,
        **columns,
    )


def _shared_rows(path: Path, spec: DatasetSpec) -> Dataset:
    """Return the rows of a file that processes share, mapped into memory and read-only.

    `path`: written by `share_rows`. The notes of the spec, which may have been added later, come
    first among its notes and remarks.
    """
    import joblib

    data: Dataset = joblib.load(path, mmap_mode="r")
    notes = tuple(dict.fromkeys((*spec.notes, *data.notes)))
    return replace(data, notes=notes, remarks=notes)


def _read_source(source: Source, request: SourceRequest) -> Table:
    """Return the table that a source loads.

    Errors of the source other than ElmbenchError and MemoryError, and a result that is not a
    `Table`, become an ElmbenchError: a plug-in may define the source.
    """
    try:
        table = source.load(request)
        if not isinstance(table, Table):
            raise TypeError(f"load returns {table!r}")
    except (ElmbenchError, MemoryError):
        raise
    except Exception as error:
        failure = f"{type(error).__name__}: {first_line(error)}"
        problem = f"the source {source.title} of {request.spec.name} fails: {failure}"
        raise ElmbenchError(
            problem, expected="a table of rows", next_step="correct the kind of source"
        ) from error
    return table


def _features(table: Table) -> Any:
    """Return the features of a table: its array or CSR matrix if they are complete numbers.

    A data frame of floats, dates and words if some are words or dates, or have missing values.
    """
    is_complete = sp.issparse(table.X) or not np.isnan(table.X).any()
    if is_complete and not table.nominal:
        return table.X
    return as_read(table.frame(), **Columns.of_table(table)._asdict())


def _hashes_of_words(table: Table) -> Iterator[str]:
    """Yield, for each nominal column, a hash of its position, its kind and its words.

    The kind is "text", the format of its dates, or None.
    """
    for name, words in table.nominal.items():
        kind = "text" if name in table.text else table.dates.get(name)
        content = [table.index[name], kind, words.tolist()]
        yield hash_of(content)


def _check_and_prepare(table: Table, spec: DatasetSpec, source: Source) -> Table:
    """Return the table after the preparation that its spec declares, and a check of its counts.

    Raises ElmbenchError if the counts of rows, features and labels before the preparation are not
    those of the public file; other counts after it are only a remark. Rows that a source has
    already prepared are checked only. If only the training part is here, it is checked against that
    part and gets a remark. Sets `n_train` if the source splits its rows in order.
    """
    part = spec.training_part
    if part is not None and spec.is_training_part(
        table.X.shape[0], table.n_train is not None
    ):
        check_shape(table, part, "the training part of the public file")
        note = f"{TRAINING_ONLY}: {part.instances} of {spec.shape.instances} rows"
        return prepare_dataset(table.add_remark(note), spec.prepare)
    if source.already_prepared:
        check_shape(table, spec.public, "the prepared public file")
        return table
    check_shape(table, spec.shape, "the public file")
    if source.split_in_order and spec.shape.split:
        table = replace(table, n_train=spec.shape.split[0])
    table = prepare_dataset(table, spec.prepare)
    (n, d) = table.X.shape
    public = spec.public
    if (n, d) == (public.instances, public.features):
        return table
    note = (
        f"{n} rows and {d} features after the preparation; the public file has {public.instances} "
        "and "
    )
    return table.add_remark(f"{note}{public.features}")


def load_compared(
    source: Source, request: SourceRequest, other_data: bool = False
) -> Dataset:
    """Load a data set from one source, and compare it with the fingerprint of the public file.

    Generated rows are not compared. If a comparison is not possible, rows of the data directory get
    a remark. Raises ElmbenchError if the rows differ, unless `other_data` accepts them with a
    remark.
    """
    data = load_from(source, request)
    spec = request.spec
    if source.generated:
        return data
    names = ", ".join(PurePath(name).name for name in data.source.split(", "))
    public = "the generated rows of run 0" if spec.generator else "the public file"
    training_only = spec.is_training_part(len(data.y), data.splits is not None)
    fingerprint = spec.fingerprint
    lacks_part = (
        training_only
        if fingerprint and fingerprint.part == "all"
        else not (training_only or data.splits)
    )
    if fingerprint is None or lacks_part or source.other_values or data.is_raw:
        note = f"{names}: only the counts were compared with those of {public}"
        return data.add_remark(note) if isinstance(source, FolderSource) else data
    deviations = ", ".join(differences(data, fingerprint))
    if not deviations:
        return data
    if other_data:
        return data.add_remark(f"{names} {OTHER_DATA} {public}: {deviations}")
    raise ElmbenchError(
        f"{data.source} {OTHER_DATA} {public} of {spec.name!r}: {deviations}",
        expected="the same values, in any order of rows and columns",
        next_step="replace it, or give --other-data: every table will say so",
    )
