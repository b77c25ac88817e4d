"""Random streams of generated data: one for each data set and run, whatever the order or the process."""

from __future__ import annotations

import hashlib

import numpy as np


def data_stream(name: str, run: int) -> np.random.Generator:
    """Return the random generator of a data set in a run.

    Parameters
    ----------
    name : str
        Name of the data set; hashed by SHA-256, since Python's own hash differs from process to process.
    run : int
        Number of the run, from 0.
    """
    key = int.from_bytes(hashlib.sha256(f"elmbench data {name}".encode()).digest()[:16], "little")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=key, spawn_key=(run,))))
