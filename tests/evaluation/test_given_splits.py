"""Splits row by row, named schemes, sizes as shares, and one inner part, against scikit-learn by
hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_work import do, fold_data, task_from_content
from pydantic import ValidationError
from sentences import pattern
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, matthews_corrcoef
from sklearn.model_selection import (
    ShuffleSplit,
    StratifiedShuffleSplit,
    train_test_split,
)
from toy_data import UNIT, MakeUnit

from elmbench.datasets.dataset import Dataset
from elmbench.errors import ElmbenchError
from elmbench.evaluation.folds import fold_rows
from elmbench.evaluation.given_splits import (
    given_inner_parts,
    locate_inner_splits,
    locate_splits,
)
from elmbench.evaluation.splits import folds_of, outer_parts, part_sizes
from elmbench.evaluation.stored_predictions import StoredPredictions
from elmbench.execution.executors import Settings, worker
from elmbench.execution.executors.limited_worker import pack_task
from elmbench.numerics.seeds import integer_seed
from elmbench.specs.protocol import Protocol
from elmbench.specs.splits import Outer, Split, Splitter
from elmbench.tasks.base import Context
from elmbench.tasks.fit import Fit
from elmbench.tasks.nested_search import Search

Parts = dict[tuple[int, int], tuple[list[int], list[int]]]


@pytest.fixture
def write_splits(tmp_path: Path) -> Callable[..., Split]:
    """Write a file of splits, and return the split that names it."""

    def write(
        parts: Parts, runs: int = 1, folds: int = 1, *, train: bool = True
    ) -> Split:
        lines = ["run,fold,row,part"]
        for (run, fold), both in parts.items():
            for name, rows in zip(("train", "test"), both, strict=True):
                if train or name == "test":
                    lines += [f"{run},{fold},{row},{name}" for row in rows]
        (tmp_path / "splits.csv").write_text("\n".join(lines) + "\n")
        split = Outer(kind="given", file="splits.csv", folds=folds).split(
            "two", "classification"
        )
        return locate_splits(split, tmp_path, runs)

    return write


def test_overlapping_tests_give_the_numbers_of_scikit_learn(
    write_splits: Callable[..., Split], toys: dict[str, Dataset]
) -> None:
    """Some rows are tested twice, some never, and some are learnt twice."""
    random = np.random.default_rng(0)
    parts: Parts = {}
    for run in range(3):
        for fold in range(2):
            test = random.choice(90, 30, replace=False)
            rest = np.setdiff1d(np.arange(90), test)
            parts[run, fold] = random.choice(rest, 50).tolist(), test.tolist()
    split = write_splits(parts, runs=3, folds=2)
    data = toys["two"]
    for (run, fold), (train, test) in parts.items():
        ours = outer_parts(data, split, run)[fold]
        np.testing.assert_array_equal(ours[0], np.sort(train))
        np.testing.assert_array_equal(ours[1], np.sort(test))
        model = RidgeClassifier().fit(data.X[ours[0]], data.y[ours[0]])
        by_hand = RidgeClassifier().fit(data.X[np.sort(train)], data.y[np.sort(train)])
        assert accuracy_score(
            data.y[test], by_hand.predict(data.X[test])
        ) == accuracy_score(data.y[ours[1]], model.predict(data.X[ours[1]]))


def test_rows_that_are_not_tested_are_learnt_and_a_line_may_name_several(
    tmp_path: Path, toys: dict[str, Dataset]
) -> None:
    (tmp_path / "s.csv").write_text(
        "run,fold,row,part\n0,0,0 1 2,test\n0,0,3 4,test\n0,1,5,test\n0,1,1 0,train\n"
    )
    split = locate_splits(Split("given", 2, file="s.csv"), tmp_path, 1)
    (train, test), (other_train, other_test) = outer_parts(toys["two"], split, 0)
    assert test.tolist() == [0, 1, 2, 3, 4]
    assert train.tolist() == list(range(5, 90))
    assert (other_train.tolist(), other_test.tolist()) == ([0, 1], [5])


def test_rows_are_those_of_the_data_file(
    tmp_path: Path, toys: dict[str, Dataset]
) -> None:
    """A user's file may lose rows when it is read."""
    (tmp_path / "s.csv").write_text("run,fold,row,part\n0,0,1,test\n0,0,91,test\n")
    split = locate_splits(Split("given", 1, file="s.csv"), tmp_path, 1)
    kept = np.delete(np.arange(92), [0, 5])
    ((_, test),) = outer_parts(replace(toys["two"], rows=kept), split, 0)
    assert test.tolist() == [0, 89]
    (tmp_path / "s.csv").write_text("run,fold,row,part\n0,0,5,test\n")
    split = locate_splits(Split("given", 1, file="s.csv"), tmp_path, 1)
    with pytest.raises(
        ElmbenchError, match=pattern("evaluation.splits.row-outside-the-data", row=5)
    ):
        outer_parts(replace(toys["two"], rows=kept), split, 0)


