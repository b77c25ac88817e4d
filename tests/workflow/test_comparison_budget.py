"""Comparisons within a time: computed and left-out models, and the notes on them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from elmbench.datasets.local_files import write_arrays
from elmbench.datasets.user_data import UserData
from elmbench.running.executors.base import Executor
from elmbench.workflow.comparison import SVM_STEPS, Comparison
from elmbench.workflow.execute import execute
from elmbench.workflow.prepare import PreparedRun, RunOptions
from elmbench.workflow.stages import spend

pytestmark = pytest.mark.usefixtures("alone")
GRIDS = {"svm": {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, "ridge": {"C": [1.0, 10.0]}}
#: Longer than any test takes.
LONG = "200h"


@pytest.fixture
def asked(tmp_path: Path) -> Comparison:
    X, y = make_classification(60, 4, random_state=0)
    path = write_arrays(X, y, tmp_path / "data", "toy", {})
    return Comparison((UserData(str(path), "target"),), ("ridge", "svm"), GRIDS, folds=2)


def searched(run: PreparedRun) -> dict[str, int]:
    """Return the number of values of C that each model is searched over."""
    ((resolved, _),) = run.tables
    models = {name: one for name, one in resolved.spec.models.items() if one.search and not one.not_run}
    return {name: len(one.search["C"].expand()) for name, one in models.items()}  # type: ignore[call-overload]


def test_a_model_of_unknown_duration_is_searched_on_half_of_its_grid_first(asked: Comparison, tmp_path: Path) -> None:
    runs: list[dict[str, int]] = []

    def carry_out(run: PreparedRun, executor: Executor) -> None:
        runs.append(searched(run))
        execute(run)

    final = spend(asked, RunOptions(), tmp_path / "results", LONG, carry_out)
    assert runs == [{"ridge": 2}, {"ridge": 2, "svm": 1}, {"ridge": 2, "svm": 2}]
    assert not final.todo
    ((resolved, _),) = final.tables
    assert resolved.spec.models["svm"].params == {"max_iter": SVM_STEPS}
    assert not any(one.remark or one.not_run for one in resolved.spec.models.values())


def test_what_the_time_did_not_suffice_for_is_said(asked: Comparison, tmp_path: Path) -> None:
    began, runs = time.monotonic(), list[PreparedRun]()

    def carry_out(run: PreparedRun, executor: Executor) -> None:
        runs.append(run)
        execute(run)

    def spent_after_one() -> PreparedRun:
        runs.clear()
        folder = tmp_path / "results"
        return spend(asked, RunOptions(), folder, LONG, carry_out, lambda: began + 1e6 * bool(runs))

    (first,) = execute(spent_after_one())
    assert set(first.cells["model"]) == {"ridge", "dummy"}
    assert any("svm not run: the budget of 200h is spent" in note.text for note in first.table.notes)
    # The same command goes on from what is stored.
    (second,) = execute(spent_after_one())
    assert len(runs) == 1
    assert set(second.cells["model"]) == {"ridge", "dummy", "svm"}
    assert any(
        note.text == "svm: every second value of its grid, for the budget of 200h" for note in second.table.notes
    )
    assert np.isfinite(second.cells["accuracy"].astype(float)).all()


def test_no_work_begins_after_the_end(asked: Comparison, tmp_path: Path) -> None:
    from elmbench.workflow.comparison import prepare_comparison

    run = prepare_comparison(asked, RunOptions(until=time.monotonic() - 1), tmp_path / "results")
    (results,) = execute(run)
    assert not len(results.cells)
