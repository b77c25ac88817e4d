"""Files of the public layout in a folder: found by the name of a data set, read, their parts joined."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from elmbench.datasets.readers import read_table, unpacked_bytes
from elmbench.datasets.table import Matrix, Table
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec
from elmbench.specs.datasets.sources import OpenMLSource

FORMATS = ("csv", "svm", "arff", "npz", "parquet")
COMPRESSIONS = ("", ".gz", ".bz2", ".xz")
PATTERN = f"<name>[.train|.test].<{'|'.join(FORMATS)}>[.gz|.bz2|.xz]"


@dataclass(frozen=True)
class Files:
    """The files of one data set: the whole of it, or its training and its test part (either may be missing)."""

    whole: Path | None = None
    train: Path | None = None
    test: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that are there, training part first."""
        return tuple(path for path in (self.whole, self.train, self.test) if path is not None)


def check_folder(folder: Path) -> None:
    """Raise ElmbenchError if a data directory does not exist."""
    if not folder.is_dir():
        found = f"the data directory {folder} does not exist"
        raise ElmbenchError(found, expected="a folder", next_step="correct --data-dir")


def find_files(spec: DatasetSpec, folder: Path | None) -> Files | None:
    """Return the files of a data set in a data directory, or None if it has none.

    A link counts as the file that it points to.
    """
    if folder is None:
        return None
    check_folder(folder)
    found: dict[str, Path] = {}
    for part, suffix in (("whole", ""), ("train", ".train"), ("test", ".test")):
        names = [f"{spec.stem}{suffix}.{form}{compression}" for form in FORMATS for compression in COMPRESSIONS]
        # A broken link does not exist() but is there all the same: it must be reported, not passed over.
        paths = [path for path in (folder / name for name in names) if path.exists() or path.is_symlink()]
        if len(paths) > 1:
            twice = f"{folder} holds {' and '.join(path.name for path in paths)}, which claim to be the same rows"
            raise ElmbenchError(twice, expected="one of them", next_step=f"move all but one of them out of {folder}")
        for path in paths:
            if path.is_symlink() and not path.exists():
                nowhere = f"{path} is a link to {path.readlink()}, which does not exist"
                mend = "correct or remove the link"
                raise ElmbenchError(nowhere, expected="a file, or a link to one", next_step=mend)
            found[part] = path
    if "whole" in found and len(found) > 1:
        both = f"{folder} holds {', '.join(path.name for path in found.values())}"
        expected = f"either the whole of {spec.stem} in one file, or its train and test part"
        raise ElmbenchError(both, expected=expected, next_step=f"move the others out of {folder}")
    return Files(**found) if found else None


def read_files(files: Files, spec: DatasetSpec, width: int | None = None) -> Table:
    """Read the files of a data set.

    `width` is the number of features of LIBSVM rows, where it is not that of the public file.
    """
    width = width or spec.shape.features
    if files.whole is None:
        missing = "train" if files.train is None else "test" if files.test is None else None
        if missing == "train" or (missing == "test" and spec.training_part is None):
            (there,) = files.paths
            found = f"{there} is there, but no {missing} part beside it"
            expected = f"{spec.stem}.{missing}.* in {there.parent}"
            next_step = f"add the {missing} part, or join both in one {spec.stem}.csv"
            raise ElmbenchError(found, expected=expected, next_step=next_step)
    most = unpacked_bytes(spec.shape.instances, width, spec.sparse)
    parts = [read_table(path, partial(_target_of, path, spec), width, spec.sparse, most) for path in files.paths]
    return parts[0] if len(parts) == 1 else _join(*parts)


def _target_of(path: Path, spec: DatasetSpec, names: list[str]) -> str:
    of_sources = [source.target for source in spec.sources if isinstance(source, OpenMLSource)]
    targets = ["target", *(target for target in of_sources if isinstance(target, str))]
    for target in targets:
        if target in names:
            return target
    shown = ", ".join(names[:5]) + (f", ... ({len(names)} columns)" if len(names) > 5 else "")
    expected = " or ".join(map(repr, dict.fromkeys(targets)))
    next_step = f"name the target column 'target' in the header of {path.name}"
    found = f"{path} has no target column: its columns are {shown}"
    raise ElmbenchError(found, expected=expected, next_step=next_step)


def _join(train: Table, test: Table) -> Table:
    if train.names != test.names or set(train.nominal) != set(test.nominal):
        counts = f"{train.origin} has {train.X.shape[1]} columns and {test.origin} has {test.X.shape[1]}"
        found = f"{counts}, or they differ in name or kind"
        raise ElmbenchError(found, expected="the same columns in both", next_step="replace one of the two files")
    X: Matrix = sp.vstack([train.X, test.X], format="csr") if sp.issparse(train.X) else np.vstack([train.X, test.X])
    return replace(
        train,
        X=X,
        target=np.concatenate([train.target, test.target]),
        nominal={place: np.concatenate([words, test.nominal[place]]) for place, words in train.nominal.items()},
        n_train=train.X.shape[0],
        origin=f"{train.origin}, {test.origin}",
    )
