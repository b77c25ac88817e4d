"""The preparation steps, and the one table that every file format gives."""

import bz2
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from loopback import toy as toy_content
from pydantic import TypeAdapter

from elmbench.datasets.load import load_dataset
from elmbench.datasets.preparation_steps import category_order, prepare_dataset
from elmbench.datasets.table import Table, label_words
from elmbench.errors import ElmbenchError
from elmbench.specs.datasets import DatasetSpecs
from elmbench.specs.datasets.preparation import Step


def test_categories_have_one_order_whichever_comes_first() -> None:
    """As a number, "nan" would be neither below nor above another one."""
    expected = ["-1", "2", "10", "b", "nan"]
    for words in (expected, expected[::-1], ["2", "nan", "-1", "b", "10"]):
        assert sorted(words, key=category_order) == expected


def step(**content: Any) -> Step:
    adapter: TypeAdapter[Step] = TypeAdapter(Step)
    return adapter.validate_python(content)


@pytest.fixture
def table() -> Table:
    X = np.array(
        [
            [1.0, np.nan, 4.0],
            [1.0, np.nan, np.nan],
            [1.0, np.nan, 8.0],
            [1.0, np.nan, 4.0],
        ]
    )
    words = np.array(["red", "blue", None, "red"], dtype=object)
    return Table(
        X,
        ("one", "colour", "size"),
        np.array(["a", "b", "a", "a"], dtype=object),
        "here",
        {"colour": words},
    )


@pytest.mark.parametrize(
    "content",
    [
        {"step": "one-hot"},
        {"step": "ordinal", "column": "x0", "order": ["0", "1"]},
        {"step": "drop-missing-rows"},
        {"step": "fill-missing"},
        {"step": "drop-repeated-rows"},
    ],
)
def test_a_step_for_dense_rows_rejects_sparse_ones(content: dict[str, Any]) -> None:
    rows = sp.csr_matrix(np.eye(3))
    table = Table.of_numbers(rows, np.array([0, 1, 0]), "here")
    with pytest.raises(ElmbenchError, match="here: sparse rows"):
        prepare_dataset(table, [step(**content)])


def test_one_hot_columns_replace_their_column_in_alphabetical_order(
    table: Table,
) -> None:
    spread = prepare_dataset(table, [step(step="one-hot")])
    assert spread.names == ("one", "colour=blue", "colour=red", "size")
    np.testing.assert_array_equal(spread.X[:, 1], [0, 1, np.nan, 0])
    np.testing.assert_array_equal(spread.X[:, 2], [1, 0, np.nan, 1])
    np.testing.assert_array_equal(spread.X[:, 3], [4, np.nan, 8, 4])
    assert spread.nominal == {}


def test_an_indicator_never_has_the_name_of_a_column(table: Table) -> None:
    columns = ("colour=red", "colour", "colour=blue")
    spread = prepare_dataset(replace(table, names=columns), [step(step="one-hot")])
    assert spread.names == (
        "colour=red",
        "colour=blue-2",
        "colour=red-2",
        "colour=blue",
    )
    np.testing.assert_array_equal(spread.X[:, [0, 3]], table.X[:, [0, 2]])
    np.testing.assert_array_equal(spread.X[:, 2], [1, 0, np.nan, 1])

    other = np.array(["x", "y", "x", "y"], dtype=object)
    words = {"a": np.array(["b=x", "c", "c", "c"], dtype=object), "a=b": other}
    spread = prepare_dataset(
        replace(table, names=("a", "a=b", "z"), nominal=words), [step(step="one-hot")]
    )
    assert spread.names == ("a=b=x", "a=c", "a=b=x-2", "a=b=y", "z")
    np.testing.assert_array_equal(spread.X[:, 0], [1, 0, 0, 0])
    np.testing.assert_array_equal(spread.X[:, 2], [1, 0, 1, 0])


def test_a_feature_called_target_is_written_beside_every_other_column(
    table: Table, tmp_path: Path
) -> None:
    path = replace(table, names=("target", "colour", "target_")).write(tmp_path, "rows")
    written = pd.read_parquet(path)
    assert [*written] == ["target_-2", "colour", "target_", "target"]
    np.testing.assert_array_equal(written["target_"], table.X[:, 2])


def test_an_ordinal_column_is_coded_in_the_given_order(table: Table) -> None:
    coded = prepare_dataset(
        table, [step(step="ordinal", column="colour", order=["red", "blue"])]
    )
    np.testing.assert_array_equal(coded.X[:, 1], [1, 2, np.nan, 1])
    assert coded.nominal == {}
    with pytest.raises(ElmbenchError, match="'colour' holds 'blue'"):
        prepare_dataset(table, [step(step="ordinal", column="colour", order=["red"])])
    with pytest.raises(ElmbenchError, match="no column 'shape'"):
        prepare_dataset(table, [step(step="ordinal", column="shape", order=["red"])])


