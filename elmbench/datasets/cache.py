"""Where things are kept between runs, and how a file is written so that it is there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def cache_folder(cache_dir: Path | str | None = None) -> Path:
    """Return the cache folder: as given, else `ELMBENCH_CACHE_DIR`, else the user's cache folder of this system."""
    given = cache_dir or os.environ.get("ELMBENCH_CACHE_DIR")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("elmbench", appauthor=False))


def data_folder(data_dir: Path | str | None = None) -> Path | None:
    """Return the folder of the user's own files: as given, else `ELMBENCH_DATA_DIR`, else None."""
    given = data_dir or os.environ.get("ELMBENCH_DATA_DIR")
    return Path(given).expanduser() if given else None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name beside `path`; what is written there becomes `path` if the block ends well, and is gone if not.

    Two writers at once do not disturb each other: each has a name of its own and the last one wins.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        yield partial
        with open(partial, "rb") as stream:
            os.fsync(stream.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def sweep(folder: Path, older_than: float = 86_400.0) -> None:
    """Remove what killed processes left half-written in a folder and below, once it is a day (in seconds) old."""
    for partial in folder.rglob(".*.part"):
        with contextlib.suppress(OSError):  # another process sweeps too
            if time.time() - partial.stat().st_mtime > older_than:
                partial.unlink()
