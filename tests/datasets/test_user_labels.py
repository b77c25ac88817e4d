"""Labels and groups of a user's own file: words that differ stay apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from user_files import N, described, loaded

from elmbench.datasets.load import load
from elmbench.datasets.local_files import write_arrays
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

A = np.random.default_rng(0).normal(size=N).round(6)
PAIRS = {
    "underscore": ("1_1", "11"),
    "exponent": ("1e2", "100"),
    "leading zero": ("00", "0"),
    "fraction with a zero": ("1.50", "1.5"),
    "past 2^53": ("9007199254740992", "9007199254740993"),
    "18 digits": ("123456789012345677", "123456789012345678"),
    "digits of another script": ("٣", "3"),
    "nan and inf": ("inf", "infinity"),
}
PAST = {str(2**53): N // 2, str(2**53 + 1): N // 2}


def rows(*labels: object) -> pd.DataFrame:
    return pd.DataFrame({"a": A, "b": A[::-1], "kind": pd.Series([*labels] * (N // 2), dtype=object)})


@pytest.mark.parametrize("form", ["csv", "parquet", "arff", "npz"])
@pytest.mark.parametrize("case", PAIRS)
def test_labels_that_are_different_words_are_different_classes(tmp_path: Path, case: str, form: str) -> None:
    spec = described(tmp_path, rows(*PAIRS[case]), "kind", name=f"x.{form}", task="classification")
    assert spec.shape.classes == dict.fromkeys(PAIRS[case], N // 2)
    data = load(spec)
    assert data.classes is not None
    assert set(data.classes) == set(PAIRS[case])
    assert (data.y > 0).sum() == N // 2


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_integers_past_2_to_the_53_are_different_classes(tmp_path: Path, form: str) -> None:
    assert described(tmp_path, rows(2**53, 2**53 + 1), "kind", name=f"x.{form}").shape.classes == PAST


def test_integers_of_a_program_past_2_to_the_53(tmp_path: Path) -> None:
    y = 2**53 + np.arange(N) % 2
    for X in (A[:, None], sp.csr_matrix(A[:, None])):
        spec = describe(UserData(str(write_arrays(X, y, tmp_path, "x", {})), "target"))
        assert spec.shape.classes == PAST


def test_floats_that_are_too_large_for_labels_are_refused(tmp_path: Path) -> None:
    text = "".join(f"{2**53 + row % 4} 1:{row}\n" for row in range(N))
    with pytest.raises(ElmbenchError, match="labels of 9007199254740992 and more"):
        described(tmp_path, text, name="x.svm", task="classification")


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("case", PAIRS)
def test_groups_that_are_different_words_are_different_groups(tmp_path: Path, case: str, form: str) -> None:
    groups = loaded(tmp_path, rows(*PAIRS[case]), "a", groups="kind", name=f"x.{form}").groups
    assert groups is not None
    np.testing.assert_array_equal(groups == groups[0], np.arange(N) % 2 == 0)


def test_numbers_of_one_value_are_one_class(tmp_path: Path) -> None:
    assert described(tmp_path, rows("1.0", "2"), "kind").shape.classes == {"1": N // 2, "2": N // 2}


def test_a_category_keeps_its_spelling(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "code": ["1_1", "11", "x"] * 20, "kind": ["no", "yes"] * 30})
    data: Any = loaded(tmp_path, frame)
    assert data.nominal == (1,)
    assert len(np.unique(data.X[:, 1])) == 3


def test_a_row_without_a_group_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "who": ["p", None, "q"] * 20, "kind": ["no", "yes"] * 30})
    with pytest.raises(ElmbenchError, match="the group is missing in 20 of 60 rows"):
        described(tmp_path, frame, groups="who")
