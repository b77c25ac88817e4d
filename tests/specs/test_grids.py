"""Grids: their values to the last digit, both ends, the order of candidates, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sklearn.model_selection import ParameterGrid

from elmbench.errors import ElmbenchError
from elmbench.specs.grids import Grid, candidates


def values(content: Any) -> list[Any]:
    return Grid.model_validate(content).expand()


def test_whole_ranges_give_integers() -> None:
    sizes = values({"from": 100, "to": 1000, "step": 50})
    assert sizes == list(range(100, 1001, 50))
    assert all(type(size) is int for size in sizes)
    assert all(type(value) is float for value in values({"from": 1, "to": 2, "step": 0.5}))


@given(
    start=st.integers(-1000, 1000), step=st.integers(1, 400), count=st.integers(1, 60), places=st.integers(0, 4),
    beyond=st.booleans(),
)  # fmt: skip
def test_a_range_in_decimals_is_exact(start: int, step: int, count: int, places: int, beyond: bool) -> None:
    """Every value is the float nearest to the decimal that is meant; an end that the step misses is left out."""
    unit = Decimal(1).scaleb(-places)
    exact = [(start + i * step) * unit for i in range(count)]
    stop = exact[-1] + (unit / 2 if beyond else 0)
    assert values({"from": float(exact[0]), "to": float(stop), "step": float(step * unit)}) == [float(v) for v in exact]


def test_powers() -> None:
    assert values({"powers-of-2": [-8, 13], "step": 3}) == [2.0**e for e in (-8, -5, -2, 1, 4, 7, 10, 13)]
    assert len(values({"powers-of-2": [-8, 13]})) == 22
    assert values({"powers-of-10": [-2, 1]}) == [0.01, 0.1, 1.0, 10.0]
    assert values({"powers-of-2": [0, 4], "step": 3}) == [1.0, 8.0]


def test_lists_keep_their_order_and_types() -> None:
    assert values([5, 1, "relu", 0.5]) == [5, 1, "relu", 0.5]
    assert [type(v) for v in values([5, 0.5])] == [int, float]
    assert values({"values": [3]}) == values([3])


def test_a_value_may_be_a_list() -> None:
    one, two = [["rbf", {"gamma": 0.5}]], [["rbf", {"gamma": 2}], ["linear", {}]]
    assert values([one, two]) == values({"values": [one, two]}) == [one, two]
    kernels = Grid.model_validate([one, two])
    assert kernels.thin(2).expand() == [one]
    result = candidates({"kernels": kernels.expand(), "C": [1, 10]})
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
        ([None], "valid"),
        ([float("nan")], "finite"),
        ({"form": 1, "to": 2, "step": 1}, "Extra inputs"),
        ({"powers-of-2": [0, 10**9]}, "holds more than"),
        ({"powers-of-10": [-400, -390]}, "expected powers between"),
    ],
)
def test_what_is_no_grid(content: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Grid.model_validate(content)


@pytest.mark.parametrize("every", [1, 2, 3, 100])
def test_thinning_keeps_the_first_and_every_nth(every: int) -> None:
    grid = Grid.model_validate({"powers-of-2": [0, 9]})
    assert grid.thin(every).expand() == [2.0**e for e in range(0, 10, every)]


def test_candidates_are_all_combinations_the_last_name_fastest() -> None:
    grid = {"gamma": [1.0, 2.0], "C": [8.0, 4.0, 2.0]}
    result = candidates(grid)
    assert [(c["gamma"], c["C"]) for c in result] == [(1, 8), (1, 4), (1, 2), (2, 8), (2, 4), (2, 2)]
    assert sorted(result, key=str) == sorted(ParameterGrid(grid), key=lambda c: str({n: c[n] for n in grid}))
    assert candidates({}) == [{}]


def test_the_largest_grids() -> None:
    assert len(values({"from": 1, "to": 10_000, "step": 1})) == 10_000
    assert values({"powers-of-10": [-300, 300], "step": 300}) == [1e-300, 1.0, 1e300]
    with pytest.raises(ElmbenchError, match="the grids of a, b, c have 1,000,000,000 combinations"):
        candidates({name: list(range(1000)) for name in "abc"})
