"""Rows of a large user file that the processes of a comparison share.

They are read and prepared once, written to a temporary file, and mapped into the memory of each
process. Otherwise, each worker would read the file, which takes several times its memory.
"""

import weakref
from contextlib import suppress

from elmbench.datasets.load import load_from_spec
from elmbench.datasets.sources.file import FileSource, forget_table
from elmbench.files import cache_folder, delete_abandoned, partial_path
from elmbench.specs.datasets import DatasetSpec

#: Rows of fewer values are read by each process, which takes less than a second.
LEAST_VALUES = 5_000_000


def share_rows(spec: DatasetSpec) -> None:
    """Write the prepared rows of a large file for other processes; its source then has their path.

    The rows of small files (fewer than 5 million values), of sparse files, and of other kinds of
    source are not written. The temporary file is deleted with the source, at the latest when this
    process exits. If it cannot be written, each process reads the rows itself. The table that
    `keep_table` has cached is dropped. `spec`: of a user's data, with one source.
    """
    (source,) = spec.sources
    n_values = spec.shape.instances * spec.shape.features
    is_large = n_values >= LEAST_VALUES and not spec.sparse
    if not is_large or not isinstance(source, FileSource):
        return
    import joblib  # takes longer than small rows

    data = load_from_spec(spec)
    folder = cache_folder() / "rows"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A process that was killed has left its file.
        delete_abandoned(folder)
        path = partial_path(folder / spec.name)
        weakref.finalize(source, path.unlink, missing_ok=True)
        joblib.dump(data, path)
        source.share(path)
        forget_table(source, spec)
