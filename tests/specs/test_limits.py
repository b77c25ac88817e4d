"""Limits as they are written."""

from __future__ import annotations

import pytest

from elmbench.errors import ElmbenchError
from elmbench.specs.limits import Limits, in_words, parse_limits


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", Limits()),
        ("time=5s", Limits(5.0)),
        ("time=90", Limits(90.0)),
        ("time=1.5h", Limits(5400.0)),
        ("time=2min", Limits(120.0)),
        ("memory=4GB", Limits(None, 4_000_000_000)),
        ("memory=1GiB", Limits(None, 2**30)),
        ("memory=512mb", Limits(None, 512_000_000)),
        ("time=600s,memory=4GB", Limits(600.0, 4_000_000_000)),
        (" memory=4 GB , time=600 s", Limits(600.0, 4_000_000_000)),
    ],
)
def test_what_is_read(text: str, limits: Limits) -> None:
    assert parse_limits(text) == limits


@pytest.mark.parametrize(
    "text",
    [
        "5s", "time", "time=", "time=-5s", "time=0", "time=5d", "memory=4", "memory=4G", "time=5s,time=6s", "cpu=2",
        "time=1e3",
    ],
)  # fmt: skip
def test_what_is_refused(text: str) -> None:
    with pytest.raises(ElmbenchError, match="cannot be read") as error:
        parse_limits(text)
    assert "time=NUMBER" in str(error.value.expected)
    assert error.value.next_step


def test_one_over_another_and_the_wider_of_both() -> None:
    one, other = Limits(5.0, None), Limits(9.0, 100)
    assert one.over(other) == Limits(5.0, 100)
    assert other.over(one) == other
    assert one.wider(other) == other.wider(one) == Limits(9.0, None)


@pytest.mark.parametrize(("size", "words"), [(3_600_000_000, "3.6 GB"), (12_345_678, "12.3 MB"), (10**9, "1 GB")])
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words
