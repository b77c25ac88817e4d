"""Grids, measures and limits as experiment files write them: their values, their order, what is
refused.
"""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from random_examples import examples
from sentences import pattern
from sklearn.model_selection import ParameterGrid

from elmbench.errors import ElmbenchError
from elmbench.specs.grids import SearchGrid, ValueRange
from elmbench.specs.limits import Limits, byte_text, parse_limits
from elmbench.specs.measures import Measure, WrittenMeasure, log2_of


def values(content: Any) -> list[Any]:
    return ValueRange.model_validate(content).expand()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"from": 100, "to": 1000, "step": 50}, list(range(100, 1001, 50))),
        ({"from": 1, "to": 2, "step": 0.5}, [1.0, 1.5, 2.0]),
        ({"powers-of-2": [-8, 13]}, [2.0**e for e in range(-8, 14)]),
        ({"powers-of-2": [0, 4], "step": 3}, [1.0, 8.0]),
        ({"powers-of-10": [-2, 1]}, [0.01, 0.1, 1.0, 10.0]),
        ([5, 1, "relu", 0.5, True, None, 0], [5, 1, "relu", 0.5, True, None, 0]),
        ({"values": [3]}, [3]),
    ],
)
def test_values_have_their_order_and_types(content: Any, expected: list[Any]) -> None:
    assert [(type(value), value) for value in values(content)] == [
        (type(value), value) for value in expected
    ]


@given(
    start=st.integers(-1000, 1000), step=st.integers(1, 400), count=st.integers(1, 60),
    places=st.integers(0, 4),
    beyond=st.booleans(),
)  # fmt: skip
def test_a_range_in_decimals_is_exact(
    start: int, step: int, count: int, places: int, beyond: bool
) -> None:
    """Every value is the float nearest to the decimal that is meant; an end that the step misses is
    left out.
    """
    unit = Decimal(1).scaleb(-places)
    exact = [(start + i * step) * unit for i in range(count)]
    stop = exact[-1] + (unit / 2 if beyond else 0)
    assert values(
        {"from": float(exact[0]), "to": float(stop), "step": float(step * unit)}
    ) == [float(v) for v in exact]


def test_a_value_may_be_a_list() -> None:
    one, two = [["rbf", {"gamma": 0.5}]], [["rbf", {"gamma": 2}], ["linear", {}]]
    assert values([one, two]) == values({"values": [one, two]}) == [one, two]
    grid = SearchGrid({"kernels": values([one, two]), "C": [1, 10]})
    assert grid.thin(2).values == {"kernels": [one], "C": [1]}
    result = grid.candidates()
    assert result[1:3] == [{"kernels": one, "C": 10}, {"kernels": two, "C": 1}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"from": 1, "to": 5}, "from, to and step"),
        ({"from": 1, "step": 1}, "from, to and step"),
        ({"from": 10, "to": 5, "step": 50}, "holds no value"),
        ({"from": 1, "to": 5, "step": 0}, "greater than 0"),
        ({"from": 1, "to": 5, "step": -1}, "greater than 0"),
        ({"from": 1, "to": float("inf"), "step": 1}, "finite"),
        ({"powers-of-2": [3, 1]}, "holds no value"),
        ({"powers-of-2": [1, 3], "step": 0.5}, "whole number"),
        ({"powers-of-2": [1, 3], "powers-of-10": [1, 3]}, "expected one of"),
        ({"powers-of-2": [1, 3], "values": [1]}, "expected one of"),
        ({"values": [1, 2], "step": 1}, "takes no step"),
        ({}, "expected one of"),
        ([], "holds no value"),
        ([{}], "valid"),
        ([1, "2^-3"], "'2\\^-3' is text"),
        ([float("nan")], "finite"),
        ({"form": 1, "to": 2, "step": 1}, "unknown_key"),
        (0.5, pattern("specs.notations.not-a-list-of-values")),
        ({"from": 0, "to": 1e308, "step": 1e-308}, "holds more than"),
        ({"from": 1e308, "to": -1e308, "step": 1}, "holds no value"),
        ({"powers-of-2": [0, 10**9]}, "less than or equal to 996"),
        ({"powers-of-10": [-400, -390]}, "greater than or equal to -300"),
    ],
)
def test_grids_that_are_not_valid_are_rejected(content: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ValueRange.model_validate(content)


@pytest.mark.parametrize("every", [1, 2, 3, 100])
def test_thinning_keeps_the_first_and_every_nth(every: int) -> None:
    grid = SearchGrid({"gamma": values({"powers-of-2": [0, 9]}), "C": [5]})
    thinned = {"gamma": [2.0**e for e in range(0, 10, every)], "C": [5]}
    assert grid.thin(every).values == thinned


def test_candidates_are_all_combinations_the_last_name_fastest() -> None:
    grid = {"gamma": [1.0, 2.0], "C": [8.0, 4.0, 2.0]}
    result = SearchGrid(grid).candidates()
    assert len(result) == SearchGrid(grid).n_candidates
    assert [(c["gamma"], c["C"]) for c in result] == [
        (1, 8),
        (1, 4),
        (1, 2),
        (2, 8),
        (2, 4),
        (2, 2),
    ]
    assert sorted(result, key=str) == sorted(
        ParameterGrid(grid), key=lambda c: str({n: c[n] for n in grid})
    )
    assert SearchGrid({}).candidates() == [{}]


def test_grids_have_a_largest_size() -> None:
    assert len(values({"from": 1, "to": 10_000, "step": 1})) == 10_000
    assert values({"powers-of-10": [-300, 300], "step": 300}) == [1e-300, 1.0, 1e300]
    with pytest.raises(
        ElmbenchError,
        match=pattern(
            "specs.notations.grids-too-large",
            columns="a, b, c",
            combinations="1,000,000,000",
        ),
    ):
        SearchGrid({name: list(range(1000)) for name in "abc"}).candidates()


def test_a_grid_is_read_once_and_shown_as_it_is_written() -> None:
    """It is equal to the grid of the same values; a part of it and a thinned one show values."""
    written = {
        "C": {"powers-of-2": [-1, 1]},
        "n_hidden": {"from": 10.0, "to": 20.0, "step": 5.0},
    }
    reader = TypeAdapter(SearchGrid)
    grid = reader.validate_python(written)
    assert grid == SearchGrid({"C": [0.5, 1.0, 2.0], "n_hidden": [10, 15, 20]})
    options: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
    assert reader.dump_python(grid, **options) == written
    part = grid.select(["n_hidden"]).thin(2)
    assert reader.dump_python(part, **options) == {"n_hidden": {"values": [10, 20]}}
    assert reader.validate_python(reader.dump_python(part, **options)) == part


def test_the_order_of_a_grid_is_part_of_its_content() -> None:
    grid = SearchGrid({"gamma": [1.0, 2.0], "C": [8.0]})
    content = {"grid": {"C": [8.0], "gamma": [1.0, 2.0]}, "grid_order": ["gamma", "C"]}
    assert grid.content() == content
    assert SearchGrid.from_content(content).names == grid.names == ["gamma", "C"]


READ = TypeAdapter(WrittenMeasure).validate_python


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        (Measure("mcc"), "mcc"),
        (Measure.create("gmean", "n_hidden", 50), "gmean@h=50"),
        (Measure.create("gmean", "n_landmarks", 50.0), "gmean@h=50"),
        (Measure.create("mcc", "C", 2.0**-8), "mcc@C=0.00390625"),
        (Measure.create("mcc", "C", 2.0**-30), "mcc@C=2^-30"),
        (Measure.create("mcc", "C", 2.0**30), "mcc@C=2^30"),
        (Measure.create("mcc", "C", 1 / 3), "mcc@C=0.3333333333333333"),
        (Measure.create("mcc", "kernel", "rbf"), "mcc@kernel=rbf"),
    ],
)
def test_a_measure_has_a_column(measure: Measure, column: str) -> None:
    assert measure.column == column


