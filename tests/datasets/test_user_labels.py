"""Labels and groups of a user's own file: words that differ stay apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from elmbench.datasets.load import load
from elmbench.datasets.local_files import write_arrays
from elmbench.datasets.user_data import UserData, describe
from elmbench.errors import ElmbenchError

N = 60
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


def write(folder: Path, labels: tuple[object, object], form: str = "csv") -> str:
    values = pd.Series([labels[row % 2] for row in range(N)], dtype=object)
    frame = pd.DataFrame({"a": A, "b": A[::-1], "kind": values})
    path = folder / f"x.{form}"
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "npz":
        np.savez(path, X=A[:, None], y=np.array(list(values)))
    elif form == "arff":
        head = (
            f"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute kind {{{','.join(map(str, labels))}}}"
        )
        path.write_text(f"{head}\n@data\n" + frame.to_csv(index=False, header=False), encoding="utf-8")
    else:
        frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("form", ["csv", "parquet", "arff", "npz"])
@pytest.mark.parametrize("case", PAIRS)
def test_labels_that_are_different_words_are_different_classes(tmp_path: Path, case: str, form: str) -> None:
    spec = describe(UserData(write(tmp_path, PAIRS[case], form), "kind", "classification"))
    assert spec.shape.classes == dict.fromkeys(PAIRS[case], N // 2)
    data = load(spec)
    assert data.classes is not None
    assert set(data.classes) == set(PAIRS[case])
    assert (data.y > 0).sum() == N // 2


@pytest.mark.parametrize("form", ["parquet", "npz"])
def test_integers_past_2_to_the_53_are_different_classes(tmp_path: Path, form: str) -> None:
    spec = describe(UserData(write(tmp_path, (2**53, 2**53 + 1), form), "kind"))
    assert spec.shape.classes == {str(2**53): N // 2, str(2**53 + 1): N // 2}


def test_integers_of_a_program_past_2_to_the_53(tmp_path: Path) -> None:
    y = 2**53 + np.arange(N) % 2
    for X in (A[:, None], sp.csr_matrix(A[:, None])):
        spec = describe(UserData(str(write_arrays(X, y, tmp_path, "x", {})), "target"))
        assert spec.shape.classes == {str(2**53): N // 2, str(2**53 + 1): N // 2}


def test_floats_that_are_too_large_for_labels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_text("".join(f"{2**53 + row % 4} 1:{row}\n" for row in range(N)))
    with pytest.raises(ElmbenchError, match="labels of 9007199254740992 and more"):
        describe(UserData(str(path), task="classification"))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("case", PAIRS)
def test_groups_that_are_different_words_are_different_groups(tmp_path: Path, case: str, form: str) -> None:
    groups = load(describe(UserData(write(tmp_path, PAIRS[case], form), "a", groups="kind"))).groups
    assert groups is not None
    np.testing.assert_array_equal(groups == groups[0], np.arange(N) % 2 == 0)


def test_numbers_of_one_value_are_one_class(tmp_path: Path) -> None:
    assert describe(UserData(write(tmp_path, ("1.0", "2")), "kind")).shape.classes == {"1": N // 2, "2": N // 2}


def test_a_category_keeps_its_spelling(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": A, "code": ["1_1", "11", "x"] * 20, "kind": ["no", "yes"] * 30})
    frame.to_csv(tmp_path / "x.csv", index=False)
    data: Any = load(describe(UserData(str(tmp_path / "x.csv"))))
    assert data.nominal == (1,)
    assert len(np.unique(data.X[:, 1])) == 3


def test_a_row_without_a_group_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"a": A, "who": ["p", None, "q"] * 20, "kind": ["no", "yes"] * 30}).to_csv(tmp_path / "x.csv")
    with pytest.raises(ElmbenchError, match="the group is missing in 20 of 60 rows"):
        describe(UserData(str(tmp_path / "x.csv"), groups="who"))