def test_the_key_depends_on_the_content_of_the_file_and_not_on_its_path(
    write_splits: Callable[..., Split], tmp_path: Path
) -> None:
    split = write_splits({(0, 0): ([0], [1])})
    assert split.content() == {"kind": "given", "folds": 1, "checksum": split.checksum}
    other = write_splits({(0, 0): ([0], [2])})
    assert other.file == split.file == str(tmp_path / "splits.csv")
    assert other.content() != split.content()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("run,fold,row\n0,0,1\n", "no column part"),
        ("run,fold,row,part\n0,0,1,learn\n", "line 2: the part is 'learn'"),
        ("run,fold,row,part\n0,0,-1,test\n", "'-1' is not a number"),
        ("run,fold,row,part\n0,1,1,test\n", "lacks a fold of a run"),
        ("run,fold,row,part\n1,0,1,test\n", "lacks a fold of a run"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(content)
    with pytest.raises(ElmbenchError, match=message):
        locate_splits(Split("given", 1, file="s.csv"), tmp_path, 1)


def test_a_run_that_the_file_lacks_is_an_error(
    write_splits: Callable[..., Split],
) -> None:
    with pytest.raises(ElmbenchError, match="has 1 run of 1 fold") as raised:
        write_splits({(0, 0): ([0], [1])}, runs=2)
    assert "runs: 1, folds: 1" in raised.value.next_step


# Inner splits


def test_inner_rows_are_positions_in_the_training_part(tmp_path: Path) -> None:
    """The training part is in its own order, and has row 8 twice."""
    (tmp_path / "s.csv").write_text(
        "run,fold,inner,row,part\n0,1,0,8 5,test\n0,1,1,5,train\n0,1,1,9,test\n"
        "0,0,0,1,test\n0,0,1,1,test\n"
    )
    split = Split("given", 2, file="s.csv")
    split = locate_inner_splits(split, tmp_path, runs=1, outer_folds=2)
    rows = np.array([9, 8, 7, 5, 8])
    (train, test), (other_train, other_test) = given_inner_parts(split, 0, 1, rows)
    assert (train.tolist(), test.tolist()) == ([0, 2], [1, 3, 4])
    assert (other_train.tolist(), other_test.tolist()) == ([3], [0])
    with pytest.raises(
        ElmbenchError,
        match=pattern("evaluation.splits.inner-row-outside-the-training-part", row=1),
    ):
        given_inner_parts(split, 0, 0, rows)


def test_a_search_on_given_inner_splits_scores_as_by_hand(
    tmp_path: Path, make_unit: MakeUnit
) -> None:
    unit = make_unit("search", model="ridge", grid={"C": [1e-6, 1.0]}, metric="mcc")
    task = task_from_content(unit)
    assert isinstance(task, Search)
    learnt, _ = fold_rows(task.outer_fold, None)
    rows = np.sort(learnt).tolist()
    splits = [(rows[::2], rows[1::2]), (rows[:40], rows[40:50])]
    lines = ["run,fold,inner,row,part"]
    for inner, (train, test) in enumerate(splits):
        lines.append(f"0,0,{inner},{' '.join(map(str, train))},train")
        lines.append(f"0,0,{inner},{' '.join(map(str, test))},test")
    (tmp_path / "s.csv").write_text("\n".join(lines))
    split = Split("given", 2, file="s.csv")
    split = locate_inner_splits(split, tmp_path, runs=1, outer_folds=1)
    result = replace(task, inner=split).run({}, Context())
    X = fold_data(unit).X_train[np.argsort(learnt)]
    y = fold_data(unit).y_train[np.argsort(learnt)]
    by_hand = []
    for C in (1e-6, 1.0):
        scores = []
        for train, test in splits:
            learnt_rows, test_rows = (
                np.searchsorted(rows, part) for part in (train, test)
            )
            model = RidgeClassifier(alpha=1 / C).fit(X[learnt_rows], y[learnt_rows])
            scores.append(matthews_corrcoef(y[test_rows], model.predict(X[test_rows])))
        by_hand.append(np.mean(scores))
    np.testing.assert_allclose(result["scores"], by_hand, atol=1e-12)


def test_a_missing_inner_split_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("run,fold,inner,row,part\n0,0,0,1,test\n")
    split = Split("given", 2, file="s.csv")
    with pytest.raises(ElmbenchError, match="lacks the inner split 1 of run 0, fold 0"):
        locate_inner_splits(split, tmp_path, runs=1, outer_folds=1)


# Named schemes


@pytest.mark.parametrize(
    ("content", "kind", "folds", "runs"),
    [
        ({"kind": "5x2"}, "kfold", 2, 5),
        ({"kind": "stratified-5x2"}, "stratified-kfold", 2, 5),
        ({"kind": "repeated-kfold", "folds": 10, "runs": 3}, "kfold", 10, 3),
        (
            {"kind": "repeated-stratified-kfold", "folds": 4, "runs": 2},
            "stratified-kfold",
            4,
            2,
        ),
    ],
)
def test_a_repeated_scheme_is_folds_in_several_runs(
    content: dict[str, Any], kind: str, folds: int, runs: int
) -> None:
    outer = Outer.model_validate(content)
    assert outer == Outer(kind=kind, folds=folds, runs=runs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "5x2", "runs": 10}, "5x2 has 10 runs; expected 5"),
        ({"kind": "repeated-kfold", "folds": 10}, "repeated-kfold has no runs"),
        ({"kind": "given", "folds": 2}, "expected file"),
        ({"kind": "kfold", "folds": 2, "file": "s.csv"}, "expected no file"),
        ({"kind": "holdout"}, "expected sizes"),
        ({"kind": "holdout", "train": 0.7, "test": 0.5}, "expected at most 1 in all"),
    ],
)
def test_a_scheme_that_contradicts_itself_is_an_error(
    content: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValidationError, ElmbenchError), match=message):
        Outer.model_validate(content).split("two", "classification")


