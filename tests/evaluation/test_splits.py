"""Splits with printed sizes, official parts and series in order; scaling of targets and of sparse
rows.
"""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from made_work import attempted, fold_data
from sentences import pattern, sentence
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import LeaveOneOut, TimeSeriesSplit
from toy_data import MakeUnit

from elmbench.datasets.dataset import Dataset
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import split_of_rows
from elmbench.evaluation.preprocessing import prepared_inputs
from elmbench.evaluation.splits import (
    check_splittable,
    order_rows,
    ordered_folds,
    outer_parts,
    part_sizes,
    rare_class_remark,
)
from elmbench.evaluation.stored_predictions import StoredPredictions
from elmbench.specs.protocol import Protocol
from elmbench.specs.scaling import Scale
from elmbench.specs.splits import LEAVE_ONE_OUT, Outer, Split


def both(
    data: Dataset, split: Split, order: str = "stored", run: int = 0
) -> tuple[list[int], list[int]]:
    train, test = outer_parts(data, split, run)[0]
    return order_rows(train, order, data.name, run, 0).tolist(), test.tolist()


@given(st.integers(2, 8), st.integers(9, 60))
def test_ordered_folds_of_different_times_are_those_of_scikit_learn(
    folds: int, n: int
) -> None:
    expected = TimeSeriesSplit(folds).split(np.zeros(n))
    for fold, parts in zip(
        ordered_folds(np.arange(n) * 3, folds), expected, strict=True
    ):
        np.testing.assert_array_equal(np.concatenate(fold), np.concatenate(parts))
        assert len(fold[0]) == len(parts[0])


@given(
    st.lists(st.integers(1, 9), min_size=3, max_size=12),
    st.integers(2, 6),
    st.integers(1, 4),
)
def test_ordered_folds_begin_between_different_times(
    counts: list[int], folds: int, first: int
) -> None:
    times = np.repeat(np.arange(len(counts)), counts)
    if len(counts) <= folds:
        with pytest.raises(
            ElmbenchError, match=f"{len(counts)} different times, too few"
        ):
            ordered_folds(times, folds, first)
        return
    parts = ordered_folds(times, folds, first)
    assert len(parts) == folds
    assert len(np.unique(times[parts[0][0]])) >= min(first, len(counts) - folds)
    for train, test in parts:
        assert times[train].max() < times[test].min()
    tests = np.concatenate([test for _, test in parts])
    np.testing.assert_array_equal(
        np.concatenate([parts[0][0], tests]), np.arange(len(times))
    )


def test_an_ordered_fold_begins_at_the_nearest_change() -> None:
    times = np.repeat([2019, 2020, 2021, 2022], [10, 14, 11, 13])
    assert [len(train) for train, _ in ordered_folds(times, 3)] == [10, 24, 35]
    assert [len(train) for train, _ in ordered_folds(times, 2)] == [10, 35]
    assert [len(train) for train, _ in ordered_folds(times, 2, first_times=4)] == [
        24,
        35,
    ]


@pytest.mark.parametrize(
    ("split", "sizes"),
    [
        (Split("holdout", train=50, test=20), (50, 20)),
        (Split("holdout", train=50), (50, 40)),
        (Split("holdout", test=30), (60, 30)),
        (Split("in-order", train=70, test=5), (70, 5)),
    ],
)
def test_parts_have_the_printed_sizes(
    toys: dict[str, Dataset], split: Split, sizes: tuple[int, int]
) -> None:
    for run in range(3):
        train, test = both(toys["three"], split, run=run)
        assert (len(train), len(test)) == sizes
        assert not set(train) & set(test)
        assert len(set(train)) == len(train)


def test_each_data_set_and_run_has_its_own_shuffle(toys: dict[str, Dataset]) -> None:
    split = Split("holdout", train=50, test=20)
    first = both(toys["two"], split)
    assert both(toys["two"], split) == first
    assert both(toys["two"], split, run=1) != first
    assert both(replace(toys["two"], name="other"), split) != first
    # In the order of the file, or shuffled: the same rows.
    assert first[0] == sorted(first[0])
    shuffled = both(toys["two"], split, "shuffled")
    assert shuffled[0] != first[0]
    assert (sorted(shuffled[0]), shuffled[1]) == first


