"""Warnings about a user's own rows, dates as features, and columns that are left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from elmbench.datasets.load import load
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

N = 120
RANDOM = np.random.default_rng(0)
LABELS = RANDOM.permutation(["no", "yes"] * (N // 2))
FRAME = pd.DataFrame(RANDOM.normal(size=(N, 2)).round(6), columns=["a", "b"])
PATIENTS = np.array([f"p{number}" for number in np.where(LABELS == "no", 0, 15) + RANDOM.integers(0, 15, N)])
DAYS = pd.date_range("2023-01-01", periods=N, freq="5D")


def describe_frame(folder: Path, frame: pd.DataFrame, **asked: Any) -> Any:
    frame.to_csv(folder / "x.csv", index=False)
    return describe(UserData(str(folder / "x.csv"), **asked))


def warnings(folder: Path, frame: pd.DataFrame, **asked: Any) -> list[str]:
    spec = describe_frame(folder, frame, **({"target": "kind"} | asked))
    return [note.removeprefix("warning: ") for note in spec.notes if note.startswith("warning: ")]


@pytest.mark.parametrize(
    ("columns", "warning"),
    [
        ({"who": PATIENTS}, "'who' looks like a group, as each of its 30 values has one target: --groups who"),
        (
            {"who": [int(word[1:]) for word in PATIENTS]},
            "'who' looks like a group, as each of its 30 values has one target: --groups who",
        ),
        ({"n": range(N)}, "'n' is a different whole number in each row, such as an ID: --drop n"),
        ({"c": 1, "d": "x"}, "'c', 'd' are each constant: --drop c --drop d"),
        ({"c": FRAME["a"]}, "'c' repeats 'a': --drop c"),
        ({"code": LABELS == "no"}, "'code' alone gives the target away: --drop code if it is known only afterwards"),
        (
            {"sum": np.where(LABELS == "no", 0, 10) + FRAME["a"]},
            "'sum' alone gives the target away: --drop sum if it is known only afterwards",
        ),
        ({"colour": RANDOM.choice(["red", "green"], N), "size": RANDOM.integers(0, 9, N)}, None),
    ],
)
def test_what_is_suspicious_is_told_with_what_to_type(
    tmp_path: Path, columns: dict[str, Any], warning: str | None
) -> None:
    assert warnings(tmp_path, FRAME.assign(**columns, kind=LABELS)) == ([warning] if warning else [])


def test_groups_that_are_given_need_no_warning(tmp_path: Path) -> None:
    frame = FRAME.assign(who=PATIENTS, ward=PATIENTS, kind=LABELS)
    assert warnings(tmp_path, frame, groups="who") == []


def test_rows_of_different_dates_do_not_repeat(tmp_path: Path) -> None:
    frame = pd.DataFrame({"colour": ["red", "blue"] * (N // 2), "when": DAYS.astype(str), "kind": LABELS})
    assert warnings(tmp_path, frame) == []
    repeated = warnings(tmp_path, pd.concat([frame, frame[:3]]))
    assert [text.partition(",")[0] for text in repeated] == ["3 of 123 rows repeat another row"]


def test_rows_that_repeat(tmp_path: Path) -> None:
    frame = FRAME.assign(kind=LABELS)
    (warning,) = warnings(tmp_path, pd.concat([frame, frame[:7]]))
    assert warning.startswith("7 of 127 rows repeat another row")


@pytest.mark.parametrize(
    ("column", "expected"),
    [("a", ["'twice' alone gives the target away"]), ("", ["the target is the last column, 'twice', and its numbers"])],
)
def test_a_target_of_numbers(tmp_path: Path, column: str, expected: list[str]) -> None:
    frame = FRAME.assign(twice=2 * FRAME["a"] + 1 if column else RANDOM.normal(size=N))
    result = warnings(tmp_path, frame, target=column)
    assert len(result) == len(expected)
    assert all(text.startswith(start) for text, start in zip(result, expected, strict=True))
    assert column or "--target COLUMN or --task classification" in result[0]


@pytest.mark.parametrize("bunch", [load_breast_cancer, load_iris, load_diabetes])
def test_usual_data_have_no_warning_but_rows_that_repeat(tmp_path: Path, bunch: Any) -> None:
    frame = bunch(as_frame=True).frame
    result = warnings(tmp_path, frame, target="target")
    assert [text for text in result if "rows repeat" not in text] == []


def test_dates_become_features(tmp_path: Path) -> None:
    words = [None, *DAYS[1:].strftime("%d.%m.%Y")]
    spec = describe_frame(tmp_path, FRAME.assign(day=words, kind=LABELS), impute=True)
    data = load(spec)
    assert data.feature_names == ("a", "b", "day.year", "day.month", "day.weekday", "day.days")
    assert data.nominal == ()
    np.testing.assert_array_equal(data.X[1, 2:], [2023, 1, 4, 0])
    np.testing.assert_array_equal(data.X[-1, 2:], [2024, 8, 6, 5 * (N - 2)])
    assert np.isnan(data.X[0, 2:]).all()
    assert "dates, replaced by their parts and the days since the first: day" in spec.notes[0]


def test_times_have_an_hour_and_parquet_its_dates(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    FRAME.assign(at=DAYS + pd.to_timedelta(np.arange(N) % 24, unit="h"), kind=LABELS).to_parquet(path)
    data = load(describe(UserData(str(path))))
    assert data.feature_names[2:] == ("at.year", "at.month", "at.weekday", "at.hour", "at.days")
    np.testing.assert_array_equal(data.X[:24, 5], np.arange(24))


def test_dates_may_be_words_groups_or_dropped(tmp_path: Path) -> None:
    frame = FRAME.assign(day=DAYS[np.arange(N) // 6].strftime("%Y-%m-%d"), kind=LABELS)
    assert load(describe_frame(tmp_path, frame, words=("day",))).nominal == (2,)
    assert load(describe_frame(tmp_path, frame, drop=("day",))).feature_names == ("a", "b")
    assert load(describe_frame(tmp_path, frame, groups="day")).feature_names == ("a", "b")
    assert load(describe_frame(tmp_path, frame, ordered_by="day")).feature_names == ("a", "b")


def test_dates_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    frame = FRAME.assign(day=["1/2/2023", "3/4/2023"] * (N // 2), kind=LABELS)
    with pytest.raises(ElmbenchError, match=re.escape("'1/2/2023', which may be")) as caught:
        describe_frame(tmp_path, frame)
    assert "--dates day-first" in str(caught.value.next_step)
    assert load(describe_frame(tmp_path, frame, day_first=True)).X[0, 2] == 2  # the month


def test_columns_that_cannot_be_features_are_left_out_with_their_reason(tmp_path: Path) -> None:
    frame = FRAME.assign(empty=None, gone="-", who=[f"customer {row}" for row in range(N)], kind=LABELS)
    spec = describe_frame(tmp_path, frame)
    assert load(spec).feature_names == ("a", "b", "gone")
    assert "left out, as all values are missing: empty" in spec.notes[0]
    assert "left out, as nearly every row has a word of its own: who" in spec.notes[0]


def test_a_file_of_which_no_column_is_left_is_refused_with_the_reason(tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": [f"customer {row}" for row in range(N)], "kind": LABELS})
    with pytest.raises(ElmbenchError, match="no column is left: of who nearly every row has a word of its own"):
        describe_frame(tmp_path, frame)
