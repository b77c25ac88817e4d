"""Random streams by key: a stream depends on its purpose, never on earlier work."""

import hashlib
import json

import numpy as np


def seed_sequence(*key: str | int) -> np.random.SeedSequence:
    """Return the seed sequence of a key, such as `("split", "wdbc", 3)`.

    Equal keys give equal streams of random numbers.
    """
    digest = hashlib.sha256(json.dumps(key).encode()).digest()
    return np.random.SeedSequence(np.frombuffer(digest, dtype="<u4").tolist())


def generator(*key: str | int) -> np.random.Generator:
    """Return a generator of random numbers for a key; equal keys give equal numbers.

    It names its algorithm, PCG64, because numpy's default may change.
    """
    return np.random.Generator(np.random.PCG64(seed_sequence(*key)))


def integer_seed(*key: str | int) -> int:
    """Return a 31-bit seed of a key for the `random_state` of scikit-learn.

    Equal keys give equal seeds.
    """
    return int(seed_sequence(*key).generate_state(1)[0] >> 1)
