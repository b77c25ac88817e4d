"""The folder of the user's own files."""

import os
from pathlib import Path


def data_folder(data_dir: Path | str | None = None) -> Path | None:
    """Return the folder of the user's own files: as given, else `ELMBENCH_DATA_DIR`, else None."""
    given = data_dir or os.environ.get("ELMBENCH_DATA_DIR")
    return Path(given).expanduser() if given else None
