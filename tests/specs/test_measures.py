"""Measures: the columns that they have in CSV files, and how an experiment file names them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from random_examples import examples

from elmbench.specs.grids import Grid
from elmbench.specs.measures import Measure, WrittenMeasure, log2_of

READ = TypeAdapter(WrittenMeasure).validate_python


@pytest.mark.parametrize(
    ("measure", "column"),
    [
        (Measure("mcc"), "mcc"),
        (Measure.at("gmean", "n_hidden", 50), "gmean@h=50"),
        (Measure.at("gmean", "n_landmarks", 50.0), "gmean@h=50"),
        (Measure.at("mcc", "C", 2.0**-8), "mcc@C=0.00390625"),
        (Measure.at("mcc", "C", 2.0**-30), "mcc@C=2^-30"),
        (Measure.at("mcc", "C", 2.0**30), "mcc@C=2^30"),
        (Measure.at("mcc", "C", 1 / 3), "mcc@C=0.3333333333333333"),
        (Measure.at("mcc", "kernel", "rbf"), "mcc@kernel=rbf"),
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
    measure = Measure.at("accuracy", "C", value)
    result = READ(measure.column)
    assert (result.value, result.column) == (value, measure.column)


def test_values_of_a_grid_have_names_of_their_own() -> None:
    ridges = Grid.model_validate({"powers-of-2": [-30, 5]}).expand()
    names = [Measure.at("accuracy", "C", value).column for value in ridges]
    assert len(set(names)) == 36
    assert READ("accuracy@C=2^-4") == READ("accuracy@C=0.0625") == Measure("accuracy", "C", ridges[26])


@pytest.mark.parametrize(("value", "exponent"), [(1, 0), (0.125, -3), (1024, 10), (3.0, None), (0, None), (-2, None)])
def test_powers_of_two(value: float, exponent: int | None) -> None:
    assert log2_of(value) == exponent
    assert log2_of("rbf") is None
