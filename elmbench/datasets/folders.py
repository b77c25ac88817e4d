"""The folder of the user's own files, and the cache folder for fetched and generated data."""

import os
from pathlib import Path


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
