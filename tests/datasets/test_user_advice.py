"""Warnings about a user's own rows, dates as people write them and as features, and columns that
are left out.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sentences import pattern, sentence
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from user_files import described, loaded

from elmbench.datasets import column_advice
from elmbench.datasets.advice import warnings_of
from elmbench.datasets.load import identify, load_from_spec
from elmbench.datasets.table import Table
from elmbench.datasets.user_files.dates import read_dates, span
from elmbench.errors import ElmbenchError

N = 120
RANDOM = np.random.default_rng(0)
LABELS = RANDOM.permutation(["no", "yes"] * (N // 2))
FRAME = pd.DataFrame(RANDOM.normal(size=(N, 2)).round(6), columns=["a", "b"])
PATIENTS = np.array(
    [
        f"p{number}"
        for number in np.where(LABELS == "no", 0, 15) + RANDOM.integers(0, 15, N)
    ]
)
DAYS = pd.date_range("2023-01-01", periods=N, freq="5D")


def warnings(
    folder: Path, frame: pd.DataFrame, target: str = "kind", **asked: Any
) -> list[str]:
    notes = described(folder, frame, target, **asked).notes
    return [
        note.removeprefix("warning: ") for note in notes if note.startswith("warning: ")
    ]


@pytest.mark.parametrize(
    ("columns", "warning"),
    [
        (
            {"who": PATIENTS},
            sentence(
                "datasets.advice.looks-like-group",
                column="who",
                values=30,
                option="who",
            ),
        ),
        (
            {"who": [int(word[1:]) for word in PATIENTS]},
            sentence(
                "datasets.advice.looks-like-group",
                column="who",
                values=30,
                option="who",
            ),
        ),
        (
            {"n": range(N)},
            sentence("datasets.advice.number-of-row", column="n", option="n"),
        ),
        ({"c": 1, "d": "x"}, "'c', 'd' are each constant: --drop c --drop d"),
        ({"c": FRAME["a"]}, "'c' is the same as 'a': --drop c"),
        (
            {"code": LABELS == "no"},
            sentence("datasets.advice.gives-target-away", column="code", option="code"),
        ),
        (
            {"sum": np.where(LABELS == "no", 0, 10) + FRAME["a"]},
            sentence("datasets.advice.gives-target-away", column="sum", option="sum"),
        ),
        (
            {
                "colour": RANDOM.choice(["red", "green"], N),
                "size": RANDOM.integers(0, 9, N),
            },
            None,
        ),
        (
            {"far": RANDOM.normal(size=N) * 1e20},
            None,
        ),  # all floats of this size are whole
        (
            {"day": [str(DAYS[int(word[1:])]) for word in PATIENTS]},
            None,
        ),  # a date is not a group
    ],
)
def test_suspicious_columns_are_warned_of_with_the_option_to_type(
    tmp_path: Path, columns: dict[str, Any], warning: str | None
) -> None:
    assert warnings(tmp_path, FRAME.assign(**columns, kind=LABELS)) == (
        [warning] if warning else []
    )


@pytest.mark.parametrize(
    ("name", "is_warned_of"), [("zip", True), ("ward", False), ("stay_days", False)]
)
def test_numbers_with_the_name_of_a_code_may_be_categories(
    tmp_path: Path, name: str, is_warned_of: bool
) -> None:
    codes = [10115, 20095, 50667, 80331] * (N // 4)
    notes = warnings(tmp_path, FRAME.assign(**{name: codes}, kind=LABELS))
    expected = sentence("datasets.advice.named-like-code", column=name)
    assert notes == ([expected] if is_warned_of else [])


@pytest.mark.parametrize(
    ("names", "is_warned_of"), [(["x", "y", "z"], True), (["a", "x", "y"], False)]
)
def test_a_target_that_may_be_a_coordinate_is_warned_of(
    tmp_path: Path, names: list[str], is_warned_of: bool
) -> None:
    values = np.random.default_rng(0).normal(size=(N, 3))
    frame = pd.DataFrame(values, columns=names)
    notes = warnings(tmp_path, frame, target="")
    expected = sentence("datasets.advice.target-may-be-coordinate")
    assert (expected in notes) == is_warned_of


@pytest.mark.parametrize("n_repeated", [0, 1])
def test_rows_with_equal_fractions_repeat_only_if_all_columns_are_equal(
    tmp_path: Path, n_repeated: int
) -> None:
    values = np.random.default_rng(0).normal(size=(N, 6))
    frame = pd.DataFrame(values, columns=list("abcdef"))
    frame.iloc[1, :5] = frame.iloc[0, :5]
    kind = LABELS.copy()
    kind[1] = kind[0]
    if n_repeated:
        frame.iloc[1, 5] = frame.iloc[0, 5]
    notes = warnings(tmp_path, frame.assign(kind=kind))
    assert len([note for note in notes if "repeats another row" in note]) == n_repeated


def test_groups_that_are_given_need_no_warning(tmp_path: Path) -> None:
    assert (
        warnings(
            tmp_path,
            FRAME.assign(who=PATIENTS, ward=PATIENTS, kind=LABELS),
            groups="who",
        )
        == []
    )


@pytest.mark.parametrize(
    ("part", "asked", "expected"),
    [
        ([0, 0, 1, 1, 2, 2], {"groups": "g"}, []),
        (
            [-1, 0, 1, 1, 2, 2],
            {"groups": "g"},
            ["1 of 3 groups of test rows (column 'g')"],
        ),
        (
            [-1, -1, 1, 0, 0, 1],
            {"groups": "g"},
            ["2 of 2 groups of test rows (column 'g')"],
        ),
        ([0, 0, 0, 1, 1, 1], {"ordered_by": "t"}, ["60 of 120 test rows (column 't')"]),
        (
            [-1, -1, 0, 1, 1, 1],
            {"ordered_by": "t"},
            ["20 of 80 test rows (column 't')"],
        ),
    ],
)
def test_folds_that_contradict_groups_or_times(
    tmp_path: Path, part: list[int], asked: dict[str, str], expected: list[str]
) -> None:
    frame = FRAME.assign(kind=LABELS, fold=np.repeat(part, N // 6))
    frame["g"] = [f"g{row // (N // 3)}" for row in range(N)]
    frame["t"] = DAYS.strftime("%Y-%m-%d")
    asked = {"fold": "fold", "drop": ("t" if "groups" in asked else "g",), **asked}
    texts = [text for text in warnings(tmp_path, frame, **asked) if "--fold" in text]
    assert [text.partition(") ")[0] + ")" for text in texts] == expected
    option = "--groups" if "groups" in asked else "--time-order"
    assert all(
        text.endswith(f"leave --fold or {option} out, or correct the parts")
        for text in texts
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("groups", "1 of 3 groups of held-out rows"),
        ("ordered_by", "5 of 25 held-out rows"),
    ],
)
def test_held_out_rows_that_contradict_groups_or_times(
    tmp_path: Path, asked: str, expected: str
) -> None:
    frame = FRAME.assign(kind=LABELS, when=np.arange(N) // 10)
    for first, found in ((100, []), (95, [f"{expected} (column 'when')"])):
        frame.iloc[first:].to_csv(tmp_path / "later.csv", index=False)
        test = str(tmp_path / "later.csv")
        texts = warnings(tmp_path, frame.iloc[:first], test=test, **{asked: "when"})
        held_out = [text for text in texts if "--test" in text]
        assert [text.partition(") ")[0] + ")" for text in held_out] == found


def test_a_warning_counts_repeated_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"colour": ["red", "blue"] * (N // 2), "when": DAYS.astype(str), "kind": LABELS}
    )
    assert warnings(tmp_path, frame) == []  # their dates differ
    (warning,) = warnings(tmp_path, pd.concat([frame, frame[:3]]))
    assert warning.startswith("3 of 123 rows repeat another row")
    repeated = pd.concat([frame, frame[:3]])
    names = [f"customer {number}" for number in range(len(repeated))]
    # Rows of different customers are no duplicates, even if the names are left out.
    assert warnings(tmp_path, repeated.assign(name=names)) == []
    names[-2:] = names[1:3]
    (warning,) = warnings(tmp_path, repeated.assign(name=names))
    assert warning.startswith("2 of 123 rows repeat another row")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("a", ["'twice' alone gives the target away"]),
        ("", [sentence("datasets.advice.last-column-is-target", column="twice")]),
    ],
)
def test_a_target_of_numbers(tmp_path: Path, column: str, expected: list[str]) -> None:
    frame = FRAME.assign(
        twice=2 * FRAME["a"] + 1 if column else np.random.default_rng(1).normal(size=N)
    )
    result = warnings(tmp_path, frame, column)
    assert len(result) == len(expected)
    assert all(
        text.startswith(start) for text, start in zip(result, expected, strict=True)
    )
    assert column or "--target COLUMN or --task classification" in result[0]
    # A column may be much like the target, or its opposite.
    assert warnings(tmp_path, FRAME.assign(twice=-2 * FRAME["a"]), "a")[0].startswith(
        "'twice' alone"
    )
    assert not warnings(
        tmp_path,
        FRAME.assign(noisy=FRAME["a"] + np.random.default_rng(1).normal(0, 0.1, N)),
        "a",
    )
    # The remarks of the same rows are not those of an earlier request.
    specs = [
        described(tmp_path, FRAME, "").model_copy(update={"name": "x"}),
        described(tmp_path, FRAME, "b"),
    ]
    assert [len(identify(spec).remarks) - len(spec.notes) for spec in specs] == [0, 0]


def test_of_many_columns_five_are_named(tmp_path: Path) -> None:
    copies, constants = (
        {f"{letter}{i}": values for i in range(7)}
        for letter, values in (("c", FRAME["a"]), ("d", 1))
    )
    result = warnings(tmp_path, FRAME.assign(**copies, **constants, kind=LABELS))
    assert result[0].startswith(
        "'d0', 'd1', 'd2', 'd3', 'd4' and 2 more are each constant: --drop d0 "
    )
    drop = " ".join(f"--drop c{i}" for i in range(5))
    assert result[1:] == [
        sentence("datasets.advice.copies-of-a-column", more=2, column="a", drop=drop)
    ]


class CountedName(str):
    """A name that counts how often it is compared with others."""

    __slots__ = ()
    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedName.comparisons += 1
        return str.__eq__(self, other)


def test_the_warnings_about_many_columns_take_linear_time() -> None:
    target = np.array(["yes", "no"] * 10, dtype=object)
    for n_columns in (500, 1000):
        names = tuple(CountedName(f"c{column}") for column in range(n_columns))
        table = Table(np.ones((20, n_columns)), names, target, "here")
        CountedName.comparisons = 0
        texts = [*warnings_of(table, "classification", False, (), False)]
        assert f"and {n_columns - 5} more are each constant" in texts[0]
        assert CountedName.comparisons <= 20 * n_columns


def test_each_column_that_begins_like_others_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths: list[int] = []

    def counted(values: Any) -> Any:
        lengths.append(len(values))
        return values.tobytes()

    monkeypatch.setattr(column_advice, "_content", counted)
    X = np.zeros((2000, 20))
    X[np.arange(1500, 1520), np.arange(20)] = 1
    X[:, 7] = X[:, 3]
    names = tuple(f"c{column}" for column in range(20))
    target = np.array(["yes", "no"] * 1000, dtype=object)
    table = Table(X, names, target, "here")
    texts = [*warnings_of(table, "classification", False, (), False)]
    assert texts[0].startswith("'c7' is the same as 'c3'")
    assert lengths.count(2000) == 20


def test_labels_that_differ_in_case(tmp_path: Path) -> None:
    (text,) = warnings(tmp_path, FRAME.assign(kind=["Yes", "yes", "no"] * (N // 3)))
    assert text == sentence("datasets.advice.labels-differ-in-case", labels="Yes, yes")


@pytest.mark.parametrize("bunch", [load_breast_cancer, load_iris, load_diabetes])
def test_usual_data_have_no_warning_but_rows_that_repeat(
    tmp_path: Path, bunch: Any
) -> None:
    result = warnings(tmp_path, bunch(as_frame=True).frame, "target")
    assert [text for text in result if "rows repeat" not in text] == []


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
        *(
            ([word], ["2023-11-30"])
            for word in (
                "2023.11.30",
                "30-11-2023",
                "11-30-2023",
                "30-Nov-2023",
                "30-Nov-23",
            )
        ),
        *(
            ([word], ["2023-11-30"])
            for word in (
                "30 Nov 2023",
                "30 November 2023",
                "November 30, 2023",
                "11/30/23",
            )
        ),
    ],
)
def test_every_usual_way_is_read(words: list[str | None], expected: list[str]) -> None:
    dates = read_dates(words)
    np.testing.assert_array_equal(dates, np.array(expected, dtype="datetime64[us]"))


@pytest.mark.parametrize(
    "words",
    [
        ["red", "blue"],
        ["1", "20230101"],
        ["May"],
        ["10:30"],
        ["1.2"],
        ["31.12.2023", "32.12.2023"],
        [None],
        [],
    ],
)
def test_other_words_are_no_dates(words: list[str | None]) -> None:
    assert read_dates(words) is None


def test_ambiguous_dates_need_an_option() -> None:
    words = ["1/1/2023", "3/4/2023"]
    with pytest.raises(
        ElmbenchError,
        match=re.escape("'3/4/2023', which may be 2023-04-03 or 2023-03-04"),
    ) as caught:
        read_dates(words, column="day")
    assert "'day'" in caught.value.found
    assert "--dates day-first or --dates month-first" in str(caught.value.next_step)
    for day_first, month in ((True, 4), (False, 3)):
        dates = read_dates(words, day_first)
        assert str(dates[1])[:7] == f"2023-{month:02d}"
    # Values that decide are not overruled.
    dates = read_dates(["1/2/2023", "31/1/2023"], day_first=False)
    assert str(dates[0])[:10] == "2023-02-01"


def test_a_span_has_times_only_if_there_are_any() -> None:
    for words, expected in (
        (["5.1.2023", "1.1.2023"], "2023-01-01 to 2023-01-05"),
        (["2023-01-01 12:00"], "2023-01-01T12:00:00 to 2023-01-01T12:00:00"),
    ):
        dates = read_dates(words)
        assert span(dates) == expected


@pytest.mark.parametrize("missing", [None, "n.a.", "-"])
def test_columns_of_dates_are_read_as_dates(
    tmp_path: Path, missing: str | None
) -> None:
    words = [missing, *DAYS[1:].strftime("%d.%m.%Y")]
    spec = described(
        tmp_path,
        FRAME.assign(day=words, once=["1.1.2023", "n.a."] * (N // 2), kind=LABELS),
    )
    assert sentence("datasets.user.single-date-left-out", column="once") in spec.notes
    data = load_from_spec(spec)
    assert data.feature_names == ("a", "b", "day")
    assert data.columns.dates == {"day": "%d.%m.%Y"}
    assert data.columns.words == ()
    assert data.X["day"].isna().tolist() == [True] + [False] * (N - 1)
    assert data.X["day"][1:].tolist() == DAYS[1:].tolist()
    assert (
        sentence("datasets.user.dates-replaced-by-parts", columns="day")
        in spec.notes[0]
    )


def test_a_parquet_file_keeps_its_times(tmp_path: Path) -> None:
    frame = FRAME.assign(
        at=DAYS + pd.to_timedelta(np.arange(N) % 24, unit="h"), kind=LABELS
    )
    data = loaded(tmp_path, frame, name="x.parquet")
    assert data.columns.dates == {"at": "ISO8601"}
    assert data.X["at"].tolist() == frame["at"].tolist()


def test_dates_may_be_words_groups_or_dropped(tmp_path: Path) -> None:
    frame = FRAME.assign(day=DAYS[np.arange(N) // 6].strftime("%Y-%m-%d"), kind=LABELS)
    assert loaded(tmp_path, frame, words=("day",)).columns.words == ("day",)
    for asked in ({"drop": ("day",)}, {"groups": "day"}, {"ordered_by": "day"}):
        assert loaded(tmp_path, frame, **asked).feature_names == ("a", "b")


def test_dates_that_could_be_read_in_two_ways_are_refused(tmp_path: Path) -> None:
    frame = FRAME.assign(day=["1/2/2023", "3/4/2023"] * (N // 2), kind=LABELS)
    with pytest.raises(ElmbenchError, match=re.escape("'1/2/2023', which may be")):
        described(tmp_path, frame)
    assert loaded(tmp_path, frame, day_first=True).X["day"].dt.month[0] == 2


def test_columns_that_cannot_be_features_are_left_out_with_their_reason(
    tmp_path: Path,
) -> None:
    frame = FRAME.assign(
        empty=None, gone="-", who=[f"customer {row}" for row in range(N)], kind=LABELS
    )
    # Even if they are named as categories.
    spec = described(tmp_path, frame, words=("who",))
    assert load_from_spec(spec).feature_names == ("a", "b", "gone")
    assert (
        sentence("datasets.user.empty-column-left-out", column="empty") in spec.notes[0]
    )
    names = sentence("datasets.user.identifiers-left-out")
    assert f"{names}who (customer 0)" in spec.notes[0]
    with pytest.raises(
        ElmbenchError, match=pattern("datasets.user.no-column-left", column="who")
    ):
        described(tmp_path, frame[["who", "kind"]])
