"""Data sets by name: from the user's files, from scikit-learn, computed, or fetched from their public sources."""

from elmbench.datasets.checksums import checksum_of
from elmbench.datasets.dataset import Dataset
from elmbench.datasets.fetch import Fetched, Planned, fetch, plan
from elmbench.datasets.load import load, load_dataset
from elmbench.datasets.status import Status, import_file, status

__all__ = [
    "Dataset",
    "Fetched",
    "Planned",
    "Status",
    "checksum_of",
    "fetch",
    "import_file",
    "load",
    "load_dataset",
    "plan",
    "status",
]
