"""Load a data set, from the first source that is there."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.dataset import Dataset, array_checksum
from elmbench.datasets.folders import data_folder
from elmbench.datasets.originals import as_claimed
from elmbench.datasets.prepare import prepare
from elmbench.datasets.receipts import Receipt, fetched_files, read_receipt
from elmbench.datasets.sources.folder import PATTERN, Files, find_files, read_files
from elmbench.datasets.sources.generator import generate, identity
from elmbench.datasets.sources.own_file import (
    group_numbers,
    read_own,
    sorted_by,
    take_column,
    with_date_features,
    with_numbered_categories,
)
from elmbench.datasets.sources.scikit_learn import load_bundled
from elmbench.datasets.table import Table
from elmbench.datasets.targets import check_numeric, check_shape, code_target, with_labels
from elmbench.errors import DataUnavailableError
from elmbench.specs.datasets import DatasetSpec, load_dataset_specs
from elmbench.specs.datasets.sources import FileSource, GeneratorSource, LibsvmSource, ScikitLearnSource, Source


def load_dataset(
    name: str,
    data_dir: Path | str | None = None,
    *,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
    other_data: bool = False,
) -> Dataset:
    """Load a data set by name, prepared but not scaled. Never uses a network.

    A file `<name>[.train|.test].<csv|svm|arff|npz|parquet>[.gz|.bz2|.xz]` in the data directory comes first, then the
    sources of `datasets.yaml` in their order: what scikit-learn brings along, generators, and what
    `elmbench data fetch` has put into the cache.

    Parameters
    ----------
    name : str
        Name or alias, such as 'wdbc' or 'Mackey-Glass'.
    data_dir : path, optional
        Folder of the user's own files; `ELMBENCH_DATA_DIR` where it is not given.
    run : int
        Of data that are redrawn every run.
    options : mapping of str to float, optional
        Options of generated data, such as `{"noise_variance": 0}`.
    cache_dir : path, optional
        `ELMBENCH_CACHE_DIR`, or the user's cache folder, where it is not given.
    other_data : bool
        Take a file also if its rows are not those of the public file; a note says so.

    Raises
    ------
    DataUnavailableError
        If no source is reachable here.
    ElmbenchError
        If the name is unknown, or a file is there but bad, or holds other rows than the public file.
    """
    return load_checked(load_dataset_specs().find(name), data_dir, run, options, cache_dir, other_data)


def load_checked(
    spec: DatasetSpec,
    data_dir: Path | str | None = None,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
    other_data: bool = False,
) -> Dataset:
    """Load the data set of a spec, and hold it against the fingerprint of the public file (see `load_dataset`)."""
    source = find_origin(spec, data_dir, cache_dir).source
    return as_claimed(load(spec, data_dir, run, options, cache_dir), spec, source, other_data)


def load(
    spec: DatasetSpec,
    data_dir: Path | str | None = None,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
) -> Dataset:
    """Load the data set of a spec as it is here (see `load_dataset`); its counts are checked, its values are not."""
    chosen = spec.chosen_options(options)
    origin = find_origin(spec, data_dir, cache_dir)
    if isinstance(origin.source, FileSource):
        return _finish(read_own(origin.source, spec.groups), spec, origin.source)
    if origin.source is None:
        data = load_files(origin.files, spec)
        unused = f"{data.source} is used as it is: the options have no effect"
        return data.remarked(unused) if options else data
    if isinstance(origin.source, ScikitLearnSource):
        return _finish(load_bundled(origin.source), spec, origin.source)
    if isinstance(origin.source, GeneratorSource):
        table = generate(spec, origin.source, chosen, run, cache_dir)
        return _finish(table, spec, origin.source, identity(spec, origin.source, chosen, run))
    assert origin.receipt is not None  # as every other source is fetched
    return load_fetched(spec, origin.source, origin.receipt, cache_dir)


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set come from here."""

    #: One of the spec's sources; None for files of the data directory.
    source: Source | None
    #: The files of the data directory.
    files: Files = field(default_factory=Files)
    #: Of what was fetched from the source.
    receipt: Receipt | None = None


