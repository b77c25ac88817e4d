"""The names of the files of a data set in a data directory."""

from collections.abc import Mapping
from pathlib import Path

from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpec

FORMATS = ("csv", "svm", "arff", "npz", "parquet")
COMPRESSIONS = ("", ".gz", ".bz2", ".xz")
PATTERN = f"<name>[.train|.test].<{'|'.join(FORMATS)}>[.gz|.bz2|.xz]"
#: The files of a data set: 'all' rows in one, or 'train' and 'test' (either may be missing).
Parts = Mapping[str, Path]


def find_parts(spec: DatasetSpec, folder: Path) -> Parts:
    """Return {part: file} of a data set in a data directory; empty if there are none.

    The key is `all`, or one or both of `train` and `test`. Raises ElmbenchError if a part has two
    files, a link is broken, or a file of all rows lies beside one of a part.
    """
    parts: dict[str, Path] = {}
    for part, suffix in (("all", ""), ("train", ".train"), ("test", ".test")):
        path = _find_file(folder, f"{spec.stem}{suffix}")
        if path is not None:
            parts[part] = path
    if "all" in parts and len(parts) > 1:
        problem = f"{folder} holds {', '.join(path.name for path in parts.values())}"
        expected = (
            f"either the whole of {spec.stem} in one file, or its train and test part"
        )
        raise ElmbenchError(
            problem, expected=expected, next_step=f"move the others out of {folder}"
        )
    return parts


def _find_file(folder: Path, stem: str) -> Path | None:
    """Return the file of a folder with a stem and the ending of a format; None if there is none.

    Raises ElmbenchError if there are two, or if it is a broken link.
    """
    names = [
        f"{stem}.{form}{compression}"
        for form in FORMATS
        for compression in COMPRESSIONS
    ]
    candidates = [folder / name for name in names]
    # exists() is False for a broken link, which is an error.
    paths = [path for path in candidates if path.exists() or path.is_symlink()]
    if not paths:
        return None
    if len(paths) > 1:
        listing = " and ".join(path.name for path in paths)
        raise ElmbenchError(
            f"{folder} holds {listing}, which claim to be the same rows",
            expected="one of them",
            next_step=f"move all but one of them out of {folder}",
        )
    (path,) = paths
    if not path.exists():
        raise ElmbenchError(
            f"{path} is a link to {path.readlink()}, which does not exist",
            expected="a file, or a link to one",
            next_step="correct or remove the link",
        )
    return path
