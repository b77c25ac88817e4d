"""Values in which nothing is random: one run is enough, and the verdict counts test rows."""

from typing import Any

import pytest
from made_cells import Toy, cell, entry, frame, row, summarise, table_of

from elmbench.judging.claims import check_claims
from elmbench.judging.determinism import is_deterministic
from elmbench.judging.judged_rows import rows_of as rows_of_values
from elmbench.judging.measured_cells import MeasuredCells
from elmbench.judging.table_verdicts import TableVerdict, judge_measures
from elmbench.specs.measures import Measure
from elmbench.specs.profiles import Resolved

#: Leave-one-out on twenty rows.
ROWS = 20
PROTOCOL: dict[str, Any] = {
    "outer": {"kind": "kfold", "folds": ROWS, "runs": 3},
    "metrics": ["accuracy"],
    "select": "oracle",
}


def leave_one_out(model: str, right: int, runs: int) -> list[dict[str, Any]]:
    """Cells of leave-one-out with so many rows predicted right in each run."""
    return [
        cell(
            model,
            run=run,
            fold=fold,
            accuracy=float(fold < right),
            n_test=1,
            select="oracle",
        )
        for run in range(runs)
        for fold in range(ROWS)
    ]


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize(
    ("right", "verdict", "rows_off"),
    [(18, "exact", None), (17, "differs", 1), (16, "differs", 2)],
)
def test_leave_one_out_is_exact_or_off_by_rows_after_any_number_of_runs(
    toy: Toy, runs: int, right: int, verdict: str, rows_off: int | None
) -> None:
    resolved = toy("WDBC,K-ELM,accuracy,0.900,,\n", protocol=PROTOCOL)
    line = entry(
        resolved, leave_one_out("K-ELM", right, runs), "accuracy", model="K-ELM"
    )
    assert (line["verdict"], line.get("rows_off")) == (verdict, rows_off)
    assert line["runs"] == runs


def test_the_table_names_the_rows(toy: Toy) -> None:
    resolved = toy("WDBC,K-ELM,accuracy,0.900,,\n", protocol=PROTOCOL)
    table = table_of(resolved, leave_one_out("K-ELM", 16, 1))
    assert row(table.sections[0], "K-ELM")["verdict"] == "differs, 2 test rows off"
    table = table_of(resolved, leave_one_out("K-ELM", 17, 1))
    assert row(table.sections[0], "K-ELM")["verdict"] == "differs, 1 test row off"


def test_a_seeded_model_needs_runs(toy: Toy) -> None:
    resolved = toy("WDBC,ELM,accuracy,0.900,,\n", protocol=PROTOCOL)
    line = entry(resolved, leave_one_out("ELM", 18, 1), "accuracy", model="ELM")
    assert line["verdict"] == "too few runs"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ({"model": "sklearn.svm:SVC"}, True),
        ({"model": "sklearn.svm:SVC", "params": {"probability": True}}, False),
        ({"model": "sklearn.svm:SVC", "search": {"probability": [False]}}, False),
        ({"model": "sklearn.tree:DecisionTreeClassifier"}, False),
        ({"model": "sklearn.neighbors:KNeighborsClassifier"}, True),
        # Both offer `partial_fit`; naive Bayes only counts rows and sums them.
        ({"model": "sklearn.naive_bayes:GaussianNB"}, True),
        ({"model": "sklearn.linear_model:Perceptron"}, False),
    ],
)
def test_a_seed_without_effect_is_not_random(
    toy: Toy, column: dict[str, Any], expected: bool
) -> None:
    resolved = toy(protocol=PROTOCOL, models={"K-ELM": column})
    measured = MeasuredCells(frame(resolved, leave_one_out("K-ELM", 3, 1)), resolved)
    columns = measured.columns(("wdbc", "K-ELM", "oracle", ""))
    assert is_deterministic("wdbc", "K-ELM", "oracle", columns, resolved) is expected


@pytest.mark.parametrize(
    ("change", "cells", "model", "select", "expected"),
    [
        ({}, 1, "K-ELM", "oracle", True),
        ({}, 1, "K-ELM", "published", True),
        # The inner folds are drawn anew in each run.
        ({}, 1, "K-ELM", "nested", False),
        # The nodes are random.
        ({}, 1, "ELM", "oracle", False),
        # Folds of two rows are random.
        ({}, 2, "K-ELM", "oracle", False),
        ({"outer": {"kind": "official"}}, 100, "K-ELM", "oracle", True),
        # The order of the rows is random, and the model learns them one by one.
        ({"outer": {"kind": "official"}}, 100, "FB-KOS-ELM", "oracle", False),
    ],
)
def test_a_value_is_deterministic_only_if_data_splits_and_model_are(
    toy: Toy,
    change: dict[str, Any],
    cells: int,
    model: str,
    select: str,
    expected: bool,
) -> None:
    resolved = toy(protocol=PROTOCOL | change)
    lines = [cell(model, fold=fold, n_test=cells, select=select) for fold in range(3)]
    measured = MeasuredCells(frame(resolved, lines), resolved)
    columns = measured.columns(("wdbc", model, select, ""))
    assert is_deterministic("wdbc", model, select, columns, resolved) is expected