# Sizes as shares


@pytest.mark.parametrize("n", [7, 10, 90, 151])
@pytest.mark.parametrize(
    "sizes", [{"test": 0.3}, {"train": 0.7}, {"train": 0.5, "test": 0.25}, {"test": 5}]
)
def test_shares_have_the_sizes_of_scikit_learn(n: int, sizes: dict[str, float]) -> None:
    outer = Outer(kind="holdout", **sizes)
    train, test = train_test_split(
        np.arange(n), train_size=sizes.get("train"), test_size=sizes.get("test")
    )
    split = outer.split("any", "classification")
    assert part_sizes(split, n) == (len(train), len(test))


def test_sizes_of_a_data_set_come_before_those_of_all() -> None:
    outer = Outer(kind="holdout", test=0.5, sizes={"two": {"train": 20, "test": 10}})
    assert outer.split("two", "classification").content() == {
        "kind": "holdout",
        "train": 20,
        "test": 10,
    }
    assert outer.split("three", "classification").test == 0.5


# One inner part


@pytest.mark.parametrize(
    ("kind", "splitter"),
    [("holdout", ShuffleSplit), ("stratified-holdout", StratifiedShuffleSplit)],
)
def test_an_inner_part_is_that_of_scikit_learn(kind: Any, splitter: Any) -> None:
    y = np.repeat([-1, 1], [30, 60])
    X = np.arange(90.0)[:, None]
    split = Splitter(kind=kind, test=0.5).split("any", "classification")
    ((train, test),) = folds_of(split, 3, X, y)
    expected = next(splitter(1, test_size=0.5, random_state=3).split(X, y))
    np.testing.assert_array_equal(train, np.sort(expected[0]))
    np.testing.assert_array_equal(test, np.sort(expected[1]))


def test_a_search_on_one_inner_part_scores_as_by_hand(make_unit: MakeUnit) -> None:
    inner = {"kind": "holdout", "train": None, "test": 0.5}
    unit = make_unit(
        "search", model="ridge", grid={"C": [1e-6, 1.0]}, inner=inner, metric="mcc"
    )
    found = do(unit)
    data = fold_data(unit)
    scores = []
    seed = integer_seed("inner", "two", 0, 0)
    train, test = next(
        ShuffleSplit(1, test_size=0.5, random_state=seed).split(
            data.X_train, data.y_train
        )
    )
    train = np.sort(train)
    for C in (1e-6, 1.0):
        model = RidgeClassifier(alpha=1 / C).fit(
            data.X_train[train], data.y_train[train]
        )
        scores.append(
            matthews_corrcoef(data.y_train[test], model.predict(data.X_train[test]))
        )
    np.testing.assert_allclose(found["scores"], scores, atol=1e-12)


def test_inner_splits_and_selection_have_defaults() -> None:
    protocol = Protocol.model_validate(
        {"scale": None, "outer": {"kind": "kfold", "folds": 2}, "metrics": ["accuracy"]}
    )
    assert protocol.selections == ("published",)


def test_a_worker_reads_the_file_of_splits(write_splits: Callable[..., Split]) -> None:
    """The path travels beside the content, which the key is a hash of."""
    split = write_splits({(0, 0): (list(range(60)), [70, 3, 80])})
    protocol = UNIT["protocol"] | {"outer": split.content()}
    dataset = UNIT["dataset"] | {"name": "wdbc"}
    content = {
        "model": "ridge",
        "params": {"C": 1.0},
        "dataset": dataset,
        "protocol": protocol,
    }
    task = task_from_content(UNIT | content | {"chosen": None})
    assert isinstance(task, Fit)
    data = replace(task.data, splits_file=split.file)
    located = replace(task, outer_fold=replace(task.outer_fold, dataset=data))
    assert located.key == task.key
    result = worker.run_task(pack_task(located, {}), Settings(), None)
    predictions = StoredPredictions(result["predictions"])
    assert predictions.rows is not None
    assert predictions.rows.tolist() == [3, 70, 80]
    assert result["n_train"] == 60
