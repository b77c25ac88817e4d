"""Data sets by name: from the user's files, from scikit-learn, computed, or fetched from their public sources."""

from elmbench.datasets.checksums import Identity, identify
from elmbench.datasets.dataset import Dataset
from elmbench.datasets.fetch import Fetched, Planned, fetch, plan
from elmbench.datasets.fingerprint import fingerprint_of
from elmbench.datasets.load import load, load_dataset
from elmbench.datasets.status import Status, import_file, status

__all__ = [
    "Dataset",
    "Fetched",
    "Identity",
    "Planned",
    "Status",
    "fetch",
    "fingerprint_of",
    "identify",
    "import_file",
    "load",
    "load_dataset",
    "plan",
    "status",
]