def test_a_series_is_learnt_before_what_comes_after_it(
    toys: dict[str, Dataset],
) -> None:
    train, test = both(toys["real"], Split("in-order", train=60, test=20), run=3)
    assert (train, test) == (list(range(60)), list(range(60, 80)))


EQUAL = np.repeat([0, 1, 2], 30)


@pytest.mark.parametrize(
    ("changes", "split", "message"),
    [
        (
            {},
            Split("stratified-kfold", 80),
            r"three has \d+ rows in its largest class, too few for 80 folds",
        ),
        ({}, Split("kfold", 91), "three has 90 rows, too few for 91 folds"),
        (
            {},
            Split("holdout", train=80, test=20),
            pattern(
                "evaluation.splits.too-few-rows-for-parts",
                dataset="three",
                rows=90,
                training=80,
                test=20,
            ),
        ),
        ({}, Split("in-order", train=90), "three has 90 rows, too few for"),
        ({}, Split("holdout", test=90), "three has 90 rows, too few for"),
        (
            {"y": EQUAL},
            Split("stratified-holdout", train=88, test=2),
            "too few for 88 training .*(?s:.*), 3 at least",
        ),
        (
            {"y": np.append(np.repeat([0, 1], 44), [1, 2])},
            Split("stratified-holdout", train=40, test=40),
            pattern("evaluation.splits.class-too-small-for-holdout", rows=1),
        ),
    ],
)
def test_splits_that_do_not_fit(
    toys: dict[str, Dataset], changes: dict[str, Any], split: Split, message: str
) -> None:
    data = replace(toys["three"], **changes)
    with pytest.raises(ElmbenchError) as error:
        both(data, split)
    assert re.search(message, str(error.value))
    check_splittable(data, Split("kfold", 90))


@given(st.integers(2, 60), st.integers(1, 60), st.integers(2, 120))
def test_a_cut_data_set_keeps_the_proportion(train: int, test: int, rows: int) -> None:
    whole = train + test
    dataset: Any = SimpleNamespace(
        rows=rows, spec=SimpleNamespace(shape=SimpleNamespace(instances=whole))
    )
    cut = split_of_rows(
        dataset, Split("holdout", train=train, test=test), min(rows, whole)
    )
    sizes = part_sizes(cut, min(rows, whole))
    assert sum(sizes) == min(rows, whole)
    assert min(sizes) >= 1
    assert abs(sizes[1] - test * min(rows, whole) / whole) <= 1


@pytest.mark.parametrize(
    "outer",
    [{"kind": "kfold", "folds": 3}, {"kind": "holdout", "train": 60, "test": 30}],
)
def test_a_profile_that_cuts_rows_cuts_the_printed_sizes(
    make_unit: MakeUnit, outer: dict[str, Any]
) -> None:
    data = fold_data(make_unit(rows=30, outer=outer))
    assert (len(data.y_train), len(data.y_test)) == (20, 10)