def test_rows_and_columns_that_are_dropped(table: Table) -> None:
    prepared = prepare_dataset(table, [step(step="drop-missing-rows")])
    assert list(prepared.target) == ["a", "a"]
    assert list(prepared.nominal["colour"]) == ["red", "red"]
    fewer = prepare_dataset(table, [step(step="drop-columns", columns=["one"])])
    assert fewer.names == ("colour", "size")
    assert list(fewer.nominal["colour"]) == ["red", "blue", None, "red"]
    assert prepare_dataset(prepared, [step(step="drop-constant-columns")]).names == ()
    assert prepare_dataset(table, [step(step="drop-constant-columns")]).names == (
        "colour",
        "size",
    )


def test_rows_keep_count_of_the_training_part(table: Table) -> None:
    assert (
        prepare_dataset(
            replace(table, n_train=2), [step(step="drop-missing-rows")]
        ).n_train
        == 1
    )


def test_missing_values_become_the_mean_of_their_column(table: Table) -> None:
    filled = prepare_dataset(table, [step(step="fill-missing")])
    np.testing.assert_allclose(filled.X[:, 2], [4, 16 / 3, 8, 4])
    assert np.isnan(filled.X[:, 1]).all()  # words are not filled


def test_repeated_rows_are_dropped_where_the_label_agrees_too() -> None:
    X = np.array([[1.0, 0], [1, 0], [0, 1], [1, 0]])
    target = np.array(["a", "b", "a", "a"], dtype=object)
    prepared = prepare_dataset(
        Table(X, ("p", "q"), target, "here"), [step(step="drop-repeated-rows")]
    )
    assert list(prepared.target) == ["a", "b", "a"]
    assert prepared.X.shape == (3, 2)


def test_rounding_gives_the_double_that_the_decimal_text_means() -> None:
    X = np.array([[0.0009683, 1.0000005], [2.675, -0.0000001]])
    rounded = prepare_dataset(
        Table(X, ("p", "q"), np.zeros(2), "here"), [step(step="round", decimals=6)]
    ).X
    np.testing.assert_array_equal(
        rounded, [[0.000968, float(f"{1.0000005:.6f}")], [2.675, -0.0]]
    )


def test_images_are_resized_by_area() -> None:
    images = np.arange(2 * 4 * 6, dtype=float).reshape(2, 24)

    def resized(height: int, width: int, to_height: int, to_width: int) -> Any:
        to = step(
            step="resize-images",
            height=height,
            width=width,
            to_height=to_height,
            to_width=to_width,
        )
        return prepare_dataset(Table.of_numbers(images, np.zeros(2), "here"), [to]).X

    np.testing.assert_allclose(
        resized(4, 6, 2, 3),
        images.reshape(2, 2, 2, 3, 2).mean(axis=(2, 4)).reshape(2, 6),
    )
    # Areas are kept.
    np.testing.assert_allclose(resized(4, 6, 3, 4).mean(axis=1), images.mean(axis=1))
    with pytest.raises(ElmbenchError, match="24 pixels"):
        resized(5, 5, 3, 4)


def test_numbers_have_one_spelling_as_labels() -> None:
    assert list(label_words(np.array(["+1", "-1.0", " b ", "01", None, "1.5"], dtype=object))) == [
        "1", "-1", "b", "01", None, "1.5",
    ]  # fmt: skip
    assert list(label_words(np.array([2.0, -1.0]))) == ["2", "-1"]
    # Python refuses to convert more than 4,300 digits.
    long = "1" * 5000
    words = [long, f"+{long}.0", f"-{long}", f"0{long}", "-0", "0.0"]
    expected = [long, long, f"-{long}", f"0{long}", "0", "0"]
    assert list(label_words(np.array(words, dtype=object))) == expected