def find_origin(spec: DatasetSpec, data_dir: Path | str | None = None, cache_dir: Path | str | None = None) -> Origin:
    """Return where `load` takes the rows of a data set from; no rows are read."""
    for source in spec.sources:
        if isinstance(source, FileSource) and Path(source.path).exists():
            return Origin(source, Files(whole=Path(source.path)))
    folder = data_folder(data_dir)
    if own := find_files(spec, folder):
        return Origin(None, own)
    for source in spec.sources:
        if isinstance(source, ScikitLearnSource | GeneratorSource):
            return Origin(source)
        if isinstance(source, FileSource):
            continue
        if receipt := read_receipt(spec, source, cache_dir):
            return Origin(source, receipt=receipt)
    kinds = ", ".join(dict.fromkeys(source.kind for source in spec.sources))
    where = f"neither {folder} nor the cache holds" if folder else "no data directory is given and the cache lacks"
    found = f"the data set {spec.name!r} is not here: {where} it"
    expected = f"a file {PATTERN.replace('<name>', spec.stem)}, or the download (from {kinds})"
    next_step = f"elmbench data fetch {spec.name}   (or drop {spec.stem}.csv into the folder of --data-dir)"
    raise DataUnavailableError(found, expected=expected, next_step=next_step)


def load_files(files: Files, spec: DatasetSpec) -> Dataset:
    """Load a data set from files in the layout of the public file; an error if they have other counts."""
    return _finish(read_files(files, spec), spec)


def load_fetched(spec: DatasetSpec, source: Source, receipt: Receipt, cache_dir: Path | str | None = None) -> Dataset:
    """Load what was fetched from a source; an error if the files in the cache are missing or were changed."""
    files = fetched_files(spec, receipt, cache_dir)
    table = read_files(files, spec, source.width if isinstance(source, LibsvmSource) else None)
    return _finish(replace(table, origin=receipt.origin), spec, source)


def _finish(table: Table, spec: DatasetSpec, source: Source | None = None, key: str | None = None) -> Dataset:
    groups = None
    if spec.ordered_by is not None:
        table, _ = sorted_by(table, spec.ordered_by, spec.day_first)
    if spec.groups is not None:
        table, named = take_column(table, spec.groups)
        groups = group_numbers(named)
    if isinstance(source, FileSource):
        table = with_date_features(table, source.dates, spec.day_first)
    if sp.issparse(table.X) and not spec.sparse:
        table = replace(table, X=table.X.toarray())
    table = prepare(table, source.prepare if source else ())
    table = with_labels(table, spec, source.labels if source else {})
    table = _as_public(table, spec, source)
    nominal: tuple[int, ...] = ()
    if spec.by_fold:
        nominal = tuple(sorted(table.nominal))
        table = with_numbered_categories(table)
    else:
        check_numeric(table)
    y, classes = code_target(table, spec)
    X = table.X
    if spec.sparse:
        X = sp.csr_matrix(X)
        X.eliminate_zeros()
        X.sort_indices()
    splits = None
    if table.n_train is not None:
        rows = np.arange(X.shape[0])
        splits = {"train": rows[: table.n_train], "test": rows[table.n_train :]}
    known = [word for word in (key, *map(str, nominal)) if word is not None]
    known += [] if groups is None else [hashlib.sha256(groups.tobytes()).hexdigest()]
    checksum = array_checksum(X, y, *known)
    notes = tuple(dict.fromkeys((*spec.notes, *table.notes)))
    # Of a user's own data all that is said is about these rows.
    remarks = notes if isinstance(source, FileSource) else table.notes
    read = (table.names, table.origin, checksum, splits, notes, remarks, nominal, groups)
    return Dataset(X, y, spec.name, spec.task, classes, *read)


def _as_public(table: Table, spec: DatasetSpec, source: Source | None) -> Table:
    """Check the counts of the rows against the public file, before and after their preparation."""
    part = spec.training_part
    if part is not None and table.n_train is None and table.X.shape[0] == part.instances:
        check_shape(table, part, "the training part of the public file")
        note = f"only the training part is here: {part.instances} of {spec.shape.instances} rows"
        return prepare(replace(table, notes=(*table.notes, note)), spec.prepare)
    if source is not None and source.already_prepared:
        check_shape(table, spec.prepared or spec.shape, "the prepared public file")
        return table
    check_shape(table, spec.shape, "the public file")
    if source is not None and source.split_in_order and spec.shape.split:
        table = replace(table, n_train=spec.shape.split[0])
    table = prepare(table, spec.prepare)
    here, there = table.X.shape, spec.prepared or spec.shape
    if here == (there.instances, there.features):
        return table
    note = f"{here[0]} rows and {here[1]} features after the preparation; the public file has {there.instances} and "
    return replace(table, notes=(*table.notes, f"{note}{there.features}"))
