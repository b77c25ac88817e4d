"""Splits, order, scaling, encoding, and what a profile keeps of the rows."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_work import fold_data, outer_fold_of, outer_split
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from toy_data import MakeUnit, forget_data

from elmbench.datasets import load as datasets_load
from elmbench.datasets.dataset import Columns, Dataset
from elmbench.evaluation.preprocessing import (
    MOST_CATEGORIES,
    median_of,
    prepared_inputs,
)
from elmbench.evaluation.splits import sample_rows
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.datasets import DatasetSpec, Shape
from elmbench.specs.scaling import Scale


def protocol(
    order: str = "shuffled", kind: str = "stratified-kfold", n: int = 3
) -> dict[str, Any]:
    return {"outer": {"kind": kind, "folds": n}, "order": order}


def test_splits_are_scikit_learn_s_with_a_seed_of_data_set_and_run(
    toys: dict[str, Dataset],
) -> None:
    for name, kind, maker in (
        ("two", "stratified-kfold", StratifiedKFold),
        ("real", "kfold", KFold),
    ):
        data = toys[name]
        for run in (0, 7):
            seed = integer_seed("split", name, run)
            expected = list(
                maker(3, shuffle=True, random_state=seed).split(data.X, data.y)
            )
            for fold, (train, test) in enumerate(expected):
                result = outer_split(data, protocol("stored", kind), run, fold)
                assert result[0].tolist() == train.tolist()
                assert result[1].tolist() == test.tolist()


def test_training_rows_are_stored_or_shuffled_by_run_and_fold(
    toys: dict[str, Dataset],
) -> None:
    data = toys["two"]
    stored, shuffled = (
        outer_split(data, protocol(order), 0, 1)[0] for order in ("stored", "shuffled")
    )
    assert stored.tolist() == sorted(stored)
    assert shuffled.tolist() != stored.tolist()
    assert sorted(shuffled) == stored.tolist()
    # Another order in every fold and run.
    orders = [
        np.argsort(np.argsort(outer_split(data, protocol(), r, f)[0])).tolist()
        for r in (0, 1)
        for f in (0, 1)
    ]
    assert len({tuple(outer_fold) for outer_fold in orders}) == 4


@pytest.mark.parametrize(
    ("outer", "rows", "n_train", "n_test"),
    [
        ({"kind": "kfold", "folds": 3}, None, 60, 30),
        ({"kind": "kfold", "folds": 3}, 30, 20, 10),
        ({"kind": "holdout", "train": 50, "test": 40}, None, 50, 40),
        ({"kind": "holdout", "train": 50, "test": 40}, 45, 25, 20),
        ({"kind": "holdout", "test": 10}, None, 80, 10),
        ({"kind": "official"}, None, 75, 15),
        ({"kind": "official"}, 30, 25, 5),
        # Their sizes are unknown.
        ({"kind": "given", "folds": 1}, None, 90, 90),
        ({"kind": "given", "folds": 3}, None, 60, 30),
    ],
)
def test_how_many_rows_are_learnt_and_tested_is_known_without_the_data(
    make_unit: MakeUnit,
    outer: dict[str, Any],
    rows: int | None,
    n_train: int,
    n_test: int,
) -> None:
    outer_fold = outer_fold_of(make_unit(rows=rows, outer=outer))
    spec = DatasetSpec.model_construct(
        name="two", shape=Shape(instances=90, features=3, split=(75, 15))
    )
    fold = replace(outer_fold, dataset=replace(outer_fold.dataset, spec=spec))
    assert (fold.n_train, fold.n_test) == (n_train, n_test)


def test_official_parts_of_unknown_size_may_have_all_rows(make_unit: MakeUnit) -> None:
    fold = outer_fold_of(make_unit(outer={"kind": "official"}))
    assert (fold.n_train, fold.n_test) == (90, 90)


def test_scaling_over_all_rows(toys: dict[str, Dataset], make_unit: MakeUnit) -> None:
    data = fold_data(make_unit())
    X = toys["two"].X
    expected = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    train, test = outer_split(toys["two"], protocol(), 0, 0)
    np.testing.assert_allclose(data.X_train, expected[train], atol=1e-12)
    np.testing.assert_allclose(data.X_test, expected[test], atol=1e-12)


def test_scaling_over_the_training_part(
    toys: dict[str, Dataset], make_unit: MakeUnit
) -> None:
    outside = 0
    for fold in range(3):
        data = fold_data(
            make_unit(scale={"range": [-1.0, 1.0], "fit-on": "train"}, fold=fold)
        )
        np.testing.assert_allclose(data.X_train.min(axis=0), -1, atol=1e-12)
        np.testing.assert_allclose(data.X_train.max(axis=0), 1, atol=1e-12)
        outside += np.count_nonzero(np.abs(data.X_test) > 1 + 1e-9)
    assert outside > 0
    # Test rows have no say in it.
    before = fold_data(
        make_unit(scale={"range": [0.0, 1.0], "fit-on": "train"})
    ).X_train
    test = outer_split(toys["two"], protocol(), 0, 0)[1]
    toys["two"].X[test] *= 100
    forget_data()
    after = fold_data(make_unit(scale={"range": [0.0, 1.0], "fit-on": "train"})).X_train
    assert before.tolist() == after.tolist()


@pytest.mark.parametrize("fit_on", ["train", "all", None])
def test_few_training_rows_are_prepared_without_the_others(
    make_unit: MakeUnit, fit_on: str | None
) -> None:
    scale = None if fit_on is None else {"kind": "standard", "fit-on": fit_on}
    unit = make_unit(scale=scale)
    few = np.array([41, 3, 17])
    data = fold_data(unit)
    prepared = data.rows_to_prepare(few)
    # A scaling that is fitted to all rows is shared by all folds.
    assert ("_inputs" in vars(data)) == (fit_on == "all")
    np.testing.assert_array_equal(prepared, fold_data(unit).X_train[few])
    np.testing.assert_array_equal(data.rows_to_prepare(slice(None)), data.X_train)


def test_a_constant_column_becomes_the_lower_end() -> None:
    X = np.array([[5.0, 1.0], [5.0, 3.0], [9.0, 2.0]])
    scaled = prepared_inputs(X, np.array([0, 1]), Scale(range=(-1.0, 1.0)))
    assert scaled[:2].tolist() == [[-1.0, -1.0], [-1.0, 1.0]]
    assert np.isfinite(scaled).all()


def test_rows_and_targets_stay_together(
    toys: dict[str, Dataset], make_unit: MakeUnit
) -> None:
    data = fold_data(make_unit(scale=None))
    known = {
        tuple(row): label
        for row, label in zip(toys["two"].X, toys["two"].y, strict=True)
    }
    for X, y in ((data.X_train, data.y_train), (data.X_test, data.y_test)):
        assert [known[tuple(row)] for row in X] == y.tolist()


@pytest.mark.parametrize("rows", [20, 45, 88, 89])
@pytest.mark.parametrize("name", ["two", "three", "real"])
def test_a_subsample_has_the_classes_proportions(
    toys: dict[str, Dataset], name: str, rows: int
) -> None:
    data = toys[name]
    keep, again = (
        sample_rows(data.y, rows, data.classes is not None, "subsample", name)
        for _ in range(2)
    )
    assert len(set(keep)) == rows
    assert keep.tolist() == sorted(keep) == again.tolist() != list(range(rows))
    if data.classes:
        counts = np.unique(data.y[keep], return_counts=True)[1]
        exact = np.unique(data.y, return_counts=True)[1] * rows / 90
        assert np.abs(counts - exact).max() < 1


@pytest.mark.parametrize("rows", [None, 90, 1000])
def test_all_rows_are_used_where_there_are_no_more(
    make_unit: MakeUnit, rows: int | None
) -> None:
    data = fold_data(make_unit(rows=rows, outer={"kind": "kfold", "folds": 3}))
    assert (len(data.y_train), len(data.y_test)) == (60, 30)


def test_subsamples_differ_by_what_they_are_for(toys: dict[str, Dataset]) -> None:
    y = toys["two"].y
    first = sample_rows(y, 30, True, "tune", "two", 0, 0).tolist()
    assert sample_rows(y, 30, True, "tune", "two", 0, 1).tolist() != first
    assert sample_rows(y, 30, True, "tune", "two", 0, 0).tolist() == first


def test_data_are_loaded_once_and_asked_for_by_run(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    load = datasets_load.load_from_spec

    def watched(spec: DatasetSpec, data_dir: str | None, run: int) -> Dataset:
        asked.append((spec.name, data_dir, run))
        return load(spec, data_dir, run)

    monkeypatch.setattr(datasets_load, "load_from_spec", watched)
    for fold in range(3):
        fold_data(make_unit(fold=fold), "dir")
    assert asked == [("two", "dir", 0)]
    fold_data(make_unit(dataset="redrawn", run=4), "dir")
    assert asked[1:] == [("redrawn", "dir", 4)]


NAN = float("nan")
#: A number, a category, and a number that no training row has; the last two rows are for testing.
X = pd.DataFrame(
    {
        "number": [1.0, NAN, 5.0, 3.0, NAN, 9.0],
        "category": ["a", "a", "b", NAN, NAN, "c"],
        "late": [NAN, NAN, NAN, NAN, 7.0, NAN],
    }
)
COLUMNS = Columns(numbers=("number", "late"), dates={}, words=("category",))
TRAIN = np.arange(4)


def test_missing_values_are_imputed_and_words_encoded_by_the_training_rows() -> None:
    result = prepared_inputs(X, TRAIN, None, COLUMNS)
    # The median of 1, 5 and 3; the frequent category; no indicator of a category that is only
    # tested; zero where there is no value to learn from.
    assert result.tolist() == [
        [1, 0, 1, 0],
        [3, 0, 1, 0],
        [5, 0, 0, 1],
        [3, 0, 1, 0],
        [3, 7, 1, 0],
        [9, 0, 0, 0],
    ]


def test_a_category_that_no_training_row_has_a_value_of() -> None:
    words = pd.DataFrame(
        {"number": [1.0, 2.0, 3.0], "category": [NAN, NAN, "d"]}, dtype=object
    )
    columns = Columns(numbers=("number",), dates={}, words=("category",))
    result = prepared_inputs(words, np.arange(2), None, columns)
    # It is one category, which the test row does not have.
    assert result.tolist() == [[1, 1], [2, 1], [3, 0]]


def test_dates_become_the_parts_that_vary_in_the_training_rows() -> None:
    days = pd.to_datetime(["2023-01-30", "2023-02-01", None, "2024-03-01"])
    columns = Columns(numbers=(), dates={"day": "ISO8601"}, words=())
    result = prepared_inputs(pd.DataFrame({"day": days}), np.arange(3), None, columns)
    # Month, weekday and days since the first date: the year varies in the test row alone.
    assert result.tolist() == [[1, 0, 0], [2, 2, 2], [1.5, 1, 1], [3, 4, 396]]


def test_the_hour_is_a_part_of_times() -> None:
    times = pd.to_datetime(["2023-02-01 06:00", "2023-02-01 18:00"])
    columns = Columns(numbers=(), dates={"at": "ISO8601"}, words=())
    result = prepared_inputs(pd.DataFrame({"at": times}), np.arange(2), None, columns)
    assert result.tolist() == [[6, 0], [18, 0.5]]


@pytest.mark.parametrize(
    "days", [[None, None, "2024-03-01"], ["2024-03-01"] * 2 + [None]]
)
def test_dates_that_do_not_vary_in_the_training_rows_are_zero_there(
    days: list[Any],
) -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(pd.Series(days))})
    columns = Columns(numbers=(), dates={"day": "ISO8601"}, words=())
    assert prepared_inputs(frame, np.arange(2), None, columns).tolist() == [
        [0],
        [0],
        [0],
    ]


def test_scaled_by_the_same_rows() -> None:
    result = prepared_inputs(
        X, TRAIN, Scale.model_validate({"range": [-1, 1], "fit-on": "train"}), COLUMNS
    )
    assert result[:, 0].tolist() == [-1, 0, 1, 0, 0, 3]
    assert result[:, 2].tolist() == [1, 1, -1, 1, 1, -1]


@pytest.mark.parametrize("categories", [MOST_CATEGORIES, MOST_CATEGORIES + 1])
def test_rare_categories_share_an_indicator(categories: int) -> None:
    # Each twice, but the last two once.
    numbers = [*range(categories), *range(categories - 2)]
    words = pd.DataFrame({"word": [f"word {number:02}" for number in numbers]})
    columns = Columns(numbers=(), dates={}, words=("word",))
    result = prepared_inputs(words, np.arange(len(words)), None, columns)
    assert result.shape[1] == MOST_CATEGORIES == 50
    assert result.sum(axis=1).tolist() == [1] * len(words)
    shared = (result[categories - 2] == result[categories - 1]).all()
    assert shared == (categories > MOST_CATEGORIES)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_the_median_of_a_column_is_that_of_scikit_learn(n):
    values = np.random.default_rng(n).normal(size=n)
    imputer = SimpleImputer(strategy="median").fit(values[:, np.newaxis])
    assert median_of(values) == imputer.statistics_[0]


def test_a_column_without_values_has_the_median_zero():
    assert median_of(np.empty(0)) == 0.0
