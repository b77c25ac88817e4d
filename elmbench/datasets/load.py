"""Load a data set by name, from the first source that is there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.cache import cache_folder, data_folder
from elmbench.datasets.dataset import Dataset, array_checksum
from elmbench.datasets.fetched import fetched_files
from elmbench.datasets.generators import chosen_options, generate, identity
from elmbench.datasets.locate import PATTERN, Files, find_files
from elmbench.datasets.prepare import prepare
from elmbench.datasets.readers import read_table
from elmbench.datasets.table import Matrix, Table
from elmbench.datasets.targets import check_numeric, check_shape, code_target, with_labels
from elmbench.errors import DataUnavailableError, ElmbenchError
from elmbench.specs.dataset_sources import GeneratorSource, LibsvmSource, OpenMLSource, ScikitLearnSource
from elmbench.specs.datasets import load_dataset_specs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from elmbench.specs.dataset_sources import NetworkSource, Source
    from elmbench.specs.datasets import DatasetSpec

_identities: dict[tuple[object, ...], str] = {}


def load_dataset(
    name: str,
    data_dir: Path | str | None = None,
    *,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
) -> Dataset:
    """Load a data set, prepared but not scaled. Never uses a network.

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
        Number of the run, for data that are redrawn every run.
    options : mapping of str to float, optional
        Options of generated data, such as `{"noise_variance": 0}`.
    cache_dir : path, optional
        `ELMBENCH_CACHE_DIR`, or the user's cache folder, where it is not given.

    Returns
    -------
    Dataset

    Raises
    ------
    DataUnavailableError
        If no source is reachable here.
    ElmbenchError
        If the name is unknown, or a file is there but bad.
    """
    spec = load_dataset_specs().find(name)
    chosen = chosen_options(spec, options)
    files = own_files(spec, data_folder(data_dir))
    if files is not None:
        data = load_files(files, spec)
        unused = f"{data.source} is used as it is: the options have no effect"
        return replace(data, notes=(*data.notes, unused)) if options else data
    for source in spec.sources:
        if isinstance(source, ScikitLearnSource):
            return _finish(_bundled(source), spec, source)
        if isinstance(source, GeneratorSource):
            X, y = generate(spec, source, chosen, run, cache_dir)
            shown = ", ".join(f"{option} {value:g}" for option, value in chosen.items())
            origin = f"generator {source.generator}" + (f" ({shown})" if shown else "")
            table = Table(X, tuple(f"x{place}" for place in range(X.shape[1])), y, origin)
            key = identity(spec, source, chosen, run)
            return _finish(table, spec, source, key)
        fetched = load_source(spec, source, cache_dir)
        if fetched is not None:
            return fetched
    raise unavailable(spec, data_folder(data_dir))


def load_files(files: Files, spec: DatasetSpec) -> Dataset:
    """Load a data set from files in the layout of the public file.

    Raises
    ------
    ElmbenchError
        If a file is bad, or not the data set.
    """
    return _finish(_read(files, spec, ("target", *_target_names(spec))), spec)


def load_source(spec: DatasetSpec, source: NetworkSource, cache_dir: Path | str | None = None) -> Dataset | None:
    """Load what was fetched from a source, or return None if nothing was.

    Raises
    ------
    ElmbenchError
        If the cached files were changed, or are not the data set.
    """
    found = fetched_files(spec, source, cache_dir)
    if found is None:
        return None
    files, receipt = found
    width = source.width if isinstance(source, LibsvmSource) else None
    table = _read(files, spec, ("target",), width)
    return _finish(replace(table, origin=receipt.origin), spec, source)


def dataset_identity(
    name: str,
    data_dir: Path | str | None = None,
    run: int = 0,
    options: Mapping[str, float] | None = None,
    cache_dir: Path | str | None = None,
) -> str:
    """Return a short text that is the same exactly when `load_dataset` gives the same arrays.

    Of generated data that are redrawn every run it is computed without drawing them; of all others it is the
    checksum of the prepared arrays, for which they are loaded once a process.

    Raises
    ------
    DataUnavailableError, ElmbenchError
        As `load_dataset`.
    """
    spec = load_dataset_specs().find(name)
    chosen = chosen_options(spec, options)
    files = own_files(spec, data_folder(data_dir))
    if files is None and spec.redraw and spec.generator:
        return identity(spec, spec.generator, chosen, run)
    paths = files.paths if files else ()
    stats = [(str(path.resolve()), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
    key = (spec.name, tuple(stats), str(cache_folder(cache_dir)), tuple(sorted(chosen.items())))
    if key not in _identities:
        _identities[key] = load_dataset(name, data_dir, run=run, options=options, cache_dir=cache_dir).checksum
    return _identities[key]


def unavailable(spec: DatasetSpec, folder: Path | None) -> DataUnavailableError:
    """Build the error for a data set that none of its sources brings here."""
    kinds = ", ".join(dict.fromkeys(source.kind for source in spec.sources))
    where = f"neither {folder} nor the cache holds" if folder else "no data directory is given and the cache lacks"
    return DataUnavailableError(
        f"the data set {spec.name!r} is not here: {where} it",
        expected=f"a file {PATTERN.replace('<name>', spec.stem)}, or the download (from {kinds})",
        next_step=f"elmbench data fetch {spec.name}   (or drop {spec.stem}.csv into the folder of --data-dir)",
    )


def own_files(spec: DatasetSpec, folder: Path | None) -> Files | None:
    """Return the files of a data set in a data directory, or None if it has none.

    Raises
    ------
    ElmbenchError
        If the folder does not exist, or two files claim to be the same rows.
    """
    if folder is None:
        return None
    if not folder.is_dir():
        raise ElmbenchError(
            f"the data directory {folder} does not exist", expected="a folder", next_step="correct --data-dir"
        )
    return find_files(folder, spec.stem)


def _target_names(spec: DatasetSpec) -> tuple[str, ...]:
    targets = [source.target for source in spec.sources if isinstance(source, OpenMLSource)]
    return tuple(dict.fromkeys(target for target in targets if isinstance(target, str)))


def _read(files: Files, spec: DatasetSpec, targets: tuple[str, ...], width: int | None = None) -> Table:
    width = width or spec.shape.features
    if files.whole is not None:
        return read_table(files.whole, targets, width, spec.sparse)
    missing = "train" if files.train is None else "test" if files.test is None else None
    if missing == "train" or (missing == "test" and spec.training_part is None):
        there = files.paths[0]
        raise ElmbenchError(
            f"{there} is there, but no {missing} part beside it",
            expected=f"{spec.stem}.{missing}.* in {there.parent}",
            next_step=f"add the {missing} part, or join both in one {spec.stem}.csv",
        )
    parts = [read_table(path, targets, width, spec.sparse) for path in files.paths]
    if len(parts) == 1:
        return parts[0]
    return _join(parts[0], parts[1])


def _join(train: Table, test: Table) -> Table:
    same_words = set(train.nominal) == set(test.nominal)
    if train.X.shape[1] != test.X.shape[1] or not same_words or train.names != test.names:
        raise ElmbenchError(
            f"{train.origin} has {train.X.shape[1]} columns and {test.origin} has {test.X.shape[1]}, or they differ"
            " in name or kind",
            expected="the same columns in both",
            next_step="replace one of the two files",
        )
    X: Matrix = sp.vstack([train.X, test.X], format="csr") if sp.issparse(train.X) else np.vstack([train.X, test.X])
    return replace(
        train,
        X=X,
        target=np.concatenate([train.target, test.target]),
        nominal={place: np.concatenate([words, test.nominal[place]]) for place, words in train.nominal.items()},
        n_train=train.X.shape[0],
        origin=f"{train.origin}, {test.origin}",
    )


def _bundled(source: ScikitLearnSource) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, source.loader)()
    names = tuple(str(name) for name in bunch.feature_names)
    X = np.array(bunch.data, dtype=np.float64)
    return Table(X, names, np.asarray(bunch.target), f"scikit-learn {source.loader}")


def _finish(table: Table, spec: DatasetSpec, source: Source | None = None, key: str | None = None) -> Dataset:
    if sp.issparse(table.X) and not spec.sparse:
        table = replace(table, X=table.X.toarray())
    table = prepare(table, source.prepare if source else ())
    table = with_labels(table, spec, source.labels if source else {})
    table = _as_public(table, spec, source)
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
    checksum = array_checksum(X, y) if key is None else array_checksum(X, y, key)
    notes = (*spec.notes, *table.notes)
    return Dataset(X, y, spec.name, spec.task, classes, table.names, table.origin, checksum, splits, notes)


def _as_public(table: Table, spec: DatasetSpec, source: Source | None) -> Table:
    """Check the counts of the rows against the public file, before and after their preparation."""
    part = spec.training_part
    if part is not None and table.n_train is None and table.X.shape[0] == part.instances:
        check_shape(table, part, "the training part of the public file")
        note = f"only the training part is here: {part.instances} of {spec.shape.instances} rows"
        return prepare(replace(table, notes=(*table.notes, note)), spec.prepare)
    if source is None or not source.already_prepared:
        check_shape(table, spec.shape, "the public file")
        if source is not None and source.split_in_order and spec.shape.split:
            table = replace(table, n_train=spec.shape.split[0])
        return _noted(prepare(table, spec.prepare), spec)
    check_shape(table, spec.prepared or spec.shape, "the prepared public file")
    return table


def _noted(table: Table, spec: DatasetSpec) -> Table:
    """Note where rows with the counts of the public file are not as many after their preparation as its own are."""
    here, there = table.X.shape, spec.prepared or spec.shape
    if here == (there.instances, there.features):
        return table
    note = f"{here[0]} rows and {here[1]} features after the preparation; the public file has {there.instances} and "
    return replace(table, notes=(*table.notes, f"{note}{there.features}"))
