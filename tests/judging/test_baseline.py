"""The regression check: the tolerance rule on both sides of each boundary, and what may become a
baseline.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_cells import Toy, cell, frame, stopped
from made_work import default_metrics

from elmbench.errors import ElmbenchError
from elmbench.judging.baseline import compare_with_baseline, update_baseline
from elmbench.results.cells import TIMES, read_cells, write_frame
from elmbench.specs.catalogue import find_experiment
from elmbench.specs.profiles import Resolved, resolve
from elmbench.tables import kind_of_table

EPS = 2.220446049250313e-16
Both = Callable[..., dict[str, Any]]

COUNTED = {
    "mcc": 0.9,
    "accuracy": 0.97,
    "f1": 0.95,
    "tn": 117,
    "fp": 2,
    "fn": 4,
    "tp": 67,
}
#: Of more than two classes there are no counts.
CLASSES = {"mcc": 0.9, "f1": 0.9, "accuracy": 0.9, "n_test": 100}
REAL = {"nrmse": 0.5, "rmse": 12.0}
CHOSEN = {"params": {"C": 8.0, "gamma": 1.0}}
COUNTS, RIGHT = ["tn, fp, fn, tp"], ["right predictions"]


@pytest.fixture
def both(toy: Toy, tmp_path: Path) -> Both:
    """Compare lines with a baseline made of other lines, both by way of their files."""
    plain = toy(datasets=["wdbc", "calhousing"], protocol={"metrics": ["mcc", "nrmse"]})

    def check(
        old: list[dict[str, Any]], new: list[dict[str, Any]], resolved: Resolved = plain
    ) -> dict[str, Any]:
        update_baseline(frame(resolved, old), tmp_path / "one.baseline.csv")
        write_frame(frame(resolved, new), tmp_path / "cells.csv")
        measures = kind_of_table(resolved).values()
        return compare_with_baseline(
            read_cells(tmp_path / "cells.csv"), tmp_path / "one.baseline.csv", measures
        )

    return check


def differences(result: dict[str, Any]) -> list[str]:
    return [d["column"] for d in result["differences"]]


@pytest.mark.parametrize(
    ("values", "change", "differ"),
    [
        (COUNTED, {}, []),
        # One row: a true positive becomes a false negative, a false positive a true negative.
        (COUNTED, {"tp": 66, "fn": 5}, []),
        (COUNTED, {"tn": 118, "fp": 1}, []),
        # Two rows, of one class or of both.
        (COUNTED, {"tp": 65, "fn": 6}, COUNTS),
        (COUNTED, {"tn": 116, "fp": 3, "tp": 66, "fn": 5}, COUNTS),
        # A row more or less, or of another true class, was not predicted otherwise: the split has
        # changed.
        (COUNTED, {"tn": 116}, COUNTS),
        (COUNTED, {"tp": 66, "tn": 118}, COUNTS),
        (COUNTED, {"tp": 66, "fp": 3}, COUNTS),
        (COUNTED, {"tp": None, "fn": None, "tn": None, "fp": None}, COUNTS),
        # Metrics follow from the counts, and are not compared beside other ones.
        (COUNTED, {"tp": 66, "fn": 5, "mcc": 0.8999, "f1": 0.9}, []),
        # One row of many classes.
        *((CLASSES, {"accuracy": accuracy}, []) for accuracy in (0.9, 0.91, 0.89)),
        *((CLASSES, {"accuracy": accuracy}, RIGHT) for accuracy in (0.92, 0.88, None)),
        # Metrics of equal counts are equal.
        *(
            (COUNTED, {name: COUNTED[name] * 1.001}, [name])
            for name in ("mcc", "f1", "accuracy")
        ),
        *(
            (COUNTED, {name: COUNTED[name] * (1 + 1e-9)}, [])
            for name in ("mcc", "f1", "accuracy")
        ),
        *(
            (CLASSES, {name: CLASSES[name] * 1.001}, [name])
            for name in ("mcc", "f1", "accuracy")
        ),
        # A figure is not a number any more.
        *((REAL, {"rmse": value}, ["rmse"]) for value in (None, float("nan"))),
        (REAL, {"rmse": float("inf")}, ["status"]),
        *(
            (REAL | {"rmse": value}, {}, [])
            for value in (None, float("nan"), float("inf"))
        ),
        # The size of the model must be equal, times and reasons need not.
        (COUNTED, {"n_units": 11}, ["n_units"]),
        (COUNTED, {"n_units": None}, ["n_units"]),
        (COUNTED, {"fit_seconds": 99.0, "search_seconds": 1.0, "reason": "x"}, []),
        # A cell must end as it did.
        (COUNTED, {"status": "timeout"}, ["status"]),
        ({"status": "diverged"}, {"status": "ok"}, ["status"]),
        ({"status": "diverged"}, {}, []),
        # Searches must choose the same if they have no figures.
        (CHOSEN, {}, []),
        (CHOSEN, {"params": '{"C": 8.0, "gamma": 2.0}'}, ["params"]),
        (CHOSEN | COUNTED, {"params": '{"C": 8.0, "gamma": 2.0}'}, []),
    ],
)
def test_counts_and_scores_may_differ_within_the_tolerance(
    both: Both, values: dict[str, Any], change: dict[str, Any], differ: list[str]
) -> None:
    line = cell(**values)
    result = both([line], [line | change])
    assert (result["compared"], differences(result)) == (1, differ)


def test_a_row_of_many_classes_may_be_wrong_in_another_way(both: Both) -> None:
    """Counted by hand: of 5, 5 and 10 rows one wrong prediction goes from class 0 to class 1."""
    true = np.repeat([0, 1, 2], [5, 5, 10])
    first, other = true.copy(), true.copy()
    first[[4, 10, 11]], other[[4, 10, 11]] = [1, 0, 0], [1, 1, 0]
    # A row less of one class and a row more of another, which leaves the accuracy: two rows.
    moved = true.copy()
    moved[[10, 11, 12]] = 0
    lines = [
        cell(**default_metrics(true, part, [0, 1, 2]), n_test=20)
        for part in (first, other, moved)
    ]
    assert lines[0]["mcc"] != lines[1]["mcc"]
    assert lines[0]["recall"] == lines[1]["recall"]
    assert differences(both(lines[:1], lines[1:2])) == []
    assert lines[2]["accuracy"] == lines[0]["accuracy"]
    assert "recall" in differences(both(lines[:1], lines[2:]))


@pytest.mark.parametrize(
    ("value", "within"), [(0.95, True), (0.945, True), (0.93, False), (None, False)]
)
def test_the_rows_that_were_learnt_have_a_tolerance(
    both: Both, toy: Any, value: float | None, within: bool
) -> None:
    old, new = (cell(**COUNTED, train_accuracy=accuracy) for accuracy in (0.95, value))
    result = both([old], [new], toy(protocol={"metrics": ["mcc", "train_accuracy"]}))
    assert differences(result) == ([] if within else ["train_accuracy"])


@pytest.mark.parametrize(
    ("condition", "allowed"),
    # 10 * condition * eps is 1e-6 at a condition of 4.5e8.
    [
        (None, 1e-6),
        (1e3, 1e-6),
        (4e8, 1e-6),
        (1e12, 10 * 1e12 * EPS),
        (4e13, 10 * 4e13 * EPS),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_regression_scores_may_differ_by_round_off(
    both: Both, condition: float | None, allowed: float, sign: int
) -> None:
    old = [cell(dataset="calhousing", condition=condition, **REAL)]
    inside, outside = (
        [old[0] | {"nrmse": 0.5 * (1 + sign * share * allowed)}]
        for share in (0.99, 1.01)
    )
    assert differences(both(old, inside)) == []
    result = both(old, outside)
    assert differences(result) == ["nrmse"]
    assert result["differences"][0]["allowed"] == f"{allowed:.1e} relative"


def test_the_condition_is_that_of_the_baseline(both: Both) -> None:
    old, new = (
        cell(dataset="calhousing", condition=c, nrmse=v)
        for c, v in [(1e3, 0.5), (1e13, 0.500005)]
    )
    assert differences(both([old], [new])) == ["nrmse"]


@pytest.mark.parametrize("values", [REAL, COUNTED], ids=["real", "counted"])
@pytest.mark.parametrize(
    ("condition", "decides"), [(4.4e13, True), (4.6e13, False), (1e20, False)]
)
def test_scores_of_ill_conditioned_fits_are_not_compared(
    both: Both, values: dict[str, Any], condition: float, decides: bool
) -> None:
    old = cell(condition=condition, **values)
    other = {"nrmse": 1.0, "tn": 100, "fp": 19} if "tn" in values else {"nrmse": 1.0}
    assert bool(differences(both([old], [old | other]))) == decides
    # How a cell ended and the size of its model still count.
    assert differences(both([old], [old | {"n_units": 11}])) == ["n_units"]
    assert differences(both([old], [old | {"status": "diverged"}])) == ["status"]


def test_missing_and_extra_cells(both: Both) -> None:
    lines = [
        cell(model, fold=fold, **COUNTED)
        for model in ("ELM", "K-ELM")
        for fold in (0, 1)
    ]
    result = both(lines, lines[1:])
    assert (result["compared"], differences(result)) == (3, ["cell"])
    assert (result["differences"][0]["cell"], result["differences"][0]["value"]) == (
        "wdbc ELM run 0 fold 0 nested",
        "missing",
    )
    result = both(lines[1:], lines)
    assert (result["compared"], result["differences"][0]["baseline"]) == (3, "missing")
    # The same cell of another reading or selection is another cell.
    result = both(lines[:1], [lines[0] | {"reading": "order=stored"}])
    assert (result["compared"], len(result["differences"])) == (0, 2)
    assert result["differences"][1]["cell"].endswith("nested order=stored")


def test_a_baseline_has_no_times_and_reasons_but_may_have_them(
    both: Both, toy: Any, tmp_path: Path
) -> None:
    lines = [
        cell(dataset="calhousing", nrmse=0.5),
        cell(dataset="calhousing", fold=1, **stopped(5)),
    ]
    baseline, cells = tmp_path / "one.baseline.csv", tmp_path / "cells.csv"
    both(lines[:1], lines[:1])
    assert not {*TIMES, "reason"}.intersection(
        baseline.read_text().splitlines()[0].split(",")
    )
    # A copy of cells.csv is a baseline as well.
    resolved = toy(datasets=["calhousing"], protocol={"metrics": ["nrmse"]})
    for path, seconds in ((baseline, 0.5), (cells, 0.7)):
        write_frame(
            frame(resolved, [line | {"fit_seconds": seconds} for line in lines]), path
        )
    result = compare_with_baseline(read_cells(cells), baseline)
    assert (result["compared"], result["differences"]) == (2, [])


@pytest.mark.parametrize(
    "status", ["failed", "timeout", "out-of-memory", "unavailable"]
)
def test_no_baseline_is_made_of_failures(toy: Toy, tmp_path: Path, status: str) -> None:
    path = tmp_path / "toy" / "one.baseline.csv"
    path.parent.mkdir()
    path.write_text("before")
    cells = frame(toy(), [cell(fold=0, **COUNTED), cell(fold=1, status=status)])
    with pytest.raises(
        ElmbenchError, match=f"1 of 2 cells ended {status}: no baseline is written"
    ) as error:
        update_baseline(cells, path)
    assert "Next: elmbench run toy/one --profile ci" in str(error.value)
    assert path.read_text() == "before"
    with pytest.raises(ElmbenchError, match="there are no cells"):
        update_baseline(cells.iloc[:0], path)


def test_a_baseline_of_cells_that_diverged(toy: Toy, tmp_path: Path) -> None:
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
    both: Both, toy: Any, layout: str, measure: str, change: float, within: bool
) -> None:
    nodes = {
        "model": "elm",
        "search": ["n_hidden"],
        "params": {"activation": "sigmoid"},
    }
    first = measure.replace("10", "5")
    old, new = (cell(**{first: 0.5, measure: value}) for value in (0.8, 0.8 + change))
    result = both(
        [old],
        [new],
        toy(layout=layout, grids={"n_hidden": [5, 10]}, models={"ELM": nodes}),
    )
    assert differences(result) == ([] if within else [measure])


#: Models in closed form, whose figures hang on nothing but the data.
CLOSED = {
    "elm",
    "k-elm",
    "ls-svm",
    "w-elm",
    "eem",
    "eekm",
    "rk-elm",
    "elm-rbf",
    "pvm",
    "os-pvm",
}
BASELINES = [
    "eem/table4", "eem/table9", "eem/table10", "kos-elm/table4", "kos-elm/table6", "kos-elm/table7",
    "rkelm/table3",
    "ospvm/table2", "ospvm/table8", "rkelm/table5", "rkelm/table6", "rkelm/table11",
    "rkelm/table12",
]  # fmt: skip


@pytest.mark.parametrize("id", BASELINES)
def test_a_committed_baseline_changed_by_one_part_in_a_thousand_is_found_in_every_cell(
    id: str,
) -> None:
    file = find_experiment(id)
    path = file.path.with_suffix(".baseline.csv")
    resolved = resolve(file, "ci")
    cells = read_cells(path)
    assert compare_with_baseline(cells, path)["differences"] == []
    changed = 0
    for column, model in file.spec.models.items():
        for dataset, part in cells[
            (cells["model"] == column) & (cells["status"] == "ok")
        ].groupby("dataset"):
            if model.model in CLOSED:
                metric = resolved.spec.protocol.metric_for(
                    resolved.dataset(str(dataset)).task
                )
                other = cells.astype({metric: float})
                other.loc[part.index, metric] *= 1.001
                assert len(compare_with_baseline(other, path)["differences"]) == len(
                    part
                ), (
                    column,
                    dataset,
                )
                changed += len(part)
    assert changed > 1