@pytest.mark.parametrize(
    ("column", "profile", "expected"),
    [
        ({}, {}, True),
        ({"train-rows": 400}, {}, False),
        ({}, {"rows": 400}, False),
        ({}, {"test-rows": 20}, False),
    ],
)
def test_rows_that_are_drawn_in_each_run_are_random(
    toy: Toy, column: dict[str, int], profile: dict[str, int], expected: bool
) -> None:
    resolved = toy(
        profile="fast",
        profiles={"fast": profile},
        protocol=PROTOCOL | {"outer": {"kind": "official"}},
        models={"K-ELM": {"model": "sklearn.svm:SVC"} | column},
    )
    measured = MeasuredCells(
        frame(resolved, [cell("K-ELM", select="oracle")]), resolved
    )
    columns = measured.columns(("wdbc", "K-ELM", "oracle", ""))
    assert is_deterministic("wdbc", "K-ELM", "oracle", columns, resolved) is expected


@pytest.mark.parametrize(
    ("printed_runs", "run", "inner", "search", "expected"),
    [
        (1, 0, "stratified-kfold", [], True),
        # The splits of several runs differ.
        (2, 0, "stratified-kfold", [], False),
        # A run beyond the printed one.
        (1, 1, "stratified-kfold", [], False),
        (1, 0, "stratified-kfold", ["C"], False),
        (1, 0, "given", ["C"], True),
    ],
)
def test_given_splits_of_one_run_are_fixed(
    toy: Toy, printed_runs: int, run: int, inner: str, search: list, expected: bool
) -> None:
    protocol = {
        "outer": {"kind": "given", "file": "one.csv", "folds": 3, "runs": printed_runs},
        "inner": {"kind": inner, "folds": 2},
        "metrics": ["accuracy"],
        "select": "nested",
    }
    if inner == "given":
        protocol["inner"]["file"] = "one.csv"
    column = {"model": "sklearn.svm:SVC", "search": search}
    figures = "WDBC,K-ELM,accuracy,0.9,,\n"
    models = {"K-ELM": column}
    resolved = toy(figures, protocol=protocol, models=models, grids={"C": [1, 2]})
    lines = [cell("K-ELM", run=run, fold=fold, select="nested") for fold in range(3)]
    measured = MeasuredCells(frame(resolved, lines), resolved)
    columns = measured.columns(("wdbc", "K-ELM", "nested", ""))
    assert is_deterministic("wdbc", "K-ELM", "nested", columns, resolved) is expected


def test_identical_runs_are_one_in_a_claim(toy: Toy) -> None:
    claim = {
        "says": "it is so",
        "dataset": "wdbc",
        "metric": "accuracy",
        "model": "K-ELM",
    }
    claim |= {"is": "above", "than": ["KERNEL"]}
    outcomes = []
    for runs in (1, 3):
        resolved = toy(protocol=PROTOCOL, models=MODELS, claims=[claim])
        lines = [*leave_one_out("K-ELM", 19, runs), *leave_one_out("KERNEL", 10, runs)]
        measured = MeasuredCells(frame(resolved, lines), resolved)
        (outcome,) = check_claims(summarise(measured), measured)
        assert outcome.finding is not None
        outcomes.append((outcome.verdict, outcome.p, outcome.finding.n))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][2] == ROWS


MODELS = {"K-ELM": {"model": "k-elm"}, "KERNEL": {"model": "k-elm"}}
PRINTED = "WDBC,K-ELM,accuracy,0.900,,\nWDBC,KERNEL,accuracy,0.500,,\n"


def verdict_on(resolved: Resolved, rows: tuple[int, int], runs: int) -> TableVerdict:
    lines = [
        line
        for model, right in zip(MODELS, rows, strict=True)
        for line in leave_one_out(model, right, runs)
    ]
    measured = MeasuredCells(frame(resolved, lines), resolved)
    compared = [
        measured.compared_value(("wdbc", model, "oracle", ""), Measure("accuracy"))
        for model in MODELS
    ]
    return judge_measures("accuracy", rows_of_values(compared))


def test_a_table_is_judged_alike_after_one_run_and_three(toy: Toy) -> None:
    resolved = toy(PRINTED, protocol=PROTOCOL, models=MODELS)
    once = verdict_on(resolved, (18, 10), 1)
    assert once.to_json_dict() == verdict_on(resolved, (18, 10), 3).to_json_dict()
    assert once.values.median.estimate == 0
    assert once.strict[0].p == 1
    assert once.order.same == 1
    # A row off cannot be a rerun of ours.
    assert verdict_on(resolved, (17, 10), 1).strict[0].p < 0.001
