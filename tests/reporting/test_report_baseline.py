"""The regression check: the tolerance rule on both sides of each boundary, and what may become a baseline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_cells import cell, frame
from made_work import default_metrics

from elmbench.errors import ElmbenchError
from elmbench.layouts import layout_of
from elmbench.reporting.baseline import BaselineCheck, compare_with_baseline, update_baseline
from elmbench.reporting.cells import TIMES, read_cells, write_frame
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import Resolved, resolve

EPS = 2.220446049250313e-16

COUNTED = {"mcc": 0.9, "accuracy": 0.97, "f1": 0.95, "tn": 117, "fp": 2, "fn": 4, "tp": 67}
#: Of more than two classes there are no counts.
CLASSES = {"mcc": 0.9, "f1": 0.9, "accuracy": 0.9, "n_test": 100}
REAL = {"nrmse": 0.5, "rmse": 12.0}


@pytest.fixture
def both(toy: Callable[..., Resolved], tmp_path: Path) -> Callable[..., BaselineCheck]:
    """Compare lines with a baseline made of other lines, both by way of their files."""
    resolved = toy(datasets=["wdbc", "calhousing"], protocol={"metrics": ["mcc", "nrmse"]})

    def check(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> BaselineCheck:
        update_baseline(frame(resolved, old), tmp_path / "one.baseline.csv")
        write_frame(frame(resolved, new), tmp_path / "cells.csv")
        return compare_with_baseline(read_cells(tmp_path / "cells.csv"), tmp_path / "one.baseline.csv")

    return check


def differences(result: BaselineCheck) -> list[str]:
    return [d.what for d in result.differences]


@pytest.mark.parametrize(
    ("change", "within"),
    [
        ({}, True),
        # One row: a true positive becomes a false negative, a false positive a true negative.
        ({"tp": 66, "fn": 5}, True),
        ({"tn": 118, "fp": 1}, True),
        # Two rows, of one class or of both.
        ({"tp": 65, "fn": 6}, False),
        ({"tn": 116, "fp": 3, "tp": 66, "fn": 5}, False),
        # A row more or less, or of another true class, was not predicted otherwise: the split has changed.
        ({"tn": 116}, False),
        ({"tp": 66, "tn": 118}, False),
        ({"tp": 66, "fp": 3}, False),
        ({"tp": None, "fn": None, "tn": None, "fp": None}, False),
        # Metrics follow from the counts, and are not compared beside other ones.
        ({"tp": 66, "fn": 5, "mcc": 0.8999, "f1": 0.9}, True),
    ],
)
def test_one_row_of_two_classes_may_be_predicted_otherwise(
    both: Callable[..., BaselineCheck], change: dict[str, Any], within: bool
) -> None:
    result = both([cell(**COUNTED)], [cell(**COUNTED | change)])
    assert result.compared == 1
    assert differences(result) == ([] if within else ["tn, fp, fn, tp"])


@pytest.mark.parametrize("metric", ["mcc", "f1", "accuracy"])
def test_metrics_of_equal_counts_are_equal(both: Callable[..., BaselineCheck], metric: str) -> None:
    old = cell(**COUNTED)
    assert differences(both([old], [old | {metric: old[metric] * 1.001}])) == [metric]
    assert differences(both([old], [old | {metric: old[metric] * (1 + 1e-9)}])) == []
    many = cell(**CLASSES)
    assert differences(both([many], [many | {metric: many[metric] * 1.001}])) == [metric]


def test_a_row_of_many_classes_may_be_wrong_in_another_way(both: Callable[..., BaselineCheck]) -> None:
    """Counted by hand: of 5, 5 and 10 rows one wrong prediction goes from class 0 to class 1."""
    true = [0] * 5 + [1] * 5 + [2] * 10
    first = [0, 0, 0, 0, 1] + [1] * 5 + [0, 0] + [2] * 8
    other = [0, 0, 0, 0, 1] + [1] * 5 + [1, 0] + [2] * 8
    lines = [
        cell(**default_metrics(np.array(true), np.array(text), [0, 1, 2]), n_test=20)
        for text in (first, other)
    ]  # fmt: skip
    assert lines[0]["mcc"] != lines[1]["mcc"]
    assert lines[0]["recall"] == lines[1]["recall"]
    assert differences(both(lines[:1], lines[1:])) == []
    # A row less of one class and a row more of another, which leaves the accuracy: two rows.
    two = [0] * 5 + [1] * 5 + [0, 0, 0] + [2] * 7
    moved = cell(**default_metrics(np.array(true), np.array(two), [0, 1, 2]), n_test=20)
    assert moved["accuracy"] == lines[0]["accuracy"]
    assert "recall" in differences(both(lines[:1], [moved]))


def test_the_rows_that_were_learnt_have_a_tolerance(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    resolved = toy(protocol={"metrics": ["mcc", "train_accuracy"]})
    for value, within in [(0.95, True), (0.945, True), (0.93, False), (None, False)]:
        update_baseline(frame(resolved, [cell(**COUNTED, train_accuracy=0.95)]), tmp_path / "one.baseline.csv")
        write_frame(frame(resolved, [cell(**COUNTED, train_accuracy=value)]), tmp_path / "cells.csv")
        result = compare_with_baseline(read_cells(tmp_path / "cells.csv"), tmp_path / "one.baseline.csv")
        assert differences(result) == ([] if within else ["train_accuracy"])


@pytest.mark.parametrize(
    ("accuracy", "within"), [(0.9, True), (0.91, True), (0.89, True), (0.92, False), (0.88, False), (None, False)]
)
def test_one_row_of_many_classes_may_be_predicted_otherwise(
    both: Callable[..., BaselineCheck], accuracy: float | None, within: bool
) -> None:
    result = both([cell(**CLASSES)], [cell(**CLASSES | {"accuracy": accuracy})])
    assert differences(result) == ([] if within else ["right predictions"])


@pytest.mark.parametrize(
    ("condition", "allowed"),
    [
        (None, 1e-6),
        (1e3, 1e-6),
        # 10 * condition * eps is 1e-6 at a condition of 4.5e8.
        (4e8, 1e-6),
        (1e12, 10 * 1e12 * EPS),
        (4e13, 10 * 4e13 * EPS),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_real_figures_may_differ_by_round_off(
    both: Callable[..., BaselineCheck], condition: float | None, allowed: float, sign: int
) -> None:
    old = [cell(dataset="calhousing", condition=condition, **REAL)]
    inside = [old[0] | {"nrmse": 0.5 * (1 + sign * 0.99 * allowed)}]
    outside = [old[0] | {"nrmse": 0.5 * (1 + sign * 1.01 * allowed)}]
    assert differences(both(old, inside)) == []
    result = both(old, outside)
    assert differences(result) == ["nrmse"]
    assert result.differences[0].allowed == f"{allowed:.1e} relative"


def test_the_condition_is_that_of_the_baseline(both: Callable[..., BaselineCheck]) -> None:
    old, new = (cell(dataset="calhousing", condition=c, nrmse=v) for c, v in [(1e3, 0.5), (1e13, 0.500005)])
    assert differences(both([old], [new])) == ["nrmse"]


@pytest.mark.parametrize("values", [REAL, COUNTED], ids=["real", "counted"])
@pytest.mark.parametrize(("condition", "decides"), [(4.4e13, True), (4.6e13, False), (1e20, False)])
def test_figures_made_of_round_off_decide_nothing(
    both: Callable[..., BaselineCheck], values: dict[str, Any], condition: float, decides: bool
) -> None:
    old = cell(condition=condition, **values)
    other = {"nrmse": 1.0, "tn": 100, "fp": 19} if "tn" in values else {"nrmse": 1.0}
    assert bool(differences(both([old], [old | other]))) == decides
    # How a cell ended and the size of its model still count.
    assert differences(both([old], [old | {"n_units": 11}])) == ["n_units"]
    assert differences(both([old], [old | {"status": "diverged"}])) == ["status"]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_figure_that_is_no_number_any_more_differs(both: Callable[..., BaselineCheck], value: float | None) -> None:
    old = cell(dataset="calhousing", **REAL)
    assert differences(both([old], [old | {"rmse": value}])) == ["rmse"]
    assert differences(both([old | {"rmse": value}], [old | {"rmse": value}])) == []


def test_missing_and_extra_cells(both: Callable[..., BaselineCheck]) -> None:
    lines = [cell(model, fold=fold, **COUNTED) for model in ("ELM", "K-ELM") for fold in (0, 1)]
    result = both(lines, lines[1:])
    assert (result.compared, differences(result)) == (3, ["cell"])
    assert (result.differences[0].place, result.differences[0].found) == ("wdbc ELM run 0 fold 0 nested", "missing")
    result = both(lines[1:], lines)
    assert (result.compared, result.differences[0].baseline) == (3, "missing")
    # The same cell of another reading or selection is another cell.
    result = both(lines[:1], [lines[0] | {"reading": "order=stored"}])
    assert (result.compared, len(result.differences)) == (0, 2)
    assert result.differences[1].place.endswith("nested order=stored")


def test_a_cell_must_end_as_it_did(both: Callable[..., BaselineCheck]) -> None:
    ok, diverged = cell(**COUNTED), cell(status="diverged")
    result = both([ok], [cell(status="timeout")]).differences[0]
    assert (result.what, result.baseline, result.found) == ("status", "ok", "timeout")
    assert differences(both([diverged], [ok])) == ["status"]
    assert differences(both([diverged], [diverged])) == []


@pytest.mark.parametrize(("size", "within"), [(10, True), (11, False), (None, False)])
def test_the_size_of_the_model_must_be_equal(
    both: Callable[..., BaselineCheck], size: int | None, within: bool
) -> None:
    assert (differences(both([cell(**COUNTED)], [cell(**COUNTED | {"n_units": size})])) == []) == within


def test_times_and_reasons_are_not_compared(both: Callable[..., BaselineCheck], tmp_path: Path) -> None:
    line = cell(**COUNTED)
    assert differences(both([line], [line | {"fit_seconds": 99.0, "search_seconds": 1.0, "reason": "x"}])) == []
    left = (tmp_path / "one.baseline.csv").read_text().splitlines()[0].split(",")
    assert not {*TIMES, "reason"}.intersection(left)


def test_a_copy_of_the_cells_is_a_baseline_as_well(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    resolved, baseline = toy(datasets=["calhousing"], protocol={"metrics": ["nrmse"]}), tmp_path / "one.baseline.csv"
    late = {"status": "timeout", "reason": "> 5 s", "limit": 5.0, "stopped": "itself"}
    lines = [cell(dataset="calhousing", nrmse=0.5), cell(dataset="calhousing", fold=1, **late)]
    for path, seconds in ((baseline, 0.5), (tmp_path / "cells.csv", 0.7)):
        write_frame(frame(resolved, [line | {"fit_seconds": seconds} for line in lines]), path)
    result = compare_with_baseline(read_cells(tmp_path / "cells.csv"), baseline)
    assert (result.compared, result.differences) == (2, ())


def test_searches_must_choose_the_same_if_they_have_no_figures(both: Callable[..., BaselineCheck]) -> None:
    chosen, other = cell(params={"C": 8.0, "gamma": 1.0}), cell(params={"C": 8.0, "gamma": 2.0})
    assert differences(both([chosen], [chosen])) == []
    assert differences(both([chosen], [other])) == ["params"]
    # If there are figures, the choice is not compared.
    assert differences(both([chosen | COUNTED], [other | COUNTED])) == []


@pytest.mark.parametrize("status", ["failed", "timeout", "out-of-memory", "unavailable"])
def test_no_baseline_is_made_of_failures(toy: Callable[..., Resolved], tmp_path: Path, status: str) -> None:
    path = tmp_path / "toy" / "one.baseline.csv"
    path.parent.mkdir()
    path.write_text("before")
    cells = frame(toy(), [cell(fold=0, **COUNTED), cell(fold=1, status=status)])
    with pytest.raises(ElmbenchError, match=f"1 of 2 cells ended {status}: no baseline is written") as error:
        update_baseline(cells, path)
    assert "Next: elmbench run toy/one --profile ci" in str(error.value)
    assert path.read_text() == "before"
    with pytest.raises(ElmbenchError, match="there are no cells"):
        update_baseline(cells.iloc[:0], path)


def test_a_baseline_of_cells_that_diverged(toy: Callable[..., Resolved], tmp_path: Path) -> None:
    cells = frame(toy(), [cell(fold=0, **COUNTED), cell(fold=1, status="diverged")])
    assert update_baseline(cells, tmp_path / "b.csv") == 2
    assert read_cells(tmp_path / "b.csv")["status"].tolist() == ["ok", "diverged"]


@pytest.mark.parametrize(
    ("layout", "measure", "change", "within"),
    [
        ("curves", "mcc@h=10", 0.0099, True),
        ("curves", "mcc@h=10", 0.0101, False),
        ("curves", "mcc@h=10", float("nan"), False),
        # A correlation of thousands of pairs hangs on no row.
        ("rank-correlation", "spearman@h=10", 1e-7, True),
        ("rank-correlation", "spearman@h=10", 1e-5, False),
    ],
)
def test_points_of_a_curve_may_differ_by_a_row_and_correlations_by_nothing(
    toy: Callable[..., Resolved], tmp_path: Path, layout: str, measure: str, change: float, within: bool
) -> None:
    nodes = {"model": "elm", "search": ["n_hidden"], "params": {"activation": "sigmoid"}}
    resolved = toy(layout=layout, grids={"n_hidden": [5, 10]}, models={"ELM": nodes})
    first = measure.replace("10", "5")
    update_baseline(frame(resolved, [cell(**{first: 0.5, measure: 0.8})]), tmp_path / "one.baseline.csv")
    write_frame(frame(resolved, [cell(**{first: 0.5, measure: 0.8 + change})]), tmp_path / "cells.csv")
    measures = layout_of(resolved).values(resolved)
    result = compare_with_baseline(read_cells(tmp_path / "cells.csv"), tmp_path / "one.baseline.csv", measures)
    assert differences(result) == ([] if within else [measure])


#: Models in closed form, whose figures hang on nothing but the data.
CLOSED = {"elm", "k-elm", "ls-svm", "w-elm", "eem", "eekm", "rk-elm", "elm-rbf", "pvm", "os-pvm"}
BASELINES = [
    "eem/table4", "eem/table9", "eem/table10", "kos-elm/table4", "kos-elm/table6", "kos-elm/table7", "rkelm/table3",
    "ospvm/table2", "ospvm/table8", "rkelm/table5", "rkelm/table6", "rkelm/table11", "rkelm/table12",
]  # fmt: skip


@pytest.mark.parametrize("id", BASELINES)
def test_a_committed_baseline_changed_by_one_part_in_a_thousand_is_found_in_every_cell(id: str) -> None:
    file = find_experiment(id)
    path = file.path.parent / f"{file.spec.table}.baseline.csv"
    resolved = resolve(file, "ci")
    cells = read_cells(path)
    assert compare_with_baseline(cells, path).differences == ()
    changed = 0
    for column, model in file.spec.models.items():
        for dataset, part in cells[(cells["model"] == column) & (cells["status"] == "ok")].groupby("dataset"):
            if model.model in CLOSED:
                metric = resolved.spec.protocol.metric_for(resolved.dataset(str(dataset)).task)
                other = cells.astype({metric: float})
                other.loc[part.index, metric] *= 1.001
                assert len(compare_with_baseline(other, path).differences) == len(part), (column, dataset)
                changed += len(part)
    assert changed > 1