@pytest.mark.parametrize(("train", "test"), [(45, 45), (30, 15)])
def test_a_stratified_holdout_has_the_same_part_of_each_class(
    toys: dict[str, Dataset], train: int, test: int
) -> None:
    data = replace(toys["three"], y=EQUAL)
    split = Split("stratified-holdout", train=train, test=test)
    rows = both(data, split)
    for part, size in zip(rows, (train, test), strict=True):
        assert np.bincount(data.y[part]).tolist() == [size // 3] * 3
        assert part == sorted(set(part))
    assert not set(rows[0]) & set(rows[1])
    assert both(data, split) == rows != both(data, split, run=1)
    # Without classes, a holdout of any rows.
    outer = Outer(
        kind="stratified-holdout", sizes={"two": {"train": train, "test": test}}
    )
    assert outer.split("two", "classification") == split
    assert outer.split("two", "regression") == Split("holdout", train=train, test=test)


def test_official_splits_are_the_same_in_each_run(toys: dict[str, Dataset]) -> None:
    parts = {"train": np.arange(10, 70), "test": np.arange(70, 90)}
    data = replace(toys["two"], splits=parts)
    assert both(data, Split("official"), run=5) == (
        list(range(10, 70)),
        list(range(70, 90)),
    )


def test_data_without_official_parts_are_refused(make_unit: MakeUnit) -> None:
    result = attempted(make_unit(outer={"kind": "official"}))
    assert result["status"] == "failed"
    assert (
        sentence("evaluation.splits.no-official-split", dataset="two (toy)")
        in result["reason"]
    )


def test_a_random_part_of_the_rows_keeps_the_official_parts(
    toys: dict[str, Dataset], make_unit: MakeUnit
) -> None:
    toys["two"] = replace(
        toys["two"], splits={"train": np.arange(60), "test": np.arange(60, 90)}
    )
    data = fold_data(make_unit(rows=45, scale=None, outer={"kind": "official"}))
    assert len(data.y_train) + len(data.y_test) == 45
    of_the_first = {tuple(row) for row in toys["two"].X[:60]}
    assert {tuple(row) for row in data.X_train} <= of_the_first
    assert not {tuple(row) for row in data.X_test} & of_the_first


@pytest.mark.parametrize("fit_on", ["all", "train"])
def test_targets_are_scaled_if_the_protocol_asks_for_it(
    toys: dict[str, Dataset], make_unit: MakeUnit, fit_on: str
) -> None:
    unit = make_unit(dataset="real")
    unit["protocol"]["targets"] = {"range": [0.0, 1.0], "fit-on": fit_on}
    data, plain = fold_data(unit), fold_data(make_unit(dataset="real"))
    y = toys["real"].y if fit_on == "all" else plain.y_train
    low, high = y.min(), y.max()
    np.testing.assert_allclose(
        data.y_train, (plain.y_train - low) / (high - low), atol=1e-12
    )
    np.testing.assert_allclose(
        data.y_test, (plain.y_test - low) / (high - low), atol=1e-12
    )
    # Errors are in these units.
    stored = StoredPredictions(attempted(unit)["predictions"])
    np.testing.assert_allclose(stored.true, data.y_test, atol=1e-12)
    # Or in those of the file.
    unit["protocol"]["targets"] = {
        "kind": "standard",
        "fit-on": fit_on,
        "metrics": "original",
    }
    stored = StoredPredictions(attempted(unit)["predictions"])
    np.testing.assert_allclose(stored.true, plain.y_test, atol=1e-12)
    labels = make_unit()
    labels["protocol"]["targets"] = {"range": [0.0, 1.0], "fit-on": "all"}
    assert set(fold_data(labels).y_train.tolist()) == {-1, 1}


def test_scaling_by_deviation_largest_value_and_length_of_rows() -> None:
    X, rows = np.array([[1.0, -4.0], [3.0, 2.0], [5.0, 0.0]]), np.arange(3)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = {
        "standard": (X - X.mean(axis=0)) / X.std(axis=0),
        "max-abs": X / [5, 4],
        "unit-rows": unit,
    }
    for kind, values in expected.items():
        np.testing.assert_allclose(
            prepared_inputs(X, rows, Scale(kind=kind)), values, atol=1e-15
        )
    by_row = prepared_inputs(sp.csr_matrix(X), rows[:1], Scale(kind="unit-rows"))
    assert sp.issparse(by_row)
    np.testing.assert_allclose(by_row.toarray(), unit, atol=1e-15)


@pytest.mark.parametrize(
    "scale",
    [
        None,
        {"kind": "max-abs", "fit-on": "all"},
        {"kind": "max-abs", "fit-on": "train"},
    ],
)
@pytest.mark.parametrize("kind", ["cell", "search", "grid"])
def test_sparse_rows_stay_sparse_from_the_data_set_to_the_model(
    toys: dict[str, Dataset],
    make_unit: MakeUnit,
    add_model: Callable[..., None],
    scale: Any,
    kind: str,
) -> None:
    X = np.where(np.abs(toys["two"].X) > 0.5, toys["two"].X, 0.0)
    toys["two"] = replace(toys["two"], X=sp.csr_matrix(X))
    seen: list[bool] = []

    class Sparse(RidgeClassifier):
        n_units_ = 1

        def fit(self, X: Any, y: Any) -> Sparse:
            seen.append(sp.issparse(X))
            return super().fit(X, y)

        def predict(self, X: Any) -> Any:
            seen.append(sp.issparse(X))
            return super().predict(X)

    add_model("sparse", Sparse)
    how = {} if kind == "cell" else {"grid": {"alpha": [1.0, 2.0]}}
    assert (
        attempted(make_unit(kind, model="sparse", scale=scale, **how))["status"] == "ok"
    )
    assert len(seen) >= 2
    assert all(seen)


def test_a_scaling_that_would_make_rows_dense_is_refused(
    toys: dict[str, Dataset], make_unit: MakeUnit
) -> None:
    toys["two"] = replace(toys["two"], X=sp.csr_matrix(toys["two"].X))
    result = attempted(make_unit())
    assert result["status"] == "failed"
    assert (
        sentence("evaluation.scaling.would-make-rows-dense", kind="range")
        in result["reason"]
    )


def test_a_data_set_without_sizes() -> None:
    outer = Outer.model_validate(
        {"kind": "holdout", "sizes": {"wdbc": {"train": 400, "test": 169}}}
    )
    assert outer.split("wdbc", "classification") == Split("holdout", 1, 400, 169)
    with pytest.raises(ElmbenchError, match="says nothing of ionosphere"):
        outer.split("ionosphere", "classification")


def test_a_data_set_may_have_its_own_scaling() -> None:
    folds, changes = (
        {"kind": "kfold", "folds": 3},
        {"two": {"kind": "unit-rows"}, "three": None},
    )
    content = {
        "scale": {"kind": "standard"},
        "scale-except": changes,
        "outer": folds,
        "inner": folds,
    }
    metrics = ["train_accuracy", "accuracy"]
    protocol = Protocol.model_validate(
        content | {"select": "nested", "metrics": metrics}
    )
    assert protocol.scale_of("one") == Scale(kind="standard")
    assert protocol.scale_of("two") == Scale(kind="unit-rows")
    assert protocol.scale_of("three") is None
    # Nothing is chosen by the rows that are learnt.
    assert protocol.metric_for("classification") == "accuracy"
    with pytest.raises(ElmbenchError, match="without a classification metric"):
        protocol.model_copy(
            update={"metrics": ("train_accuracy", "n_units")}
        ).metric_for("classification")


def test_a_remark_names_the_first_of_many_rare_classes() -> None:
    spec: Any = SimpleNamespace(
        shape=SimpleNamespace(classes=dict.fromkeys("abcdefgh", 1)), positive=()
    )
    remark = rare_class_remark(spec, Split("stratified-kfold", 5))
    assert (
        sentence(
            "evaluation.splits.classes-rarer-than-folds",
            label="e",
            rows=1,
            more=3,
            folds=5,
        )
        in remark
    )
    assert "'f'" not in remark
    for classes, rare in (
        ({"a": 3, "b": 9}, "'a' has 3 rows"),
        ({"a": 9, "b": 2, "c": 1}, "'the rest' has 3 rows"),
    ):
        spec = SimpleNamespace(shape=SimpleNamespace(classes=classes), positive=("a",))
        assert rare_class_remark(spec, Split("stratified-kfold", 5)).startswith(
            f"the class {rare}, fewer than"
        )


def test_leave_one_out_does_not_hold_all_training_parts(
    toys: dict[str, Dataset],
) -> None:
    n = 20_000
    data = replace(toys["two"], X=np.zeros((n, 1)), y=np.tile([-1, 1], n // 2))
    tracemalloc.start()
    parts = outer_parts(data, Split(LEAVE_ONE_OUT), 0)
    train, test = parts[7]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * n
    assert (len(parts), len(train), test.tolist()) == (n, n - 1, [7])
    assert 7 not in train


def test_leave_one_out_is_that_of_scikit_learn(toys: dict[str, Dataset]) -> None:
    expected = list(LeaveOneOut().split(toys["two"].X))
    parts = list(outer_parts(toys["two"], Split(LEAVE_ONE_OUT), 0))
    assert len(parts) == len(expected) == 90
    for ours, of_sklearn in zip(parts, expected, strict=True):
        for rows, expected_rows in zip(ours, of_sklearn, strict=True):
            np.testing.assert_array_equal(rows, expected_rows)
