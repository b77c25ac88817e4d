"""Find the files of a data set in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elmbench.errors import ElmbenchError

if TYPE_CHECKING:
    from pathlib import Path

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


def find_files(folder: Path, stem: str) -> Files | None:
    """Return the files of `stem` in `folder`, or None if it has none. A link counts as the file that it points to.

    Raises
    ------
    ElmbenchError
        If two files claim to be the same part, a whole stands beside a part, or a link points nowhere.
    """
    found = {part: _candidates(folder, stem + suffix) for part, suffix in _PARTS.items()}
    for paths in found.values():
        if len(paths) > 1:
            raise ElmbenchError(
                f"{folder} holds {' and '.join(path.name for path in paths)}, which claim to be the same rows",
                expected="one of them",
                next_step=f"move all but one of them out of {folder}",
            )
        for path in paths:
            if path.is_symlink() and not path.exists():
                raise ElmbenchError(
                    f"{path} is a link to {path.readlink()}, which does not exist",
                    expected="a file, or a link to one",
                    next_step="correct or remove the link",
                )
    files = Files(**{part: paths[0] if paths else None for part, paths in found.items()})
    if not files.paths:
        return None
    if files.whole is not None and len(files.paths) > 1:
        raise ElmbenchError(
            f"{folder} holds {', '.join(path.name for path in files.paths)}",
            expected=f"either the whole of {stem} in one file, or its train and test part",
            next_step=f"move the others out of {folder}",
        )
    return files


_PARTS = {"whole": "", "train": ".train", "test": ".test"}


def _candidates(folder: Path, stem: str) -> list[Path]:
    names = [f"{stem}.{form}{compression}" for form in FORMATS for compression in COMPRESSIONS]
    # A broken link does not exist() but is there all the same: it must be reported, not passed over.
    return [path for path in (folder / name for name in names) if path.exists() or path.is_symlink()]
