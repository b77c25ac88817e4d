"""Dates as people write them."""

import re

import numpy as np
import pytest

from elmbench.datasets.dates import read_dates, span
from elmbench.errors import ElmbenchError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["2023-01-31", "2023-01-01T12:00"], ["2023-01-31T00:00", "2023-01-01T12:00"]),
        (["2023-01-01 00:00:00+02:00"], ["2022-12-31T22:00"]),
        (["31.12.2023", None, "1.2.2024"], ["2023-12-31", "NaT", "2024-02-01"]),
        (["01.02.23"], ["2023-02-01"]),
        (["1/2/2023", "13/4/2023"], ["2023-02-01", "2023-04-13"]),
        (["1/2/2023", "4/13/2023"], ["2023-01-02", "2023-04-13"]),
        (["1/1/2023", "2/2/2023"], ["2023-01-01", "2023-02-02"]),
        (["12/31/2023 2:00 PM"], ["2023-12-31T14:00"]),
        (["31.12.2023, 14:05"], ["2023-12-31T14:05"]),
        (["Jan 2023", "Dec 2022"], ["2023-01-01", "2022-12-01"]),
        ([" 5. March 2023"], ["2023-03-05"]),
    ],
)
def test_every_usual_way_is_read(words: list[str | None], expected: list[str]) -> None:
    dates = read_dates(words)
    assert dates is not None
    np.testing.assert_array_equal(dates, np.array(expected, dtype="datetime64[us]"))


@pytest.mark.parametrize(
    "words",
    [["red", "blue"], ["1", "20230101"], ["May"], ["10:30"], ["1.2"], ["31.12.2023", "32.12.2023"], [None], []],
)
def test_other_words_are_no_dates(words: list[str | None]) -> None:
    assert read_dates(words) is None


def test_day_or_month_first_has_to_be_told() -> None:
    words = ["1/1/2023", "3/4/2023"]
    with pytest.raises(ElmbenchError, match=re.escape("'3/4/2023', which may be 2023-04-03 or 2023-03-04")) as caught:
        read_dates(words, column="day")
    assert "'day'" in caught.value.found
    assert "--dates day-first or --dates month-first" in str(caught.value.next_step)
    for day_first, month in ((True, 4), (False, 3)):
        dates = read_dates(words, day_first)
        assert dates is not None
        assert str(dates[1])[:7] == f"2023-{month:02d}"
    # Values that decide are not overruled.
    dates = read_dates(["1/2/2023", "31/1/2023"], day_first=False)
    assert dates is not None
    assert str(dates[0])[:10] == "2023-02-01"


def test_a_span_has_times_only_if_there_are_any() -> None:
    for words, expected in (
        (["5.1.2023", "1.1.2023"], "2023-01-01 to 2023-01-05"),
        (["2023-01-01 12:00"], "2023-01-01T12:00:00 to 2023-01-01T12:00:00"),
    ):
        dates = read_dates(words)
        assert dates is not None
        assert span(dates) == expected
