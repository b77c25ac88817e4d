"""Data sets by name: from the user's files, from scikit-learn, computed, or fetched from their public sources."""

from elmbench.datasets.dataset import Dataset
from elmbench.datasets.load import dataset_identity, load_dataset

__all__ = ["Dataset", "dataset_identity", "load_dataset"]