@examples(300)
@given(
    st.integers(0, 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-1000, 1000).map(lambda e: 2.0**e)
)
def test_a_value_is_read_back_as_it_is_written(value: float) -> None:
    measure = Measure.create("accuracy", "C", value)
    result = READ(measure.column)
    assert (result.value, result.column) == (value, measure.column)


def test_values_of_a_grid_have_names_of_their_own() -> None:
    ridges = ValueRange.model_validate({"powers-of-2": [-30, 5]}).expand()
    names = [Measure.create("accuracy", "C", value).column for value in ridges]
    assert len(set(names)) == 36
    assert (
        READ("accuracy@C=2^-4")
        == READ("accuracy@C=0.0625")
        == Measure("accuracy", "C", ridges[26])
    )


@pytest.mark.parametrize(
    ("value", "exponent"),
    [(1, 0), (0.125, -3), (1024, 10), (3.0, None), (0, None), (-2, None)],
)
def test_log2_of_powers_of_two(value: float, exponent: int | None) -> None:
    assert log2_of(value) == exponent
    assert log2_of("rbf") is None


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
def test_limits_of_time_and_memory_are_parsed(text: str, limits: Limits) -> None:
    assert parse_limits(text) == limits


@pytest.mark.parametrize(
    "text",
    [
        "5s", "time", "time=", "time=-5s", "time=0", "time=5d", "memory=4", "memory=4G",
        "time=5s,time=6s", "cpu=2",
        "time=1e3",
    ],
)  # fmt: skip
def test_limits_that_are_not_valid_are_rejected(text: str) -> None:
    with pytest.raises(ElmbenchError, match="cannot be read") as error:
        parse_limits(text)
    assert "time=NUMBER" in str(error.value.expected)
    assert error.value.next_step


def test_one_over_another_and_the_wider_of_both() -> None:
    one, other = Limits(5.0, None), Limits(9.0, 100)
    assert one.complete(other) == Limits(5.0, 100)
    assert other.complete(one) == other
    assert one.wider(other) == other.wider(one) == Limits(9.0, None)


@pytest.mark.parametrize(
    ("size", "words"),
    [(3_600_000_000, "3.6 GB"), (12_345_678, "12.3 MB"), (10**9, "1 GB")],
)
def test_sizes_are_written_in_megabytes_or_gigabytes(size: int, words: str) -> None:
    assert byte_text(size) == words