TOY = toy_content(
    {"kind": "openml", "id": 1, "target": "label", "labels": {"n": "no", "y": "yes"}},
    positive=["yes"],
    shape={
        "instances": 4,
        "features": 3,
        "classes": {"no": 2, "yes": 2},
        "split": [3, 1],
    },
    prepare=[{"step": "one-hot"}],
    prepared={"instances": 4, "features": 4},
)
FRAME = pd.DataFrame(
    {
        "size": [0.1, 1e-300, -7.0, 123456789.123],
        "kind": ["b", "a", "b", "a"],
        "n": [3, 4, 5, 6],
        "target": ["yes", "no", "no", "yes"],
    }
)
ARFF = """% a comment
@RELATION toy
@ATTRIBUTE size REAL
@ATTRIBUTE 'kind' {b, a}
@ATTRIBUTE n INTEGER
@ATTRIBUTE label {n, y}
@DATA
0.1,b,3,y
1e-300,a,4,n
-7,b,5,n
123456789.123,a,6,y
"""


@pytest.fixture
def toy(use_specs: Callable[..., DatasetSpecs]) -> None:
    use_specs(TOY)


@pytest.mark.usefixtures("toy")
def test_every_format_gives_the_same_arrays(folder: Path) -> None:
    frame = FRAME.assign(kind=FRAME["kind"].astype("category"))
    contents = {
        "csv": FRAME.to_csv(index=False).encode(),
        "parquet": frame.to_parquet(),
        "arff": ARFF.encode(),
        "csv.bz2": bz2.compress(FRAME.to_csv(index=False).encode()),
        "arff.xz": lzma.compress(ARFF.encode()),
    }
    checksums = set()
    for suffix, content in contents.items():
        (folder / f"toy.{suffix}").write_bytes(content)
        data = load_dataset("toy", folder)
        assert data.feature_names == ("size", "kind=a", "kind=b", "n")
        assert data.splits is None
        checksums.add(data.checksum)
        (folder / f"toy.{suffix}").unlink()
    assert len(checksums) == 1
    np.testing.assert_array_equal(
        data.X,
        [[0.1, 0, 1, 3], [1e-300, 1, 0, 4], [-7, 0, 1, 5], [123456789.123, 1, 0, 6]],
    )
    np.testing.assert_array_equal(data.y, [1, -1, -1, 1])


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_are_kept_sparse_may_come_dense_and_the_other_way_round(
    folder: Path, use_specs: Callable[..., DatasetSpecs], sparse: bool
) -> None:
    X = np.array([[0.0, 1, 0], [2, 0, 0], [0, 0, 0], [3, 0, -4]])
    # One zero stored.
    rows = sp.csr_matrix(
        ([1.0, 2, 0, 3, -4], [1, 0, 2, 0, 2], [0, 1, 2, 3, 5]), shape=X.shape
    )
    use_specs({"toy": TOY["toy"] | {"sparse": sparse, "prepare": [], "prepared": None}})
    checksums = set()
    for arrays in (
        {"X": X},
        {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")},
    ):
        np.savez(folder / "toy.npz", target=FRAME["target"].to_numpy(str), **arrays)
        data = load_dataset("toy", folder)
        assert sp.issparse(data.X) == sparse
        np.testing.assert_array_equal(
            data.X.toarray() if sp.issparse(data.X) else data.X, X
        )
        checksums.add(data.checksum)
    assert len(checksums) == 1


@pytest.mark.usefixtures("toy")
def test_a_training_and_a_test_part(folder: Path) -> None:
    def write(n: int) -> None:
        FRAME.iloc[:n].to_csv(folder / "toy.train.csv", index=False)
        FRAME.iloc[n:].to_parquet(folder / "toy.test.parquet")

    write(3)
    data = load_dataset("toy", folder)
    np.testing.assert_array_equal(data.splits["train"], [0, 1, 2])
    np.testing.assert_array_equal(data.splits["test"], [3])
    write(2)
    with pytest.raises(ElmbenchError, match="2 training and 2 test rows"):
        load_dataset("toy", folder)


@pytest.mark.parametrize(
    ("data", "label"), [("X", "y"), ("data", "label"), ("images", "target")]
)
def test_npz_archives_are_read_dense_and_sparse(
    folder: Path, data: str, label: str, wdbc_lines: list[str]
) -> None:
    rows = np.array(
        [[float(word) for word in line.split(",")] for line in wdbc_lines[1:]]
    )
    X, y = rows[:, :-1], rows[:, -1].astype(int)
    arrays: dict[str, Any] = {data: X.reshape(569, 5, 6), label: y}
    np.savez_compressed(folder / "wdbc.npz", **arrays)
    assert load_dataset("wdbc", folder).checksum == load_dataset("wdbc").checksum
    sparse = sp.csr_matrix(X)
    parts = {
        name: getattr(sparse, name) for name in ("data", "indices", "indptr", "shape")
    }
    np.savez(folder / "wdbc.npz", **parts, target=y.astype(str))
    assert load_dataset("wdbc", folder).checksum == load_dataset("wdbc").checksum
