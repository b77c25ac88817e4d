"""Random streams by key: the same in every process and order, another for every key."""

import os
import subprocess
import sys

import pytest

from elmbench.numerics.seeds import generator, integer_seed, seed_sequence

CODE = """
from elmbench.numerics.seeds import generator, integer_seed
print(integer_seed("split", "wdbc", 3), generator("a", 1).integers(1 << 60))
"""


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_same_in_every_process(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": hash_seed},
    )  # fmt: skip
    generator("something", 5).normal(size=100)  # what ran before makes no difference
    expected = [
        integer_seed("split", "wdbc", 3),
        int(generator("a", 1).integers(1 << 60)),
    ]
    assert [int(word) for word in done.stdout.split()] == expected


def test_they_stay_what_they_are() -> None:
    """A change of these makes every stored result another one: then `RESULT_FORMAT` of the folds must
    rise.
    """
    assert integer_seed("split", "wdbc", 0) == 1954973950
    assert int(generator("order", "wdbc", 0, 0).integers(1 << 30)) == 1036528720


def test_keys_do_not_run_into_each_other() -> None:
    keys = [
        ("a", 1),
        ("a", "1"),
        ("a1",),
        ("a", 1, 0),
        ("a", 0, 1),
        ("a", 11),
        ("a", 1, 1),
        ("b", 1),
    ]
    assert len({integer_seed(*key) for key in keys}) == len(keys)
    assert len({tuple(seed_sequence(*key).generate_state(4)) for key in keys}) == len(
        keys
    )
